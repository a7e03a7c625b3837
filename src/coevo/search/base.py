"""The interface of all search methods, and the schema of their states.

The interface of all search methods: `Method`, `Problem`, `Search` and `SearchState`.

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
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.checks import is_int
from coevo.errors import GraphError, bad_parameter
from coevo.graph import DAG, ArcRules, Constraints
from coevo.score import FamilyBatch, Scorer
from coevo.search.loop import Budget
from coevo.search.species import Populations

__all__ = [
    "ACYCLIC",
    "FINITE",
    "LARGEST_SCORE",
    "LEAST_GAIN",
    "OFFSETS",
    "PERMUTATIONS",
    "SCORES",
    "STATES_OF",
    "SYMMETRIC",
    "Array",
    "Flag",
    "Info",
    "Method",
    "Number",
    "Problem",
    "Rule",
    "Schema",
    "ScoreNumber",
    "Search",
    "SearchState",
    "find_flaw",
    "is_acyclic",
    "make_range",
]


# The schema of a state: what each field must be, checked before a search resumes from it.
#
# Kernels trust the arrays of a state. A state from a file may be damaged, or made by someone else,
# and one wrong index in it would read memory that is not its own. So each type of state declares
# its fields: the type and the shape of an array, the range of a number, and a rule for the values.
# `find_flaw` returns the first field that breaks its declaration. What depends on several fields
# is the method `find_flaw` of a state.
#
# A shape names its sizes. Equal names are equal sizes, and ``n`` is the number of variables.


STATES_OF = "states of"  # metadata key: the field is a tuple of states of this type
LARGEST_SCORE = 1e100  # far beyond any score, and sums of such numbers do not overflow
Sizes = dict[str, int]


@dataclass(frozen=True)
class Rule:
    """What the values of an array must be, in words and as a test."""

    words: str
    holds: Callable[[NDArray[Any], Sizes], bool]


@dataclass(frozen=True)
class Array:
    """A field that is an array."""

    dtype: type[np.generic]
    shape: tuple[str | int, ...]
    rule: Rule | None = None

    def find_flaw(self, value: Any, sizes: Sizes) -> str:
        """Return what a value should be; an empty text if it is. Add new sizes to `sizes`."""
        is_array = isinstance(value, np.ndarray) and value.ndim == len(self.shape)
        if not is_array or value.dtype != self.dtype:
            return f"must be an array of {np.dtype(self.dtype)} with {len(self.shape)} axes"
        for name, size in zip(self.shape, value.shape, strict=True):
            wanted = sizes.setdefault(name, size) if isinstance(name, str) else name
            if size != wanted:
                return f"must have the shape ({', '.join(map(str, self.shape))})"
        if self.dtype is np.bool_ and (value.view(np.uint8) > 1).any():
            return "must hold bytes 0 and 1"  # C relies on it; a file may hold others
        if self.rule is not None and not self.rule.holds(value, sizes):
            return f"must hold {self.rule.words}"
        return ""


@dataclass(frozen=True)
class Number:
    """A field that is an int; `most` may be the name of a size."""

    least: int = 0
    most: int | str | None = None

    def find_flaw(self, value: Any, sizes: Sizes) -> str:
        """Return what a value should be; an empty text if it is."""
        most = sizes[self.most] if isinstance(self.most, str) else self.most
        if is_int(value, self.least) and (most is None or value <= most):
            return ""
        return f"must be an int >= {self.least}" + ("" if most is None else f" and <= {most}")


@dataclass(frozen=True)
class Flag:
    """A field that is True or False."""

    def find_flaw(self, value: Any, sizes: Sizes) -> str:
        """Return what a value should be; an empty text if it is."""
        return "" if isinstance(value, bool | np.bool_) else "must be True or False"


@dataclass(frozen=True)
class ScoreNumber:
    """A field that is a score."""

    def find_flaw(self, value: Any, sizes: Sizes) -> str:
        """Return what a value should be; an empty text if it is."""
        is_score = isinstance(value, float) and _are_scores(np.array(value), sizes)
        return "" if is_score else "must be a score"


Schema = Mapping[str, Array | Number | Flag | ScoreNumber]


def find_flaw(state: Any, sizes: Sizes | None = None) -> str:
    """Return the first flaw of a state, as a sentence without its full stop; "" if none.

    Fields that a type does not declare are not checked: a method from outside coevo may declare
    none of its own.
    """
    known: Sizes = {} if sizes is None else sizes
    for name, declared in state.schema.items():
        flaw = declared.find_flaw(getattr(state, name), known)
        if flaw:
            return f"{name!r} {flaw}"
    for field in fields(state):
        if STATES_OF not in field.metadata:
            continue
        for part in getattr(state, field.name):
            flaw = find_flaw(part, {"n": known["n"]})
            if flaw:
                return f"a part of {field.name!r} is wrong: {flaw}"
    own_flaw: str = state.find_flaw()
    return own_flaw


def is_acyclic(adjacency: NDArray[np.bool_]) -> bool:
    """Return whether a graph, ``[parent, child]``, has no cycle.

    >>> is_acyclic(np.array([[False, True], [False, False]])), is_acyclic(np.eye(1, dtype=bool))
    (True, False)
    """
    n_waiting = adjacency.sum(axis=0)
    ready = np.flatnonzero(n_waiting == 0).tolist()
    n_done = 0
    while ready:
        children = np.flatnonzero(adjacency[ready.pop()])
        n_waiting[children] -= 1
        ready.extend(children[n_waiting[children] == 0].tolist())
        n_done += 1
    return n_done == len(adjacency)


def make_range(least: float, most: float | str) -> Rule:
    """Return the rule that all values are from `least` to `most`; a size stands for itself less 1.

    >>> make_range(0, "n").holds(np.array([0, 3]), {"n": 3})
    False
    """

    def holds(values: NDArray[Any], sizes: Sizes) -> bool:
        highest = sizes[most] - 1 if isinstance(most, str) else most
        return bool(((values >= least) & (values <= highest)).all())

    words = f"below {most}" if isinstance(most, str) else f"<= {most:g}"
    return Rule(f"numbers >= {least:g} and {words}", holds)


def _are_scores(values: NDArray[Any], sizes: Sizes) -> bool:
    """Return whether all values can be scores or sums of them; a score may be minus infinity."""
    is_impossible = values == -np.inf
    return bool(((np.abs(values) <= LARGEST_SCORE) | is_impossible).all())  # NaN is neither


def _are_permutations(values: NDArray[Any], sizes: Sizes) -> bool:
    return bool((np.sort(values, axis=-1) == np.arange(values.shape[-1])).all())


def _are_offsets(values: NDArray[Any], sizes: Sizes) -> bool:
    return bool(len(values)) and values[0] == 0 and bool((np.diff(values) >= 0).all())


SCORES = Rule("scores", _are_scores)
FINITE = Rule("finite scores", lambda values, sizes: bool((np.abs(values) <= LARGEST_SCORE).all()))
ACYCLIC = Rule("no cycle", lambda values, sizes: is_acyclic(values))
PERMUTATIONS = Rule("permutations", _are_permutations)
OFFSETS = Rule("offsets, ascending from 0", _are_offsets)
SYMMETRIC = Rule(
    "a symmetric matrix without loops",
    lambda values, sizes: bool((values == values.T).all()) and not values.diagonal().any(),
)

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

    `schema` declares what each field must be (`Schema`).
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
