"""A run on a table with missing cells goes on where it was, whatever its policy was doing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from coevo.bundled import load_network
from coevo.data import IncompleteDataset
from coevo.errors import FileError, ParameterError
from coevo.learning import checkpoints, learn
from coevo.missing import POLICIES, Imputations, learn_incomplete
from coevo.network import sample
from coevo.search import Budget, StoredCheckpoint, run_search
from helpers.interrupts import ctrl_c_works, press_ctrl_c
from helpers.problems import drop_times

CHECKPOINT = Path("run/checkpoint.npz")
WAYS = [*((policy, "ccma") for policy in sorted(POLICIES)), ("evolve", "ccga"), ("evolve", "tabu")]

DRAWING = [(policy, method) for policy, method in WAYS if policy != "state" and method != "ccga"]


@pytest.fixture
def table(seed):
    rows = sample(load_network("asia"), 80, seed).expand()
    return IncompleteDataset(rows, np.random.default_rng(seed).random(rows.codes.shape) < 0.15)


@pytest.fixture(autouse=True)
def _every_checkpoint_in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(checkpoints, "SECONDS_BETWEEN", 0.0)
    monkeypatch.setattr(checkpoints, "SHARE_OF_TIME", 1e9)


class CutError(Exception):
    """What ends a process at once, in these tests."""


def cut_after(n_rows):
    """Return a callback that cuts a search off when it is told of its n-th row."""
    left = n_rows

    def cut(row):
        nonlocal left
        left -= 1
        if left == 0:
            raise CutError

    return cut


def n_told(table, options):
    rows = []
    learn(table, callbacks=[rows.append], **options)
    return len(rows)


def same(found, whole):
    assert found.as_dict() | {"seconds": 0} == whole.as_dict() | {"seconds": 0}
    assert drop_times(found.history) == drop_times(whole.history)
    one, two = found.imputation.imputed_table, whole.imputation.imputed_table
    assert (one is None) == (two is None)
    if one is not None:
        assert np.array_equal(one.dataset.codes, two.dataset.codes)
        assert np.array_equal(one.probability, two.probability)
    assert Path("run/model.bif").read_bytes() == Path("whole/model.bif").read_bytes()


@pytest.mark.parametrize(("policy", "method"), WAYS)
def test_cut_off_anywhere(policy, method, table, seed):
    n = 44 if policy == "evolve" else 6  # of one search, or of all
    options = {"missing": policy, "method": method, "max_generations": n, "random_state": seed}
    whole = learn(table, output="whole", **options)
    told = n_told(table, options)
    moments = {1, told - 1, *np.random.default_rng(seed).integers(1, told, size=2).tolist()}
    for moment in sorted(moment for moment in moments if 0 < moment <= told):
        with pytest.raises(CutError):
            learn(table, output="run", callbacks=[cut_after(moment)], **options)
        same(learn(table, output="run", resume=True, **options), whole)
        CHECKPOINT.unlink()


@pytest.mark.parametrize("method", ["ccma", "ccga", "islands", "hill_climb", "tabu", "k2"])
def test_ended_by_hand(method, table, seed):
    """A callback ends it as Ctrl-C does: with an answer, and a checkpoint of whatever ran."""
    options = {"missing": "evolve", "method": method, "max_generations": 6, "random_state": seed}
    whole = learn(table, output="whole", **options)
    told = n_told(table, options)
    for moment in sorted({1, told // 2, told - 1} - {0}):
        rows = []

        def stop(row, rows=rows, moment=moment):
            rows.append(row)
            return len(rows) == moment

        stopped = learn(table, output="run", callbacks=[stop], **options)
        assert (stopped.search.stop_reason, stopped.search.method) == ("callback", method)
        same(learn(table, output="run", resume=True, **options), whole)


@pytest.mark.parametrize(("policy", "method"), DRAWING)
@ctrl_c_works()
def test_ctrl_c_while_cells_are_drawn(policy, method, table, seed, monkeypatch):
    """Whenever it comes, there is an answer, and the same command goes on to the same one."""
    options = {"missing": policy, "method": method, "max_generations": 12, "random_state": seed}
    whole = learn(table, output="whole", **options)
    really = Imputations._sweep
    for number in (1, 2, 4):
        left = number

        def sweep(self, *arguments):
            nonlocal left
            left -= 1
            if left == 0:
                press_ctrl_c()
            return really(self, *arguments)

        with monkeypatch.context() as patched:
            patched.setattr(Imputations, "_sweep", sweep)
            stopped = learn(table, output="run", **options)
        if left > 0:
            continue
        assert stopped.search.stop_reason == "interrupt"
        assert stopped.search.history
        same(learn(table, output="run", resume=True, **options), whole)


def test_cut_off_again_and_again(table, seed):
    options = {"missing": "evolve", "random_state": seed, "patience": 3}
    whole = learn(table, output="whole", **options)
    for n_cuts in range(100):
        try:
            cut = cut_after(2)
            found = learn(table, output="run", resume=n_cuts > 0, callbacks=[cut], **options)
            break
        except CutError:
            continue
    assert n_cuts > 10
    same(found, whole)


def test_one_that_has_ended_goes_on_with_the_last_completions(table):
    options = {"missing": "evolve", "output": "run"}
    first = learn(table, max_generations=20, **options)
    again = learn(table, max_generations=20, resume=True, **options)
    assert again.as_dict() | {"seconds": 0} == first.as_dict() | {"seconds": 0}
    more = learn(table, max_generations=30, resume=True, **options)
    assert (first.search.generations, more.search.generations) == (20, 30)
    assert more.search.score >= first.search.score
    assert drop_times(more.history)[: len(first.history)] == drop_times(first.history)


def test_seconds_that_were_spent_count(table):
    for policy, method in WAYS:
        options = {"missing": policy, "method": method, "output": f"{policy}-{method}"}
        first = learn(table, max_generations=3, **options)
        found = learn(table, max_time=first.search.seconds / 2, resume=True, **options)
        assert found.search.seconds >= first.search.seconds / 2
        assert found.search.stop_reason in ("time", "finished")


def test_a_limit_of_time_ends_the_plain_form(table):
    """It searches ten generations at a time, and all of them together have the limit."""
    found = learn_incomplete(table, "evolve", method="ccga", budget=Budget(max_time=0.3))
    assert found.search.stop_reason == "time"
    assert found.search.seconds >= 0.3
    generations = [row.generation for row in found.search.history]
    assert generations == list(range(len(generations)))
    assert all(np.diff([row.seconds for row in found.search.history]) >= 0)


def test_another_search_is_not_gone_on_with(table):
    options = {"max_generations": 2, "output": "run"}
    learn(table, missing="em", **options)
    before = CHECKPOINT.read_bytes()
    with pytest.raises(FileError, match="'run' holds a search with missing em; this is evolve"):
        learn(table, missing="evolve", resume=True, **options)
    with pytest.raises(FileError, match="'run' holds a search with other data: hash"):
        learn(table.dataset, resume=True, **options)
    fewer = table.missing.copy()
    fewer[0] = False
    with pytest.raises(FileError, match="'run' holds a search with other data: hash"):
        learn(IncompleteDataset(table.dataset, fewer), missing="em", resume=True, **options)
    assert CHECKPOINT.read_bytes() == before
    assert StoredCheckpoint(CHECKPOINT).facts["missing"] == "em"


def test_a_state_of_something_else(table):
    found = learn_incomplete(table, "evolve", budget=Budget(max_generations=3))
    assert found.checkpoint is not None
    plain = replace(found.checkpoint, extra_arrays={})
    sentence = r"^The state is not one of this policy. Resume with the policy that made it.$"
    for policy in ("evolve", "em"):
        with pytest.raises(ParameterError, match=sentence):
            learn_incomplete(table, policy, state=plain)
    fewer = table.missing.copy()
    fewer[0] = False
    n, n_fewer = table.n_missing, int(fewer.sum())
    with pytest.raises(ParameterError) as caught:
        learn_incomplete(IncompleteDataset(table.dataset, fewer), state=found.checkpoint)
    assert str(caught.value) == (
        f"The state has {n} missing values, and the table has {n_fewer}. Resume with the table "
        "that it was made from."
    )


def test_a_checkpoint_and_what_stands_beside_it(table, tmp_path):
    found = learn_incomplete(table, "evolve", budget=Budget(max_generations=7))
    assert sorted(found.checkpoint.extra_arrays) == sorted(
        ["policy", "number", "n_draws", "imputed_codes", "generation", "is_last", "most_probable"]
    )
    assert found.checkpoint.extra_arrays["imputed_codes"].shape == (10, table.n_missing)
    assert run_search("ccma", found.scorer, budget=Budget(max_generations=0)).checkpoint is not None
