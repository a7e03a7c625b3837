"""The processes of `helpers.hash_seeds` have different hash seeds, and report a failure."""

import pytest

from helpers.hash_seeds import collect_outputs


def test_each_process_has_its_own_hash_seed():
    assert len(collect_outputs("print(hash('a'))")) == 3
    assert collect_outputs("import sys; print(sys.argv[1:])", "a", "b") == {"['a', 'b']\n"}


def test_a_failure_is_reported_and_the_next_piece_runs():
    with pytest.raises(AssertionError, match="The code failed"):
        collect_outputs("raise SystemExit")
    assert collect_outputs("print(1)") == {"1\n"}
