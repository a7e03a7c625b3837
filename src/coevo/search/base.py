"""The interface of all search methods: `Method`, `Problem`, `Search` and `SearchState`.

One loop, one test suite and one command serve every method, because each has this interface.

A `Method` is a name with settings. `Method.make_search` applies it to a `Problem` (a scorer
and constraints) and returns a `Search`. `Search.start` makes the first state. `Search.step`
makes the next state from the current one. Both are pure: the same arguments give the same
state, and no argument is changed. A state holds exactly what the next step needs. It can be
written to a file, read back and resumed (`coevo.search.checkpoint_file`). The loop around
`start` and `step`, with the budget and the clock, is `coevo.search.loop`.
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
from coevo.search.species import Populations
from coevo.search.state_schema import (
    ACYCLIC,
    STATES_OF,
    Array,
    Number,
    Schema,
    ScoreNumber,
)

__all__ = ["LEAST_GAIN", "STATES_OF", "Info", "Method", "Problem", "Search", "SearchState"]

LEAST_GAIN = 1e-9  # a smaller difference of two scores may be round-off
BYTES_PER_PAIR = 128  # of variables: gains, arcs, paths, and families during construction
Info = Mapping[str, float]  # figures of one generation for the history


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """A scorer, the constraints and the start structure."""

    scorer: Scorer
    constraints: Constraints
    rules: ArcRules  # the constraints as matrices over the variables of the data
    start: NDArray[np.bool_]  # the structure that a search begins with, ``[parent, child]``
    has_start: bool  # the caller gave the start; else it holds the required arcs only

    @classmethod
    def from_scorer(
        cls,
        scorer: Scorer,
        constraints: Constraints | None = None,
        start: DAG | None = None,
    ) -> Problem:
        """Validate the constraints and the start structure against the variables of the data."""
        known = Constraints() if constraints is None else constraints
        names = scorer.dataset.names
        arities, max_table = scorer.dataset.arities, scorer.max_table
        rules = known.to_rules(names).with_table_limit(arities, max_table)
        if start is None:
            if not rules.is_satisfied_by(rules.required):
                violation = rules.describe_violation(rules.required, names)
                raise GraphError(f"The required arcs break the limit: {violation}.")
            return cls(scorer, known, rules, rules.required, has_start=False)
        scorer.check_variables(start)
        adjacency = DAG(names, start.arcs).adjacency()
        if not rules.is_satisfied_by(adjacency):
            raise GraphError(
                f"The start breaks the constraints: {rules.describe_violation(adjacency, names)}."
            )
        return cls(scorer, known, rules, adjacency, has_start=True)

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, in canonical order."""
        return self.scorer.dataset.names

    @property
    def n_variables(self) -> int:
        """The number of variables."""
        return len(self.names)

    def make_dag(self, adjacency: NDArray[np.bool_]) -> DAG:
        """Return the DAG of an adjacency matrix, ``[parent, child]``."""
        names = self.names
        arcs = [(names[parent], names[child]) for parent, child in np.argwhere(adjacency)]
        return DAG(names, arcs)

    def local_scores(self, adjacency: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the local score of each variable of a structure."""
        return self.scorer.local_scores(FamilyBatch.from_adjacency(adjacency))

    def score(self, adjacency: NDArray[np.bool_]) -> float:
        """Return the score of a structure, rounded once, as in `FamilyScorer.score`."""
        return math.fsum(self.local_scores(adjacency))


@dataclass(frozen=True, eq=False)
class SearchState:
    """The fields that the states of all methods have; each method adds its own.

    Attributes
    ----------
    generation : int
        Number of steps so far.
    evaluations : int
        Number of local scores and of tests requested so far. It does not depend on the cache.
    improved : int
        The generation that found the best structure.
    score : float
        The score of the best structure so far.
    adjacency : array of bool, (n, n)
        The best structure so far; ``[parent, child]``.

    `schema` declares what each field must be (`coevo.search.state_schema`).
    """

    schema: ClassVar[Schema] = {
        "generation": Number(),
        "evaluations": Number(),
        "improved": Number(),
        "score": ScoreNumber(),
        "adjacency": Array(np.bool_, ("n", "n"), ACYCLIC),
    }

    generation: int
    evaluations: int
    improved: int
    score: float
    adjacency: NDArray[np.bool_]

    def get_populations(self) -> Populations | None:
        """Return the species of the state, for a live view; None if there are none yet."""
        return None

    @classmethod
    def upgrade_entries(cls, entries: Mapping[str, Any], prefix: str) -> dict[str, Any]:
        """Return the entries that a file of an older version lacks; ``{}`` for a file of this one.

        All names begin with `prefix`. The result is checked like the rest of the file.
        """
        return {}

    def find_flaw(self) -> str:
        """Return what is wrong with the fields together; an empty text if nothing is."""
        if self.improved > self.generation:
            return "'improved' must not be above 'generation'"
        return ""

    def advance(
        self,
        n_evaluations: int,
        better: tuple[NDArray[np.bool_], float] | None = None,
        **method_fields: Any,
    ) -> Self:
        """Return the state of the next generation.

        `n_evaluations` local scores were requested in it. `better` is a new best structure
        with its score, or None. `method_fields` are the fields that the method changes.
        """
        generation = self.generation + 1
        best: dict[str, Any] = {}
        if better is not None:
            best = {"adjacency": better[0], "score": better[1], "improved": generation}
        evaluations = self.evaluations + n_evaluations
        return replace(
            self, generation=generation, evaluations=evaluations, **best, **method_fields
        )


State = TypeVar("State", bound=SearchState)


class Search(ABC, Generic[State]):
    """A method applied to a problem."""

    @abstractmethod
    def start(self, rng: Generator) -> tuple[State, Info]:
        """Return the state of generation 0."""

    @abstractmethod
    def step(self, rng: Generator, state: State) -> tuple[State, Info]:
        """Return the state of the next generation."""

    def is_finished(self, state: State) -> bool:
        """Return whether the search has ended: a further step would change nothing."""
        return False

    def is_compatible(self, state: State) -> bool:
        """Return whether a state fits the settings of this search, such as population sizes."""
        return True

    def iter_structures(self, state: State) -> Iterable[NDArray[np.bool_]]:
        """Return the structures of the population, ``[parent, child]``.

        A method without a population returns none.
        """
        return ()


@dataclass(frozen=True)
class Method(ABC):
    """A search method: its name and its validated settings, as a frozen dataclass."""

    name: ClassVar[str]
    state_type: ClassVar[type[SearchState]]
    default_budget: ClassVar[Budget]  # holds where the given budget is not bounded
    least_patience: ClassVar[int | None] = None  # of it; see `Budget.shorten_patience`
    maximises: ClassVar[bool] = True  # the score; else the score is reported only

    @abstractmethod
    def make_search(self, problem: Problem) -> Search[Any]:
        """Return the search on a problem; raise `ParameterError` if the settings do not fit it."""

    def check_counts(self, **least: int) -> None:
        """Raise `ParameterError` unless each named setting is an int >= the given bound."""
        for name, bound in least.items():
            value = getattr(self, name)
            if not is_int(value, bound):
                raise bad_parameter(name, type(self).__name__, f"an int >= {bound}", value)

    def estimate_memory(self, n_variables: int) -> int:
        """Return an upper estimate of the bytes that a search needs, without the scorer."""
        return BYTES_PER_PAIR * n_variables**2

    @property
    def settings(self) -> dict[str, Any]:
        """The settings as plain numbers, strings and lists."""
        return asdict(self)
