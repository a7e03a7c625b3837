"""Islands: several populations of CCMA, which evolve apart and send each other their best.

Each island is a CCMA of its own (`coevo.search.ccma`) with random streams of its own. All
islands make the same number of generations, an *epoch*; then the best orders of each go to the
next one in a ring, with the families that they have chosen, and replace its worst. One step of
this search is one epoch, so that islands on other machines are asked once an epoch, and what a
budget, a history or a checkpoint calls a generation is an epoch here.

An island depends on its state and its stream alone, and migration is done where all of them
are; so the answer depends on the settings and the seed, never on who let the islands evolve
(`Runner`). Without one they evolve here, one after another, each on all threads of the scorer.
One island is CCMA with other random streams: nobody migrates. (Islands on threads of one
process took more time than that in a measurement, as they take turns at the scorer.)

What islands buy: mean nats below the best structure that any of these runs found (1,000 rows,
K2, three seeds, so differences of less than a nat mean nothing).

                                              win95pts  hepar2
    ccma, 24 generations                          11.4    24.4
    three islands, 24 generations                 10.7    18.8
    the best of three without migration           11.0    19.0
    ccma, with the time of all three together      5.9     6.8
    ccma, 72 generations                           0.8     1.1

In the same time on the clock, on cores that would be idle, three islands find a little more
than one population, hardly more than three that never meet. One that is given the time of all
three, or simply more of it, finds far more. So islands are for whoever asks for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.search.base import (
    LEAST_GAIN,
    STATES_OF,
    Info,
    Method,
    Problem,
    Search,
    SearchState,
)
from coevo.search.budget import Budget
from coevo.search.ccma import CCMA, CCMAState

__all__ = ["Epoch", "Islands", "IslandsState", "Runner", "run_here"]

Island = tuple[CCMAState, Generator]  # where it stands, and the stream of its next epoch


@dataclass(frozen=True)
class Epoch:
    """What each island does between two migrations; another process can be given it."""

    problem: Problem
    method: CCMA
    generations: int

    def __call__(self, island: Island) -> CCMAState:
        """Return where an island stands at the end of the epoch."""
        search = self.method.on(self.problem)
        state, rng = island
        for own in rng.spawn(self.generations):
            state, _ = search.step(own, state)
        return state


Runner = Callable[[Epoch, Sequence[Island]], list[CCMAState]]  # an epoch of each, in their order


def run_here(epoch: Epoch, islands: Sequence[Island]) -> list[CCMAState]:
    """Let islands evolve one after another."""
    return [epoch(island) for island in islands]


@dataclass(frozen=True)
class IslandsState(SearchState):
    """Where each island stands."""

    islands: tuple[CCMAState, ...] = field(metadata={STATES_OF: CCMAState})


@dataclass(frozen=True)
class Islands(Method):
    """Settings of islands.

    Parameters
    ----------
    islands : int
        How many.
    epoch : int
        Generations between two migrations.
    migrants : int
        Orders that go from each island to the next; at least one of its own stays.
    orders, masks, refill : int
        Settings of each island, see `CCMA`.
    runner : callable, optional
        Who lets the islands evolve; never part of the answer. `distribute_islands` gives one that
        does it on a cluster.

    Examples
    --------
    >>> import coevo
    >>> rows = coevo.sample(coevo.load_network("asia"), 500, random_state=1)
    >>> scorer = coevo.FamilyScorer(rows, "k2")
    >>> limit = coevo.Budget(max_generations=2)
    >>> found = coevo.run_search(Islands(islands=2), scorer, budget=limit, random_state=7)
    >>> found.method, [island.generation for island in found.state.islands]
    ('islands', [12, 12])
    """

    name: ClassVar[str] = "islands"
    state_type: ClassVar[type[SearchState]] = IslandsState
    default_budget: ClassVar[Budget] = Budget(patience=4)

    islands: int = 3
    epoch: int = 6
    migrants: int = 2
    orders: int = CCMA.orders
    masks: int = CCMA.masks
    refill: int = CCMA.refill
    runner: Runner = field(default=run_here, compare=False, repr=False)

    def __post_init__(self) -> None:
        self.check_counts(islands=1, epoch=1, migrants=1, orders=2, masks=2, refill=1)

    @property
    def ccma(self) -> CCMA:
        """The method of each island."""
        return CCMA(orders=self.orders, masks=self.masks, refill=self.refill)

    def memory(self, n_variables: int) -> int:
        """Return how many bytes a search takes at most, about, besides the scorer's."""
        return self.islands * self.ccma.memory(n_variables)

    def settings(self) -> dict[str, Any]:
        """Return the settings as plain numbers; who lets the islands evolve is none."""
        return {own.name: getattr(self, own.name) for own in fields(self) if own.compare}

    def on(self, problem: Problem) -> IslandsSearch:
        """Return the search on a problem."""
        return IslandsSearch(self, problem)


class IslandsSearch(Search[IslandsState]):
    """Islands on a problem."""

    def __init__(self, method: Islands, problem: Problem) -> None:
        self._method = method
        self._epoch = Epoch(problem, method.ccma, method.epoch)
        self._island = method.ccma.on(problem)

    def start(self, rng: Generator) -> tuple[IslandsState, Info]:
        """Return all islands at the same start; chance comes in after the climb."""
        first, _ = self._island.start(rng)
        shared = {own.name: getattr(first, own.name) for own in fields(SearchState)}
        state = IslandsState(**shared, islands=(first,) * self._method.islands)
        return state, _info(state)

    def step(self, rng: Generator, state: IslandsState) -> tuple[IslandsState, Info]:
        """Let every island evolve for an epoch, then let the best orders migrate."""
        before = state.islands
        streams = rng.spawn(len(before))
        evolved = self._method.runner(self._epoch, list(zip(before, streams, strict=True)))
        asked = sum(island.evaluations for island in evolved)
        asked -= sum(island.evaluations for island in before)
        islands = self._migrated(evolved)
        best = max(islands, key=lambda island: island.score)
        is_better = best.score > state.score + LEAST_GAIN
        better = (best.adjacency, best.score) if is_better else None
        after = state.after(asked, better, islands=islands)
        return after, _info(after)

    def _migrated(self, islands: Sequence[CCMAState]) -> tuple[CCMAState, ...]:
        """Return the islands after each has had visitors from the one before, all at once."""
        if len(islands) == 1:
            return tuple(islands)
        n = self._method.migrants
        return tuple(
            self._island.visited(island, islands[number - 1], n)
            for number, island in enumerate(islands)
        )

    def fits(self, state: IslandsState) -> bool:
        """Return whether there are as many islands as are set, of the size that is set."""
        is_number = len(state.islands) == self._method.islands
        return is_number and all(map(self._island.fits, state.islands))

    def structures(self, state: IslandsState) -> Iterator[NDArray[np.bool_]]:
        """Yield the structure of each order of each island."""
        for island in state.islands:
            yield from self._island.structures(island)


def _info(state: IslandsState) -> Info:
    islands = state.islands
    return {
        "n_families": float(sum(len(island.family_scores) for island in islands)),
        "n_extended": float(sum(len(island.extended) for island in islands)),
        "lowest": float(min(island.score for island in islands)),
    }
