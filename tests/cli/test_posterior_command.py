"""``coevo posterior`` prints the probability of every edge, and resumes its chains."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

import coevo
from coevo.data import read_data
from coevo.learning.task import LearnTask

QUICK = ("cancer.csv", "-s", "bdeu", "--seed", 5)
CHAINS = (*QUICK, "--sampler", "chains", "--max-steps", 4)


@pytest.fixture(autouse=True)
def cancer(folder, run):
    """Work in a folder with the table ``cancer.csv``."""
    assert run("sample", "cancer", "--rows", 300, "--seed", 1, "-o", "cancer.csv").code == 0


def test_json_is_the_answer_of_the_library(run):
    code, out, err = run("posterior", *QUICK, "--format", "json")
    assert (code, err) == (0, "")
    answer = json.loads(out)
    found = coevo.posterior(read_data("cancer.csv"), score="bdeu", random_state=5).as_dict()
    timeless = {name: value for name, value in found.items() if name != "seconds"}
    assert {name: answer[name] for name in timeless} == timeless
    assert (answer["n_rows"], answer["n_variables"]) == (300, 5)


def test_text_names_the_computation_and_every_probable_edge(run):
    code, out, err = run("posterior", *QUICK)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "table       300 rows, 5 variables"
    assert lines[1] == "posterior   bdeu, ess 1, uniform over DAGs, seed 5"
    assert lines[2].startswith("computed    exactly, from 80 families, in ")
    assert lines[3].strip() == "Exact: the weights of all structures are summed."
    found = coevo.posterior(read_data("cancer.csv"), score="bdeu", random_state=5)
    for edge in found.edges:
        if edge.probability > 0.5:
            numbers = f"{edge.probability:>11.3f}  {edge.direction:>9.3f}"
            assert any(numbers in line and edge.parent in line for line in lines)


def test_chains_are_resumed_and_their_verdict_is_a_warning(run, folder):
    code, out, err = run("posterior", *CHAINS, "-o", "run")
    assert code == 0
    assert err == (
        "Warning: Too few steps to compare the 4 chains: run on.\n"
        "Run on with --resume and a larger limit (-t, --max-steps).\n"
    )
    assert "by 4 chains, " in out
    assert (folder / "run" / "posterior" / "posterior.json").exists()
    longer = (*CHAINS[:-1], 8)
    assert run("posterior", *longer, "-o", "run", "--resume").code == 0
    assert run("posterior", *longer, "-o", "direct").code == 0
    one, other = (folder / name / "posterior" / "posterior.csv" for name in ("run", "direct"))
    assert one.read_bytes() == other.read_bytes()


def test_learn_shows_the_probability_of_its_arcs(run, folder):
    code, out, err = run("learn", *QUICK, "--posterior", "--bootstraps", 0, "-o", "run")
    assert (code, err) == (0, "")
    assert "probability" in out
    assert "with a probability above 0.5. Exact: the weights of all structures" in out
    stored = json.loads((folder / "run" / "run.json").read_text())
    assert stored["posterior"]["sampler"] == "exact"
    page = (folder / "run" / "report.html").read_text()
    assert "posterior probability that the two variables are joined" in page
    assert "Exact: the weights of all structures are summed." in page


def test_files_that_cannot_be_written_are_an_error_after_the_answer(run, monkeypatch):
    failure = OSError("No space is left.")
    monkeypatch.setattr("coevo.learning.task.write_with_retries", lambda write: failure)
    code, out, err = run("posterior", *QUICK, "-o", "run")
    assert (code, err) == (1, "Error: No space is left.\n")
    assert "Exact: the weights of all structures are summed." in out
    with pytest.warns(coevo.CoevoWarning, match="not complete: No space is left"):
        coevo.posterior(read_data("cancer.csv"), score="bdeu", output="again")


def test_bad_requests_end_in_one_sentence(run):
    code, out, err = run("posterior", "cancer.csv", "-s", "loglik")
    assert (code, out) == (2, "")
    assert err.startswith("Error: The score 'loglik' has no posterior")
    code, out, err = run("posterior", *QUICK, "--resume")
    assert code == 2
    assert "--resume needs -o" in err


def test_help_names_the_defaults_of_the_settings():
    from coevo.cli.posterior import command
    from coevo.options import ChainOptions, get_defaults

    helps = {option.name: option.help for option in command.params if hasattr(option, "help")}
    for name, value in get_defaults(ChainOptions).items():
        assert helps[name].endswith(f"[default: {'no limit' if value is None else value}]")


def test_chains_say_what_the_candidates_leave_out(run):
    code, out, _ = run("posterior", *CHAINS, "--candidates", 4)
    assert code == 0
    line = (
        "The 4 candidate parents of each variable leave out less than 0.001 families of a network."
    )
    assert f"\n            {line}\n" in out
    answer = json.loads(run("posterior", *CHAINS, "--candidates", 2, "--format", "json").out)
    assert set(answer["left_out"]) == {"Cancer", "Dyspnoea", "Pollution", "Smoker", "Xray"}
    assert 0 <= max(answer["left_out"].values()) < 0.2
    found = coevo.posterior(read_data("cancer.csv"), score="bdeu", random_state=5)
    assert found.coverage == "Every family is considered."
    measured = dataclasses.replace(found, left_out=np.array([0.1, 0.0, 0.25, 0.0, 0.0]))
    assert measured.coverage == (
        "The 12 candidate parents of each variable leave out 0.350 families of a network on "
        "average, at most 0.250 of one variable (Pollution)."
    )


def test_a_stored_posterior_answers_queries_and_predicts(run, folder):
    assert run("posterior", *QUICK, "-o", "run").code == 0
    found = coevo.posterior(read_data("cancer.csv"), score="bdeu", random_state=5)
    code, out, err = run("query", "run/posterior", "Cancer", "--given", "Xray=positive",
                         "--format", "json")  # fmt: skip
    assert (code, err) == (0, "")
    answer = json.loads(out)
    expected = found.query("Cancer", {"Xray": "positive"}).to_dict()
    assert answer["marginals"]["Cancer"] == pytest.approx(expected, abs=1e-12)
    alone = [w * n.query("Xray")["positive"] for w, n in found.averaged.networks]
    assert answer["probability"] == pytest.approx(sum(alone), abs=1e-12)
    joint = json.loads(run("query", "run/posterior", "Cancer,Xray", "--joint",
                           "--format", "json").out)  # fmt: skip
    assert sum(row["probability"] for row in joint["joint"]) == pytest.approx(1.0)
    code, out, err = run("predict", "run/posterior", "cancer.csv", "Xray", "--probabilities",
                         "--format", "json")  # fmt: skip
    assert code == 0
    rows = json.loads(out)["predictions"]
    predicted = found.predict("cancer.csv", "Xray")
    column = list(predicted.variable.states).index("positive")
    assert [row["Xray=positive"] for row in rows] == pytest.approx(
        predicted.probabilities[:, column].tolist(), abs=1e-9
    )


def test_a_stored_posterior_has_no_explanation_and_may_be_damaged(run, folder):
    assert run("posterior", *QUICK, "-o", "run").code == 0
    code, out, err = run("query", "run/posterior", "--mpe")
    assert (code, out) == (2, "")
    assert err == (
        "Error: '--mpe' needs one network, and 'run/posterior' averages over many. Ask the network "
        "of its run.\n"
    )
    file = folder / "run" / "posterior" / "averaged.json"
    stored = json.loads(file.read_text())
    cyclic = [{"child": n, "parents": [m], "table": [[0.5, 0.5]] * 2}
              for n, m in (("Cancer", "Xray"), ("Xray", "Cancer"))]  # fmt: skip
    first = stored["networks"][0]
    for damage in (
        {"networks": []},
        {"networks": [{**first, "weight": "x"}]},
        {"networks": [{**first, "weight": 1.0, "families": [10**6]}]},
        {"networks": [{**first, "weight": 1.0, "families": first["families"][:-1]}]},
        {"families": cyclic, "networks": [{"weight": 1.0, "families": [0, 1]}]},
        {"variables": None},
    ):
        file.write_text(json.dumps({**stored, **damage}))
        code, out, err = run("query", "run/posterior", "Cancer")
        assert (code, out) == (2, "")
        assert err.endswith("does not hold averaged networks. Compute the posterior again.\n")


def press_ctrl_c(*arguments, **options):
    raise KeyboardInterrupt


def test_ctrl_c_in_the_search_ends_the_posterior_too(run, monkeypatch):
    def search(task, callbacks):
        found = original(task, callbacks)
        return dataclasses.replace(
            found, search=dataclasses.replace(found.search, stop_reason="interrupt")
        )

    original = LearnTask.search
    monkeypatch.setattr(LearnTask, "search", search)
    code, out, err = run("posterior", *CHAINS, "--max-generations", 1)
    assert (code, out, err) == (130, "", "\nInterrupted.\n")


def test_learn_prints_the_network_if_ctrl_c_comes_before_the_posterior(run, monkeypatch):
    name = "coevo.learning.structure_posterior.compute_posterior"
    monkeypatch.setattr(name, press_ctrl_c)
    code, out, err = run("learn", *QUICK, "--max-generations", 1, "--posterior")
    assert (code, err) == (130, "Interrupted. The network is complete; the posterior is not.\n")
    assert "Cancer" in out
