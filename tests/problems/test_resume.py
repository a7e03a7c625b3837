"""A run resumes from its folder with the same answer, and another run is refused."""

import errno
import json
import os
from pathlib import Path

import numpy as np
import pytest

import coevo
from coevo.errors import CoevoWarning, FileError, FormatError, ParameterError
from coevo.files import checkpoints
from coevo.files.checkpoints import read_entries, write_entries
from coevo.problems import champion, solve_ordering, solve_tour
from coevo.search import Budget
from helpers.problem_matrices import random_distances

CHECKPOINT = Path("run/checkpoint.npz")
SOLVERS = {"tsp": (solve_tour, "eil51"), "lop": (solve_ordering, "t59n11xx")}


@pytest.fixture(autouse=True)
def _work_in_a_new_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def write_every_checkpoint(monkeypatch):
    monkeypatch.setattr(checkpoints, "SECONDS_BETWEEN", 0.0)
    monkeypatch.setattr(checkpoints, "SHARE_OF_TIME", 1e9)


class CutError(Exception):
    """Stands for the death of the process."""


def kill_at(generation):
    def kill(row):
        if row.generation == generation:
            raise CutError

    return kill


def read_folder(folder):
    """Return the files of a run without times; the checkpoint is compared by its entries."""
    files = {}
    for path in sorted(Path(folder).iterdir()):
        if path.suffix == ".npz":
            entries = read_entries(path)
            del entries["digest"]  # also of the times
            lines = json.loads(str(entries.pop("history.json")))
            files[path.name] = {name: value.tolist() for name, value in entries.items()}
            files["history of the checkpoint"] = [line | {"seconds": 0} for line in lines]
        elif path.suffix == ".jsonl":
            lines = path.read_text().splitlines()
            files[path.name] = [json.loads(line) | {"seconds": 0} for line in lines]
        elif path.suffix == ".json":
            files[path.name] = json.loads(path.read_text()) | {"seconds": 0}
        else:
            files[path.name] = path.read_bytes()
    return files


@pytest.mark.parametrize("problem", SOLVERS)
@pytest.mark.parametrize("form", ["champion", "literal"])
@pytest.mark.parametrize("generation", [0, 1, 4])
def test_resume_after_a_kill(problem, form, generation, seed, write_every_checkpoint):
    solve, name = SOLVERS[problem]
    options = {"form": form, "budget": Budget(max_generations=6), "random_state": seed}
    uninterrupted = solve(name, **options, output="uninterrupted")
    with pytest.raises(CutError):
        solve(name, **options, output="run", callbacks=[kill_at(generation)])
    assert [path.name for path in Path("run").iterdir()] == [CHECKPOINT.name]
    found = solve(name, **options, output="run", resume=True)
    assert read_folder("run") == read_folder("uninterrupted")
    assert found.order == uninterrupted.order
    assert found.as_dict() | {"seconds": 0} == uninterrupted.as_dict() | {"seconds": 0}
    assert found.as_dict() | {"seconds": 0} == solve(name, **options).as_dict() | {"seconds": 0}


def test_the_files_of_a_run():
    found = solve_tour("burma14", budget=Budget(max_generations=2), random_state=3, output="a/run")
    assert found.files == {
        "solution": "a/run/solution.tour",
        "run": "a/run/run.json",
        "history": "a/run/history.jsonl",
        "picture": "a/run/tour.svg",
    }
    facts = json.loads(Path("a/run/run.json").read_text())
    assert facts == {
        "version": coevo.__version__,
        "data_hash": facts["data_hash"],
        "limits": {
            "max_time": None,
            "max_generations": 2,
            "max_evaluations": None,
            "patience": None,
            "target": None,
        },
        **found.as_dict(),
    }
    assert Path("a/run/solution.tour").read_text().startswith("NAME : burma14\nTYPE : TOUR\n")
    assert Path("a/run/tour.svg").read_text().startswith("<svg ")
    lines = Path("a/run/history.jsonl").read_text().splitlines()
    assert [json.loads(line)["generation"] for line in lines] == [0, 1, 2]
    solve_ordering([[0, 5], [1, 0]], budget=Budget(max_generations=1), output="a/run")
    assert sorted(path.name for path in Path("a/run").iterdir()) == [
        *("checkpoint.npz", "history.jsonl", "run.json", "solution.txt"),
    ]  # the files of the tour are gone
    assert Path("a/run/solution.txt").read_text() == "1 2\n"


