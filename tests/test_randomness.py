"""Each purpose has its own random stream, which the seed and its number identify."""

import itertools

import numpy as np
import pytest

from coevo.errors import ParameterError
from coevo.runtime.randomness import random_stream, resolve_seed


def start_of(generator):
    return tuple(generator.integers(2**63, size=8).tolist())


def test_the_same_key_is_the_same_stream(seed):
    for key in ((), (0,), (3,), (3, 1), (2**40, 0)):
        assert start_of(random_stream(seed, *key)) == start_of(random_stream(seed, *key))


def test_other_keys_and_seeds_are_other_streams(seed):
    keys = [(), *itertools.product(range(20)), *itertools.product(range(5), repeat=2)]
    starts = {
        start_of(random_stream(s, *key)) for s in (seed, seed + 1, seed + 2**64) for key in keys
    }
    assert len(starts) == 3 * len(keys)


def test_streams_are_unrelated(seed):
    """Draws of neighbouring generations and seeds are not correlated."""
    draws = [random_stream(seed + s, g).random(4000) for s in range(3) for g in range(4)]
    together = np.corrcoef(draws) - np.eye(12)
    assert np.abs(together).max() < 6 / np.sqrt(4000)


def test_a_stream_does_not_depend_on_what_was_drawn_before(seed):
    right = start_of(random_stream(seed, 5))
    for generation in range(5):
        one = random_stream(seed, generation)
        one.random(1000)
        one.spawn(3)
    assert start_of(random_stream(seed, 5)) == right


@pytest.mark.parametrize("value", [0, 7, 2**63, 2**200, np.int64(7), np.uint8(7)])
def test_an_int_is_its_own_seed(value):
    found = resolve_seed(value, "learn")
    assert found == value
    assert type(found) is int
    random_stream(found, 0)


def test_a_generator_gives_a_seed_and_advances(seed):
    generator = np.random.default_rng(seed)
    first, second = resolve_seed(generator, "learn"), resolve_seed(generator, "learn")
    assert first != second
    assert first == resolve_seed(np.random.default_rng(seed), "learn")
    assert type(first) is int


def test_none_is_another_seed_each_time():
    assert len({resolve_seed(None, "learn") for _ in range(20)}) == 20


@pytest.mark.parametrize(
    "value", [-1, np.int64(-1), 1.5, True, "7", [1], np.random.SeedSequence(1)], ids=repr
)
def test_invalid_random_state(value):
    with pytest.raises(ParameterError) as caught:
        resolve_seed(value, "learn")
    shown = "a SeedSequence" if isinstance(value, np.random.SeedSequence) else repr(value)
    assert str(caught.value) == (
        f"'random_state' of learn must be an int >= 0, a numpy Generator or None; got {shown}."
    )
