"""Jobs for the workers of a cluster, which must be able to import what they call."""

import os
import signal
from pathlib import Path


def negative(job):
    return -job


def plus(first, second, job):
    return first + second + job


def pid(job):
    return os.getpid()


def die_once(path, job):
    """Kill the worker, the first time that anyone comes here with a job above 3."""
    if job > 3:
        try:
            Path(path).touch(exist_ok=False)
        except FileExistsError:
            return -job
        os.kill(os.getpid(), signal.SIGKILL)
    return -job


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
