"""Jobs that hang until their process is ended."""

import ctypes
import sys

LONG = 600  # seconds


def hang(job):
    """Say so, then let other threads run."""
    print("hanging", job, file=sys.stderr, flush=True)
    ctypes.CDLL(None).sleep(LONG)


def hang_isolated(pipe, start_clock):
    """Say so, then hold the interpreter, as compiled code of another library may do."""
    start_clock()
    with open(pipe, "w") as stream:
        stream.write("x")
    ctypes.PyDLL(None).sleep(LONG)
