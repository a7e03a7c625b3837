"""The shards of a process that was killed are removed by the next one, and no others."""

import subprocess
import sys

import pytest

from coevo.outofcore.shard_folder import LOCK, shard_folder
from helpers.clusters import kill

pytest.importorskip("fcntl")

OWNER = """
import sys
from coevo.outofcore.shard_folder import shard_folder
with shard_folder(sys.argv[1]) as own:
    (own / "codes.npy").write_bytes(b"0")
    print(own, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def owner(tmp_path):
    """Return a function that starts a process with a folder of its own."""
    started = []

    def start():
        process = subprocess.Popen(
            [sys.executable, "-c", OWNER, str(tmp_path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process, tmp_path / process.stdout.readline().strip()

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_it_is_removed_at_the_end(tmp_path):
    with shard_folder(tmp_path) as own:
        (own / "codes.npy").write_bytes(b"0")
        assert {path.name for path in own.iterdir()} == {"codes.npy", LOCK}
    assert not list(tmp_path.iterdir())


def test_of_two_processes_one_is_killed(tmp_path, owner):
    _, living = owner()
    dying, left = owner()
    kill(dying)
    (tmp_path / "coevo-shards-mine").mkdir()  # no lock: not ours to judge
    assert (left / "codes.npy").exists()
    with shard_folder(tmp_path) as own:
        kept = {living, own, tmp_path / "coevo-shards-mine"}
        assert set(tmp_path.iterdir()) == kept
    assert (living / "codes.npy").exists()
