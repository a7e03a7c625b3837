"""One command at a time writes to a run folder; a killed one does not block the next."""

import os
import sys
import threading

import pytest

from coevo.errors import FileError
from coevo.files import run_folder
from coevo.files.run_folder import lock_run_folder
from helpers.forked import ForkedProcess

HOLDS = """
import sys
from pathlib import Path
from coevo.files.run_folder import lock_run_folder
with lock_run_folder(Path(sys.argv[1])):
    print("locked", flush=True)
    import signal
    signal.pause()
"""
SENTENCE = "Another command is writing to 'run'. Wait until it has ended, or give another folder."


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def held(tmp_path):
    """Return a process that holds the lock of the folder 'run'."""
    with ForkedProcess(HOLDS, "run", cwd=tmp_path) as process:
        assert process.stdout.readline() == "locked\n"
        yield process
        process.kill()


def try_lock(folder):
    try:
        with lock_run_folder(folder):
            return None
    except FileError as error:
        return str(error)


def test_a_lock_of_another_process_ends_with_it(held, tmp_path):
    folder = tmp_path / "run"
    assert try_lock(folder) == SENTENCE.replace("'run'", repr(str(folder)))
    held.kill()
    held.wait()
    assert try_lock(folder) is None
    assert not any(folder.iterdir()) or sys.platform == "win32"


def test_a_thread_can_lock_again_and_another_cannot(tmp_path):
    folder, found = tmp_path / "run", []
    with lock_run_folder(folder), lock_run_folder(folder / ".." / "run"):
        thread = threading.Thread(target=lambda: found.append(try_lock(folder)))
        thread.start()
        thread.join()
    assert found[0].startswith("Another command is writing to ")
    assert try_lock(folder) is None
    assert run_folder._HOLDERS == {}


def test_folders_that_stay_empty_are_removed(tmp_path):
    with lock_run_folder(tmp_path / "a" / "b"):
        assert (tmp_path / "a" / "b").is_dir()
    assert not (tmp_path / "a").exists()
    with lock_run_folder(tmp_path / "a" / "b"):
        (tmp_path / "a" / "file").touch()
    assert os.listdir(tmp_path / "a") == ["file"]
    with lock_run_folder(None):
        pass


def test_rests_of_killed_commands_are_removed(tmp_path):
    """Found by 40 kills of learn --bootstraps: one left a file in the subfolder for good."""
    rests = [tmp_path / ".run.json.0123abcd.tmp", tmp_path / "strength" / ".a.png.0123abcd.tmp"]
    rests[1].parent.mkdir()
    for path in (*rests, tmp_path / "kept.tmp"):
        path.touch()
    with lock_run_folder(tmp_path):
        assert sorted(os.listdir(tmp_path)) == ["kept.tmp", "strength"]
        assert not any(rests[1].parent.iterdir())


def test_a_file_system_without_locks(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")

    def fail(*arguments):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", fail)
    with lock_run_folder(tmp_path):
        pass


@pytest.mark.parametrize(
    "arguments",
    [
        ("learn", "--example", "asia", "--rows", 50, "--max-generations", 0),
        ("learn", "--example", "asia", "--rows", 50, "--max-generations", 0, "--resume"),
        ("posterior", "rows.csv", "-m", "k2"),
        ("strength", "rows.csv", "-m", "k2", "--bootstraps", 1, "--no-figures"),
        ("solve", "tsp", "burma14", "--max-generations", 0),
        ("paper", "--networks", "asia", "--rows", 10, "--runs", 2, "--no-figures"),
        ("paper", "--reviewed", "--networks", "asia", "--rows", 10, "--no-figures"),
        (
            "bench",
            "--networks",
            "asia",
            "--rows",
            10,
            "-m",
            "k2",
            "--peers",
            "none",
            "--no-figures",
        ),
    ],
    ids=lambda arguments: " ".join(map(str, arguments[:2])),
)
def test_a_second_command_is_refused(arguments, held, monkeypatch, capsys, tmp_path):
    from coevo import cli

    (tmp_path / "rows.csv").write_text("a,b\n" + "x,y\nz,w\n" * 20)
    monkeypatch.setattr(sys, "argv", ["coevo", *map(str, arguments), "-o", "run"])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    out, err = capsys.readouterr()
    assert (stopped.value.code, out) == (2, "")
    assert err.splitlines()[-1] == f"Error: {SENTENCE}"
    assert not any((tmp_path / "run").iterdir())
