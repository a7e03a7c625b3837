"""The folder of a run: the content of its files, and that no file is ever incomplete."""

import contextlib
import json
import math
import os
from pathlib import Path

import pytest

from coevo.bundled import load_network
from coevo.errors import FileError
from coevo.io import (
    check_run_folder,
    format_json_line,
    make_run_folder,
    read_bif,
    read_run,
    write_json,
    write_run,
)

FACTS = {"score": -1.5, "name": "café", "arcs": [{"from": "a", "to": "b"}]}
HISTORY = [{"generation": 0, "score": -2.5}, {"generation": 1, "score": -1.5}]
FILES = ["history.jsonl", "model.bif", "run.json"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder):
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


# -- the content of the files


def test_write_run_writes_three_files(here):
    network = load_network("asia")
    assert write_run(Path("a/b"), network, FACTS, HISTORY) == {
        "model": "a/b/model.bif",
        "run": "a/b/run.json",
        "history": "a/b/history.jsonl",
    }
    assert sorted(os.listdir("a/b")) == FILES
    assert read_bif("a/b/model.bif") == network
    assert json.loads(Path("a/b/run.json").read_bytes()) == FACTS
    lines = Path("a/b/history.jsonl").read_bytes().decode().splitlines(keepends=True)
    assert all(line.endswith("\n") for line in lines)
    assert [json.loads(line) for line in lines] == HISTORY


def test_read_run_returns_what_write_run_wrote(here):
    network = load_network("asia")
    write_run(Path("a"), network, FACTS, HISTORY)
    run = read_run(Path("a"))
    assert (run.network, run.facts, run.history) == (network, FACTS, HISTORY)
    write_run(Path("a"), None, FACTS, [])
    run = read_run(Path("a"))
    assert (run.network, run.facts, run.history) == (None, FACTS, [])


def test_the_same_bytes_each_time(here):
    for name in "ab":
        write_run(Path(name), load_network("asia"), FACTS, iter(HISTORY))
    assert contents("a") == contents("b")


def test_a_run_takes_the_place_of_an_older_one_and_leaves_other_files(here):
    Path("a").mkdir()
    Path("a/notes.txt").write_text("mine")
    write_run(Path("a"), load_network("cancer"), {"score": 0}, [])
    write_run(Path("a"), load_network("asia"), FACTS, HISTORY)
    write_run(Path("b"), load_network("asia"), FACTS, HISTORY)
    assert contents("a") == contents("b") | {"notes.txt": b"mine"}


def test_json_is_indented_and_not_escaped(here):
    write_json(Path("facts.json"), {"name": "café"})
    assert Path("facts.json").read_bytes() == '{\n  "name": "café"\n}\n'.encode()
    assert format_json_line({"name": "café", "n": 1}) == '{"name": "café", "n": 1}\n'


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_does_not_have(value, here):
    """JSON readers in other languages cannot read these numbers."""
    with pytest.raises(ValueError, match="JSON compliant"):
        format_json_line({"score": value})
    with pytest.raises(ValueError, match="JSON compliant"):
        write_json(Path("facts.json"), {"score": value})
    assert os.listdir() == []


# -- no incomplete files


class BreakError(Exception):
    """Any error while a file is being written."""


@pytest.fixture
def break_at(monkeypatch):
    """Return a context in which the final rename of one file fails."""

    @contextlib.contextmanager
    def breaking(name):
        replace = os.replace

        def put(source, target):
            if Path(target).name == name:
                raise BreakError
            replace(source, target)

        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", put)
            with pytest.raises(BreakError):
                yield

    return breaking


@pytest.mark.parametrize(
    ("name", "left"),
    [
        ("model.bif", []),
        ("history.jsonl", ["model.bif"]),
        ("run.json", ["history.jsonl", "model.bif"]),
    ],
)
def test_files_are_complete_and_run_json_comes_last(name, left, here, break_at):
    with break_at(name):
        write_run(Path("a"), load_network("asia"), FACTS, HISTORY)
    assert sorted(os.listdir("a")) == left
    write_run(Path("b"), load_network("asia"), FACTS, HISTORY)
    assert {name: contents("b")[name] for name in left} == contents("a")


