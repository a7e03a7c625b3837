"""Run pieces of Python under three hash seeds.

A process has one hash seed, and one that imports coevo takes much of a second of CPU time. So
there are three processes, which are started at the first call and run all pieces one after another.
"""

import atexit
import contextlib
import functools
import json
import os
import subprocess
import sys

SEEDS = "012"
SERVER = """
import contextlib, io, json, sys
for line in sys.stdin:
    code, *sys.argv[1:] = json.loads(line)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, {"__name__": "__main__"})
    print(json.dumps(printed.getvalue()), flush=True)
"""


def collect_outputs(code, *words):
    """Return what a piece of code prints under each hash seed, without repetitions."""
    processes = _start()
    for process in processes:
        process.stdin.write(json.dumps([code, *words]) + "\n")
        process.stdin.flush()
    lines = [process.stdout.readline() for process in processes]
    if not all(lines):
        _start.cache_clear()
        raise AssertionError("The code failed; its error is above.")
    return {json.loads(line) for line in lines}


@functools.cache
def _start():
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", SERVER],
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in SEEDS
    ]
    for process in processes:
        atexit.register(_end, process)
    return processes


def _end(process):
    with contextlib.suppress(BrokenPipeError):
        process.communicate()
