"""Jobs for processes of their own, which must be able to import what they call."""

import os
import signal
import sys
import threading
from pathlib import Path


def block():
    """Wait for what never comes."""
    threading.Event().wait()


def negative(job, begin):
    begin()
    return -job


def without_beginning(job, begin):
    return job, os.getpid()


def never_ending(path, begin):
    """Tell which process this is; then do nothing, for ever."""
    Path(path).write_text(str(os.getpid()))
    begin()
    block()


def never_beginning(path, begin):
    Path(path).write_text(str(os.getpid()))
    block()


def raising(error, begin):
    begin()
    raise error


def exiting(code, begin):
    begin()
    os._exit(code)


def dying(number, begin):
    begin()
    os.kill(os.getpid(), number)


def not_to_be_sent(job, begin):
    return lambda: job


def noisy(job, begin):
    print("to stdout", flush=True)
    print("to stderr", file=sys.stderr, flush=True)
    os.write(1, b"from below\n")
    return job


def environment(names, begin):
    return [os.environ.get(name) for name in names], sys.flags.hash_randomization


def answer_to_ctrl_c(job, begin):
    os.kill(os.getpid(), signal.SIGINT)
    return job


def meet(job, begin):
    """Return once another job is at the other end of the pipe."""
    path, mode = job
    begin()
    with open(path, mode) as end:
        return end.read(2) if mode == "r" else end.write("hi")


def stuck_or_dead(job, begin):
    """Run a method of ours; pyAgrum never ends, pybnesian dies, other peers raise."""
    from coevo.experiments.bench.runs import run_one

    if job.kind == "ours":
        return run_one(job, begin)
    begin()
    if job.method == "pyagrum":
        block()
    if job.method == "pybnesian":
        os.kill(os.getpid(), signal.SIGSEGV)
    raise ValueError(f"{job.method} does\nnot want to")
