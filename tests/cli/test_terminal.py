"""Progress in a real pseudo-terminal: every line fits, whatever the terminal."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys

import pytest

pty = pytest.importorskip("pty")
fcntl, termios = pytest.importorskip("fcntl"), pytest.importorskip("termios")

QUICK = ("learn", "--example", "asia", "--rows", 200, "--max-generations", 3)


def on_terminal(*arguments, width, term):
    """Run a command with a terminal for its stderr; return stdout and stderr."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    environment = {**os.environ, "TERM": term}
    del environment["COLUMNS"]
    command = [sys.executable, "-m", "coevo", *map(str, arguments)]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=theirs, text=True
    ) as process:
        os.close(theirs)
        shown = b"".join(iter(lambda: _read(ours), b""))
        out = process.stdout.read()
    os.close(ours)
    assert process.returncode == 0
    return out, shown.decode()


def lines_of(shown):
    """Return the lines of a terminal without control sequences."""
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    return [line for line in re.split(r"[\r\n]+", plain) if line.strip()]


def _read(stream):
    try:
        return os.read(stream, 65536)
    except OSError:  # the other side is closed
        return b""


@pytest.mark.parametrize("width", [50, 80])
def test_a_terminal(width):
    out, shown = on_terminal(*QUICK, width=width, term="xterm")
    lines = lines_of(shown)
    assert all(len(line) <= width for line in lines)
    words = " ".join(line[2:].strip() for line in lines)
    shown = (
        r"━+ +100% +[-\d]:[-\d]{2}:[-\d]{2} +generation 3 of 3, \d+\.\d s.* best score -\d+\.\d\d"
    )
    assert re.search(shown, words)
    assert out.startswith("score ")


def test_a_dumb_terminal_gets_plain_lines():
    out, shown = on_terminal(*QUICK, width=50, term="dumb")
    assert "\x1b" not in shown
    assert all(len(line) <= 50 for line in lines_of(shown))
    assert out.startswith("score ")
