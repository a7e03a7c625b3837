"""Kill a command while it runs, as a crash or a power cut does."""

import signal
import threading

from helpers.forked import ForkedProcess

LONGEST = 120.0  # seconds, for a command that does not end

# Prints each generation and writes each checkpoint, as long searches do.
AT_EVERY_GENERATION = """
import coevo.cli
import coevo.progress.terminal
from coevo import checkpoints
coevo.progress.terminal.SECONDS_BETWEEN_LINES = 0.0
checkpoints.SECONDS_BETWEEN = 0.0
checkpoints.SHARE_OF_TIME = 1e9
"""
COMMAND = f"{AT_EVERY_GENERATION}\ncoevo.cli.main()"


def killed_at_a_line(number, *arguments, cwd):
    """Kill a command when it prints its n-th generation; return whether it was in time."""
    with ForkedProcess(COMMAND, *arguments, cwd=cwd) as process:
        guard = threading.Timer(LONGEST, process.kill)
        guard.start()
        try:
            for line in process.stderr:
                number -= line.startswith("generation")
                if number <= 0:
                    process.kill()
                    break
            process.stdout.read()
            process.stderr.read()
        finally:
            guard.cancel()
    assert process.returncode in (0, -signal.SIGKILL), process.returncode
    return process.returncode != 0
