"""A proof that is stopped and resumed is the same as one that was never stopped."""

import numpy as np
import pytest

from coevo.errors import FormatError
from coevo.exact import make_certificate, run_proof
from coevo.exact.run import ProofCheckpointFile
from coevo.files.checkpoints import DIGEST, read_entries, write_entries
from coevo.search import Budget
from helpers.proofs import limit_tables, prove_example

FACTS = {"version": "1", "seed": 0}


@pytest.fixture(autouse=True)
def limited_tables():
    """Prove as `prove_example` does."""
    with limit_tables(4):
        yield


def test_a_resumed_proof_is_the_same(tmp_path):
    _, task, last, certificate = prove_example()
    n_steps = last.state.generation
    for stop in sorted({1, n_steps // 2, n_steps - 1}):
        first, reason = run_proof(
            task, budget=Budget(), callbacks=[lambda row, n=stop: row.generation >= n]
        )
        assert reason == "callback"
        file = ProofCheckpointFile(tmp_path, FACTS, task.families)
        assert file.finish(first, reason) is None
        loaded = file.load()
        second, reason = run_proof(task, budget=Budget(), resume_from=loaded)
        assert reason == "finished"
        assert make_certificate(task, second.state).as_dict() == certificate.as_dict()
        assert [row.gap for row in second.history] == [row.gap for row in last.history]


def write_changed(folder, name, change):
    """Write the checkpoint of the example with one entry changed; return the file."""
    _, task, last, _ = prove_example()
    file = ProofCheckpointFile(folder, FACTS, task.families)
    assert file.finish(last, "finished") is None
    path = folder / "checkpoint.npz"
    entries = read_entries(path)
    assert len(entries[name]) > 0
    del entries[DIGEST]
    entries[name] = change(entries[name])
    write_entries(path, entries)
    return file


def test_a_bound_in_a_file_is_not_believed(tmp_path):
    """Weights that are changed in a checkpoint change the bound, never the truth."""
    _, task, last, _ = prove_example()
    loaded = write_changed(tmp_path, "node.weights", lambda weights: weights // 2).load()
    end, _ = run_proof(task, budget=Budget(max_generations=0), resume_from=loaded)
    search = task.make_search()
    assert search.compute_gap(search.restore(loaded.state)) > search.compute_gap(last.state)
    again, reason = run_proof(task, budget=Budget(), resume_from=end)
    assert again.state.score == last.state.score
    assert reason == "finished"


def test_a_table_in_a_file_is_not_believed(tmp_path):
    """Each table must give every network the points that it promises."""
    file = write_changed(tmp_path, "table.rights", lambda rights: rights + 1)
    with pytest.raises(FormatError) as caught:
        file.load()
    path = tmp_path / "checkpoint.npz"
    assert str(caught.value) == f"{str(path)!r} is not the state of a search."


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("chosen", np.array([0])),
        ("rows", np.array([10**6])),
        ("orders", np.array([0])),
        ("table.rights", np.array([9, 9, 9, 9, 9])),
        ("table.rights", np.array([], dtype=np.int64)),
        ("table.points", np.array([1], dtype=np.uint8)),
        ("node.weights", np.array([-1])),
        ("nodes", np.zeros((1, 6), dtype=np.int64)),
        ("numbers", np.array([1, 2])),
        ("basis.columns", np.array([9], dtype=np.uint8)),
    ],
)
def test_damaged_states_are_refused(tmp_path, name, value):
    _, task, last, _ = prove_example()
    file = ProofCheckpointFile(tmp_path, FACTS, task.families)
    assert file.finish(last, "finished") is None
    path = tmp_path / "checkpoint.npz"
    entries = read_entries(path)
    del entries[DIGEST]
    entries[name] = value
    write_entries(path, entries)
    with pytest.raises(FormatError) as caught:
        file.load()
    assert str(caught.value) == f"{str(path)!r} is not the state of a search."
