"""The loop gives each generation its own random stream and its own row of the history."""

from dataclasses import dataclass

import pytest

from coevo.runtime.randomness import random_stream
from coevo.search import Budget, GenerationLoop


@dataclass(frozen=True)
class Drawn:
    """A state, and a row of the history: all that has been drawn so far."""

    draws: tuple[float, ...]
    evaluations = 0
    improved = 0
    score = 0.0

    @property
    def generation(self):
        return len(self.draws) - 1


class Drawing(GenerationLoop):
    """A search that draws one number in each generation."""

    def start(self, rng):
        return Drawn((rng.random(),))

    def step(self, rng, state):
        return Drawn((*state.draws, rng.random()))

    def is_finished(self, state):
        return False

    def make_row(self, state):
        return state

    def save(self, state):
        pass


def list_draws(seed, n):
    """Return the first draw of each of n streams."""
    return tuple(random_stream(seed, generation).random() for generation in range(n))


def test_each_generation_has_its_own_stream(seed):
    loop = Drawing(Budget(max_generations=4), seed, ())
    assert loop.run() == "generations"
    assert loop.state.draws == list_draws(seed, 5)
    assert len(set(loop.state.draws)) == 5
    assert [row.generation for row in loop.history] == [0, 1, 2, 3, 4]


def test_a_resumed_loop_continues_with_the_next_stream(seed):
    loop = Drawing(Budget(max_generations=4), seed, ())
    earlier = [Drawn(list_draws(seed, n)) for n in (1, 2, 3)]
    loop.resume(earlier[-1], earlier)
    assert loop.run() == "generations"
    assert loop.history == [Drawn(list_draws(seed, n)) for n in (1, 2, 3, 4, 5)]


def test_a_generation_has_one_row_whenever_the_user_stops(seed):
    """In a callback the state has its row already; after a step it has none yet."""

    def stop_at_2(row):
        if row.generation == 2:
            raise KeyboardInterrupt

    loop = Drawing(Budget(max_generations=4), seed, (stop_at_2,))
    assert loop.run() == "interrupt"
    assert [row.generation for row in loop.history] == [0, 1, 2]


@pytest.mark.parametrize("n_recorded", [2, 3])
def test_a_state_is_recorded_unless_it_has_a_row(n_recorded, seed):
    class Stopping(Drawing):
        def step(self, rng, state):
            raise KeyboardInterrupt

    states = [Drawn(list_draws(seed, n)) for n in (1, 2, 3)]
    loop = Stopping(Budget(max_generations=4), seed, ())
    loop.resume(states[-1], states[:n_recorded])
    assert loop.run() == "interrupt"
    assert loop.history == states
