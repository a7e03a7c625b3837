"""Variants of CCMA without one part, and the steps from the CCGA of the paper to CCMA.

Each variant is a search method, so it runs under the same loop, budget and seeds. The variants are
not part of the package. They exist to measure the effect of each part.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.score import FamilyBatch
from coevo.search import CCGA, CCMA, Problem
from coevo.search.archive import Archive, ParentSet, flatten_sets
from coevo.search.base import Method
from coevo.search.breeding import SCOUTS, SOURCES
from coevo.search.ccga import CCGASearch
from coevo.search.ccma import CCMASearch, CCMAState, Work
from coevo.search.masks import Masks, Turns, draw_turns
from coevo.search.operators import Indices, Orders, Scores
from coevo.search.operators import Masks as PositionMasks
from coevo.search.parent_extension import extend_parent_sets
from coevo.search.solution_scorer import SolutionScorer

__all__ = ["SPECIES", "STEPS"]

REMOVED = ("nearby", "archive", "probe", "enlarge", "response", "cross")  # one source each
CANDIDATES = 20  # candidate parents of each child, fixed beforehand
MAX_FIXED_PARENTS = 3


class PairSolutions(SolutionScorer):
    """Scorer of solutions whose masks have one bit for each pair of variables, not of positions."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        n = problem.n_variables
        self._bit_of = np.zeros((n, n), dtype=np.int64)
        self._places = np.triu_indices(n, k=1)
        self._bit_of[self._places] = np.arange(len(self._places[0]))
        self._bit_of += self._bit_of.T

    def _convert_masks(self, orders: Orders, masks: PositionMasks) -> PositionMasks:
        """Return each mask with one bit for each pair of positions of its order."""
        above, below = self._places
        bits = self._bit_of[orders[:, above], orders[:, below]]
        by_position: PositionMasks = np.take_along_axis(masks, bits, axis=1)
        return by_position

    def score_solutions(
        self, orders: Orders, order_of: Indices, masks: PositionMasks, mask_of: Indices
    ) -> Scores:
        """Return the score of each solution."""
        converted = self._convert_masks(orders[order_of], masks[mask_of])
        return super().score_solutions(orders, order_of, converted, np.arange(len(converted)))

    def decode_and_score(
        self, order: Orders, mask: PositionMasks
    ) -> tuple[NDArray[np.bool_], float]:
        """Return the adjacency matrix and the exact score of one solution."""
        return super().decode_and_score(order, self._convert_masks(order[None], mask[None])[0])


class PairMasks(CCGASearch):
    """CCGA with masks over pairs of variables; the order determines the direction of an arc."""

    def __init__(self, method: CCGA, problem: Problem) -> None:
        super().__init__(method, problem)
        self._solutions = PairSolutions(problem)


class WithoutLocalSearch(CCMASearch):
    """CCMA whose orders are bred but never improved by local search or perturbation."""

    least_gain = math.inf

    def __init__(self, method: CCMA, problem: Problem) -> None:
        super().__init__(method, problem)
        self.n_perturbations = self.n_local = 0


class WithoutArchive(CCMASearch):
    """CCMA that forgets all families of earlier generations that no order uses."""

    def _evolve(self, rng: Generator, state: CCMAState) -> CCMAState:
        archive, choice = state.archive, state.choice
        used = np.unique(choice)
        sets = flatten_sets([archive.parents_of(family) for family in used.tolist()])
        no_hashes = np.empty(0, dtype=np.uint64)
        empty = Archive.from_problem(self._problem)
        kept = empty.with_families(archive.children[used], archive.score[used], *sets, no_hashes)
        position = dict(zip(kept.hashes.tolist(), range(kept.n_families), strict=True))
        hashes = archive.hashes[choice].tolist()
        new_choice = [[position[value] for value in row] for row in hashes]
        reduced = replace(
            state,
            choice=np.array(new_choice, dtype=np.int64),
            begin=kept.begin,
            family_scores=kept.score,
            start=kept.start,
            parents=kept.parents,
            extended=no_hashes,
        )
        return super()._evolve(rng, reduced)


class WithoutCredit(CCMASearch):
    """CCMA whose rows earn no credit: turns are drawn without regard to it."""

    def _draw_turns(self, rng: Generator, state: CCMAState) -> Turns:
        none, hope = np.zeros_like(state.credit), np.ones_like(state.hope)
        return draw_turns(rng, replace(state.masks, credit=none, hope=hope), self._widths)


class RandomCredit(CCMASearch):
    """CCMA whose turns are drawn by the credit of random other rows."""

    def _draw_turns(self, rng: Generator, state: CCMAState) -> Turns:
        credit = rng.permutation(state.credit)
        hope = rng.permutation(state.hope.ravel()).reshape(state.hope.shape)
        return draw_turns(rng, replace(state.masks, credit=credit, hope=hope), self._widths)


