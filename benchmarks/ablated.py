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
from coevo.search.ccga import CCGASearch
from coevo.search.ccma import CCMASearch, CCMAState
from coevo.search.operators import Indices, Masks, Orders, Scores
from coevo.search.order_climbs import improve_orders
from coevo.search.solution_scorer import SolutionScorer

__all__ = ["VARIANTS"]

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

    def _convert_masks(self, orders: Orders, masks: Masks) -> Masks:
        """Return each mask with one bit for each pair of positions of its order."""
        above, below = self._places
        bits = self._bit_of[orders[:, above], orders[:, below]]
        by_position: Masks = np.take_along_axis(masks, bits, axis=1)
        return by_position

    def score_solutions(
        self, orders: Orders, order_of: Indices, masks: Masks, mask_of: Indices
    ) -> Scores:
        """Return the score of each solution."""
        converted = self._convert_masks(orders[order_of], masks[mask_of])
        return super().score_solutions(orders, order_of, converted, np.arange(len(converted)))

    def decode_and_score(self, order: Orders, mask: Masks) -> tuple[NDArray[np.bool_], float]:
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
        position = dict(zip(kept.hash_families().tolist(), range(kept.n_families), strict=True))
        hashes = archive.hash_families()[choice].tolist()
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


class RandomPartners(CCMASearch):
    """CCMA whose orders are judged with a random mask: only families within it are available."""

    _masks: NDArray[np.bool_]

    def _evolve(self, rng: Generator, state: CCMAState) -> CCMAState:
        self._masks = state.masks
        return super()._evolve(rng, state)

    def _improve_orders(
        self, rng: Generator, orders: Orders, archive: Archive, is_perturbed: bool = True
    ) -> tuple[Orders, NDArray[np.int64]]:
        masks = getattr(self, "_masks", None)
        if masks is None:  # the first orders have no masks yet
            return super()._improve_orders(rng, orders, archive, is_perturbed)
        climbed = orders.copy()
        choice = np.empty(orders.shape, dtype=np.int64)
        size = np.diff(archive.start)
        child_of_parent = np.repeat(archive.children, size)
        family_of_parent = np.repeat(np.arange(archive.n_families), size)
        for mask, own in enumerate(np.array_split(rng.permutation(len(orders)), len(masks))):
            outside = ~masks[mask][archive.parents, child_of_parent]
            fits = np.ones(archive.n_families, dtype=np.bool_)
            fits[family_of_parent[outside]] = False
            fits[archive.begin[1:] - 1] = True  # the smallest family of each child
            kept = np.flatnonzero(fits)
            sets = flatten_sets([archive.parents_of(family) for family in kept.tolist()])
            begin = np.searchsorted(kept, archive.begin)
            within = Archive(begin, archive.score[kept], *sets, archive.extended)
            draws = self._draw(rng, len(own), is_perturbed)
            climbed[own], chosen = improve_orders(
                self._problem, within, orders[own], draws, self.least_gain
            )
            choice[own] = kept[chosen]
        return climbed, choice


class OrdersAlone(CCMASearch):
    """CCMA that scores all families once: up to three parents from a fixed list for each child."""

    def _start_evolution(self, rng: Generator, state: CCMAState) -> CCMAState:
        first = super()._start_evolution(rng, state)
        rows = [
            (child, tuple(sorted(parents)))
            for child in range(self._n)
            for size in range(2, MAX_FIXED_PARENTS + 1)
            for parents in itertools.combinations(state.probes[child, :CANDIDATES].tolist(), size)
        ]
        scores = self._problem.scorer.local_scores(FamilyBatch.from_pairs(rows))
        children = np.array([child for child, _ in rows])
        sets = flatten_sets([parents for _, parents in rows])
        none = np.empty(0, dtype=np.uint64)
        archive = first.archive.with_families(children, scores, *sets, none)
        return self._with_orders(first, archive, *self._improve_orders(rng, first.orders, archive))

    def _breed_parent_sets(self, rng: Generator, state: CCMAState) -> list[ParentSet]:
        return []


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


VARIANTS: dict[str, Method] = {
    "ccga: masks of positions": CCGA(),
    "ccga, masks of pairs": PairCCGA(),
    "ccma, random partners only": _make_method(RandomPartners),
    "ccma without local search": _make_method(WithoutLocalSearch),
    "ccma without the archive": _make_method(WithoutArchive),
    "ccma, masks alone": _make_method(MasksAlone),
    "ccma, orders alone": _make_method(OrdersAlone),
    "ccma": CCMA(),
}
