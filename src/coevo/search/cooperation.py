"""Cooperative coevolution of any number of species, free of graphs.

Each *species* evolves one part of a solution. An individual is scored as a part of complete
solutions, which need one *partner* of every other species. One generation of a species makes
these steps:

1. Select as many individuals as the population has, by tournaments of two. Each individual
   enters exactly two tournaments.
2. Pair the selected individuals at random, and cross each pair. Copy an individual without a
   pair.
3. Mutate the children.
4. Score each child in complete solutions: once with the best individual of every other species,
   and `random_partners` times with a random one of each. The highest score is its *credit*. With
   one random partner this is CCGA-2 of Potter and De Jong, without one it is CCGA-1.
5. Keep the best individual with its credit (the *elite*). All children but the worst take the
   other places.

All species evolve from the populations of the previous generation, and the elite keeps the credit
that it has earned, as in the 2011 paper (`coevo.search.ccga`). Potter and De Jong let one species
evolve after the other, and score the elite again: name one species at a time in
`Cooperation.step`, and set `rescore_elite`. An elite that owes its credit to partners that are
gone can otherwise stay for ever, because no child reaches it. A single species needs no partners;
then this is a plain genetic algorithm.

A generation is scored as one batch. `Cooperation` owns no randomness: the same arguments give
the same generation. Each species has its own random stream. Ties go to the first individual.

References
----------
M. A. Potter, K. A. De Jong (1994). A cooperative coevolutionary approach to function
optimization. PPSN III, 249-257.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.checks import is_int
from coevo.errors import bad_parameter
from coevo.runtime.deadline import check_deadline
from coevo.search.operators import Indices, Scores, pair_at_random, select_by_tournament

__all__ = ["Cooperation", "Generation", "Species"]

Population = NDArray[Any]  # (n_individuals, length), one individual a row
Chosen = NDArray[np.int64]  # (n_species, n_solutions), the individual that each solution uses
Evaluate = Callable[[Sequence[Population], Chosen], Scores]


@dataclass(frozen=True, slots=True)
class Species:
    """The operators of a species, each for a complete population."""

    draw: Callable[[Generator, int], Population]  # random individuals
    cross: Callable[[Generator, Population, Population], tuple[Population, Population]]
    mutate: Callable[[Generator, Population], Population]


@dataclass(frozen=True, slots=True, eq=False)
class Generation:
    """The populations of all species, and the best solution that was tried to make them.

    Attributes
    ----------
    populations : tuple of arrays
        One array a species, one individual a row.
    scores : tuple of arrays
        The credit of each individual.
    n_solutions : int
        Number of complete solutions that were scored in this generation.
    best : tuple of arrays
        The best of these solutions: one individual of each species.
    best_score : float
        Its score.
    """

    populations: tuple[Population, ...]
    scores: tuple[Scores, ...]
    n_solutions: int
    best: tuple[NDArray[Any], ...]
    best_score: float


class Cooperation:
    """Species that are scored together.

    Parameters
    ----------
    species : sequence of Species
        One or more.
    evaluate : function
        Called with the individuals of each species and a matrix of numbers. Solution s is made
        of the individuals ``chosen[0, s]`` of the first species, ``chosen[1, s]`` of the second
        and so on. It returns the score of each solution; higher is better.
    population : int
        Number of individuals of each species, at least 2.
    random_partners : int
        Number of random partners of each child, in addition to the best partner.
    rescore_elite : bool
        Score the elite again with the partners of its children.

    Examples
    --------
    Two species of eight bits each. A solution scores the number of its bits that are set.

    >>> from coevo.search.operators import flip_bits, two_point_crossover
    >>> bits = Species(
    ...     draw=lambda rng, size: rng.random((size, 8)) < 0.5,
    ...     cross=lambda rng, one, two: two_point_crossover(rng, one, two, 0.6),
    ...     mutate=lambda rng, children: flip_bits(rng, children, 1 / 8),
    ... )
    >>> def count_bits(pools, chosen):
    ...     return sum(pool[row].sum(axis=1) for pool, row in zip(pools, chosen)).astype(float)
    >>> cooperation = Cooperation([bits, bits], count_bits, population=20)
    >>> generation = cooperation.start(np.random.default_rng(0))
    >>> for number in range(1, 15):
    ...     rng = np.random.default_rng(number)
    ...     generation = cooperation.step(rng, generation.populations, generation.scores)
    >>> generation.best_score
    16.0
    """

    def __init__(
        self,
        species: Sequence[Species],
        evaluate: Evaluate,
        *,
        population: int = 100,
        random_partners: int = 1,
        rescore_elite: bool = False,
    ) -> None:
        self._species = tuple(species)
        if not self._species:
            raise bad_parameter("species", "Cooperation", "one species or more", species)
        for name, value, least in (
            ("population", population, 2),
            ("random_partners", random_partners, 0),
        ):
            if not is_int(value, least):
                raise bad_parameter(name, "Cooperation", f"an int >= {least}", value)
        self._evaluate = evaluate
        self._size = population
        self._rescores = rescore_elite and len(self._species) > 1
        # A single species has no partners: a second score would be the same.
        self._n_random = random_partners if len(self._species) > 1 else 0

    def start(self, rng: Generator, given: Sequence[NDArray[Any]] | None = None) -> Generation:
        """Return random populations. Each individual is scored with random partners.

        The parts of a given solution become the first individuals, and these are partners.
        """
        size, n = self._size, len(self._species)
        streams = rng.spawn(n)
        populations = tuple(
            species.draw(stream, size)
            for species, stream in zip(self._species, streams, strict=True)
        )
        chosen = np.empty((n, n, size), dtype=np.int64)
        for own, stream in enumerate(streams):
            for other in range(n):
                chosen[other, own] = (
                    np.arange(size) if other == own else stream.integers(size, size=size)
                )
        if given is not None:
            chosen[:, :, 0] = 0
            for population, individual in zip(populations, given, strict=True):
                population[0] = individual
        tried, scores = self._score(populations, chosen.reshape(n, -1))
        return Generation(populations, tuple(scores.reshape(n, size)), *tried)

    def step(
        self,
        rng: Generator,
        populations: Sequence[Population],
        scores: Sequence[Scores],
        evolving: Iterable[int] | None = None,
    ) -> Generation:
        """Return the next generation of the named species, or of all; the others stay."""
        n = len(self._species)
        streams = rng.spawn(n)
        turns = range(n) if evolving is None else tuple(evolving)
        children = {
            own: self._breed(streams[own], self._species[own], populations[own], scores[own])
            for own in turns
        }
        # One array holds the old individuals and the children: one batch scores all solutions.
        pools = [
            np.concatenate([old, children[own]]) if own in children else old
            for own, old in enumerate(populations)
        ]
        best = np.array([own_scores.argmax() for own_scores in scores])
        chosen = [self._choose_solutions(streams[own], own, best) for own in turns]
        tried, found = self._score(pools, np.concatenate(chosen, axis=1))
        earned = found.reshape(len(turns), 1 + self._n_random, -1).max(axis=1)
        new_populations, new_scores = list(populations), list(scores)
        for own, credit in zip(turns, earned, strict=True):
            new_populations[own], new_scores[own] = _replace_population(
                populations[own], scores[own], children[own], credit
            )
        return Generation(tuple(new_populations), tuple(new_scores), *tried)

    def rescore(self, populations: Sequence[Population], scores: Sequence[Scores]) -> Generation:
        """Return the same populations, each individual scored with the best partners."""
        size, n = self._size, len(self._species)
        chosen = np.empty((n, n, size), dtype=np.int64)
        for other, own_scores in enumerate(scores):
            chosen[other] = own_scores.argmax()
            chosen[other, other] = np.arange(size)
        tried, found = self._score(populations, chosen.reshape(n, -1))
        return Generation(tuple(populations), tuple(found.reshape(n, size)), *tried)

    def _breed(
        self, rng: Generator, species: Species, population: Population, scores: Scores
    ) -> Population:
        """Return the children: select by tournaments, pair at random, cross and mutate."""
        first, second, alone = pair_at_random(rng, select_by_tournament(rng, scores))
        check_deadline()  # each of these copies the population
        one, two = species.cross(rng, population[first], population[second])
        check_deadline()
        crossed = np.concatenate([one, two, population[alone]])
        check_deadline()
        return species.mutate(rng, crossed)

    def _choose_solutions(self, rng: Generator, own: int, best: Indices) -> Chosen:
        """Return the solutions of all children of a species, with the best partners first.

        If the elite is scored again, it comes after the children.
        """
        size = self._size
        members = size + np.arange(size)
        if self._rescores:
            members = np.append(members, best[own])
        chosen = np.empty((len(best), 1 + self._n_random, len(members)), dtype=np.int64)
        chosen[:, 0] = best[:, None]
        for other in range(len(best)):
            if other != own:
                chosen[other, 1:] = rng.integers(size, size=(self._n_random, len(members)))
        chosen[own] = members
        return chosen.reshape(len(best), -1)

    def _score(
        self, pools: Sequence[Population], chosen: Chosen
    ) -> tuple[tuple[int, tuple[NDArray[Any], ...], float], Scores]:
        """Return the number of solutions and the best one with its score; then all scores."""
        scores = self._evaluate(pools, chosen)
        best = int(scores.argmax())
        parts = tuple(pool[row[best]] for pool, row in zip(pools, chosen, strict=True))
        return (len(scores), parts, float(scores[best])), scores


def _replace_population(
    old: Population, old_scores: Scores, children: Population, earned: Scores
) -> tuple[Population, Scores]:
    """Return the best old individual and all children but the worst, with their scores.

    `earned` has the scores of the children, and then the new one of the elite, if it has one.
    """
    n = len(children)
    elite = int(old_scores.argmax())
    elite_score = earned[n:] if len(earned) > n else old_scores[elite : elite + 1]
    worst = int(earned[:n].argmin())
    population = np.concatenate([old[elite : elite + 1], children[:worst], children[worst + 1 :]])
    scores = np.concatenate([elite_score, earned[:worst], earned[worst + 1 : n]])
    return population, scores
