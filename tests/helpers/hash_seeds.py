"""Run a piece of Python under several hash seeds."""

import os
import subprocess
import sys


def collect_outputs(code):
    """Return the distinct outputs of a piece of code under two hash seeds."""
    return {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in "12"
    }