def test_a_larger_budget_extends_a_run_that_has_ended(seed):
    def solve(limit, folder, resume=False):
        budget = Budget(max_generations=limit)
        options = {"form": "literal", "budget": budget, "random_state": seed}
        return solve_tour("bays29", **options, output=folder, resume=resume)

    uninterrupted = solve(9, "uninterrupted")
    for limit in (0, 3, 9, 9):
        found = solve(limit, "run", resume=limit > 0)
        assert found.generations == limit
    assert read_folder("run") == read_folder("uninterrupted")
    assert found.order == uninterrupted.order
    assert solve(2, "run", resume=True).generations == 9  # what was found is not thrown away


def test_the_time_before_a_resume_counts(seed):
    first = solve_tour("st70", budget=Budget(max_generations=3), random_state=seed, output="run")
    budget = Budget(max_time=first.seconds / 2)
    again = solve_tour("st70", budget=budget, random_state=seed, output="run", resume=True)
    assert (again.stop_reason, again.generations) == ("time", 3)
    assert again.seconds == pytest.approx(first.seconds, abs=1e-6)


def test_an_interrupt_writes_the_folder_and_can_be_resumed(seed):
    def interrupt(row):
        if row.generation == 2:
            raise KeyboardInterrupt

    options = {"form": "literal", "random_state": seed, "budget": Budget(max_generations=6)}
    uninterrupted = solve_tour("eil51", **options)
    stopped = solve_tour("eil51", **options, output="run", callbacks=[interrupt])
    assert (stopped.stop_reason, stopped.generations) == ("interrupt", 2)
    assert json.loads(Path("run/run.json").read_text())["stop_reason"] == "interrupt"
    found = solve_tour("eil51", **options, output="run", resume=True)
    assert found.order == uninterrupted.order
    assert [row.value for row in found.history] == [row.value for row in uninterrupted.history]


def test_very_few_cities_resume(seed):
    distances = random_distances(np.random.default_rng(seed), 4)
    first = solve_tour(distances, output="run", random_state=seed)
    again = solve_tour(distances, output="run", random_state=seed, resume=True)
    assert first.stop_reason == again.stop_reason == "finished"
    assert first.order == again.order


def test_a_missing_checkpoint_is_a_warning(seed):
    with pytest.warns(CoevoWarning) as caught:
        found = solve_tour("burma14", output="run", resume=True, random_state=seed)
    assert str(caught[0].message) == (
        "There is nothing to resume in 'run': it has no checkpoint.npz. The search starts from its "
        "beginning."
    )
    assert caught[0].filename == __file__
    assert found.value == 3323


def test_a_killed_run_is_not_overwritten(seed, write_every_checkpoint):
    with pytest.raises(CutError):
        solve_tour("eil51", output="run", callbacks=[kill_at(2)], random_state=seed)
    before = CHECKPOINT.read_bytes()
    with pytest.raises(FileError) as caught:
        solve_tour("eil51", output="run", random_state=seed)
    assert str(caught.value) == (
        "'run' holds a search that was interrupted. Resume it (--resume), or remove "
        f"{str(CHECKPOINT)!r} to start again."
    )
    assert CHECKPOINT.read_bytes() == before


@pytest.mark.parametrize(
    ("solve", "name", "other", "sentence"),
    [
        (solve_tour, "burma14", {"random_state": 1}, "seed 0; this is 1"),
        (solve_tour, "burma14", {"form": "literal"}, "form champion; this is literal"),
        (solve_tour, "bays29", {}, "other data: hash "),
        (solve_ordering, "t59n11xx", {}, "other data: hash "),
    ],
)
def test_another_run_is_not_resumed(solve, name, other, sentence):
    budget = Budget(max_generations=1)
    solve_tour("burma14", budget=budget, random_state=0, output="run")
    before = CHECKPOINT.read_bytes()
    options = {"budget": budget, "random_state": 0, "output": "run", "resume": True}
    with pytest.raises(FileError) as caught:
        solve(name, **options | other)
    assert str(caught.value).startswith(f"'run' holds a search with {sentence}")
    assert str(caught.value).endswith("Repeat its settings to resume it, or give another folder.")
    assert CHECKPOINT.read_bytes() == before


def test_a_renamed_file_is_the_same_instance(seed):
    Path("one.lop").write_text("3\n0 1 2\n3 0 4\n5 6 0\n")
    Path("two.lop").write_text("a title\n3\n9 1 2\n3 9 4\n5 6 9\n")  # the diagonal is not used
    solve_ordering("one.lop", output="run", random_state=seed, budget=Budget(max_generations=1))
    again = solve_ordering("two.lop", output="run", random_state=seed, resume=True)
    assert again.problem.name == "two"
    assert again.generations > 1


