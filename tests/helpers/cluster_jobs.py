"""Jobs for the workers of a cluster, which must be able to import what they call."""

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
    """Kill the worker, the first time that anyone comes here with a job above 3."""
    if job > 3:
        die_first(path)
    return -job


def die_first(path):
    """Kill the worker, the first time that anyone comes here."""
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
    """Say that a reader is there, and wait for a writer: two workers at the same time."""
    folder, mode = job
    if not mode:
        return None
    if mode == "r":
        Path(folder, "started").write_text("reading")  # a pipe, and someone waits for it
    with open(Path(folder, "pipe"), mode) as end:
        return end.read(2) if mode == "r" else end.write("hi")


def short(job):
    """Return how many seconds a job has."""
    return 0.3


@dataclass(frozen=True)
class DyingEpoch:
    """An epoch in the middle of which a worker dies, once."""

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
    """A scorer in the middle of whose batch a worker dies, once."""

    dataset: Dataset
    path: Path

    def local_scores(self, families):
        scores = FamilyScorer(self.dataset, "k2").local_scores(families)
        die_first(self.path)
        return scores
