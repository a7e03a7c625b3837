"""Islands: several populations of CCMA that evolve separately, with migration.

Each island is a CCMA population (`coevo.search.ccma`) with its own random streams. All islands
evolve for the same number of generations, an *epoch*. Then the best orders of each island
migrate to the next island in a ring. They take along the families that they have chosen and
replace the worst orders there. One step of this search is one epoch. Remote islands therefore
communicate once per epoch, and a generation in a budget, a history or a checkpoint is an epoch.

An island depends only on its state and its random stream, and migration runs in the calling
process. So the result depends on the settings and the seed, and never on where the islands
evolve (`Runner`). By default they evolve in this process, one after another, each on all threads
of the scorer. One island is CCMA with other random streams, without migration. (Islands on
threads of one process took more time than that in a measurement, because they wait for each
other at the scorer.)

The effect of islands: mean nats below the best structure of all these runs (1,000 rows, K2,
three seeds; differences of less than a nat are not significant).

                                              win95pts  hepar2
    ccma, 24 generations                          11.4    24.4
    three islands, 24 generations                 10.7    18.8
    the best of three without migration           11.0    19.0
    ccma, with the time of all three together      5.9     6.8
    ccma, 72 generations                           0.8     1.1

In the same wall-clock time, on cores that would be idle otherwise, three islands are a little
better than one population, and hardly better than three populations without migration. One
population with the time of all three, or simply with more time, is far better. So islands are
used only on request.
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
from coevo.search.ccma import CCMA, CCMAState
from coevo.search.ccma_state import merge_populations
from coevo.search.loop import Budget
from coevo.search.species import Populations, name_credit

__all__ = ["Epoch", "Islands", "IslandsState", "Runner", "run_in_sequence"]

Island = tuple[CCMAState, Generator]  # its state, and the random stream of its next epoch


@dataclass(frozen=True)
class Epoch:
    """The work of an island between two migrations. It can be sent to another process."""

    problem: Problem
    method: CCMA
    generations: int

    def __call__(self, island: Island) -> CCMAState:
        """Return the state of an island at the end of the epoch."""
        search = self.method.make_search(self.problem)
        state, rng = island
        for generation_rng in rng.spawn(self.generations):
            state, _ = search.step(generation_rng, state)
        return state


Runner = Callable[[Epoch, Sequence[Island]], list[CCMAState]]  # runs one epoch of each island


def run_in_sequence(epoch: Epoch, islands: Sequence[Island]) -> list[CCMAState]:
    """Run an epoch of each island, one after another."""
    return [epoch(island) for island in islands]


@dataclass(frozen=True, eq=False)
class IslandsState(SearchState):
    """The states of all islands."""

    islands: tuple[CCMAState, ...] = field(metadata={STATES_OF: CCMAState})

    def get_populations(self) -> Populations | None:
        """Return the species of all islands together, those of the best island first."""
        ranked = sorted(self.islands, key=lambda island: -island.score)
        evolving = [island for island in ranked if not island.is_climbing]
        if not evolving:
            return None
        return merge_populations(evolving, self.adjacency)


@dataclass(frozen=True)
class Islands(Method):
    """Settings of islands.

    Parameters
    ----------
    islands : int
        Number of islands.
    epoch : int
        Number of generations between two migrations.
    migrants : int
        Number of orders that migrate from each island to the next. Each island keeps at least
        one order of its own.
    orders, masks, restart_after : int
        Settings of each island, see `CCMA`.
    runner : callable, optional
        Runs the epochs of the islands (default: one after another in this process). It does
        not change the result. `distribute_islands` returns one for a cluster.

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
    restart_after: int = CCMA.restart_after
    runner: Runner = field(default=run_in_sequence, compare=False, repr=False)

    def __post_init__(self) -> None:
        self.check_counts(islands=1, epoch=1, migrants=1, orders=2, masks=2, restart_after=1)

    @property
    def ccma(self) -> CCMA:
        """The method of each island."""
        return CCMA(orders=self.orders, masks=self.masks, restart_after=self.restart_after)

    def estimate_memory(self, n_variables: int) -> int:
        """Return an upper estimate of the bytes that a search needs, without the scorer."""
        return self.islands * self.ccma.estimate_memory(n_variables)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings as plain numbers. The runner is not among them."""
        compared = [field.name for field in fields(self) if field.compare]
        return {name: getattr(self, name) for name in compared}

    def make_search(self, problem: Problem) -> IslandsSearch:
        """Return the search on a problem."""
        return IslandsSearch(self, problem)


class IslandsSearch(Search[IslandsState]):
    """Islands on a problem."""

    def __init__(self, method: Islands, problem: Problem) -> None:
        self._method = method
        self._epoch = Epoch(problem, method.ccma, method.epoch)
        self._island = method.ccma.make_search(problem)

    def start(self, rng: Generator) -> tuple[IslandsState, Info]:
        """Return all islands with the same start. They differ after the hill climbing."""
        first, _ = self._island.start(rng)
        shared = {field.name: getattr(first, field.name) for field in fields(SearchState)}
        state = IslandsState(**shared, islands=(first,) * self._method.islands)
        return state, _make_info(state)

    def step(self, rng: Generator, state: IslandsState) -> tuple[IslandsState, Info]:
        """Run an epoch of every island, then migrate the best orders."""
        before = state.islands
        streams = rng.spawn(len(before))
        evolved = self._method.runner(self._epoch, list(zip(before, streams, strict=True)))
        n_evaluations = sum(island.evaluations for island in evolved)
        n_evaluations -= sum(island.evaluations for island in before)
        islands = self._migrate(evolved)
        best = max(islands, key=lambda island: island.score)
        is_better = best.score > state.score + LEAST_GAIN
        better = (best.adjacency, best.score) if is_better else None
        after = state.advance(n_evaluations, better, islands=islands)
        return after, _make_info(after)

    def _migrate(self, islands: Sequence[CCMAState]) -> tuple[CCMAState, ...]:
        """Return the islands after all of them received migrants from the previous island."""
        if len(islands) == 1:
            return tuple(islands)
        n = self._method.migrants
        return tuple(
            self._island.with_migrants(island, islands[number - 1], n)
            for number, island in enumerate(islands)
        )

    def is_compatible(self, state: IslandsState) -> bool:
        """Return whether the number and the sizes of the islands are those of the settings."""
        is_number = len(state.islands) == self._method.islands
        return is_number and all(map(self._island.is_compatible, state.islands))

    def iter_structures(self, state: IslandsState) -> Iterator[NDArray[np.bool_]]:
        """Yield the structure of each order of each island."""
        for island in state.islands:
            yield from self._island.iter_structures(island)


def _make_info(state: IslandsState) -> Info:
    islands = state.islands
    return {
        "n_families": float(sum(len(island.family_scores) for island in islands)),
        "n_extended": float(sum(len(island.extended) for island in islands)),
        "lowest": float(min(island.score for island in islands)),
        **name_credit(np.mean([island.credit for island in islands], axis=0)),
    }
