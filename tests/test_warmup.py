"""One warm-up compiles all kernels; after it no command compiles anything."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

import coevo
from coevo import warmup
from coevo.cli.console import open_console
from coevo.errors import WorkerError
from coevo.jit import KERNELS, Kernel, announce_compilation, find_kernel_files
from coevo.search import METHODS
from coevo.warmup import COMPILING_MESSAGE, FIRST_GROUPS, ROOMS, import_kernels, list_groups
from helpers.problems import MovedClock

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="the JIT is off")

ROOT = Path(coevo.__file__).parent
COMPILED_AGAIN = ("archive_kernels", "repair_kernels", "cell_kernels")

# Run commands in one process and count what numba compiles in each.
DRIVER = """
import json, sys
from numba.core import event
from coevo.cli import main

class Listener(event.Listener):
    n = 0
    def on_start(self, event):
        Listener.n += 1
    def on_end(self, event):
        pass

answers = []
with event.install_listener("numba:compile", Listener()):
    for arguments in json.loads(sys.argv[1]):
        before = Listener.n
        sys.argv = ["coevo", *arguments]
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code
        answers.append([code, Listener.n - before])
print(json.dumps(answers), file=sys.stderr)
"""


def run(*command, cache, **environment):
    """Run Python with an own cache; return the exit code, stdout and stderr."""
    env = {**os.environ, "COEVO_CACHE_DIR": str(cache), **environment}
    done = subprocess.run(
        [sys.executable, *map(str, command)], env=env, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """Return a cache after ``coevo warmup``, and what the command printed.

    To compile all kernels takes half a minute, and `scripts/test` does it before the tests. So the
    cache is a copy of that one without some modules of three rooms, which are compiled again.
    """
    warmup.warm_up()
    folder = warmup._find_marker(ROOMS[0]).parent
    cache = tmp_path_factory.mktemp("cache") / "new"
    removed = [f"{name}.*" for name in COMPILED_AGAIN]
    ignore = shutil.ignore_patterns("complete-*", "test_*", *removed)
    shutil.copytree(folder, cache / "kernels" / folder.name, ignore=ignore)
    code, out, err = run("-m", "coevo", "warmup", "--format", "json", cache=cache)
    assert (code, err) == (0, f"{COMPILING_MESSAGE}\n")
    return cache, json.loads(out)


def write_tables(folder):
    """Write tables of several shapes."""
    states = "".join(f"s{i % 300},{i % 2},{i % 3},{i * 7919 % 1000 / 10}\n" for i in range(1500))
    (folder / "wide.csv").write_text("a,b,c,x\n" + states)
    holes = "".join(
        f"{'' if i % 7 == 0 else i % 2},{i % 3},{'' if i % 11 == 0 else i % 5 // 2}\n"
        for i in range(600)
    )
    (folder / "holes.csv").write_text("a,b,c\n" + holes)


def test_ten_varied_commands_compile_nothing_after_the_warm_up(warm, tmp_path):
    write_tables(tmp_path)
    asia, wide, holes = tmp_path / "asia.csv", tmp_path / "wide.csv", tmp_path / "holes.csv"
    model = tmp_path / "run" / "model.bif"
    few = ["--max-generations", "2"]
    commands = [
        ["sample", "asia", "--rows", "2000", "-o", asia],
        ["learn", asia, *few, "-o", tmp_path / "run"],
        ["learn", "--example", "alarm", "--rows", "500", "-m", "ccga", "-s", "k2", *few],
        ["learn", asia, "-m", "hill_climb", "-s", "bic"],
        ["learn", wide, "-s", "bds", *few],
        ["learn", wide, "-m", "k2", "-s", "loglik"],
        ["learn", holes, "--missing", "evolve", *few, "--imputed", tmp_path / "full.csv"],
        ["learn", holes, "--missing", "available", "-m", "tabu", "-s", "aic"],
        ["learn", asia, "-m", "hill_climb", "-s", "qnml"],
        ["learn", wide, "-m", "hill_climb", "-s", "fnml"],
        ["learn", asia, "-m", "pc"],
        ["learn", wide, "-m", "mmhc", "--start", "pc"],
        ["learn", asia, "-m", "wong", *few],
        ["learn", asia, "-m", "mdlep", *few],
        ["test", wide, "a", "b", "--given", "c"],
        ["score", asia, "--structure", model, "-s", "k2"],
        ["predict", model, asia, "lung"],
        ["query", model, "lung"],
        ["posterior", asia, "-s", "bdeu", "--networks", "5"],
        ["posterior", asia, "--sampler", "chains", "--max-steps", "1"],
        ["posterior", asia, "--sampler", "chains", "--prior", "order", "--max-steps", "1"],
        ["solve", "tsp", "burma14", "--max-generations", "1"],
        ["solve", "lop", "t59n11xx", "--max-generations", "1"],
    ]
    code, _, err = run("-c", DRIVER, json.dumps(commands, default=str), cache=warm[0])
    assert code == 0
    assert json.loads(err.splitlines()[-1]) == [[0, 0]] * len(commands)
    assert COMPILING_MESSAGE not in err


def test_shards_and_bootstraps_compile_nothing(warm, tmp_path):
    pytest.importorskip("pyarrow")
    rows = tmp_path / "asia.parquet"
    few = ["--max-generations", "2"]
    commands = [
        ["sample", "asia", "--rows", "500", "-o", rows],
        ["learn", rows, "--shards", tmp_path, *few],
        ["strength", rows, "--bootstraps", "2", "-j", "1", "-m", "islands", *few],
    ]
    code, _, err = run("-c", DRIVER, json.dumps(commands, default=str), cache=warm[0])
    assert code == 0
    assert json.loads(err.splitlines()[-1]) == [[0, 0]] * len(commands)


def test_the_command_says_what_it_did(warm):
    cache, answer = warm
    folder = Path(answer.pop("folder"))
    assert folder.parent == cache / "kernels"
    assert answer.pop("seconds") > 0
    kernels = import_kernels()
    n, n_compiled = len(kernels), sum(one.__module__.endswith(COMPILED_AGAIN) for one in kernels)
    assert n_compiled >= 3
    assert answer == {"kernels": n, "compiled": n_compiled}
    again = run("-m", "coevo", "warmup", cache=cache)
    assert again == (0, f"All {n} kernels are compiled, in {folder}.\n", "")


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    code, out, err = run("-m", "coevo", "warmup", cache=tmp_path / "file")
    assert (code, out) == (2, "")
    assert err.startswith(f"Error: '{tmp_path / 'file' / 'kernels'}{os.sep}")
    assert err.endswith(
        "' is not writable, or its disk is full, so compiled kernels cannot be stored. Set "
        "COEVO_CACHE_DIR to a folder that is writable.\n"
    )


def test_without_the_jit_there_is_nothing_to_compile(tmp_path):
    done = run("-m", "coevo", "warmup", cache=tmp_path / "new", NUMBA_DISABLE_JIT="1")
    assert done == (0, "NUMBA_DISABLE_JIT is set, so there are no kernels to compile.\n", "")
    assert not (tmp_path / "new").exists()


def test_rooms_are_compiled_apart():
    rooms = [{name for group in list_groups(room) for name in group} for room in ROOMS]
    assert set.union(*rooms) == {name for group in list_groups() for name in group}
    assert sum(map(len, rooms)) == len(set.union(*rooms))
    assert rooms[1] == {"coevo.score.independence_kernels"}
    assert rooms[2] == {"coevo.search.repair_kernels"}
    assert all(name.startswith("coevo.averaging.") for name in rooms[3])
    assert all(name.startswith("coevo.exact.") for name in rooms[4])
    assert all(name.startswith("coevo.problems.") for name in rooms[5])
    assert rooms[6] == {"coevo.outofcore.family_count_kernels"}


def test_methods_name_the_rooms_of_all_kernels_that_they_call():
    """A search loads kernels of the rooms of its method only."""
    code = (
        "import coevo\n"
        "from coevo import jit, warmup\n"
        "rows = coevo.sample(coevo.load_network('asia'), 200, random_state=1)\n"
        "for name in ('hill_climb', 'ga', 'pc', 'mmhc', 'wong'):\n"
        "    coevo.run_search(name, coevo.FamilyScorer(rows), random_state=1)\n"
        "    loaded = [one for one in jit.KERNELS if one._call == one._dispatcher]\n"
        "    print(*sorted({warmup.find_room(one.__module__) for one in loaded}))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names = ("hill_climb", "ga", "pc", "mmhc", "wong")
    rooms = [set(METHODS[name].kernel_rooms) for name in names]
    loaded = [" ".join(sorted(set.union(*rooms[: i + 1]))) for i in range(len(rooms))]
    assert done.stdout.splitlines() == loaded


def test_every_kernel_is_in_the_list():
    listed = {one.full_name for one in import_kernels()}
    found = set()
    files = find_kernel_files()
    for file in files:
        name = ".".join(["coevo", *file.relative_to(ROOT).with_suffix("").parts])
        module = importlib.import_module(name)
        found |= {one.full_name for one in vars(module).values() if isinstance(one, Kernel)}
    assert found == listed
    assert len(listed) == len(import_kernels())
    modules = [name for group in list_groups() for name in group]
    assert len(set(modules)) == len(modules) == len(files)
    assert {name for group in FIRST_GROUPS for name in group} <= set(modules)
    assert all(one.__module__.endswith("_kernels") for one in import_kernels())
    assert set(map(id, import_kernels())) <= set(map(id, KERNELS))


@pytest.fixture
def unchecked(monkeypatch):
    """Let `ensure_compiled` check again, with an incomplete cache and no process to start."""
    calls = []
    monkeypatch.setattr(warmup._State, "checked", set())
    monkeypatch.setattr(warmup._State, "is_announced", False)
    monkeypatch.setattr(warmup, "is_complete", lambda room: False)
    monkeypatch.setattr(warmup, "_warm_up", lambda rooms, announce: calls.append(announce))
    return calls


def test_several_rooms_are_compiled_together_and_once(unchecked, monkeypatch):
    compiled = []
    monkeypatch.setattr(warmup, "_warm_up", lambda rooms, announce: compiled.append(rooms))
    warmup.ensure_compiled(*METHODS["pc"].kernel_rooms)
    warmup.ensure_compiled()
    warmup.ensure_compiled("problems", "independence")
    assert compiled == [["networks", "independence"], ["problems"]]


def test_a_search_compiles_once_before_its_clock_starts(unchecked, monkeypatch):
    scorer = coevo.FamilyScorer(coevo.sample(coevo.load_network("asia"), 100, random_state=1))
    clock = MovedClock(monkeypatch)

    def take_a_minute(rooms, announce):
        unchecked.append(announce)
        clock.now += 60

    monkeypatch.setattr(warmup, "_warm_up", take_a_minute)
    for _ in range(2):
        found = coevo.run_search("hill_climb", scorer)
        assert found.seconds == 0
    assert len(unchecked) == 1


def test_the_place_that_shows_progress_announces_the_warm_up(unchecked, capsys):
    said = []
    with announce_compilation(lambda: said.append("compiling")):
        warmup.ensure_compiled()
        unchecked[0]()
    assert said == ["compiling"]
    assert capsys.readouterr().err == ""


def test_a_search_without_progress_announces_the_warm_up_on_stderr(unchecked, capsys):
    warmup.ensure_compiled()
    unchecked[0]()
    assert capsys.readouterr().err == f"{COMPILING_MESSAGE}\n"


def test_one_process_announces_once(unchecked, capsys):
    """A second room, and a second display of a command, say nothing more."""
    warmup.ensure_compiled()
    warmup.ensure_compiled("averaging")
    with open_console():
        warmup.ensure_compiled("problems")
    for announce in unchecked:
        announce()
    assert len(unchecked) == 3
    assert capsys.readouterr().err == f"{COMPILING_MESSAGE}\n"


def test_the_lock_has_one_holder_and_no_wait_without_a_limit(tmp_path, monkeypatch):
    marker = tmp_path / "complete-0123"
    monkeypatch.setattr(warmup, "MAX_WAIT", 0.0)
    with warmup._lock(marker), open(marker.with_suffix(".lock"), "ab") as file:
        assert not warmup._try_lock(file)
        with warmup._lock(marker):  # it gives up
            pass
    with open(marker.with_suffix(".lock"), "ab") as file:
        assert warmup._try_lock(file)
    monkeypatch.setattr(warmup, "MAX_WAIT", 1e9)
    with warmup._lock(marker):
        marker.touch()
        with warmup._lock(marker):  # the other process is ready, so there is nothing to wait for
            pass


def test_nothing_is_compiled_where_no_process_can_start(unchecked, monkeypatch):
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    warmup.ensure_compiled()
    assert unchecked == []


def test_a_failed_warm_up_stops_no_search(unchecked, monkeypatch):
    def fail(rooms, announce):
        raise warmup.WorkerError("2 of 3 kernels were not compiled.")

    monkeypatch.setattr(warmup, "_warm_up", fail)
    warmup.ensure_compiled()


def test_the_script_of_a_user_does_not_run_again(warm, tmp_path):
    """A script without a guard runs once, although the warm-up starts processes."""
    script = tmp_path / "script.py"
    script.write_text("print('run')\nfrom coevo.warmup import warm_up\nwarm_up()\n")
    assert run(script, cache=warm[0]) == (0, "run\n", "")
    marker = next(Path(warm[0]).rglob("complete-*[!k]"))
    marker.unlink()  # the kernels are there, so the processes only load them
    code, out, _ = run(script, cache=warm[0])
    assert (code, out) == (0, "run\n")
    assert marker.exists()


def test_a_full_disk_is_an_error_of_the_command_and_a_warning_of_a_search(tmp_path):
    """A limit on the size of files fails in the same place as a full disk."""
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000));"
        "from coevo import warmup;"
        "warmup.list_groups = lambda *rooms: [('coevo.search.archive_kernels',)];"
        "import coevo.cli; sys.argv[1:] = ['warmup'];"
        "warmup.ensure_compiled(); coevo.cli.main()"
    )
    status, out, err = run("-W", "always", "-c", code, cache=tmp_path / "new")
    assert (status, out) == (2, "")
    sentence = (
        "' is not writable, or its disk is full, so compiled kernels cannot be stored. Set "
        "COEVO_CACHE_DIR to a folder that is writable.\n"
    )
    assert err.count(sentence) == 2
    assert "CoevoWarning: '" in err
    assert "Error: '" in err
    assert not list((tmp_path / "new").rglob("complete-*[!k]"))  # the next start tries again


@pytest.mark.parametrize(
    ("worker", "reason"),
    [
        (
            "import os; os.kill(os.getpid(), 9)",
            "a process was ended by SIGKILL, as happens when the memory is full",
        ),
        ("raise ValueError('no such type.')", "a process ended early (ValueError: no such type)"),
        ("", "a process ended early (no reason is known)"),
    ],
)
def test_a_warm_up_that_fails_says_why(tmp_path, monkeypatch, worker, reason):
    groups = list_groups("repair")
    monkeypatch.setattr(warmup, "WORKER", worker)
    monkeypatch.setattr(warmup, "_find_marker", lambda room: tmp_path / "cache" / room)
    with pytest.raises(WorkerError) as caught:
        warmup._warm_up(["repair"], lambda: None)
    assert str(caught.value) == (
        f"{len(groups)} of {len(groups)} groups of kernels were not compiled, because {reason}. "
        "Other commands compile these kernels when they need them."
    )
    assert [file.name for file in (tmp_path / "cache").iterdir()] == ["repair.lock"]


def test_a_cache_that_cannot_be_entered_is_not_complete(tmp_path, monkeypatch):
    """As in a container that keeps the home folder of another user."""
    monkeypatch.setattr(warmup, "_find_marker", lambda room: tmp_path / ("x" * 300))
    assert not warmup.is_complete("networks")
