"""`learn` agrees with the functions that it combines, and with ``coevo learn``."""

from __future__ import annotations

import json
import pickle
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import coevo
from coevo.bundled import load_network
from coevo.data import read_data, write_data
from coevo.errors import CoevoWarning, DataError, GraphError, NetworkError, ParameterError
from coevo.graph import CPDAG, Constraints
from coevo.io import Knowledge, read_run
from coevo.learning import check_settings, learn
from coevo.network import fit_network, sample
from coevo.score import FamilyScorer, arc_gains, find_best_addition
from coevo.search import METHODS, Budget, HillClimb, run_search
from helpers.values import as_values

LISTED = ", ".join(map(repr, sorted(METHODS)))
QUICK = {"method": "hill_climb"}


@pytest.fixture
def rows(seed):
    return sample(load_network("asia"), 500, seed)


def test_learn_equals_its_steps(rows):
    found = learn(rows, score="k2", random_state=7, max_parents=2, budget={"max_generations": 6})
    known = Constraints(max_parents=2)
    scorer = FamilyScorer(rows, "k2")
    limits = Budget(max_generations=6)
    expected = run_search("ccma", scorer, constraints=known, budget=limits, random_state=7)
    assert found.dag == expected.dag
    assert found.dag.nodes == tuple(v.name for v in rows.source_variables)
    assert found.score == expected.score == scorer.score(found.dag)
    assert [row.score for row in found.history] == [row.score for row in expected.history]
    assert found.cpdag == CPDAG(expected.dag)
    assert found.gains == arc_gains(scorer, expected.dag)
    assert found.best_rejected == find_best_addition(scorer, found.dag, known.to_rules(rows.names))
    assert found.network == fit_network(found.dag, rows)
    assert found.network is found.network
    assert (found.search.seed, found.search.stop_reason) == (7, "generations")
    assert {note.name for note in found.columns} == set(rows.names)
    assert repr(found) == (
        f"<LearnResult: 8 variables, {len(found.dag.arcs)} arcs, k2 {found.score:.4f}, by ccma>"
    )
    with pytest.raises(FrozenInstanceError):
        found.audit = ()


def test_the_parent_penalty(rows):
    plain = learn(rows, **as_values({"score": "bdeu", **QUICK}))
    priced = learn(rows, **as_values({"score": "bdeu", "parent_penalty": 30, **QUICK}))
    scorer = FamilyScorer(rows, "bdeu")
    assert len(priced.dag.arcs) < len(plain.dag.arcs)
    assert priced.log_prior == -30 * len(priced.dag.arcs)
    assert priced.score == pytest.approx(scorer.score(priced.dag) + priced.log_prior)
    assert min(priced.gains.values()) > 0
    assert priced.as_dict()["parent_penalty"] == 30
    assert "parent_penalty" not in plain.as_dict()
    with pytest.raises(
        ParameterError, match="'parent_penalty' of Objective must be a number from 0 to 1,000,000"
    ):
        learn(rows, score=coevo.Objective(parent_penalty=-1))


def test_it_can_be_pickled(rows):
    found = learn(rows, **as_values(QUICK))
    copy = pickle.loads(pickle.dumps(found))
    assert (copy.as_dict(), copy.network) == (found.as_dict(), found.network)


def test_the_files_are_those_of_the_command(rows, tmp_path, monkeypatch):
    from coevo import cli

    monkeypatch.chdir(tmp_path)
    write_data(rows, "asia.csv")
    command = ["learn", "asia.csv", "--max-generations", "5", "--seed", "3", "-o", "cli"]
    monkeypatch.setattr("sys.argv", ["coevo", *command])
    cli.main()
    found = learn("asia.csv", random_state=3, budget={"max_generations": 5})
    files = found.save(Path("python"))
    assert files == {
        "model": "python/model.bif",
        "run": "python/run.json",
        "history": "python/history.jsonl",
        "report": "python/report.html",
    }
    ours, theirs = read_run(Path("python")), read_run(Path("cli"))
    assert ours.network == theirs.network == found.network
    assert theirs.facts.pop("command") == command
    for each in (ours.facts, theirs.facts, *ours.history, *theirs.history):
        each.pop("seconds")
    assert list(ours.facts) == list(theirs.facts)
    assert (ours.facts, ours.history) == (theirs.facts, theirs.history)
    plain = json.loads(json.dumps(found.as_dict()))
    plain.pop("seconds")
    assert all(
        arc.pop("support") == found.support[arc["from"], arc["to"]] for arc in ours.facts["arcs"]
    )
    assert plain.items() <= ours.facts.items()
    assert Path(files["report"]).read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_structure_without_tables_is_saved(rows, tmp_path, monkeypatch):
    def too_large(*arguments):
        raise NetworkError("The table of 'a' would be too large.")

    found = learn(rows, **as_values(QUICK))
    monkeypatch.setattr("coevo.learning.result.fit_and_count", too_large)
    with pytest.warns(CoevoWarning, match=r"^model.bif is not written. The table of 'a' would be"):
        files = found.save(tmp_path / "run")
    assert sorted(files) == ["history", "report", "run"]
    with pytest.raises(NetworkError):
        found.network  # noqa: B018


