"""What every search obeys, so that one loop, one test suite and one command serve them all.

A `Method` is a name and settings. Put on a `Problem` (a scorer and constraints) it becomes
a `Search`: `start` makes the first state, `step` makes the next one from it. Both are pure:
the same arguments give the same state, whatever ran before, and no argument is changed. A
state is all that the next step needs and nothing else, so that it can be written to a file,
read back and gone on from (`coevo.search.checkpoint_file`). The loop around them, with its budget
and its clock, is `coevo.search.run`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.checks import is_int
from coevo.errors import GraphError, bad_parameter
from coevo.graph import DAG, ArcRules, Constraints
from coevo.score import FamilyBatch, Scorer
from coevo.search.budget import Budget

__all__ = ["LEAST_GAIN", "STATES_OF", "Info", "Method", "Problem", "Search", "SearchState"]

LEAST_GAIN = 1e-9  # what round-off may pretend
BYTES_A_PAIR = 128  # of variables: gains, arcs, paths, and families while they are made
STATES_OF = "states of"  # in the metadata of a field: it is a tuple of states of this type
Info = Mapping[str, float]  # what a reader of the history wants beside the best score


@dataclass(frozen=True, slots=True)
class Problem:
    """The data, seen through local scores, and what is known beforehand."""

    scorer: Scorer
    constraints: Constraints
    rules: ArcRules  # the constraints over the variables of the data
    start: NDArray[np.bool_]  # the structure that a search begins with, ``[parent, child]``
    has_start: bool  # whether someone gave it; else it is the required arcs alone

    @classmethod
    def of(
        cls,
        scorer: Scorer,
        constraints: Constraints | None = None,
        start: DAG | None = None,
    ) -> Problem:
        """Check constraints, and a structure to begin with, against the variables of the data."""
        known = Constraints() if constraints is None else constraints
        names = scorer.dataset.names
        rules = known.rules(names)
        if start is None:
            return cls(scorer, known, rules, rules.required, has_start=False)
        scorer.check_variables(start)
        adjacency = DAG(names, start.arcs).adjacency()
        if not rules.fulfilled_by(adjacency):
            raise GraphError(f"The start breaks the constraints: {rules.broken(adjacency, names)}.")
        return cls(scorer, known, rules, adjacency, has_start=True)

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, in canonical order."""
        return self.scorer.dataset.names

    @property
    def n_variables(self) -> int:
        """How many variables there are."""
        return len(self.names)

    def dag(self, adjacency: NDArray[np.bool_]) -> DAG:
        """Return the structure of an adjacency matrix, ``[parent, child]``."""
        names = self.names
        arcs = [(names[parent], names[child]) for parent, child in np.argwhere(adjacency)]
        return DAG(names, arcs)

    def local_scores(self, adjacency: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the local score of each variable of a structure."""
        pairs = [(child, np.flatnonzero(adjacency[:, child])) for child in range(self.n_variables)]
        return self.scorer.local_scores(FamilyBatch.from_pairs(pairs))

    def score(self, adjacency: NDArray[np.bool_]) -> float:
        """Return the score of a structure, rounded once as `FamilyScorer.score` does."""
        return math.fsum(self.local_scores(adjacency))


@dataclass(frozen=True)
class SearchState:
    """What every state holds; a method adds what its next step needs.

    Attributes
    ----------
    generation : int
        How many steps led here.
    evaluations : int
        Local scores that the search asked for; the same whatever the cache knew.
    improved : int
        The generation that found the best structure.
    score : float
        The score of the best structure so far.
    adjacency : array of bool, (n, n)
        The best structure so far; ``[parent, child]``.
    """

    generation: int
    evaluations: int
    improved: int
    score: float
    adjacency: NDArray[np.bool_]

    def after(
        self,
        n_asked: int,
        better: tuple[NDArray[np.bool_], float] | None = None,
        **own: Any,
    ) -> Self:
        """Return the state of the next generation, in which local scores were asked for.

        `better` is a structure that beats the best so far, with its score, if one was
        found; `own` are the fields that the method changes.
        """
        generation = self.generation + 1
        best: dict[str, Any] = {}
        if better is not None:
            best = {"adjacency": better[0], "score": better[1], "improved": generation}
        evaluations = self.evaluations + n_asked
        return replace(self, generation=generation, evaluations=evaluations, **best, **own)


State = TypeVar("State", bound=SearchState)


class Search(ABC, Generic[State]):
    """A method at work on a problem."""

    @abstractmethod
    def start(self, rng: Generator) -> tuple[State, Info]:
        """Return the state of generation 0."""

    @abstractmethod
    def step(self, rng: Generator, state: State) -> tuple[State, Info]:
        """Return the state of the next generation."""

    def is_finished(self, state: State) -> bool:
        """Return whether a further step would change nothing."""
        return False

    def fits(self, state: State) -> bool:
        """Return whether a state could be one of this search with these settings."""
        return True

    def structures(self, state: State) -> Iterable[NDArray[np.bool_]]:
        """Return the structures of the population, ``[parent, child]``; none without one."""
        return ()


@dataclass(frozen=True)
class Method(ABC):
    """The settings of a search, checked; a frozen dataclass with a name."""

    name: ClassVar[str]
    state_type: ClassVar[type[SearchState]]
    default_budget: ClassVar[Budget]  # where the one that is given has no end

    @abstractmethod
    def on(self, problem: Problem) -> Search[Any]:
        """Return the search on a problem, or say what of the settings does not fit it."""

    def check_counts(self, **least: int) -> None:
        """Raise `ParameterError` unless each of these settings is an int and large enough."""
        for name, bound in least.items():
            value = getattr(self, name)
            if not is_int(value, bound):
                raise bad_parameter(name, type(self).__name__, f"an int >= {bound}", value)

    def memory(self, n_variables: int) -> int:
        """Return how many bytes a search takes at most, about, besides the scorer's."""
        return BYTES_A_PAIR * n_variables**2

    def settings(self) -> dict[str, Any]:
        """Return the settings as plain numbers, strings and lists."""
        return asdict(self)
