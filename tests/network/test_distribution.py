"""A distribution is a read-only mapping of states to probabilities that prints its numbers."""

from collections.abc import Mapping

import numpy as np
import pytest

from coevo.bundled import load_network
from coevo.data import Variable
from coevo.network import Distribution

COIN = Distribution((Variable("coin", ("tails", "heads")),), np.array([0.75, 0.25]))
JOINT = Distribution(
    (Variable("a", ("x", "y")), Variable("b", ("1", "2", "3"))),
    np.array([[0.1, 0.2, 0.3], [0.05, 0.15, 0.2]]),
)


def test_one_variable_is_a_mapping_of_states():
    assert isinstance(COIN, Mapping)
    assert list(COIN) == list(COIN.keys()) == ["tails", "heads"]
    assert list(COIN.values()) == [0.75, 0.25]
    assert list(COIN.items()) == [("tails", 0.75), ("heads", 0.25)]
    assert dict(COIN) == COIN.to_dict() == {"tails": 0.75, "heads": 0.25}
    assert list(dict(COIN)) == ["tails", "heads"]  # in the order of the states
    assert dict(COIN) == {**COIN}
    assert len(COIN) == 2
    assert max(COIN, key=COIN.get) == "tails"


def test_several_variables_are_a_mapping_of_tuples():
    keys = [("x", "1"), ("x", "2"), ("x", "3"), ("y", "1"), ("y", "2"), ("y", "3")]
    assert list(JOINT) == keys
    assert list(JOINT.values()) == JOINT.probabilities.ravel().tolist()
    assert [JOINT[key] for key in JOINT] == list(JOINT.values())
    assert dict(JOINT) == JOINT.to_dict()
    assert len(JOINT) == 6


def test_membership_never_raises():
    assert "heads" in COIN
    assert ("heads",) in COIN
    for stranger in ("edge", "", ("heads", "heads"), (), 1, None, ["heads"], ("edge",), (1,)):
        assert stranger not in COIN
        assert COIN.get(stranger) is None
        assert COIN.get(stranger, 0.0) == 0.0
    assert COIN.get("heads") == 0.25
    assert ("x", "3") in JOINT
    assert "x" not in JOINT
    assert ("3", "x") not in JOINT


def test_it_is_read_only():
    with pytest.raises(TypeError):
        COIN["heads"] = 1.0
    with pytest.raises(TypeError):
        del COIN["heads"]
    with pytest.raises(ValueError, match="read-only"):
        COIN.probabilities[0] = 1


def test_equality_is_exact():
    assert COIN == {"heads": 0.25, "tails": 0.75}  # in any order, as for dicts
    assert COIN != {"heads": 0.25 + 1e-15, "tails": 0.75}
    assert COIN != {"heads": 0.25}
    assert Distribution(COIN.variables, np.array([0.75, 0.25])) == COIN
    assert Distribution(COIN.variables, np.array([0.5, 0.5])) != COIN
    other = Distribution((Variable("toss", ("tails", "heads")),), np.array([0.75, 0.25]))
    assert other != COIN  # of another variable
    assert COIN != 0.75
    assert load_network("asia").query("lung") == load_network("asia").query("lung")
    with pytest.raises(TypeError):
        hash(COIN)


def test_it_prints_its_numbers():
    assert repr(COIN) == "<Distribution of 'coin': {'tails': 0.75, 'heads': 0.25}>"
    assert str(COIN) == "coin\n  0.750000  tails\n  0.250000  heads"
    assert repr(JOINT) == (
        "<Distribution of 'a', 'b': {('x', '1'): 0.1, ('x', '2'): 0.2, ('x', '3'): 0.3, "
        "('y', '1'): 0.05, ('y', '2'): 0.15, ('y', '3'): 0.2}>"
    )
    assert str(JOINT).splitlines()[:3] == ["a, b", "  0.100000  x, 1", "  0.200000  x, 2"]
    tiny = Distribution((Variable("v", ("s", "t")),), np.array([1 / 3, 1e-12]))
    assert repr(tiny) == "<Distribution of 'v': {'s': 0.3333, 't': 1e-12}>"


def test_it_prints_at_most_a_dozen():
    states = tuple(f"s{i}" for i in range(1500))
    wide = Distribution((Variable("v", states),), np.full(1500, 1 / 1500))
    first = ", ".join(f"'s{i}': 0.0006667" for i in range(12))
    assert repr(wide) == f"<Distribution of 'v': {{{first}, ... 1,488 more}}>"
    lines = str(wide).splitlines()
    assert len(lines) == 14
    assert lines[-2:] == ["  0.000667  s11", "  ... 1,488 more"]
    dozen = Distribution((Variable("v", states[:12]),), np.full(12, 1 / 12))
    assert "more" not in repr(dozen) + str(dozen)