def test_files_that_are_not_checkpoints(seed):
    Path("run").mkdir()
    for content in (b"", b"PK", b"text"):
        CHECKPOINT.write_bytes(content)
        for resume in (True, False):
            with pytest.raises(FormatError) as caught:
                solve_tour("burma14", output="run", resume=resume, random_state=seed)
            assert str(caught.value) == f"{str(CHECKPOINT)!r} is not the state of a search."
    rows = coevo.sample(coevo.load_network("asia"), 100, random_state=seed)
    coevo.learn(rows, method="hill_climb", output="other")
    CHECKPOINT.write_bytes(Path("other/checkpoint.npz").read_bytes())
    for resume in (True, False):
        with pytest.raises(FormatError) as caught:
            solve_tour("burma14", output="run", resume=resume, random_state=seed)
        assert str(caught.value) == f"{str(CHECKPOINT)!r} is not a checkpoint of coevo solve."
    with pytest.raises(ParameterError) as error:
        solve_tour("burma14", resume=True)
    assert str(error.value) == "'resume' of solve_tour needs 'output', the run folder to resume."


def change_order(entries):
    entries["order"] = entries["order"] + 1


def change_first_part(entries):
    entries["part.0"][0, 0] = 99


def shorten_last_part(entries):
    last = f"part.{int(entries['n_parts']) - 1}"
    entries[last] = entries[last][:-1]


def cut_history(entries):
    entries["history.json"] = np.array("[]")


def change_type(entries):
    entries["part.0"] = entries["part.0"].astype(float)


def change_second_part(entries):
    if "part.1" in entries:
        entries["part.1"] = entries["part.1"].astype(np.int64) - 10**6
    else:
        change_type(entries)


def change_score(entries):
    entries["score"] = np.array(np.nan)


def change_generation(entries):
    entries["generation"] = np.array(-1)


def add_part(entries):
    entries["part." + str(entries["n_parts"])] = np.zeros(1)
    entries["n_parts"] = entries["n_parts"] + 1


@pytest.mark.parametrize("problem", SOLVERS)
@pytest.mark.parametrize("form", ["champion", "literal"])
@pytest.mark.parametrize(
    ("change", "flaw"),
    [
        (change_order, "'order' must hold permutations"),
        (change_first_part, "'part.0' must hold permutations"),
        (shorten_last_part, "'part."),
        (cut_history, "its history does not end with its state"),
        (change_type, "'part.0' must be an array of int64 with 2 axes"),
        (change_second_part, "'part."),
        (change_score, "'score' must be a finite number"),
        (change_generation, "'generation' must be an int >= 0"),
        (add_part, "'parts' must be "),
    ],
)
def test_a_state_that_does_not_fit_never_reaches_a_kernel(problem, form, change, flaw, seed):
    solve, name = SOLVERS[problem]
    options = {"form": form, "random_state": seed, "output": "run"}
    solve(name, **options, budget=Budget(max_generations=1))
    entries = read_entries(CHECKPOINT)
    change(entries)
    write_entries(CHECKPOINT, entries)  # with a digest that is right
    with pytest.raises(FormatError) as caught:
        solve(name, **options, resume=True)
    assert str(caught.value).startswith(f"{str(CHECKPOINT)!r} is damaged: {flaw}")
    assert str(caught.value).endswith(". Start a new search.")


def test_a_city_is_not_its_own_neighbour(seed):
    """Its distance of zero would be a gain again and again."""
    solve, name = SOLVERS["tsp"]
    options = {"random_state": seed, "output": "run"}
    solve(name, **options, budget=Budget(max_generations=1))
    entries = read_entries(CHECKPOINT)
    entries["part.1"][3, 0] = 3
    write_entries(CHECKPOINT, entries)
    with pytest.raises(FormatError, match=r"'part\.1' must not make a city its own neighbour\."):
        solve(name, **options, resume=True)


def test_a_changed_entry_does_not_match_the_digest(seed):
    solve_tour("burma14", random_state=seed, output="run", budget=Budget(max_generations=1))
    entries = read_entries(CHECKPOINT)
    entries["evaluations"] = entries["evaluations"] + 1
    np.savez(CHECKPOINT, **entries)
    for resume in (True, False):
        with pytest.raises(FormatError) as caught:
            solve_tour("burma14", random_state=seed, output="run", resume=resume)
        assert str(caught.value) == (
            f"{str(CHECKPOINT)!r} is damaged: its content does not match its digest. Start a new "
            "search."
        )
    del entries["digest"]
    np.savez(CHECKPOINT, **entries)
    with pytest.raises(FormatError, match="is not the state of a search"):
        solve_tour("burma14", random_state=seed, output="run", resume=True)


