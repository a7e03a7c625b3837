"""A search resumes from its run folder, and the checkpoint of another search is refused."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest

import coevo
from coevo.bundled import load_network
from coevo.errors import CoevoWarning, FileError, FormatError, GraphError, ParameterError
from coevo.files import checkpoints
from coevo.files.checkpoints import read_entries, write_entries
from coevo.graph import DAG, Constraints
from coevo.io import Knowledge, read_run
from coevo.learning import learn
from coevo.learning.checkpoints import CheckpointFile
from coevo.network import sample
from coevo.search import CCGA, StoredCheckpoint, write_checkpoint
from helpers.errors import refusal
from helpers.problems import drop_times
from helpers.values import as_values

CHECKPOINT = Path("run/checkpoint.npz")


@pytest.fixture
def rows(seed):
    return sample(load_network("asia"), 500, seed)


@pytest.fixture(autouse=True)
def _work_in_a_new_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


class CutError(Exception):
    """Stands for the death of the process."""


def kill_at(generation):
    def kill(row):
        if row.generation == generation:
            raise CutError

    return kill


@pytest.fixture
def write_every_checkpoint(monkeypatch):
    """Write every checkpoint."""
    monkeypatch.setattr(checkpoints, "SECONDS_BETWEEN", 0.0)
    monkeypatch.setattr(checkpoints, "SHARE_OF_TIME", 1e9)


def kill_search(rows, generation, **options):
    with pytest.raises(CutError):
        learn(rows, output="run", callbacks=[kill_at(generation)], **as_values(options))


@pytest.mark.parametrize("method", ["ccma", "ccga", "tabu"])
@pytest.mark.parametrize("generation", [0, 1, 4])
def test_resume_after_a_kill(method, generation, rows, seed, write_every_checkpoint):
    options = {"method": method, "max_generations": 6, "random_state": seed}
    uninterrupted = learn(rows, output="uninterrupted", **as_values(options))
    kill_search(rows, generation, **options)
    assert [path.name for path in Path("run").iterdir()] == [CHECKPOINT.name]
    assert StoredCheckpoint(CHECKPOINT).facts.get("stop_reason") is None
    found = learn(rows, output="run", resume=True, **as_values(options))
    assert Path("run/model.bif").read_bytes() == Path("uninterrupted/model.bif").read_bytes()
    assert drop_times(found.history) == drop_times(uninterrupted.history)
    assert found.as_dict() | {"seconds": 0} == uninterrupted.as_dict() | {"seconds": 0}
    assert StoredCheckpoint(CHECKPOINT).facts["stop_reason"] == uninterrupted.search.stop_reason
    # The cache is not part of a checkpoint, so some families are counted again.
    assert found.search.families_scored == read_run(Path("run")).facts["families_scored"]
    assert found.search.families_scored >= uninterrupted.search.families_scored > 0


def test_families_scored_before_a_resume_are_counted(rows, seed):
    options = {"max_generations": 6, "random_state": seed, "output": "run"}
    first = learn(rows, **as_values(options))
    assert first.search.families_scored == first.search.cache.scored > 0
    again = learn(rows, resume=True, **as_values(options))  # it has nothing left to do
    assert again.search.cache.scored == 0
    assert read_run(Path("run")).facts["families_scored"] == first.search.families_scored


def test_a_checkpoint_of_0_2_0_does_not_say_how_many_families_were_scored(rows, seed):
    options = {"random_state": seed, "output": "run"}
    learn(rows, **as_values({**options, "max_generations": 3}))
    entries = read_entries(CHECKPOINT)
    assert int(str(entries.pop("families_scored.json"))) > 0
    write_entries(CHECKPOINT, {name: entries[name] for name in entries if name != "digest"})
    assert (
        learn(
            rows, resume=True, **as_values({**options, "max_generations": 5})
        ).search.families_scored
        is None
    )
    assert read_run(Path("run")).facts["families_scored"] is None
    assert (
        learn(
            rows, resume=True, **as_values({**options, "max_generations": 6})
        ).search.families_scored
        is None
    )


@pytest.mark.parametrize("count", ["-1", "1.5", "many", "[]", "true"])
def test_a_damaged_number_of_families_is_refused(count, rows, seed):
    options = {"random_state": seed, "output": "run", "max_generations": 2}
    learn(rows, **as_values(options))
    entries = read_entries(CHECKPOINT) | {"families_scored.json": np.array(count)}
    write_entries(CHECKPOINT, {name: entries[name] for name in entries if name != "digest"})
    message = refusal(FormatError, learn, rows, resume=True, **as_values(options))
    assert message == f"{str(CHECKPOINT)!r} is not a checkpoint."


def fail_to_write(monkeypatch, *numbers):
    """Let the disk be full at some calls to write a file, else at all; return files and pauses."""
    calls, pauses = [], []
    real = Path.open

    def open_or_fail(path, mode="r", *arguments, **options):
        if mode == "xb":
            calls.append(path.name)
            if not numbers or len(calls) - 1 in numbers:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(path, mode, *arguments, **options)

    monkeypatch.setattr(Path, "open", open_or_fail)
    monkeypatch.setattr(checkpoints.time, "sleep", pauses.append)
    return calls, pauses


@pytest.mark.parametrize("failing", [(0,), (1, 2), (0, 3)])
def test_a_checkpoint_that_fails_does_not_end_the_search(
    failing, rows, write_every_checkpoint, monkeypatch
):
    """It warns once, tries again with the next generation, and changes nothing."""
    options = {"max_generations": 6, "bootstraps": 0}
    uninterrupted = learn(rows, output="uninterrupted", **as_values(options))
    fail_to_write(monkeypatch, *failing)
    with pytest.warns(CoevoWarning) as caught:
        found = learn(rows, output="run", **as_values(options))
    assert [str(warning.message) for warning in caught] == [
        f"{str(CHECKPOINT)!r} cannot be written: No space left on device. The search continues, "
        "and tries again to write a checkpoint."
    ]
    assert found.dag == uninterrupted.dag
    assert set(os.listdir("run")) == set(os.listdir("uninterrupted"))
    assert Path("run/model.bif").read_bytes() == Path("uninterrupted/model.bif").read_bytes()
    resumed = learn(rows, bootstraps=0, output="run", resume=True, budget={"max_generations": 8})
    assert resumed.search.generations == 8


@pytest.fixture
def write_last_checkpoint_only(monkeypatch):
    monkeypatch.setattr(checkpoints, "SECONDS_BETWEEN", 1e9)


def test_the_last_files_are_tried_again(rows, write_last_checkpoint_only, monkeypatch):
    calls, pauses = fail_to_write(monkeypatch, 0, 2)
    learn(rows, bootstraps=0, output="run", budget={"max_generations": 2})
    names = [call.split(".")[1] for call in calls]
    assert names == ["checkpoint", "checkpoint", "model", "model", "history", "run", "report"]
    assert pauses == [0.0, 0.1, 0.0, 0.1]


def test_a_disk_that_stays_full_does_not_lose_the_result(
    rows, write_last_checkpoint_only, monkeypatch
):
    fail_to_write(monkeypatch)
    with pytest.warns(CoevoWarning) as caught:
        found = learn(rows, bootstraps=0, output="run", budget={"max_generations": 2})
    messages = [str(warning.message) for warning in caught]
    assert messages == [
        f"The run folder is not complete: {str(Path('run') / name)!r} cannot be written: "
        "No space left on device."
        for name in ("checkpoint.npz", "model.bif")
    ]
    assert found.dag.arcs
    assert found.files == {}


def test_a_longer_budget_extends_a_run_that_has_ended(rows):
    uninterrupted = learn(rows, output="uninterrupted", budget={"max_generations": 9})
    for limit in (0, 3, 9, 9):
        found = learn(rows, output="run", resume=limit > 0, budget={"max_generations": limit})
        assert found.search.generations == limit
    assert Path("run/model.bif").read_bytes() == Path("uninterrupted/model.bif").read_bytes()
    assert drop_times(found.history) == drop_times(uninterrupted.history)
    assert [row["generation"] for row in read_run(Path("run")).history] == list(range(10))
    shorter = learn(rows, output="run", resume=True, budget={"max_generations": 2})
    assert shorter.search.generations == 9  # what was found is not thrown away


def test_the_time_before_a_resume_counts(rows):
    learn(rows, output="run", budget={"max_generations": 3})
    first = read_run(Path("run")).history[-1]["seconds"]
    found = learn(rows, output="run", resume=True, budget={"max_time": first})
    assert (found.search.stop_reason, found.search.generations) == ("time", 3)
    assert found.search.seconds >= first


def test_a_missing_checkpoint_is_a_warning(rows):
    with pytest.warns(CoevoWarning, match="There is nothing to resume in 'run': it has no check"):
        found = learn(rows, method="hill_climb", output="run", resume=True)
    assert found.dag == learn(rows, method="hill_climb").dag


def test_a_killed_run_is_not_overwritten(rows, write_every_checkpoint):
    kill_search(rows, 2)
    before = CHECKPOINT.read_bytes()
    with pytest.raises(FileError) as caught:
        learn(rows, output="run", random_state=3)
    assert str(caught.value) == (
        "'run' holds a search that was interrupted. Resume it (--resume), or remove "
        f"{str(CHECKPOINT)!r} to start again."
    )
    assert CHECKPOINT.read_bytes() == before
    CHECKPOINT.unlink()
    learn(rows, output="run", random_state=3, budget={"max_generations": 1})
    learn(
        rows, output="run", random_state=4, budget={"max_generations": 1}
    )  # of one that has ended


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        ({"random_state": 1}, "seed 0; this is 1"),
        ({"method": "ccga"}, "method ccma; this is ccga"),
        ({"method": "hill_climb"}, "method ccma; this is hill_climb"),
        ({"score": "bic"}, "score bdeu; this is bic"),
        ({"ess": 2}, "ess 5.0; this is 2"),
        ({"max_parents": 3}, "constraints {}; this is {'max_parents': 3}"),
        ({"constraints": Constraints(roots=["asia"])}, "constraints {}; this is {'roots': ['asia"),
        (
            {"constraints": Knowledge(weights={("asia", "tub"): 1.5})},
            "weights []; this is [['asia', 'tub', 1.5]]",
        ),
        ({"parent_penalty": 2}, "parent_penalty 4.0; this is 2.0"),
        ({"start": "asia"}, "start None; this is [['asia', 'tub']"),
    ],
)
def test_another_search_is_not_resumed(other, sentence, rows):
    learn(rows, output="run", budget={"max_generations": 1})
    before = CHECKPOINT.read_bytes()
    with pytest.raises(FileError) as caught:
        learn(rows, **as_values({"max_generations": 2, "output": "run", "resume": True} | other))
    assert str(caught.value).startswith(f"'run' holds a search with {sentence}")
    assert str(caught.value).endswith("Repeat its settings to resume it, or give another folder.")
    assert CHECKPOINT.read_bytes() == before


def test_a_search_of_another_version_is_not_resumed(rows):
    """Settings may have other names there, so the message does not compare them."""
    found = learn(rows, output="run", budget={"max_generations": 1})
    facts = StoredCheckpoint(CHECKPOINT).facts | {"version": "0.1.0", "settings": {"refill": 12}}
    write_checkpoint(found.search.checkpoint, facts, CHECKPOINT)
    with pytest.raises(FileError) as caught:
        learn(rows, output="run", resume=True, budget={"max_generations": 2})
    assert str(caught.value) == (
        f"'run' holds a search of coevo 0.1.0, which coevo {coevo.__version__} cannot resume. "
        "Give another folder."
    )


def test_another_table_is_not_resumed(rows, seed):
    learn(rows, output="run", budget={"max_generations": 1})
    others = sample(load_network("asia"), 500, seed + 1)
    with pytest.raises(FileError, match="'run' holds a search with other data: hash "):
        learn(others, output="run", resume=True, budget={"max_generations": 2})


def test_files_that_are_not_checkpoints(rows):
    Path("run").mkdir()
    for content, sentence in ((b"", "is not the state of a search"), (b"PK", "is not the state")):
        CHECKPOINT.write_bytes(content)
        for resume in (True, False):
            with pytest.raises(FormatError, match=sentence):
                learn(rows, output="run", resume=resume)
    with pytest.raises(ParameterError, match="'resume' of learn needs 'output', the run folder"):
        learn(rows, resume=True)


def test_how_often_checkpoints_are_written(rows, monkeypatch):
    """Every second, or less write_every_checkpoint if writing takes long."""
    now, took, written = 100.0, 0.0, []

    def write(checkpoint, facts, path):
        nonlocal now
        written.append(now)
        now += took

    monkeypatch.setattr(checkpoints.time, "perf_counter", lambda: now)
    monkeypatch.setattr("coevo.learning.checkpoints.write_checkpoint", write)
    file = CheckpointFile(Path("run"), {}, CCGA())
    for step in range(30):
        now = 100 + 0.4 * step
        file.write_if_due(None)
    assert written == pytest.approx([101.2 + 1.2 * i for i in range(9)])
    written.clear()
    took, now = 0.5, 200.0
    for _ in range(60):
        file.write_if_due(None)
        now += 0.5
    assert written == pytest.approx([200, 210, 220, 230])


def test_leftovers_of_a_process_that_was_killed_are_removed(rows, write_every_checkpoint):
    Path("run").mkdir()
    for name in ("checkpoint.npz", "run.json"):
        Path(f"run/.{name}.00ff00ff.tmp").write_bytes(b"half")
    Path("run/.other.tmp").write_bytes(b"not ours")
    learn(rows, method="hill_climb", output="run")
    assert sorted(path.name for path in Path("run").glob(".*")) == [".other.tmp"]


def test_a_start(rows):
    true = load_network("asia")
    first = learn(rows, score="k2", method="hill_climb", start=true)
    assert first.dag == learn(rows, score="k2", method="hill_climb", start="asia").dag
    assert first.dag == learn(rows, score="k2", method="hill_climb", start=true.dag).dag
    assert learn(rows, score="k2", start=true.dag, budget={"max_generations": 0}).dag == DAG(
        first.dag.nodes, true.dag.arcs
    )
    with pytest.raises(GraphError, match="The start breaks the constraints: 'dysp' has 2 parents"):
        learn(rows, start="asia", max_parents=1)
    with pytest.raises(ParameterError, match="'start' of learn must be a DAG, a network, the path"):
        learn(rows, start=3)
