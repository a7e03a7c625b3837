"""A budget reports the first of its limits that is reached."""

import itertools

import numpy as np
import pytest

from coevo.errors import ParameterError
from coevo.search import Budget

HERE = {"seconds": 2.0, "generation": 10, "improved": 7, "evaluations": 500, "score": -40.0}

# Each limit, just reached and just not reached, in the order in which they are reported.
LIMITS = {
    "target": ("target", -40.0, -39.9),
    "generations": ("max_generations", 10, 11),
    "evaluations": ("max_evaluations", 500, 501),
    "patience": ("patience", 3, 4),
    "time": ("max_time", 2.0, 2.1),
}


@pytest.mark.parametrize("reason", LIMITS)
def test_each_limit_alone(reason):
    name, reached, not_yet = LIMITS[reason]
    assert Budget(**{name: reached}).find_reached_limit(**HERE) == reason
    assert Budget(**{name: not_yet}).find_reached_limit(**HERE) is None


@pytest.mark.parametrize("reasons", list(itertools.combinations(LIMITS, 2)))
def test_the_time_limit_is_reported_last(reasons):
    """A run that reaches two limits then reports the same one each time."""
    both = {LIMITS[reason][0]: LIMITS[reason][1] for reason in reversed(reasons)}
    assert Budget(**both).find_reached_limit(**HERE) == reasons[0]
    name, _, not_yet = LIMITS[reasons[0]]
    assert Budget(**(both | {name: not_yet})).find_reached_limit(**HERE) == reasons[1]


def test_an_empty_budget_has_no_limit():
    assert Budget().find_reached_limit(**HERE) is None
    assert not Budget().is_bounded


@pytest.mark.parametrize(
    ("limits", "ends"),
    [
        ({"target": 0.0}, False),
        ({"max_time": 0}, True),
        ({"max_generations": 0}, True),
        ({"max_evaluations": 0}, True),
        ({"patience": 1}, True),
        ({"target": 0.0, "patience": 1}, True),
    ],
)
def test_a_target_alone_may_never_be_reached(limits, ends):
    assert Budget(**limits).is_bounded is ends


def test_numpy_numbers_are_accepted():
    limits = Budget(
        max_time=np.float64(1), max_generations=np.int64(3), patience=np.int32(2), target=-1
    )
    assert limits == Budget(max_time=1, max_generations=3, patience=2, target=-1.0)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("max_time", -0.5, "a number >= 0 or None"),
        ("max_time", float("nan"), "a number >= 0 or None"),
        ("max_time", float("inf"), "a number >= 0 or None"),
        ("max_time", True, "a number >= 0 or None"),
        ("max_time", "60", "a number >= 0 or None"),
        ("target", float("nan"), "a number or None"),
        ("target", -float("inf"), "a number or None"),
        ("target", "best", "a number or None"),
        ("max_generations", -1, "an int >= 0 or None"),
        ("max_generations", 2.0, "an int >= 0 or None"),
        ("max_generations", True, "an int >= 0 or None"),
        ("max_evaluations", -1, "an int >= 0 or None"),
        ("max_evaluations", "9", "an int >= 0 or None"),
        ("patience", 0, "an int >= 1 or None"),
        ("patience", 0.5, "an int >= 1 or None"),
    ],
)
def test_bad_limits(name, value, expected):
    with pytest.raises(ParameterError) as caught:
        Budget(**{name: value})
    assert str(caught.value) == f"{name!r} of Budget must be {expected}; got {value!r}."
