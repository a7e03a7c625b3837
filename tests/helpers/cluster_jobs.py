"""Jobs for the workers of a cluster, which must be able to import the function of a job."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

from coevo.data import Dataset
from coevo.score import FamilyScorer
from coevo.search.islands import Epoch


def negative(job):
    return -job


def plus(first, second, job):
    return first + second + job


def pid(job):
    return os.getpid()


def die_once(path, job):
    """Kill the worker at the first job above 3."""
    if job > 3:
        die_first(path)
    return -job


def die_first(path):
    """Kill the worker at the first call."""
    try:
        Path(path).touch(exist_ok=False)
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def die(job):
    os.kill(os.getpid(), signal.SIGKILL)


def failing(job):
    raise ValueError(f"{job} is not wanted")


def meet(job):
    """Signal that a reader runs, and wait for a writer: two workers run at the same time."""
    folder, mode = job
    if not mode:
        return None
    if mode == "r":
        Path(folder, "started").write_text("reading")  # a pipe; the test waits for it
    with open(Path(folder, "pipe"), mode) as end:
        return end.read(2) if mode == "r" else end.write("hi")


def short(job):
    """Return the time limit of a job that never ends, in seconds."""
    return 0.3


def long(job):
    """Return the time limit of a job that ends, in seconds."""
    return 60.0


@dataclass(frozen=True)
class DyingEpoch:
    """An epoch during which one worker dies, once."""

    epoch: Epoch
    path: Path

    @property
    def problem(self):
        return self.epoch.problem

    def __call__(self, island):
        state = self.epoch(island)
        die_first(self.path)
        return state


@dataclass(frozen=True)
class DyingScorer:
    """A scorer during whose batch one worker dies, once."""

    dataset: Dataset
    path: Path

    def local_scores(self, families):
        scores = FamilyScorer(self.dataset, "k2").local_scores(families)
        die_first(self.path)
        return scores
