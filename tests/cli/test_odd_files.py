"""Pipes as input and output, file names that are not UTF-8, and names that control a terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import coevo
from coevo.bundled import load_network

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX files")
QUICK = ("-m", "hill_climb", "--max-generations", 1, "--bootstraps", 0)


@pytest.fixture
def asia(folder):
    coevo.write_data(coevo.sample(load_network("asia"), 200, random_state=1), "asia.csv")
    return Path("asia.csv")


@pytest.fixture
def feed():
    """Return a function that makes a FIFO which holds the bytes of a file once."""
    threads = []

    def make(path, content):
        os.mkfifo(path)
        thread = threading.Thread(target=Path(path).write_bytes, args=(content,), daemon=True)
        thread.start()
        threads.append(thread)
        return path

    yield make
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()


@pytest.mark.parametrize(
    "arguments",
    [
        ("learn", "PIPE", *QUICK),
        ("predict", "asia", "PIPE", "lung"),
        ("inspect", "PIPE"),
        ("score", "PIPE", "--structure", "asia"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_pipe_is_a_table(run, asia, feed, arguments):
    feed("PIPE", asia.read_bytes())
    code, out, _ = run(*arguments)
    assert code == 0
    expected = run(*("asia.csv" if one == "PIPE" else one for one in arguments))
    assert len(out.splitlines()) == len(expected.out.splitlines())


def test_pipes_with_constraints_types_and_states(run, asia, feed):
    feed("known", b'{"required": [["smoke", "lung"]]}')
    feed("types", b"column,type\nxray,ignore\n")
    code, out, _ = run("learn", asia, *QUICK, "--constraints", "known", "--types", "types")
    assert code == 0
    assert "smoke => lung" in out  # against the data, because it is required
    assert "xray" not in out.partition("arcs ")[2]


def test_a_pipe_as_output(run, folder):
    os.mkfifo("pipe")
    got = []
    reader = threading.Thread(target=lambda: got.append(Path("pipe").read_text()))
    reader.start()
    assert run("convert", "asia", "pipe", "--to", "bif").code == 0
    reader.join(10)
    assert run("convert", "asia", "asia.bif").code == 0
    assert got == [Path("asia.bif").read_text()]
    assert Path("pipe").is_fifo()


def test_file_names_that_are_not_utf_8(run, asia):
    try:
        os.rename("asia.csv", b"asia\xff.csv")
    except OSError:
        pytest.skip("this file system has UTF-8 names only")
    name = os.fsdecode(b"asia\xff.csv")
    folder = os.fsdecode(b"run\xff")
    code, out, _ = run("learn", name, *QUICK, "-o", folder)
    assert code == 0
    assert "wrote       run\\udcff/run.json" in out
    facts = json.loads(Path(folder, "run.json").read_bytes())
    assert facts["source"] == name
    assert b"\\udcff" in Path(folder, "report.html").read_bytes()
    for arguments in (
        ("learn", name, *QUICK, "--format", "json"),
        ("inspect", name, "-o", "page.html"),
        ("report", folder),
        ("convert", "asia", os.fsdecode(b"out\xff.bif")),
        ("query", os.fsdecode(b"out\xff.bif"), "lung"),
    ):
        assert run(*arguments).code == 0, arguments


def test_a_terminal_gets_no_control_characters_of_names(asia):
    pty = pytest.importorskip("pty")
    asia.write_text(asia.read_text().replace("lung", "l\x1b[2J\u202eung"))
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "coevo", "learn", "asia.csv", *map(str, QUICK)]
    with subprocess.Popen(command, stdout=theirs, stderr=subprocess.PIPE) as process:
        os.close(theirs)
        shown = b"".join(iter(lambda: _read(ours), b"")).decode()
        process.stderr.read()
    os.close(ours)
    assert process.returncode == 0
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "l\\x1b[2J\\u202eung" in shown


def _read(stream):
    try:
        return os.read(stream, 65536)
    except OSError:  # the other side is closed
        return b""


def test_a_pipe_gets_names_unchanged(run, folder):
    """The name ends as it began, also through a writer that strips colours."""
    text = "from,to\na\x1b[31mb,c\n"
    Path("odd.edges.csv").write_text(text)
    code, out, _ = run("convert", "odd.edges.csv", "-", "--to", "edges")
    assert (code, out) == (0, text)


def test_an_output_that_cannot_hold_a_name(launch, folder):
    Path("net.txt").write_text("[漢][b|漢]", encoding="utf-8")
    outcome = launch("convert", "net.txt", "-", "--to", "edges", PYTHONIOENCODING="latin-1")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err == (
        "Error: The output cannot hold '\\u6f22', because its encoding is latin-1. Set "
        "PYTHONIOENCODING=utf-8.\n"
    )
