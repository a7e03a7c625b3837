"""A search on a table with missing values resumes at any moment, under every policy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from coevo.bundled import load_network
from coevo.data import IncompleteDataset
from coevo.errors import FileError, ParameterError
from coevo.files import checkpoints
from coevo.learning import learn
from coevo.missing import POLICIES, Imputations, learn_incomplete
from coevo.network import sample
from coevo.search import Budget, StoredCheckpoint, run_search
from helpers.interrupts import ctrl_c_works, press_ctrl_c
from helpers.problems import drop_times
from helpers.values import as_values

CHECKPOINT = Path("run/checkpoint.npz")
WAYS = [*((policy, "ccma") for policy in sorted(POLICIES)), ("evolve", "ccga"), ("evolve", "tabu")]

DRAWING = [(policy, method) for policy, method in WAYS if policy != "state" and method != "ccga"]


@pytest.fixture
def table(seed):
    rows = sample(load_network("cancer"), 80, seed).expand()
    return IncompleteDataset(rows, np.random.default_rng(seed).random(rows.codes.shape) < 0.15)


@pytest.fixture(autouse=True)
def _write_every_checkpoint_into_a_new_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(checkpoints, "SECONDS_BETWEEN", 0.0)
    monkeypatch.setattr(checkpoints, "SHARE_OF_TIME", 1e9)


class CutError(Exception):
    """Stands for the death of the process."""


def cut_after(n_rows):
    """Return a callback that kills a search at the n-th row of its history."""
    left = n_rows

    def cut(row):
        nonlocal left
        left -= 1
        if left == 0:
            raise CutError

    return cut


def learn_whole(table, options):
    """Learn without a break; return the result and the number of rows of its history."""
    rows = []
    found = learn(table, output="uninterrupted", callbacks=[rows.append], **as_values(options))
    return found, len(rows)


def assert_same(found, uninterrupted):
    assert found.as_dict() | {"seconds": 0} == uninterrupted.as_dict() | {"seconds": 0}
    assert drop_times(found.history) == drop_times(uninterrupted.history)
    one, two = found.imputation.imputed_table, uninterrupted.imputation.imputed_table
    assert (one is None) == (two is None)
    if one is not None:
        assert np.array_equal(one.dataset.codes, two.dataset.codes)
        assert np.array_equal(one.probability, two.probability)
    assert Path("run/model.bif").read_bytes() == Path("uninterrupted/model.bif").read_bytes()


@pytest.mark.parametrize(("policy", "method"), WAYS)
def test_resume_after_a_kill_at_any_generation(policy, method, table, seed):
    n = 44 if policy == "evolve" else 6  # of one search, or of all
    options = {"missing": policy, "method": method, "max_generations": n, "random_state": seed}
    uninterrupted, n_rows = learn_whole(table, options)
    moments = {1, n_rows - 1, int(np.random.default_rng(seed).integers(1, n_rows))}
    for moment in sorted(moment for moment in moments if 0 < moment <= n_rows):
        with pytest.raises(CutError):
            learn(table, output="run", callbacks=[cut_after(moment)], **as_values(options))
        assert_same(learn(table, output="run", resume=True, **as_values(options)), uninterrupted)
        CHECKPOINT.unlink()


@pytest.mark.parametrize("method", ["ccma", "ccga", "islands", "hill_climb", "tabu", "k2", "ges"])
def test_resume_after_a_callback_stops_the_search(method, table, seed):
    """A callback stops a search as Ctrl-C does: with an answer and a checkpoint."""
    options = {"missing": "evolve", "method": method, "max_generations": 6, "random_state": seed}
    uninterrupted, n_rows = learn_whole(table, options)
    for moment in sorted({1, n_rows // 2} - {0}):
        rows = []

        def stop(row, rows=rows, moment=moment):
            rows.append(row)
            return len(rows) == moment

        stopped = learn(table, output="run", callbacks=[stop], **as_values(options))
        assert (stopped.search.stop_reason, stopped.search.method) == ("callback", method)
        assert_same(learn(table, output="run", resume=True, **as_values(options)), uninterrupted)


@pytest.mark.parametrize(("policy", "method"), DRAWING)
@ctrl_c_works()
def test_resume_after_ctrl_c_while_values_are_drawn(policy, method, table, seed, monkeypatch):
    """After Ctrl-C there is an answer, and the resumed search gives the uninterrupted one."""
    options = {"missing": policy, "method": method, "max_generations": 12, "random_state": seed}
    options["bootstraps"] = 0  # its samples draw values too
    uninterrupted = learn(table, output="uninterrupted", **as_values(options))
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
            stopped = learn(table, output="run", **as_values(options))
        if left > 0:
            continue
        assert stopped.search.stop_reason == "interrupt"
        assert stopped.search.history
        assert_same(learn(table, output="run", resume=True, **as_values(options)), uninterrupted)


def test_resume_after_many_kills(table, seed):
    options = {"missing": "evolve", "random_state": seed, "patience": 3}
    uninterrupted = learn(table, output="uninterrupted", **as_values(options))
    for n_cuts in range(100):
        try:
            cut = cut_after(2)
            found = learn(
                table, output="run", resume=n_cuts > 0, callbacks=[cut], **as_values(options)
            )
            break
        except CutError:
            continue
    assert n_cuts > 10
    assert_same(found, uninterrupted)


def test_a_finished_search_continues_on_its_last_imputations(table):
    options = {"missing": "evolve", "output": "run"}
    first = learn(table, **as_values({"max_generations": 20, **options}))
    again = learn(table, resume=True, **as_values({"max_generations": 20, **options}))
    assert again.as_dict() | {"seconds": 0} == first.as_dict() | {"seconds": 0}
    more = learn(table, resume=True, **as_values({"max_generations": 30, **options}))
    assert (first.search.generations, more.search.generations) == (20, 30)
    assert more.search.score >= first.search.score
    assert drop_times(more.history)[: len(first.history)] == drop_times(first.history)


def test_the_time_before_a_resume_counts(table):
    for policy, method in WAYS:
        options = {"missing": policy, "method": method, "output": f"{policy}-{method}"}
        first = learn(table, **as_values({"max_generations": 3, **options}))
        found = learn(
            table, resume=True, **as_values({"max_time": first.search.seconds / 2, **options})
        )
        assert found.search.seconds >= first.search.seconds / 2
        assert found.search.stop_reason in ("time", "finished")


def test_the_time_limit_of_evolve_under_ccga(table):
    """It searches ten generations at a time; the limit holds for all of them together."""
    found = learn_incomplete(table, "evolve", method="ccga", budget=Budget(max_time=0.3))
    assert found.search.stop_reason == "time"
    assert found.search.seconds >= 0.3
    generations = [row.generation for row in found.search.history]
    assert generations == list(range(len(generations)))
    assert all(np.diff([row.seconds for row in found.search.history]) >= 0)


def test_another_search_is_not_resumed(table):
    options = {"max_generations": 2, "output": "run"}
    learn(table, missing="em", **as_values(options))
    before = CHECKPOINT.read_bytes()
    with pytest.raises(FileError, match="'run' holds a search with missing em; this is evolve"):
        learn(table, missing="evolve", resume=True, **as_values(options))
    with pytest.raises(FileError, match="'run' holds a search with other data: hash"):
        learn(table.dataset, resume=True, **as_values(options))
    fewer = table.missing.copy()
    fewer[0] = False
    with pytest.raises(FileError, match="'run' holds a search with other data: hash"):
        learn(
            IncompleteDataset(table.dataset, fewer), missing="em", resume=True, **as_values(options)
        )
    assert CHECKPOINT.read_bytes() == before
    assert StoredCheckpoint(CHECKPOINT).facts["missing"] == "em"


def test_a_state_of_another_policy_or_table_is_refused(table):
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


def test_the_extra_arrays_of_a_checkpoint(table, tmp_path):
    found = learn_incomplete(table, "evolve", budget=Budget(max_generations=7))
    assert sorted(found.checkpoint.extra_arrays) == sorted(
        ["policy", "number", "n_draws", "imputed_codes", "generation", "is_last", "most_probable"]
    )
    assert found.checkpoint.extra_arrays["imputed_codes"].shape == (10, table.n_missing)
    assert run_search("ccma", found.scorer, budget=Budget(max_generations=0)).checkpoint is not None
