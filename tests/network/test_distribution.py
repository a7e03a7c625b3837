"""A distribution is a read-only mapping of states to probabilities that prints its numbers."""

import math
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coevo.bundled import load_network
from coevo.data import Variable
from coevo.errors import ParameterError
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


# ---- numbers

AGE = Variable("age", ("from_60", "below_20", "from_20_to_60"))  # bins in any order


def of(variable, *shares):
    return Distribution((variable,), np.array(shares))


def test_the_entropy_is_that_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(12)).reshape(3, 4)
    found = Distribution((Variable("a", tuple("xyz")), Variable("b", tuple("0123"))), shares)
    expected = -sum(p * math.log(p) for p in shares.ravel())
    assert found.entropy() == pytest.approx(expected, rel=1e-12)
    certain = of(Variable("c", ("n", "y")), 0.0, 1.0)
    assert str(certain.entropy()) == "0.0"


@given(st.lists(st.floats(0, 1), min_size=3, max_size=3).filter(lambda w: sum(w) > 0.01))
def test_numbers_in_bins_match_a_fine_grid(weights):
    """Inside a bin all numbers count alike: the mean and the quantiles of very many numbers."""
    shares = np.array(weights) / sum(weights)
    found = of(AGE, *shares)
    ends = {"below_20": (0, 20), "from_20_to_60": (20, 60), "from_60": (60, 100)}
    grid = (np.arange(2000) + 0.5) / 2000
    points = np.concatenate([a + (b - a) * grid for a, b in map(ends.__getitem__, AGE.states)])
    mass = np.repeat(shares / 2000, 2000)
    assert found.mean(0, 100) == pytest.approx(float(points @ mass), rel=1e-9)
    order = np.argsort(points)
    cumulative = np.cumsum(mass[order])
    for q in (0.0, 0.1, 0.37, 0.5, 0.9, 1.0):
        value = found.quantile(q, 0, 100)
        below = float(cumulative[points[order] <= value][-1:].sum())
        assert below == pytest.approx(q, abs=1.2e-3)


@given(st.lists(st.floats(0, 1), min_size=4, max_size=4).filter(lambda w: sum(w) > 0.01))
def test_states_that_are_numbers(weights):
    variable, shares = Variable("n", ("10", "-2.5", "0", "3")), np.array(weights) / sum(weights)
    numbers = np.array([10, -2.5, 0, 3])
    found = of(variable, *shares)
    assert found.mean() == pytest.approx(float(numbers @ shares), abs=1e-12)
    for q in (0.01, 0.25, 0.5, 0.99):
        value = found.quantile(q)
        assert value in numbers
        assert shares[numbers <= value].sum() >= q - 1e-9
        assert shares[numbers < value].sum() <= q + 1e-9
    assert found.quantile(1.0) == max(numbers[shares > 0])
    assert found.quantile(0.0) == min(numbers[shares > 0])


def test_ends_are_needed_only_where_they_matter():
    found = of(AGE, 0.25, 0.25, 0.5)
    assert found.quantile(0.5) == 40.0
    assert found.quantile(0.25) == 20.0
    assert found.quantile(0.1, low=0) == pytest.approx(8.0)
    assert of(AGE, 0.0, 0.0, 1.0).mean() == 40.0


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda: of(AGE, 0.2, 0.3, 0.5).mean(low=0),
            "The bin 'from_60' has no upper end. Give the largest number of 'age' as 'high' of "
            "mean.",
        ),
        (
            lambda: of(AGE, 0.2, 0.3, 0.5).quantile(0.1),
            "The bin 'below_20' has no lower end. Give the smallest number of 'age' as 'low' of "
            "quantile.",
        ),
        (
            lambda: of(AGE, 0.2, 0.3, 0.5).mean(20, 100),
            "'low' of mean must be below 20, which is a cut point of the bins; got 20.",
        ),
        (
            lambda: of(AGE, 0.2, 0.3, 0.5).mean(0, 50),
            "'high' of mean must be above 60, which is a cut point of the bins; got 50.",
        ),
        (
            lambda: COIN.mean(),
            "'coin' has no mean: its state 'tails' is neither a number nor a bin of numbers.",
        ),
        (
            lambda: of(Variable("n", ("1", "2")), 0.5, 0.5).mean(low=0),
            "'low' and 'high' of mean are ends of bins, and the states of 'n' are numbers. Leave "
            "them out.",
        ),
        (
            lambda: JOINT.mean(),
            "A joint distribution has no mean. Ask for one variable of a, b.",
        ),
        (
            lambda: of(AGE, 0.2, 0.3, 0.5).quantile(1.5),
            "'q' of quantile must be a number from 0 to 1; got 1.5.",
        ),
        (
            lambda: of(AGE, 0.2, 0.3, 0.5).mean(low="0"),
            "'low' of mean must be a number or None; got '0'.",
        ),
        (
            lambda: of(Variable("x", ("any",)), 1.0).mean(low=0),
            "The bin 'any' has no upper end. Give the largest number of 'x' as 'high' of mean.",
        ),
    ],
)
def test_what_has_no_number_is_refused(ask, message):
    with pytest.raises(ParameterError) as caught:
        ask()
    assert str(caught.value) == message
