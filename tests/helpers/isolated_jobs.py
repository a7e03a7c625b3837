"""Jobs for isolated processes, which must be able to import the function of a job."""

import os
import signal
import sys
import threading
from pathlib import Path


def block():
    """Wait forever."""
    threading.Event().wait()


def negate(job, start_clock):
    start_clock()
    return -job


def return_pid(job, start_clock):
    return job, os.getpid()


def write_pid(path):
    """Write the id of this process: all of it or nothing, because it may be killed meanwhile."""
    new = Path(f"{path}.new")
    new.write_text(str(os.getpid()))
    new.replace(path)


def hang(path, start_clock):
    """Write the id of this process; then wait forever."""
    write_pid(path)
    start_clock()
    block()


def hang_while_loading(path, start_clock):
    write_pid(path)
    block()


def raise_error(error, start_clock):
    start_clock()
    raise error


def exit_process(code, start_clock):
    start_clock()
    os._exit(code)


def kill_self(number, start_clock):
    start_clock()
    os.kill(os.getpid(), number)


def return_unpicklable(job, start_clock):
    return lambda: job


def print_output(job, start_clock):
    print("to stdout", flush=True)
    print("to stderr", file=sys.stderr, flush=True)
    os.write(1, b"from below\n")
    return job


def return_environment(names, start_clock):
    return [os.environ.get(name) for name in names], sys.flags.hash_randomization


def press_ctrl_c(job, start_clock):
    os.kill(os.getpid(), signal.SIGINT)
    return job


def meet(job, start_clock):
    """Return once another job is at the other end of the pipe."""
    path, mode = job
    start_clock()
    with open(path, mode) as end:
        return end.read(2) if mode == "r" else end.write("hi")


def hang_or_crash(job, start_clock):
    """Run a method of coevo; pyAgrum hangs, pybnesian crashes, other peers raise an error."""
    from coevo.experiments.bench.runs import run_bench_job

    if job.kind == "ours":
        return run_bench_job(job, start_clock)
    start_clock()
    if job.method == "pyagrum":
        block()
    if job.method == "pybnesian":
        os.kill(os.getpid(), signal.SIGSEGV)
    raise ValueError(f"{job.method} does\nnot want to")
