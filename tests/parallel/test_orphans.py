"""No worker outlives the process that started it, whatever ends that process."""

import os
import signal
import sys

import pytest

from helpers.orphans import signalled_command

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

# A shell may have started the tests with signals that are ignored, as nohup does.
RESET = """
import signal
for name in ("SIGTERM", "SIGHUP"):
    signal.signal(getattr(signal, name), signal.SIG_DFL)
"""
POOL = f"""{RESET}
from coevo.parallel import run_in_processes
from helpers import orphan_jobs
list(run_in_processes(orphan_jobs.hang, [1, 2], 2))
"""
ISOLATED = f"""{RESET}
import sys, threading
from coevo.parallel import run_isolated
from helpers import orphan_jobs

def say_when_both_hang():
    n_hanging = 0
    while n_hanging < 2:
        with open(sys.argv[1]) as pipe:
            n_hanging += len(pipe.read())
    print("hanging", file=sys.stderr, flush=True)

threading.Thread(target=say_when_both_hang, daemon=True).start()
list(run_isolated(orphan_jobs.hang_isolated, [sys.argv[1]] * 2, lambda job: 600.0, n_jobs=2))
"""


@pytest.mark.parametrize(
    ("number", "to_group"),
    [(signal.SIGKILL, False), (signal.SIGTERM, False), (signal.SIGHUP, True)],
)
def test_processes_of_a_pool_end_with_their_parent(number, to_group, tmp_path):
    ended = signalled_command(
        cwd=tmp_path, number=number, at="hanging", n_workers=2, to_group=to_group, code=POOL
    )
    assert (ended.code, ended.left) == (-number, [])


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_isolated_processes_end_with_their_parent(number, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    ended = signalled_command(
        pipe, cwd=tmp_path, number=number, at="hanging", n_workers=2, code=ISOLATED
    )
    assert (ended.code, ended.left) == (-number, [])
