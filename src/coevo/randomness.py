"""Where random numbers come from: one seed, and streams that belong to what they are for.

A seed never serves a thread or a moment: each generation, variable or run has a stream of
its own, found by its number. So the same seed gives the same answer on any number of
threads, and a run that goes on from a saved state needs no saved generator.
"""

from __future__ import annotations

import numpy as np

from coevo.checks import is_int
from coevo.errors import bad_parameter

__all__ = ["RandomState", "seed_of", "stream"]

RandomState = int | np.random.Generator | None


def seed_of(random_state: RandomState, owner: str) -> int:
    """Return the seed that a `random_state` stands for: itself, one drawn, or a new one.

    >>> seed_of(7, "learn")
    7
    >>> seed_of(-1, "learn")
    Traceback (most recent call last):
    coevo.errors.ParameterError: 'random_state' of learn must be an int >= 0, a numpy Generator \
or None; got -1.
    """
    if random_state is None:
        random_state = np.random.default_rng()
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if not is_int(random_state, 0):
        expected = "an int >= 0, a numpy Generator or None"
        raise bad_parameter("random_state", owner, expected, random_state)
    return int(random_state)


def stream(seed: int, *key: int) -> np.random.Generator:
    """Return the generator that belongs to a key under a seed.

    >>> first, again, other = stream(7, 1), stream(7, 1), stream(7, 2)
    >>> first.random() == again.random() != other.random()
    True
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))
