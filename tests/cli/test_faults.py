"""Every command that works long, on a disk that fails: for a moment, or from some write on.

A write is one file that gets its name, or one line of a journal. After a moment of failure the
folder has the same bytes as without one. If the disk keeps failing, the command ends with one
sentence, and never with a traceback.
"""

import errno
import os
import pathlib
import shutil

import pytest

from coevo.files import checkpoints, output_files
from helpers.run_folders import read_files

COMMANDS = {
    "learn": ("learn", "rows.csv", "--max-generations", 3, "--bootstraps", 0),
    "bootstraps": ("learn", "rows.csv", "-m", "hill_climb", "--bootstraps", 3),
    "posterior": ("posterior", "rows.csv", "-m", "k2", "--sampler", "chains", "--max-steps", 3),
    "solve": ("solve", "tsp", "burma14", "--form", "literal", "--max-generations", 3),
    "strength": ("strength", "rows.csv", "-m", "hill_climb", "--bootstraps", 3, "--no-figures"),
    "paper": (
        *("paper", "--networks", "cancer", "--rows", 30, "--runs", 2, "--population", 4),
        *("--max-generations", 2, "--no-figures"),
    ),
    "bench": (
        *("bench", "--networks", "cancer", "--rows", 30, "-m", "k2,hill_climb", "--seeds", 2),
        *("--peers", "none", "--no-figures"),
    ),
}


class Disk:
    """Counts the writes below a folder; those with chosen numbers fail."""

    def __init__(self, folder, monkeypatch):
        self.folder, self.n, self.fails, self.fault = folder, 0, range(0), lambda: None
        opened, temporary = pathlib.Path.open, output_files._open_temporary

        def open_and_count(path, mode="r", *arguments, **options):
            if mode == "a":
                self.count()
            return opened(path, mode, *arguments, **options)

        def make_and_count(target):
            self.count()
            return temporary(target)

        monkeypatch.setattr(pathlib.Path, "open", open_and_count)
        monkeypatch.setattr(output_files, "_open_temporary", make_and_count)
        monkeypatch.setattr(os, "fsync", self.sync)

    def count(self):
        self.n += 1
        if self.n in self.fails and self.fault is not self.fail_to_sync:
            self.fault()

    def sync(self, descriptor):
        if self.n in self.fails and self.fault is self.fail_to_sync:
            self.fault()

    def be_full(self):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def be_read_only(self):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    def fail_to_sync(self):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    def lose_the_folder(self):
        shutil.rmtree(self.folder, ignore_errors=True)


FAULTS = ("be_full", "be_read_only", "fail_to_sync", "lose_the_folder")


@pytest.fixture
def disk(folder, monkeypatch):
    """Return the disk under the run folder; each checkpoint is written, and nothing waits."""
    rows = [f"{i % 2},{(i // 2 + i) % 3},{i % 3},{i * i % 5 // 2}\n" for i in range(60)]
    (folder / "rows.csv").write_text("a,b,c,d\n" + "".join(rows))
    monkeypatch.setattr(checkpoints, "PAUSES", (0.0, 0.0))
    monkeypatch.setattr(checkpoints, "SECONDS_BETWEEN", 0.0)
    monkeypatch.setattr(checkpoints, "SHARE_OF_TIME", 1e9)
    return Disk(folder / "run", monkeypatch)


def start_over(disk):
    shutil.rmtree(disk.folder, ignore_errors=True)
    disk.n, disk.fails = 0, range(0)


def check(outcome, code):
    """Check that a command ended with this code, and with one sentence if it failed."""
    assert outcome.code == code, outcome.err
    assert "Traceback" not in outcome.err
    if code:
        assert outcome.err.splitlines()[-1].startswith("Error: '")
        assert " cannot be written: " in outcome.err.splitlines()[-1]


def read_comparable(folder, name):
    """Return the files that two runs have in common; tables of experiments have times."""
    found = read_files(folder)
    if name in ("paper", "bench"):
        return {file: text if file == "runs.jsonl" else None for file, text in found.items()}
    return found


@pytest.mark.parametrize("name", COMMANDS)
def test_a_disk_that_fails(name, disk, run):
    check(whole := run(*COMMANDS[name], "-o", "run"), 0)
    n_writes, right = disk.n, read_comparable(disk.folder, name)
    assert n_writes >= 5
    for number, fault in enumerate(FAULTS):
        disk.fault = getattr(disk, fault)
        # Once: each fault in the middle, and one of them at the end.
        for moment in (n_writes // 2, n_writes)[: 1 + (number == len(name) % 3)]:
            start_over(disk)
            disk.fails = range(moment, moment + 1)
            check(run(*COMMANDS[name], "-o", "run"), 0)
            if fault != "lose_the_folder":  # it loses what was written before
                assert read_comparable(disk.folder, name) == right
                assert not list(disk.folder.rglob(".*.tmp"))
    # From some write on, to the end: the answer of what does not need a disk is printed.
    start_over(disk)
    disk.fault, disk.fails = disk.be_full, range(4, 10**6)
    check(found := run(*COMMANDS[name], "-o", "run"), 2)
    if name not in ("paper", "bench"):
        assert found.out.splitlines()[0] == whole.out.splitlines()[0]
    # And once there is space: resumed or repeated, it has the same bytes.
    disk.fails = range(0)
    has_checkpoint = (disk.folder / "checkpoint.npz").exists()
    check(run(*COMMANDS[name], "-o", "run", *["--resume"] * has_checkpoint), 0)
    assert read_comparable(disk.folder, name) == right
