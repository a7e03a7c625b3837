"""`bootstrap_strength`: the same answer everywhere, resumed after any interruption."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace

import numpy as np
import pytest

import coevo
from coevo.data import Dataset, Variable
from coevo.errors import FileError, FormatError, GraphError, ParameterError
from coevo.graph import CPDAG, DAG, Constraints
from coevo.posteriors import bootstrap_strength
from coevo.posteriors.bootstrap import ROWS, SEARCH
from coevo.runtime.randomness import random_stream
from coevo.score import FamilyScorer, arc_gains
from coevo.search import METHODS, Budget, run_search
from helpers.errors import refusal
from helpers.interrupts import ctrl_c_works, press_ctrl_c

LISTED = ", ".join(map(repr, sorted(METHODS)))
DEFAULT = {"score": "bdeu", "ess": 5.0, "parent_penalty": 4.0}  # of every search
QUICK = {"method": "hill_climb", "random_state": 3}


def table(seed=0, n_rows=400):
    """Return rows in which a leads to b, c is free, and a and c lead to d."""
    rng = np.random.default_rng(seed)
    a, c = rng.integers(0, 2, (2, n_rows))
    b = np.where(rng.random(n_rows) < 0.9, a, 1 - a)
    d = np.where(rng.random(n_rows) < 0.9, a ^ c, rng.integers(0, 2, n_rows)) + a * c
    e = rng.integers(0, 3, n_rows)
    variables = [
        Variable(x, tuple("012"[:n])) for x, n in zip("abcde", (2, 2, 2, 3, 3), strict=True)
    ]
    return variables, [a, b, c, d, e]


DATASET = Dataset(*table())


@pytest.fixture(scope="module")
def expected():
    return bootstrap_strength(DATASET, bootstraps=30, **QUICK)


# -- the result


def test_a_strong_arc_and_an_independent_variable(expected):
    by_pair = {frozenset((arc.parent, arc.child)): arc for arc in expected.arcs}
    for pair in ("ab", "ad", "cd"):
        assert by_pair[frozenset(pair)].strength > 0.95
    assert all(arc.strength < 0.3 for pair, arc in by_pair.items() if "e" in pair)
    assert {frozenset(arc) for arc in expected.consensus.arcs} == {
        frozenset(pair) for pair in ("ab", "ad", "cd")
    }
    assert expected.cpdag == CPDAG(expected.consensus)
    assert by_pair[frozenset("cd")].direction > 0.9


def test_strengths_can_be_recomputed(expected):
    """Count the strengths again, from a search on each drawn sample."""
    dags = []
    for number in range(1, 31):
        rows = DATASET.resample(random_stream(3, number, ROWS))
        seed = int(random_stream(3, number, SEARCH).integers(2**32))
        found = run_search("hill_climb", FamilyScorer(rows, **DEFAULT), random_state=seed)
        dags.append(found.dag)
    for arc in expected.arcs:
        ends = {arc.parent, arc.child}
        joining = [dag for dag in dags if any({*pair} == ends for pair in dag.arcs)]
        assert arc.strength == len(joining) / 30
        if joining:
            ways = [CPDAG(dag).directions for dag in joining]
            along = sum((arc.parent, arc.child) in way for way in ways)
            against = sum((arc.child, arc.parent) in way for way in ways)
            undirected = along + against - len(joining)  # both ways are possible
            assert arc.direction == (along - undirected) / len(joining)
            assert arc.reverse == (against - undirected) / len(joining)


def test_the_original_table(expected):
    scorer = FamilyScorer(DATASET, **DEFAULT)
    found = run_search("hill_climb", scorer, random_state=3)
    assert (expected.network, expected.score) == (found.dag, found.score)
    gains = arc_gains(scorer, found.dag)
    measured = {frozenset((a.parent, a.child)): a.gain for a in expected.arcs if a.gain is not None}
    assert measured == {frozenset(arc): gain for arc, gain in gains.items()}


def test_plain_values(expected):
    plain = expected.as_dict()
    assert list(plain["arcs"][0]) == [
        "from", "to", "strength", "interval", "direction", "reverse", "gain", "in_consensus",
    ]  # fmt: skip
    assert (plain["n_bootstraps"], plain["n_asked"], plain["seed"]) == (30, 30, 3)
    inside = sorted((a["from"], a["to"]) for a in plain["arcs"] if a["in_consensus"])
    assert tuple(inside) == expected.consensus.arcs


def test_constraints_hold_in_the_consensus():
    known = Constraints(required=[("e", "c")], forbidden=[("a", "b")], max_parents=1)
    found = bootstrap_strength(DATASET, bootstraps=8, constraints=known, **QUICK)
    by_arc = {(arc.parent, arc.child): arc for arc in found.arcs}
    assert (by_arc["e", "c"].strength, by_arc["e", "c"].direction) == (1.0, 1.0)
    assert by_arc["b", "a"].direction == 1.0
    assert {("e", "c"), ("b", "a")} <= set(found.consensus.arcs)
    assert all(len(found.consensus.parents(node)) <= 1 for node in "abcde")


def test_weights_change_the_strengths():
    found = bootstrap_strength(DATASET, bootstraps=5, weights={("e", "c"): 50.0}, **QUICK)
    assert next(a for a in found.arcs if {a.parent, a.child} == {"c", "e"}).strength == 1.0


# -- reproducibility


def test_processes_do_not_change_the_answer(expected):
    assert bootstrap_strength(DATASET, bootstraps=30, n_jobs=2, **QUICK) == expected


@pytest.mark.parametrize("how", ["rows", "columns", "deduplicated"])
def test_no_layout_changes_the_answer(how, expected, seed):
    variables, columns = table()
    rng = np.random.default_rng(seed)
    if how == "rows":
        order = rng.permutation(len(columns[0]))
        other = Dataset(variables, [column[order] for column in columns])
    elif how == "columns":
        order = rng.permutation(len(columns))
        other = Dataset([variables[i] for i in order], [columns[i] for i in order])
    else:
        rows, counts = np.unique(np.array(columns).T, axis=0, return_counts=True)
        other = Dataset(variables, list(rows.T), counts)
        assert other.weights is not None
    assert bootstrap_strength(other, bootstraps=30, **QUICK) == expected


def test_another_seed_draws_other_rows(expected):
    other = bootstrap_strength(DATASET, bootstraps=30, method="hill_climb", random_state=4)
    assert [a.strength for a in other.arcs] != [a.strength for a in expected.arcs]
    assert (
        bootstrap_strength(DATASET, bootstraps=2, method="k2").seed != 3
    )  # None gives a new seed each time


# -- a folder, and Ctrl-C


class RunRecorder:
    """Record the runs; press Ctrl-C after a number of them."""

    def __init__(self, after=None):
        self.after, self.numbers = after, []

    def __call__(self, run, done, total):
        self.numbers.append(run.bootstrap)
        if done == self.after:
            press_ctrl_c()


@ctrl_c_works()
def test_ctrl_c_gives_the_finished_samples_and_the_call_resumes(expected, tmp_path):
    first, second, interrupts = RunRecorder(after=8), RunRecorder(), []
    options = {"bootstraps": 30, "folder": tmp_path / "strength", **QUICK}
    stopped = bootstrap_strength(
        DATASET, on_run=first, on_interrupt=lambda: interrupts.append(1), **options
    )
    assert (stopped.is_complete, stopped.n_bootstraps, stopped.n_asked) == (False, 7, 30)
    assert replace(bootstrap_strength(DATASET, bootstraps=7, **QUICK), n_asked=30) == stopped
    assert interrupts == [1]
    assert bootstrap_strength(DATASET, on_run=second, **options) == expected
    assert first.numbers + second.numbers == list(range(31))
    names = {"experiment.json", "runs.jsonl", "times.jsonl"}
    assert set(os.listdir(tmp_path / "strength")) == names


@ctrl_c_works()
def test_ctrl_c_before_the_first_sample_raises(tmp_path):
    def record_run(run, done, total):
        signalled.append(done)

    signalled = []
    with pytest.raises(KeyboardInterrupt):
        bootstrap_strength(
            DATASET,
            bootstraps=2,
            on_run=lambda *_: (_ for _ in ()).throw(KeyboardInterrupt),
            folder=tmp_path,
            **QUICK,
        )
    assert bootstrap_strength(
        DATASET, bootstraps=2, folder=tmp_path, on_run=record_run, **QUICK
    ).is_complete
    assert signalled == [2, 3]  # the network of the original table was stored


def test_more_samples_and_fewer_samples_in_the_same_folder(expected, tmp_path):
    runs = RunRecorder()
    bootstrap_strength(DATASET, bootstraps=10, folder=tmp_path, **QUICK)
    assert (
        bootstrap_strength(DATASET, bootstraps=30, folder=tmp_path, on_run=runs, **QUICK)
        == expected
    )
    assert runs.numbers == list(range(11, 31))
    few = bootstrap_strength(DATASET, bootstraps=10, folder=tmp_path, on_run=runs, **QUICK)
    assert few == bootstrap_strength(DATASET, bootstraps=10, **QUICK)
    assert len(runs.numbers) == 20


def test_a_folder_of_another_search_is_refused(tmp_path):
    bootstrap_strength(DATASET, bootstraps=2, folder=tmp_path, **QUICK)
    for change, name, was, now in (
        ({"random_state": 4}, "seed", 3, 4),
        ({"method": "k2"}, "method", "hill_climb", "k2"),
        ({"score": "bic", "parent_penalty": 4.0}, "score", "bdeu", "bic"),
        ({"ess": 2.0}, "ess", 5.0, 2.0),
        ({"budget": Budget(max_generations=2)}, "budget", {}, {"max_generations": 2}),
        ({"weights": {("a", "b"): 1}}, "weights", [], [["a", "b", 1.0]]),
    ):
        options = {"bootstraps": 2, "folder": tmp_path, **QUICK, **change}
        assert refusal(FileError, bootstrap_strength, DATASET, **options) == (
            f"{str(tmp_path)!r} holds runs with {name} {was}; this is {now}. Give another folder."
        )
    other = Dataset(*table(seed=1))
    assert "other data" in refusal(
        FileError, bootstrap_strength, other, bootstraps=2, folder=tmp_path, **QUICK
    )


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ('"arcs": [[', '"arcs": [["x", "a"], ['),
        ('"arcs": [[', '"arcs": [["a"], ['),
        ('"bootstrap": 1', '"bootstrap": -1'),
        ('"generations": ', '"generations": 0.'),
        ('"score": -', '"score": NaN, "generations": -'),
    ],
)
def test_a_damaged_line(was, now, tmp_path):
    bootstrap_strength(DATASET, bootstraps=2, folder=tmp_path / "old", **QUICK)
    shutil.copytree(tmp_path / "old", tmp_path / "new")
    path = tmp_path / "new" / "runs.jsonl"
    first, second, third = path.read_text().splitlines(keepends=True)
    assert was in second
    path.write_text(first + second.replace(was, now, 1) + third)
    options = {"bootstraps": 2, "folder": tmp_path / "new", **QUICK}
    assert refusal(FormatError, bootstrap_strength, DATASET, **options) == (
        f"Line 2 of {str(path)!r} is damaged. Remove it or give another folder."
    )


# -- refusals


@pytest.mark.parametrize(
    ("options", "kind", "sentence"),
    [
        (
            {"bootstraps": 0},
            ParameterError,
            "'bootstraps' of bootstrap_strength must be an int >= 1; got 0.",
        ),
        (
            {"n_jobs": 1.0},
            ParameterError,
            "'n_jobs' of bootstrap_strength must be an int >= 1; got 1.0.",
        ),
        (
            {"method": "hillclimbs"},
            ParameterError,
            f"'method' of bootstrap_strength must be one of {LISTED}"
            "; got 'hillclimbs'. Did you mean 'hill_climb'?",
        ),
        (
            {"random_state": -1},
            ParameterError,
            "'random_state' of bootstrap_strength must be an int >= 0, a numpy Generator or None; "
            "got -1.",
        ),
        (
            {"budget": 7},
            ParameterError,
            "'budget' of bootstrap_strength must be a Budget or None; got 7.",
        ),
        (
            {"constraints": Constraints(required=[("a", "b")], forbidden=[("a", "b")])},
            GraphError,
            "'a' -> 'b' is required and forbidden.",
        ),
    ],
)
def test_refusals_come_before_anything_is_written(options, kind, sentence, tmp_path):
    folder = tmp_path / "new"
    assert refusal(kind, bootstrap_strength, DATASET, folder=folder, **options) == sentence
    assert not folder.exists()


def test_no_table():
    sentence = refusal(ParameterError, coevo.bootstrap_strength, [[1]])
    assert sentence.startswith("'source' of read_data must be the path of a table (")
    assert sentence.endswith("got a list. Convert it to a data frame first.")


# -- small tables


def test_one_variable_and_one_row():
    one = Dataset([Variable("a", ("x", "y"))], [[0, 1, 1]])
    found = bootstrap_strength(one, bootstraps=3, **QUICK)
    assert (found.arcs, found.threshold, found.consensus) == ((), 0.0, DAG("a"))
    row = Dataset([Variable("a", ("x", "y")), Variable("b", ("x", "y"))], [[0], [1]])
    assert bootstrap_strength(row, bootstraps=3, **QUICK).consensus == DAG("ab")