def test_callbacks_and_methods_with_settings(rows):
    found = learn(rows, method="ccga", callbacks=[lambda row: row.generation == 3])
    assert (found.search.stop_reason, found.search.generations) == ("callback", 3)
    assert learn(rows, method=HillClimb()).search.method == "hill_climb"


# -- the options of `learn`


def make_measurements(seed, n_rows=300):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n_rows)
    return np.stack([a, a + rng.normal(size=n_rows), rng.integers(0, 2, n_rows)], axis=1)


def test_numbers_are_cut_as_the_command_does(seed):
    table, names = make_measurements(seed), ["a", "b", "c"]
    for given, asked in (
        ({}, {"discretise": "mdl"}),
        ({"bins": 3}, {"bins": 3}),
        ({"discretise": "kmeans", "types": {"c": "categorical"}},
         {"discretise": "kmeans", "types": {"c": "categorical"}}),
    ):  # fmt: skip
        found = learn(table, **as_values({"names": names, **given, **QUICK}))
        assert found.dataset == read_data(table, names=names, **asked)
    with pytest.raises(DataError, match=r"^Column 'a' holds decimal numbers"):
        learn(table, read={"names": names, "discretise": "none"})


def test_types_from_a_file_and_columns_left_out(seed, tmp_path):
    path = tmp_path / "types.json"
    path.write_text('{"a": [0], "c": "ignore"}')
    found = learn(
        make_measurements(seed), **as_values({"names": ["a", "b", "c"], "types": path, **QUICK})
    )
    assert found.dag.nodes == ("a", "b")
    assert found.network.variable("a").states == ("below_0", "from_0")
    assert learn(
        make_measurements(seed), **as_values({"names": ["a", "b", "c"], "drop": ["c"], **QUICK})
    ).dag.nodes == (
        "a",
        "b",
    )


def test_constraints_of_all_kinds(rows, tmp_path):
    known = Constraints(required=[("xray", "asia")], max_parents=2)
    path = tmp_path / "known.json"
    coevo.io.write_knowledge(known, path)
    for given in (known, Knowledge(known), path, str(path)):
        found = learn(rows, **as_values({"score": "bdeu", "constraints": given, **QUICK}))
        assert ("xray", "asia") in found.dag.arcs
        assert "log_prior" not in found.as_dict()
    knowledge = Knowledge(known, {("xray", "asia"): 4.0})
    weighted = learn(rows, **as_values({"score": "bdeu", "constraints": knowledge, **QUICK}))
    assert weighted.log_prior == weighted.as_dict()["log_prior"] == 4
    plain = FamilyScorer(rows).score(weighted.dag)
    assert weighted.score == pytest.approx(plain + 4)


def test_a_dict_of_constraints_is_a_file_in_memory(rows, tmp_path):
    known = {
        "roots": ("asia",),
        "leaves": {"dysp", "xray"},
        "required": [("smoke", "lung")],
        "groups": {"signs": ["xray", "dysp"]},
        "forbidden": [["signs", "asia"]],
        "tiers": [["asia", "smoke"], ["lung"]],
        "weights": [["smoke", "bronc", 1.5]],
        "max_parents": 3,
    }
    found = learn(rows, **as_values({"constraints": known, **QUICK}))
    path = tmp_path / "known.json"
    path.write_text(json.dumps(known | {"leaves": ["dysp", "xray"]}))
    assert found.spec == learn(rows, **as_values({"constraints": path, **QUICK})).spec
    assert not found.dag.parents("asia")
    assert not found.dag.children("xray")
    ends = learn(rows, **as_values({"roots": ["asia"], "leaves": ["dysp", "xray"], **QUICK}))
    assert ends.spec.constraints == Constraints(roots=["asia"], leaves=["dysp", "xray"])


def test_roots_and_leaves_beside_the_constraints(rows):
    """As on the command line, where a name may hold several with commas."""
    given = {"roots": ["asia"], "leaves": ["dysp,xray"]}
    spec = check_settings("learn", constraints=Constraints(roots=["smoke"]), **given)
    found = spec.resolve_spec(rows.names).constraints
    assert found == Constraints(roots=["asia", "smoke"], leaves=["dysp", "xray"])
    for wrong, sentence in (
        ("asia", "'roots' of learn must be a list of names; got 'asia'."),
        (["asai"], "The roots name 'asai', which is not a variable. Did you mean 'asia'?"),
    ):
        with pytest.raises((ParameterError, GraphError)) as caught:
            check_settings("learn", roots=wrong).resolve_spec(rows.names)
        assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"constraints": {"root": ["asia"]}}, "'constraints' of learn has an unknown key 'root'. "
         "The keys are required, forbidden, weights, roots, leaves, groups, tiers, max_parents. "
         "Did you mean 'roots'?"),
        ({"constraints": {"roots": "asia"}},
         "'roots' of 'constraints' of learn must be a list; got 'asia'."),
        ({"constraints": {"roots": ["asai"]}}, "'constraints' of learn, 'roots', entry 1: there "
         "is no variable 'asai'. Did you mean 'asia'?"),
        ({"roots": ["asia"], "constraints": {"required": [["tub", "asia"]]}},
         "'tub' -> 'asia' is required, but 'asia' is a root."),
    ],
)  # fmt: skip
def test_constraints_that_contradict_or_have_a_wrong_form(rows, options, sentence):
    with pytest.raises((ParameterError, GraphError)) as caught:
        learn(rows, **as_values({**options, **QUICK}))
    assert str(caught.value) == sentence


