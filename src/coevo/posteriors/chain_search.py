"""The chains as a search: budget, checkpoints, resuming and Ctrl-C are those of every search.

A step of the search is a step of all chains. Its best structure is the best DAG that a chain has
seen. The state holds the candidate parents, so a search that resumes makes the same tables again.

The search has ended when the chains agree: when no probability of an arc differs between two
chains by more than the tolerance, and the standard error of each is below a quarter of it. This is
checked after 8, 16, 32, ... steps, so that it depends on the number of steps alone.

A posterior with a time limit starts its chains with the best choice of families that the time
allows. The choice gets better from stage to stage (`ChainSearch.improve_choice`). Three
quarters of the time are for it and for the warm-up of the chains. If they end too early, or at
Ctrl-C, the last complete stage is used, with a short warm-up. What the chains then sample is the
posterior over fewer families, and the answer says so.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.posteriors.chain_state import LEAST_WARM_UP, ChainSettings, ChainState
from coevo.posteriors.chain_tables import ChainTables, check_table_memory
from coevo.posteriors.chains import (
    ChainRunner,
    have_weight,
    make_tables,
    start_chains,
    step_chains,
)
from coevo.posteriors.diagnostics import diagnose_chains, measure_difference
from coevo.posteriors.family_weights import (
    FamilyWeights,
    ParentSets,
    choose_candidates,
    choose_least_candidates,
    make_family_weights,
)
from coevo.posteriors.outside import improve_weights
from coevo.runtime.deadline import (
    OutOfTime,
    defer_interrupts,
    is_interrupt,
    limit_work_time,
    measure_work_time,
)
from coevo.runtime.randomness import random_stream
from coevo.search import Budget, Method
from coevo.search.archive import Archive
from coevo.search.base import (
    FINITE,
    OFFSETS,
    SCORES,
    Array,
    Info,
    Number,
    Problem,
    Schema,
    Search,
    SearchState,
    make_range,
)

__all__ = ["ChainMethod", "ChainSearch", "PosteriorState", "start_in_time"]


FIRST_CHECK = 8  # steps
DEFAULT_SECONDS = 60.0
FEW_CANDIDATES = 4  # by which the candidates grow, until they are as many as asked for
LEAST_CANDIDATES = 2


@dataclass(frozen=True, eq=False)
class PosteriorState(SearchState):
    """The candidates and the fields of `ChainState`."""

    schema: ClassVar[Schema] = {
        **SearchState.schema,
        "candidate_begin": Array(np.int64, ("begins",), OFFSETS),
        "candidates": Array(np.int64, ("candidates",), make_range(0, "n")),
        "outside_begin": Array(np.int64, ("begins",), OFFSETS),
        "outside_start": Array(np.int64, ("starts",), OFFSETS),
        "outside_parents": Array(np.int32, ("outside",), make_range(0, "n")),
        "seed": Number(),
        "step": Number(),
        "rounds": Number(1),
        "level": Array(np.int64, ("chains", "temperatures", "n"), make_range(0, math.inf)),
        "pairs": Array(np.int64, ("pairs", 2), make_range(0, "n")),
        "arc_sums": Array(np.float64, ("chains", "batches", "pairs"), FINITE),
        "batch_steps": Number(1),
        "trace": Array(np.float64, ("chains", "dags"), SCORES),
        "dags": Array(np.int32, ("chains", "dags", "n"), make_range(0, math.inf)),
        "stride": Number(1),
        "best": Array(np.int32, ("chains", "n"), make_range(0, math.inf)),
        "best_weight": Array(np.float64, ("chains",), SCORES),
        "counts": Array(np.int64, ("chains", 3, 2), make_range(0, math.inf)),
        "near_begin": Array(np.int64, ("begins",), OFFSETS),
        "near": Array(np.int64, ("near",), make_range(0, "n")),
        "first": Array(np.float64, ("n",), make_range(0, 2)),
    }

    candidate_begin: NDArray[np.int64]  # (n + 1,), candidates of child v: begin[v] to begin[v + 1]
    candidates: NDArray[np.int64]
    outside_begin: NDArray[np.int64]  # families that are kept beside the sets of candidates
    outside_start: NDArray[np.int64]
    outside_parents: NDArray[np.int32]
    seed: int
    step: int
    rounds: int
    level: NDArray[np.int64]
    pairs: NDArray[np.int64]
    arc_sums: NDArray[np.float64]
    batch_steps: int
    trace: NDArray[np.float64]
    dags: NDArray[np.int32]
    stride: int
    best: NDArray[np.int32]
    best_weight: NDArray[np.float64]
    counts: NDArray[np.int64]
    near_begin: NDArray[np.int64]
    near: NDArray[np.int64]
    first: NDArray[np.float64]

    def find_flaw(self) -> str:
        """Return what is wrong with the fields together; an empty text if nothing is."""
        n = len(self.adjacency)
        if len(self.candidate_begin) != n + 1 or self.candidate_begin[-1] != len(self.candidates):
            return "'candidate_begin' must split 'candidates' into those of each variable"
        for child, chosen in enumerate(self.candidate_sets):
            if (np.diff(chosen) <= 0).any() or child in chosen:
                return "'candidates' must be ascending, without the child"
        if _find_bad_sets(self.outside, self.candidate_sets):
            return "'outside_parents' must be families with a parent that is no candidate"
        if self.near_begin[-1] != len(self.near) or (np.diff(self.first) < 0).any():
            return "'near_begin' must split 'near', and 'first' must ascend"
        for row in self.level.reshape(-1, n):
            layers = np.unique(row)
            if (layers != 2 * np.arange(len(layers))).any():
                return "'level' must number the layers of each chain, without one left out"
        if self.step != self.generation:
            return "'step' must be the generation"
        return super().find_flaw()

    @property
    def chains(self) -> ChainState:
        """The state of the chains."""
        values = {one.name: np.asarray(getattr(self, one.name)) for one in fields(ChainState)}
        return ChainState(**{**values, "seed": values["seed"].astype(np.uint64)})

    @property
    def candidate_sets(self) -> list[NDArray[np.int64]]:
        """The candidate parents of each child."""
        return np.split(self.candidates, self.candidate_begin[1:-1])

    @property
    def outside(self) -> ParentSets:
        """The families that are kept beside the sets of candidates."""
        return ParentSets(self.outside_begin, self.outside_start, self.outside_parents)


def _find_bad_sets(sets: ParentSets, candidates: list[NDArray[np.int64]]) -> bool:
    """Return whether a set is none, or not ascending, or has its child or candidates only."""
    if sets.begin[-1] != len(sets.start) - 1 or sets.start[-1] != len(sets.parents):
        return True
    for child, some in zip(sets.children.tolist(), sets.split(), strict=True):
        if (np.diff(some) <= 0).any() or child in some or np.isin(some, candidates[child]).all():
            return True
    return False


class TableStore:
    """The last tables, for the same candidates and families: they are made once in a run."""

    def __init__(self) -> None:
        self._key: tuple[bytes, ...] = ()
        self._tables: ChainTables | None = None

    def keep(
        self, candidates: Sequence[NDArray[np.int64]], outside: ParentSets, tables: ChainTables
    ) -> ChainTables:
        """Store the tables and return them."""
        self._key, self._tables = self._make_key(candidates, outside), tables
        return tables

    def get(
        self,
        candidates: Sequence[NDArray[np.int64]],
        outside: ParentSets,
        make: Callable[[], ChainTables],
    ) -> ChainTables:
        """Return the tables of these candidates; make them if they are not the last ones."""
        if self._tables is None or self._key != self._make_key(candidates, outside):
            return self.keep(candidates, outside, make())
        return self._tables

    @staticmethod
    def _make_key(
        candidates: Sequence[NDArray[np.int64]], outside: ParentSets
    ) -> tuple[bytes, ...]:
        arrays = (*candidates, *outside)
        return tuple(np.asarray(array, dtype=np.int64).tobytes() for array in arrays)


def _flatten(chains: ChainState) -> dict[str, Any]:
    """Return the fields of the state of chains; single numbers as int."""
    values = {one.name: getattr(chains, one.name) for one in fields(chains)}
    return {name: int(v) if np.ndim(v) == 0 else v for name, v in values.items()}


class FamilyChoice(NamedTuple):
    """The families of the chains: the sets of the candidates of each child, and those beside."""

    weights: FamilyWeights
    outside: ParentSets
    n_candidates: int  # of each child, if there are as many


def draw_chain_seed(rng: Generator) -> int:
    """Return the seed of the chains, from the random stream of generation 0."""
    return int(rng.integers(2**63))


@dataclass(frozen=True)
class ChainMethod(Method):
    """Settings of the chains; `coevo.posterior` explains them."""

    name: ClassVar[str] = "posterior"
    state_type: ClassVar[type[SearchState]] = PosteriorState
    default_budget: ClassVar[Budget] = Budget(max_time=DEFAULT_SECONDS)

    prior: str = "uniform"
    family_prior: str = "uniform"
    candidates: int = 12
    chains: int = 4
    temperatures: int = 1
    networks: int = 1000
    tolerance: float = 0.05
    archive: Archive | None = field(default=None, repr=False, compare=False)
    runner: ChainRunner | None = field(default=None, repr=False, compare=False)
    first: PosteriorState | None = field(default=None, repr=False, compare=False)
    store: TableStore = field(default_factory=lambda: TableStore(), repr=False, compare=False)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings as plain values; without the archive, whose candidates are in the state."""
        names = (one.name for one in fields(self) if one.compare)
        return {name: getattr(self, name) for name in names}

    @cached_property
    def chain_settings(self) -> ChainSettings:
        """The settings of the chains."""
        n_dags = max(2, 2 * -(-self.networks // self.chains))
        return ChainSettings(
            prior=self.prior,
            chains=self.chains,
            temperatures=self.temperatures,
            max_dags=n_dags,
        )

    def make_search(self, problem: Problem) -> ChainSearch:
        """Return the search on a problem."""
        return ChainSearch(self, problem)


class ChainSearch(Search[PosteriorState]):
    """The chains on a problem."""

    def __init__(self, method: ChainMethod, problem: Problem) -> None:
        self._method = method
        self._problem = problem

    def start(self, rng: Generator) -> tuple[PosteriorState, Info]:
        """Return chains that have made no step."""
        first = self._method.first
        if first is None:
            seed = draw_chain_seed(rng)
            first = self.make_first(deque(self.improve_choice(seed), maxlen=1).pop(), seed)
        return first, {"largest_difference": 1.0}

    def improve_choice(self, seed: int) -> Iterator[FamilyChoice]:
        """Yield better and better choices of families, from few candidates on."""
        problem, method = self._problem, self._method
        check_table_memory(problem.n_variables, method.candidates, method.temperatures)
        good = self._good
        for number in range(FEW_CANDIDATES, method.candidates, FEW_CANDIDATES):
            chosen = choose_candidates(problem, method.archive, number, good)
            if all(len(some) < number for some in chosen):
                break  # there are no more
            weights = make_family_weights(problem, chosen, method.family_prior)
            yield FamilyChoice(weights, ParentSets.make_empty(problem.n_variables), number)
        chosen = choose_candidates(problem, method.archive, method.candidates, good)
        settings = method.chain_settings
        for weights, outside in improve_weights(
            problem, chosen, method.family_prior, settings, good, seed
        ):
            yield FamilyChoice(weights, outside, method.candidates)

    def choose_least(self) -> FamilyChoice:
        """Return a choice that is always quick: the sets of two neighbours in the start."""
        problem = self._problem
        chosen = choose_least_candidates(problem, LEAST_CANDIDATES)
        weights = make_family_weights(problem, chosen, self._method.family_prior)
        return FamilyChoice(weights, ParentSets.make_empty(problem.n_variables), LEAST_CANDIDATES)

    @property
    def _good(self) -> NDArray[np.bool_] | None:
        return self._problem.start[None] if self._problem.has_start else None

    def make_first(
        self, choice: FamilyChoice, seed: int, warm_up: int | None = None
    ) -> PosteriorState:
        """Return chains on chosen families that have made no step."""
        problem, method = self._problem, self._method
        weights, outside, _ = choice
        settings = replace(method.chain_settings, warm_up=warm_up)
        tables = method.store.keep(weights.candidates, outside, make_tables(weights, settings))
        chains = start_chains(tables, settings, self._good, seed, problem.scorer.threads)
        sizes = [len(chosen) for chosen in weights.candidates]
        return PosteriorState(
            generation=0,
            evaluations=weights.n_scored,
            improved=0,
            score=problem.score(problem.start),
            adjacency=problem.start.copy(),
            candidate_begin=np.concatenate([[0], np.cumsum(sizes)]),
            candidates=np.concatenate([*weights.candidates, np.empty(0, dtype=np.int64)]),
            outside_begin=outside.begin,
            outside_start=outside.start,
            outside_parents=outside.parents,
            **_flatten(chains),
        )

    def step_briefly(self, state: PosteriorState) -> PosteriorState:
        """Return the chains after a step of a single round. It cannot be resumed."""
        return self.step(np.random.default_rng(0), replace(state, rounds=1))[0]

    def step(self, rng: Generator, state: PosteriorState) -> tuple[PosteriorState, Info]:
        """Return the chains after one more step."""
        tables, problem = self.get_tables(state), self._problem
        settings, threads = self._method.chain_settings, problem.scorer.threads
        chains = step_chains(tables, settings, state.chains, threads, self._method.runner)
        best = tables.make_adjacency(chains.best[chains.best_chain])
        score = problem.score(best)
        better = (best, score) if score > state.score else None
        difference = measure_difference(chains)
        return state.advance(0, better, **_flatten(chains)), {"largest_difference": difference}

    def get_tables(self, state: PosteriorState) -> ChainTables:
        """Return the tables of a state; they are made again if a search resumes."""
        return self._method.store.get(
            state.candidate_sets,
            state.outside,
            lambda: make_tables(
                make_family_weights(
                    self._problem, state.candidate_sets, self._method.family_prior, state.outside
                ),
                self._method.chain_settings,
            ),
        )

    def is_finished(self, state: PosteriorState) -> bool:
        """Return whether the chains agree."""
        steps = state.step
        if steps < FIRST_CHECK or steps & (steps - 1):
            return False
        found, tolerance = diagnose_chains(state.chains), self._method.tolerance
        error = float(found.standard_error.max(initial=0.0))
        return found.is_converged(tolerance) and error <= tolerance / 4

    def is_compatible(self, state: PosteriorState) -> bool:
        """Return whether the state has the chains of these settings, and families of the tables."""
        settings, n = self._method.chain_settings, self._problem.n_variables
        shape = (settings.chains, settings.temperatures, n)
        if state.level.shape != shape or state.trace.shape[1] != settings.max_dags:
            return False
        if state.rounds != settings.count_rounds(n) or not state.chains.has_room:
            return False
        tables = self.get_tables(state)
        is_order = settings.prior == "order"
        levels = state.level.reshape(-1, n)
        fits_prior = all(len(np.unique(row)) == n for row in levels) if is_order else True
        return (
            fits_prior
            and np.array_equal(state.pairs, tables.pairs)
            and _are_families(state.chains, tables.arrays.begin)
            and have_weight(tables, settings, levels)
        )


def _are_families(chains: ChainState, begin: NDArray[np.int64]) -> bool:
    """Return whether the DAGs of chains have, for each variable, one of its families."""
    best = chains.best if chains.step else chains.best[:0]  # before the first step there is none
    held = (chains.held_dags.reshape(-1, chains.n_variables), best)
    return all(bool(((one >= begin[:-1]) & (one < begin[1:])).all()) for one in held)


SHARE_OF_TIME = 0.75


@dataclass(frozen=True)
class ChainStart:
    """Chains that have made no step, and what ended the choice of their families.

    Attributes
    ----------
    state : PosteriorState
        The chains.
    seconds : float
        The time that the start took.
    ended_by : {'time', 'interrupt'} or None
        What ended the choice early; None if it is complete.
    n_candidates : int or None
        Number of candidates of each child if the choice ended early.
    """

    state: PosteriorState
    seconds: float
    ended_by: Literal["time", "interrupt"] | None = None
    n_candidates: int | None = None


def start_in_time(
    method: ChainMethod, problem: Problem, random_seed: int, max_time: float
) -> ChainStart:
    """Return chains that have made no step, soon after three quarters of the time at most.

    Raises
    ------
    KeyboardInterrupt
        If Ctrl-C comes before the first stage ends.
    """
    began, search = measure_work_time(), method.make_search(problem)
    seed = draw_chain_seed(random_stream(random_seed, 0))
    choice: FamilyChoice | None = None
    ended_by: Literal["time", "interrupt"]
    try:
        with limit_work_time(began + SHARE_OF_TIME * max_time):
            for better in search.improve_choice(seed):
                choice = better
            assert choice is not None
            return ChainStart(search.make_first(choice, seed), measure_work_time() - began)
    except OutOfTime:
        ended_by = "time"
    except (KeyboardInterrupt, SystemError) as error:
        if not is_interrupt(error):
            raise
        if choice is None:
            raise KeyboardInterrupt from None
        ended_by = "interrupt"
    with defer_interrupts():  # it is short
        least = search.choose_least() if choice is None else choice
        state = search.make_first(least, seed, LEAST_WARM_UP)
    return ChainStart(state, measure_work_time() - began, ended_by, least.n_candidates)