class FixedCandidates(CCMASearch):
    """CCMA whose rows keep their first candidates, those with the largest gains; with scouts."""

    def _evolve_masks(
        self, rng: Generator, masks: Masks, works: tuple[Work, Work], after: CCMAState
    ) -> Masks:
        return masks


class AllCandidates(FixedCandidates):
    """CCMA whose extensions try all variables; a turn costs as many families as there are."""

    def __init__(self, method: CCMA, problem: Problem) -> None:
        super().__init__(method, problem)
        self._widths = np.full(method.masks, max(1, self._n - 1))

    def _extend(
        self, state: CCMAState, parent_sets: list[ParentSet], turns: Turns
    ) -> tuple[Work, Work]:
        rows = np.tile(np.arange(self._n, dtype=np.int32), (len(turns), 1))
        extensions = extend_parent_sets(self._problem, parent_sets, rows)
        nothing = extend_parent_sets(self._problem, [], rows[:0])
        return Work(turns, extensions), Work(turns[:0], nothing)


class WithoutScouts(CCMASearch):
    """CCMA whose scouts have no turns."""

    def _draw_turns(self, rng: Generator, state: CCMAState) -> Turns:
        turns = super()._draw_turns(rng, state)
        return turns[~np.isin(turns[:, 0] % len(SOURCES), SCOUTS)]


def _make_variant_without(source: str) -> type[CCMASearch]:
    """Return CCMA whose masks with a source have no turns."""

    class WithoutSource(CCMASearch):
        def _draw_turns(self, rng: Generator, state: CCMAState) -> Turns:
            turns = super()._draw_turns(rng, state)
            removed = [mask for mask in range(1, len(state.credit)) if SOURCES[mask] == source]
            return turns[~np.isin(turns[:, 0], removed)]

    return WithoutSource


class OrdersAlone(CCMASearch):
    """CCMA that scores all families once: up to three parents from a fixed list for each child."""

    def _start_evolution(self, rng: Generator, state: CCMAState) -> CCMAState:
        first = super()._start_evolution(rng, state)
        rows = [
            (child, tuple(sorted(parents)))
            for child in range(self._n)
            for size in range(2, MAX_FIXED_PARENTS + 1)
            for parents in itertools.combinations(
                state.candidates[0, child, :CANDIDATES].tolist(), size
            )
        ]
        scores = self._problem.scorer.local_scores(FamilyBatch.from_pairs(rows))
        children = np.array([child for child, _ in rows])
        sets = flatten_sets([parents for _, parents in rows])
        none = np.empty(0, dtype=np.uint64)
        archive = first.archive.with_families(children, scores, *sets, none)
        return self._with_orders(first, archive, *self._improve_orders(rng, first.orders, archive))

    def _breed_parent_sets(self, rng: Generator, state: CCMAState) -> tuple[list[ParentSet], Turns]:
        return [], np.empty((0, 2), dtype=np.int64)


class MasksAlone(WithoutLocalSearch):
    """CCMA whose first orders never change, that of hill climbing among them."""

    def _breed_orders(self, rng: Generator, state: CCMAState) -> Orders:
        return state.orders


@dataclass(frozen=True)
class Ablated(CCMA):
    """CCMA with the search of a variant."""

    search: ClassVar[type[CCMASearch]]

    def make_search(self, problem: Problem) -> CCMASearch:
        """Return the search on a problem."""
        return self.search(self, problem)


@dataclass(frozen=True)
class PairCCGA(CCGA):
    """CCGA with masks over pairs of variables."""

    def make_search(self, problem: Problem) -> PairMasks:
        """Return the search on a problem."""
        return PairMasks(self, problem)


def _make_method(search: type[CCMASearch]) -> Method:
    kind: type[Ablated] = dataclass(frozen=True)(type(search.__name__, (Ablated,), {}))
    kind.search = search
    return kind()


STEPS: dict[str, Method] = {
    "ccga: masks of positions": CCGA(),
    "ccga, masks of pairs": PairCCGA(),
    "ccma without local search": _make_method(WithoutLocalSearch),
    "ccma without the archive": _make_method(WithoutArchive),
    "ccma, masks alone": _make_method(MasksAlone),
    "ccma, orders alone": _make_method(OrdersAlone),
    "ccma": CCMA(),
}
SPECIES: dict[str, Method] = {
    "credit off": _make_method(WithoutCredit),
    "random credit": _make_method(RandomCredit),
    "fixed candidates": _make_method(FixedCandidates),
    "all variables are candidates": _make_method(AllCandidates),
    "no scouts": _make_method(WithoutScouts),
    **{f"no turns for {source}": _make_method(_make_variant_without(source)) for source in REMOVED},
    "ccma": CCMA(),
}