def make_trial(seed=0, n_rows=400):
    """Return a table in which an outcome depends on age, sex and the arm of a trial."""
    rng = np.random.default_rng(seed)
    age, sex, rx = rng.integers(0, 2, (3, n_rows))
    response = (rng.random(n_rows) < 0.1 + 0.35 * age + 0.25 * sex + 0.25 * rx).astype(int)
    relapse = np.where(rng.random(n_rows) < 0.1, 1 - response, response)
    return {"rx": rx, "age": age, "sex": sex, "response": response, "relapse": relapse}


def test_age_and_sex_with_parents_get_a_word():
    trial = pd.DataFrame(make_trial())
    known = {"required": [["relapse", "sex"]]}
    start = coevo.DAG([*trial], [("response", "age"), ("response", "rx"), ("relapse", "sex")])
    options = {"method": "hill_climb", "max_generations": 0, "start": start, "bootstraps": 0}
    with pytest.warns(CoevoWarning) as caught:
        found = learn(trial, **as_values(options))
    sentence = "rx, age and sex have parents here; if they cannot, "
    sentence += "constraints={'roots': ['rx', 'age', 'sex']}."
    assert [str(warning.message) for warning in caught] == [sentence]
    assert found.suggested_roots == ("rx", "age", "sex")
    assert found.as_dict()["suggested_roots"] == ["rx", "age", "sex"]
    assert sentence.replace("'", "&#x27;") in found._repr_html_()
    with pytest.warns(CoevoWarning, match="rx and age have parents"):
        assert learn(trial, **as_values({"constraints": known, **options})).suggested_roots == (
            "rx",
            "age",
        )
    obeyed = learn(
        trial, bootstraps=0, method="hill_climb", constraints={"roots": found.suggested_roots}
    )
    assert not obeyed.suggested_roots
    assert "suggested_roots" not in obeyed.as_dict()


def test_a_class_is_a_parent_of_age():
    method = coevo.search.NaiveBayes(class_variable="response")
    assert not learn(pd.DataFrame(make_trial()), method=method, bootstraps=0).suggested_roots


def test_a_dataset_is_already_read(rows):
    with pytest.raises(ParameterError, match="do not apply to a Dataset"):
        learn(rows, read={"bins": 3})


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"method": "ccmma"}, f"'method' of learn must be one of {LISTED}"
         "; got 'ccmma'. Did you mean 'ccma'?"),
        ({"ess": 0}, "'ess' of bdeu must be a number > 0; got 0."),
        ({"max_parents": 0}, "'max_parents' of learn must be an int >= 1 or None; got 0."),
        ({"n_jobs": 0}, "'n_jobs' of learn must be an int >= 1; got 0."),
        ({"random_state": -1}, "'random_state' of learn must be an int >= 0, a numpy Generator "
         "or None; got -1."),
        ({"patience": 0}, "'patience' of learn must be an int >= 1 or None; got 0."),
        ({"constraints": 3}, "'constraints' of learn must be Constraints, Knowledge, a dict, the "
         "path of a file or None; got 3."),
        ({"discretise": "mld"}, "'discretise' of learn must be one of 'kmeans', 'mdl', 'none', "
         "'quantile', 'uniform'; got 'mld'. Did you mean 'mdl'?"),
        ({"types": 3}, "'types' of read_data must be a mapping of column to its type; got 3."),
    ],
)  # fmt: skip
def test_settings_are_checked_before_the_table(given, sentence):
    with pytest.raises(ParameterError) as caught:
        learn("no such file.csv", **as_values(given))
    assert str(caught.value) == sentence


def test_constraints_that_do_not_fit(rows):
    with pytest.raises(ParameterError) as caught:
        learn(rows, constraints=Constraints(max_parents=3), max_parents=2)
    assert str(caught.value) == (
        "'max_parents' is 3 in the constraints and 2 in learn. Give it once."
    )
    with pytest.raises(GraphError, match="'asai'"):
        learn(rows, constraints=Constraints(roots=["asai"]))


def test_a_search_without_a_generation_says_so(rows):
    with pytest.warns(CoevoWarning, match="The time limit ended the search before its first gen"):
        found = learn(rows, method="ccga", bootstraps=0, budget={"max_time": 1e-6})
    assert found.search.generations == 0
