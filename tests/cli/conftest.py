"""Two ways to run a command: in this process, which is fast, and in a process of its own."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from typing import NamedTuple

import pytest

from coevo import cli
from coevo.io import write_bif
from coevo.progress import displays
from helpers.tiny_networks import GARDEN


class Outcome(NamedTuple):
    """The exit code and output of a command."""

    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def _no_progress_lines(monkeypatch):
    """Print no progress of a search in this process, however long it takes."""
    monkeypatch.setattr(displays, "SECONDS_BETWEEN_LINES", math.inf)


@pytest.fixture
def run(monkeypatch, capsys):
    """Return a function that calls `main` as the ``coevo`` script does."""

    def call(*arguments):
        capsys.readouterr()
        monkeypatch.setattr(sys, "argv", ["coevo", *map(str, arguments)])
        try:
            cli.main()
            code = 0
        except SystemExit as stop:
            code = stop.code
        out, err = capsys.readouterr()
        return Outcome(code, out, err)

    return call


@pytest.fixture
def as_json(run):
    """Return a function that gives the JSON answer of a command."""

    def call(*arguments):
        code, out, err = run(*arguments, "--format", "json")
        assert (code, err) == (0, "")
        return json.loads(out)

    return call


@pytest.fixture
def refused(run):
    """Return a function that gives the error message of a command."""

    def call(*arguments):
        code, out, err = run(*arguments)
        assert code == 2
        assert out == ""
        assert err.startswith("Error: ")
        assert err.count("\n") == 1
        return err.removeprefix("Error: ").removesuffix("\n")

    return call


@pytest.fixture
def misused(run):
    """Return a function that gives the usage error of a command without arguments."""

    def call(name, *arguments, usage=""):
        code, out, err = run(name, *arguments)
        assert (code, out) == (2, "")
        usage = (
            f"Usage: coevo {name} [OPTIONS]{usage}\nTry 'coevo {name} --help' for help.\n\nError: "
        )
        assert err.startswith(usage)
        return err.removeprefix(usage)

    return call


@pytest.fixture
def launch(tmp_path):
    """Return a function that runs the command in a process, without a displays."""

    def call(*arguments, **variables):
        environment = {**os.environ, **variables}
        del environment["NO_COLOR"]  # colours must be off because there is no terminal
        command = [sys.executable, "-m", "coevo", *map(str, arguments)]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert "\x1b" not in done.stdout + done.stderr
        return Outcome(done.returncode, done.stdout, done.stderr)

    return call


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return an empty current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def garden(folder):
    """Work in a folder with ``garden.bif``; return a function that writes a table."""
    write_bif(GARDEN, "garden.bif")

    def write(*lines, name="rows.csv"):
        (folder / name).write_text("".join(f"{line}\n" for line in lines))

    return write