@pytest.mark.parametrize("line", [[], {}, {"seconds": "1"}, {"seconds": -1}, {"generation": 1.0}])
def test_a_history_that_is_none(line, seed):
    solve_tour("burma14", random_state=seed, output="run", budget=Budget(max_generations=1))
    entries = read_entries(CHECKPOINT)
    rows = json.loads(str(entries["history.json"]))
    rows[-1] = rows[-1] | line if line else line
    entries["history.json"] = np.array(json.dumps(rows))
    write_entries(CHECKPOINT, entries)
    with pytest.raises(FormatError, match="is not the state of a search"):
        solve_tour("burma14", random_state=seed, output="run", resume=True)


def fill_disk(monkeypatch, *numbers):
    """Let the disk be full at some calls to write a file, else at all; return the pauses."""
    n_calls, pauses = 0, []
    real = Path.open

    def open_or_fail(path, mode="r", *arguments, **options):
        nonlocal n_calls
        if mode == "xb":
            n_calls += 1
            if not numbers or n_calls - 1 in numbers:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(path, mode, *arguments, **options)

    monkeypatch.setattr(Path, "open", open_or_fail)
    monkeypatch.setattr(checkpoints.time, "sleep", pauses.append)
    return pauses


def test_a_checkpoint_that_fails_does_not_end_the_run(seed, write_every_checkpoint, monkeypatch):
    options = {"budget": Budget(max_generations=4), "random_state": seed}
    solve_tour("burma14", **options, output="uninterrupted")
    fill_disk(monkeypatch, 0, 2)
    with pytest.warns(CoevoWarning) as caught:
        solve_tour("burma14", **options, output="run")
    assert [str(warning.message) for warning in caught] == [
        f"{str(CHECKPOINT)!r} cannot be written: No space left on device. The search continues, "
        "and tries again to write a checkpoint."
    ]
    assert read_folder("run") == read_folder("uninterrupted")


def test_a_disk_that_stays_full_does_not_lose_the_result(seed, monkeypatch):
    options = {"budget": Budget(max_generations=2), "random_state": seed}
    right = solve_ordering("t59n11xx", **options)
    monkeypatch.setattr(checkpoints, "SECONDS_BETWEEN", 1e9)
    pauses = fill_disk(monkeypatch)
    with pytest.warns(CoevoWarning) as caught:
        found = solve_ordering("t59n11xx", **options, output="run")
    assert [str(warning.message) for warning in caught] == [
        f"The run folder is not complete: {str(Path('run') / name)!r} cannot be written: No space "
        "left on device."
        for name in ("checkpoint.npz", "solution.txt")
    ]
    assert pauses == 2 * [0.0, 0.1, 0.4, 1.0]
    assert (found.order, found.value, found.files) == (right.order, right.value, {})


@pytest.mark.parametrize("problem", SOLVERS)
def test_a_step_beyond_the_time_limit_is_dropped(problem, seed, monkeypatch):
    """The answer is that of the last complete generation, and can be resumed."""
    solve, name = SOLVERS[problem]
    limits = {"max_generations": 3}
    uninterrupted = solve(name, budget=Budget(**limits), random_state=seed)
    now = 0.0
    monkeypatch.setattr("coevo.search.loop.measure_work_time", lambda: now)
    monkeypatch.setattr("coevo.runtime.deadline.measure_work_time", lambda: now)

    def wait(row):
        nonlocal now
        now = 5.0 if row.generation < 2 else 10.0

    real = champion.check_deadline

    def check():
        nonlocal now
        now += 0.001 if now < 10 else 1.0
        real()

    monkeypatch.setattr(champion, "check_deadline", check)
    budget = Budget(max_time=10.0005, **limits)
    options = {"random_state": seed, "output": "run"}
    found = solve(name, **options, budget=budget, callbacks=[wait])
    assert (found.stop_reason, found.generations) == ("time", 2)
    assert found.value == uninterrupted.history[2].value
    again = solve(name, **options, budget=Budget(**limits), resume=True)
    assert again.order == uninterrupted.order


@pytest.mark.parametrize("name", ["order", "part.0", "generation", "history.json", "n_parts"])
def test_a_checkpoint_with_a_missing_entry(name, seed):
    solve_tour("burma14", random_state=seed, output="run", budget=Budget(max_generations=1))
    entries = read_entries(CHECKPOINT)
    del entries[name]
    write_entries(CHECKPOINT, entries)
    with pytest.raises(FormatError) as caught:
        solve_tour("burma14", random_state=seed, output="run", resume=True)
    assert str(caught.value) == f"{str(CHECKPOINT)!r} is not the state of a search."
