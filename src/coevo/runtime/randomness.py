"""Random numbers: one seed, and an independent stream for each purpose.

A stream never belongs to a thread or to a moment. Each generation, variable or run has its
own stream, which its number identifies. The same seed therefore gives the same answer on any
number of threads, and a search that resumes from a checkpoint needs no saved generator.
"""

from __future__ import annotations

import numpy as np

from coevo.errors import bad_parameter

__all__ = ["RandomState", "random_stream", "resolve_seed"]

RandomState = int | np.random.Generator | None


def resolve_seed(random_state: RandomState, owner: str) -> int:
    """Return the seed of a `random_state`: the int itself, a draw from the generator, or a new one.

    >>> resolve_seed(7, "learn")
    7
    >>> resolve_seed(-1, "learn")
    Traceback (most recent call last):
    coevo.errors.ParameterError: 'random_state' of learn must be an int >= 0, a numpy Generator \
or None; got -1.
    """
    if random_state is None:
        random_state = np.random.default_rng()
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    is_seed = isinstance(random_state, int | np.integer) and not isinstance(random_state, bool)
    if not (is_seed and random_state >= 0):  # of any size
        expected = "an int >= 0, a numpy Generator or None"
        raise bad_parameter("random_state", owner, expected, random_state)
    return int(random_state)


def random_stream(seed: int, *key: int) -> np.random.Generator:
    """Return the generator for a key under a seed.

    >>> first, again, other = random_stream(7, 1), random_stream(7, 1), random_stream(7, 2)
    >>> first.random() == again.random() != other.random()
    True
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))
