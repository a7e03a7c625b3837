"""A process removes the shard folders of processes that were killed, and no other folders."""

import subprocess
import sys

import pytest

from coevo.parallel.shard_stores import LOCK, open_shard_folder
from helpers.clusters import kill

pytest.importorskip("fcntl")

OWNER = """
import sys
from coevo.parallel.shard_stores import open_shard_folder
with open_shard_folder(sys.argv[1]) as own:
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


def test_a_shard_folder_is_removed_at_the_end(tmp_path):
    with open_shard_folder(tmp_path) as own:
        (own / "codes.npy").write_bytes(b"0")
        assert {path.name for path in own.iterdir()} == {"codes.npy", LOCK}
    assert not list(tmp_path.iterdir())


def test_one_of_two_processes_is_killed(tmp_path, owner):
    _, living = owner()
    dying, left = owner()
    kill(dying)
    (tmp_path / "coevo-shards-mine").mkdir()  # it has no lock, so that it stays
    assert (left / "codes.npy").exists()
    with open_shard_folder(tmp_path) as own:
        kept = {living, own, tmp_path / "coevo-shards-mine"}
        assert set(tmp_path.iterdir()) == kept
    assert (living / "codes.npy").exists()
