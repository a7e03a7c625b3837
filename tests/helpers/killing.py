"""A command that dies while it runs, as in a crash or a power cut."""

import signal

from helpers.forked import ForkedProcess

LONGEST = 120.0  # seconds, for a command that does not end

# Prints each generation and writes each checkpoint, as long searches do.
AT_EVERY_GENERATION = """
import coevo.cli
import coevo.progress.displays
from coevo.files import checkpoints
coevo.progress.displays.SECONDS_BETWEEN_LINES = 0.0
checkpoints.SECONDS_BETWEEN = 0.0
checkpoints.SHARE_OF_TIME = 1e9
"""
# Dies a number of calls after it printed its n-th generation: a signal from outside may come late.
DYING = f"""{AT_EVERY_GENERATION}
import os, signal, sys
n_lines, n_calls = int(sys.argv.pop(1)), int(sys.argv.pop(1))
lines = coevo.progress.displays.PeriodicLines
really = lines.show
def show(self, message, at_once=False):
    global n_lines
    really(self, message, at_once)
    n_lines -= str(message).startswith("generation")
    if n_lines == 0:
        sys.setprofile(count)
def count(frame, event, argument):
    global n_calls
    n_calls -= 1
    if n_calls < 0:
        os.kill(os.getpid(), signal.SIGKILL)
lines.show = show
coevo.cli.main()
"""


def killed_after_lines(n_lines, n_calls, *arguments, cwd):
    """Run a command that dies after its n-th generation; return whether it did not end before."""
    with ForkedProcess(DYING, n_lines, n_calls, *arguments, cwd=cwd) as process:
        _, err = process.communicate(timeout=LONGEST)
    assert process.returncode in (0, -signal.SIGKILL), err
    return process.returncode != 0