def test_a_failure_leaves_no_partial_history(here):
    def rows():
        yield HISTORY[0]
        raise BreakError

    with pytest.raises(BreakError):
        write_run(Path("a"), load_network("asia"), FACTS, rows())
    assert os.listdir("a") == ["model.bif"]


def test_an_older_network_stays_if_the_new_one_cannot_be_written(here, break_at):
    write_run(Path("a"), load_network("cancer"), FACTS, HISTORY)
    with break_at("model.bif"):
        write_run(Path("a"), load_network("asia"), {"score": 0}, [])
    assert read_bif("a/model.bif") == load_network("cancer")


def test_a_new_network_never_stands_beside_the_facts_of_an_older_one(here, break_at):
    write_run(Path("a"), load_network("cancer"), FACTS, HISTORY)
    with break_at("history.jsonl"):
        write_run(Path("a"), load_network("asia"), {"score": 0}, [])
    assert read_bif("a/model.bif") == load_network("asia")
    assert not Path("a/run.json").exists()


def test_a_full_disk_is_a_file_error(here, monkeypatch):
    def full(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(FileError) as raised:
        write_run(Path("a"), load_network("asia"), FACTS, HISTORY)
    assert str(raised.value) == "'a/model.bif' cannot be written: No space left on device."
    assert os.listdir("a") == []


# -- errors


@pytest.mark.parametrize("name", [".", "new", "new/of/many", "old", "old/new", "to_old/new"])
def test_folders_that_can_be_written(name, here):
    (here / "old").mkdir()
    (here / "to_old").symlink_to(here / "old")
    check_run_folder(Path(name))
    assert sorted(os.listdir()) == ["old", "to_old"]  # checking creates nothing
    make_run_folder(Path(name))
    make_run_folder(Path(name))
    assert Path(name).is_dir()


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("file", "'file' is a file. Name a folder."),
        ("file/x", "'file/x' cannot be created: 'file' is a file."),
        ("file/x/y", "'file/x/y' cannot be created: 'file' is a file."),
        ("folder/file", "'folder/file' is a file. Name a folder."),
        ("folder/file/x", "'folder/file/x' cannot be created: 'folder/file' is a file."),
    ],
)
@pytest.mark.parametrize(
    "call",
    [
        check_run_folder,
        make_run_folder,
        lambda folder: write_run(folder, load_network("asia"), FACTS, HISTORY),
    ],
    ids=["check", "make", "write"],
)
def test_paths_that_are_not_folders(call, name, sentence, here):
    (here / "file").write_text("mine")
    (here / "folder").mkdir()
    (here / "folder" / "file").write_text("mine")
    with pytest.raises(FileError) as raised:
        call(Path(name))
    assert str(raised.value) == sentence
    assert contents("folder") == {"file": b"mine"}
    assert (here / "file").read_text() == "mine"


@pytest.mark.parametrize("name", ["locked", "locked/x", "locked/x/y"])
def test_write_protected_folders(name, here, monkeypatch):
    (here / "locked").mkdir()
    # The user who runs the tests may have all permissions, so fake the answer.
    monkeypatch.setattr(os, "access", lambda path, mode: os.fspath(path) != "locked")
    with pytest.raises(FileError) as raised:
        check_run_folder(Path(name))
    assert str(raised.value) == f"'{name}' cannot be written: 'locked' is write-protected."


def test_the_system_refuses_to_create_a_folder(here, monkeypatch):
    def refuse(self, **options):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(FileError) as raised:
        make_run_folder(Path("x"))
    assert str(raised.value) == "'x' cannot be created: Read-only file system."
