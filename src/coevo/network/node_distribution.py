"""The distribution of one variable given its parents, and the random streams that draw from it.

Everything that a network does with a variable alone goes through its `NodeDistribution`: the
log-density of rows, drawing, fitting, its description and what files hold. Today there is one kind,
a table of probabilities (`TableDistribution`). Another kind is another subclass. Exact inference
multiplies tables, so a kind that can be written as a table says so with `to_table`; one that cannot
is refused in a sentence where a table is needed.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coevo.checks import is_int, is_number
from coevo.data.dataset import Dataset, Table
from coevo.data.prepare.spellings import find_code
from coevo.data.summary import format_share, format_state
from coevo.data.variable import Discrete, Variable
from coevo.errors import NetworkError, bad_parameter, find_duplicate, format_count, format_list

if TYPE_CHECKING:  # this module imports ours
    from coevo.network.bayesian_network import BayesianNetwork

__all__ = ["CPT", "TOLERANCE", "ForwardSampler", "NodeDistribution", "TableDistribution"]

CPT = NDArray[np.float64]  # (parent configurations, states), rows sum to 1
Codes = NDArray[np.integer]  # (n_rows,), the number of a state in each row

TOLERANCE = 1e-6
ROUNDOFF = 1e-12  # far above the round-off error of a sum of 65,535 floats
LARGEST_TABLE = 1 << 25  # cells; fitting takes about 40 bytes a cell
MAX_SHOWN = 12  # rows of a table in a description


class NodeDistribution(ABC):
    """The distribution of a variable given its parents; `BayesianNetwork.distribution` returns it.

    A value: it never changes, and its arrays are read-only.

    Parameters
    ----------
    variable : Variable
        The variable.
    parents : iterable of Variable
        Its parents, in the order that the numbers of the distribution have.
    """

    kind: ClassVar[str]  # one word: in files, and in messages about what a format cannot hold

    def __init__(self, variable: Variable, parents: Iterable[Variable] = ()) -> None:
        self._variable, self._parents = variable, tuple(parents)
        twice = find_duplicate(each.name for each in self.family)
        if twice is not None:
            raise NetworkError(f"The family of {variable.name!r} names {twice!r} twice.")

    @property
    def variable(self) -> Variable:
        """The variable."""
        return self._variable

    @property
    def parents(self) -> tuple[Variable, ...]:
        """The parents, in the order of the numbers."""
        return self._parents

    @property
    def family(self) -> tuple[Variable, ...]:
        """The parents, then the variable."""
        return (*self._parents, self._variable)

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """Number of free parameters."""

    @abstractmethod
    def log_density(self, values: Mapping[str, ArrayLike]) -> NDArray[np.float64]:
        """Return the natural logarithm of the density (here: the probability) in each row.

        `values` has one array for each variable of the family: in each row its state, or the number
        of its state, from 0. Further variables are not read.
        """

    def total_log_density(
        self, values: Mapping[str, ArrayLike], weights: NDArray[Any] | None = None
    ) -> float:
        """Return the sum of `log_density` over all rows; a row of weight w counts w times."""
        logs = self.log_density(values)
        return math.fsum(logs if weights is None else logs * weights)

    @abstractmethod
    def sample(
        self, values: Mapping[str, ArrayLike], n_rows: int, rng: np.random.Generator
    ) -> NDArray[Any]:
        """Draw the variable in `n_rows` rows whose parents have these values.

        `values` is as for `log_density`. The answer has the number of the state in each row.
        """

    @abstractmethod
    def fit(self, table: Any, ess: float = 1.0) -> NodeDistribution:
        """Return a distribution of the same kind and family that is estimated from data.

        `table` is any table that `fit_network` accepts; it is read with the states and bins of the
        variables of the family. `ess` is the equivalent sample size of the prior (default: 1).
        """

    @abstractmethod
    def describe(self) -> str:
        """Return the distribution as text for people, one line for a parameter or a row."""

    @abstractmethod
    def as_dict(self) -> dict[str, Any]:
        """Return the distribution as plain values, with its `kind`."""

    def to_table(self) -> CPT:
        """Return the table of probabilities: (parent configurations, states), read-only.

        A kind that has no table raises `NetworkError`.
        """
        raise NetworkError(
            f"The distribution of {self._variable.name!r} is of the kind {self.kind!r}, which has "
            "no table of probabilities."
        )

    def rename(self, variable: Variable, parents: Iterable[Variable]) -> Self:
        """Return the same numbers for a family with other names of variables and states.

        The members stand in the same order, and each has as many states as before.
        """
        renamed = copy(self)
        NodeDistribution.__init__(renamed, variable, parents)
        if [each.arity for each in renamed.family] != [each.arity for each in self.family]:
            raise NetworkError(f"The family of {variable.name!r} has other numbers of states.")
        return renamed

    @property
    def label(self) -> str:
        """The variable given its parents, as text: "wet given rain, sprinkler"."""
        given = f" given {format_list([each.name for each in self._parents])}"
        return f"{self._variable.name}{given if self._parents else ''}"

    def __repr__(self) -> str:
        n = format_count(self.n_parameters, "parameter")
        return f"<{type(self).__name__}: {self.label}, {n}>"


class TableDistribution(NodeDistribution):
    """A table of probabilities: one row for each configuration of the parents.

    Parameters
    ----------
    variable : Variable
        The variable; the states are the columns of the table.
    parents : iterable of Variable
        Its parents: the first one varies slowest from row to row.
    table : array
        Anything that can be reshaped to (configurations, states). Rows must sum to 1 within 1e-6.
        Rows that are off by more than 1e-12 are normalised.

    Examples
    --------
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> found = TableDistribution(wet, [rain], [[0.9, 0.1], [0.05, 0.95]])
    >>> print(found.describe())
    wet given rain: a table with 2 rows and 2 states
      rain=no: wet=no 0.900, wet=yes 0.100
      rain=yes: wet=no 0.050, wet=yes 0.950
    >>> np.exp(found.log_density({"wet": ["yes", "no"], "rain": ["yes", "yes"]})).round(3).tolist()
    [0.95, 0.05]
    >>> found.sample({"rain": [0, 1, 1]}, 3, np.random.default_rng(1)).tolist()
    [0, 1, 1]
    """

    kind = "table"

    def __init__(self, variable: Variable, parents: Iterable[Variable], table: ArrayLike) -> None:
        super().__init__(variable, parents)
        for each in self.family:
            if not isinstance(each, Discrete):
                raise NetworkError(
                    f"The table of {variable.name!r} needs states, and {each.name!r} is "
                    f"{each!r}. Give a distribution of another kind."
                )
        self._table = _check_table(variable.name, self._shape, table)

    @property
    def _shape(self) -> tuple[int, int]:
        return math.prod(parent.arity for parent in self._parents), self._variable.arity

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: one less than the states, for each row."""
        return self._shape[0] * (self._shape[1] - 1)

    def to_table(self) -> CPT:
        """Return the table: (parent configurations, states), read-only."""
        return self._table

    def find_configurations(self, values: Mapping[str, ArrayLike]) -> NDArray[np.intp]:
        """Return the row of the table that applies to each row of the values of the parents."""
        joint = np.zeros((), dtype=np.intp)
        for parent in self._parents:
            joint = joint * parent.arity + _read_codes(parent, values)
        return joint

    def find_cells(self, values: Mapping[str, ArrayLike]) -> NDArray[np.intp]:
        """Return the cell of the table, row by row of it, that applies to each row of values."""
        rows = self.find_configurations(values)
        return rows * self._variable.arity + _read_codes(self._variable, values)

    @cached_property
    def _logs(self) -> NDArray[np.float64]:
        """The logarithm of each cell; that of 0 is minus infinity."""
        with np.errstate(divide="ignore"):
            return np.log(self._table).ravel()

    def log_density(self, values: Mapping[str, ArrayLike]) -> NDArray[np.float64]:
        """Return the natural logarithm of the probability in each row; see the base class."""
        return self._logs[self.find_cells(values)]

    def total_log_density(
        self, values: Mapping[str, ArrayLike], weights: NDArray[Any] | None = None
    ) -> float:
        """Return the sum of `log_density` over all rows, cell by cell.

        The rows of a cell are counted first: the sum then does not depend on the order of rows.
        """
        n_rows = np.bincount(self.find_cells(values), weights, minlength=self._logs.size)
        occurring = np.flatnonzero(n_rows)
        return math.fsum(n_rows[occurring] * self._logs[occurring])

    @cached_property
    def _limits(self) -> NDArray[np.float64]:
        """The upper limits of the intervals of the states in [0, 1), except the last state.

        A draw u selects the first state whose limit is above u. The limits are 1 from the last
        possible state of a row on, so that round-off never selects a state of probability 0.
        """
        limits = np.cumsum(self._table, axis=1)
        n_states = self._table.shape[1]
        last_possible = n_states - 1 - (self._table[:, ::-1] > 0).argmax(axis=1)
        limits[np.arange(n_states) >= last_possible[:, None]] = 1.0
        return limits[:, :-1]

    def sample(
        self, values: Mapping[str, ArrayLike], n_rows: int, rng: np.random.Generator
    ) -> NDArray[Any]:
        """Draw the number of a state in each row, with one random number for each row."""
        if not is_int(n_rows, 0):
            raise bad_parameter("n_rows", "sample", "an int >= 0", n_rows)
        configuration = self.find_configurations(values)
        draws = rng.random(n_rows)
        limits = self._limits
        dtype = np.uint8 if limits.shape[1] < 256 else np.uint16  # one limit less than states
        column: NDArray[Any] = np.zeros(n_rows, dtype)
        for limit in limits.T:
            column += draws >= limit[configuration]
        return column

    def fit(self, table: Any, ess: float = 1.0) -> TableDistribution:
        """Return the table that is estimated from data: see `fit_network`.

        >>> wet = TableDistribution(Variable("wet", ("no", "yes")), (), [0.5, 0.5])
        >>> import pandas as pd
        >>> wet.fit(pd.DataFrame({"wet": ["yes", "no", "yes"]}), ess=1).to_table().tolist()
        [[0.375, 0.625]]
        """
        check_ess(ess)
        dataset = table
        if isinstance(table, Dataset) or not isinstance(table, Table):
            # This reads a table with one column, too, which is no data set to learn from.
            from coevo.data.known_rows import read_known_rows  # queries need no reader

            rows = read_known_rows(table, self.family)
            for reason in rows.unknown.describe():
                raise NetworkError(f"{self._variable.name!r} cannot be fitted. {reason}")
            columns = [rows.codes[each.name] for each in self.family]
            dataset = Dataset(self.family, columns, rows.weights)
        fitted, _ = next(self.fit_families(dataset, [self.family], ess))
        return fitted

    @classmethod
    def fit_families(
        cls, dataset: Table, families: Sequence[Sequence[Variable]], ess: float
    ) -> Iterator[tuple[TableDistribution, NDArray[np.int64]]]:
        """Yield the fitted distribution of each family, and the rows behind each row of its table.

        A family is the parents, then the variable. All of them are counted in one pass where the
        rows are far away.
        """
        for family in families:
            check_size(family)
        from coevo.score import count_configurations

        groups = [[dataset.find_position(each.name) for each in family] for family in families]
        for family, cells in zip(families, count_configurations(dataset, groups), strict=True):
            counts = _arrange_counts(family, cells)
            yield (
                cls(family[-1], family[:-1], _estimate_table(counts, ess)),
                counts.sum(axis=1),
            )

    def describe(self) -> str:
        """Return the table as text, at most its first twelve rows."""
        n_rows, n_states = self._shape
        title = f"{self.label}: a table with {format_count(n_rows, 'row')}"
        lines = [f"{title} and {format_count(n_states, 'state')}"]
        for number, row in enumerate(self._table[:MAX_SHOWN]):
            states, rest = [], number
            for parent in reversed(self._parents):
                rest, code = divmod(rest, parent.arity)
                states.append(format_state(parent, parent.states[code]))
            shares = [
                f"{format_state(self._variable, state)} {format_share(float(share), 3)}"
                for state, share in zip(self._variable.states, row[:MAX_SHOWN], strict=False)
            ]
            shares += ["..."] if n_states > MAX_SHOWN else []
            where = f"{', '.join(reversed(states))}: " if states else ""
            lines.append(f"  {where}{', '.join(shares)}")
        if n_rows > MAX_SHOWN:
            lines.append(f"  ... {format_count(n_rows - MAX_SHOWN, 'more row', 'more rows')}")
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """Return the kind, the names, the states of the variable and the rows of the table."""
        return {
            "kind": self.kind,
            "name": self._variable.name,
            "states": list(self._variable.states),
            "parents": [parent.name for parent in self._parents],
            "table": self._table.tolist(),
        }

    def __eq__(self, other: object) -> bool:
        """Return whether the family and all probabilities are equal."""
        if not isinstance(other, TableDistribution):
            return NotImplemented
        return self.family == other.family and np.array_equal(self._table, other._table)

    __hash__ = None  # type: ignore[assignment]  # it holds an array

    def __reduce__(self) -> tuple[Any, ...]:
        # Unpickled arrays are writeable, so make it again: its table is read-only.
        return TableDistribution, (self._variable, self._parents, self._table)


class ForwardSampler:
    """The random streams of all variables of a network: each one has its own.

    Its position among the sorted names identifies the stream of a variable, and a table uses one
    number of it for each row. The rows of a seed therefore do not depend on the order of the
    variables or on the size of the blocks, and the first n rows of a long sample are the rows of a
    sample of n.

    Parameters
    ----------
    network : BayesianNetwork
        The network to draw from, parents before children.
    seed : int
        The same seed gives the same values.
    """

    def __init__(self, network: BayesianNetwork, seed: int) -> None:
        self._network = network
        names = sorted(variable.name for variable in network.variables)
        sequences = np.random.SeedSequence(seed).spawn(len(names))
        self._sequences = dict(zip(names, sequences, strict=True))
        self._streams: dict[str, np.random.Generator] = {}  # of the variables that are drawn

    def draw(self, name: str, values: Mapping[str, NDArray[Any]], n_rows: int) -> NDArray[Any]:
        """Return the values of a variable in the next rows, whose parents have these values."""
        if name not in self._streams:
            self._streams[name] = np.random.default_rng(self._sequences[name])
        return self._network.distribution(name).sample(values, n_rows, self._streams[name])


def check_ess(ess: object) -> None:
    """Raise `ParameterError` unless this is an equivalent sample size."""
    if not (is_number(ess) and ess >= 0):  # type: ignore[operator]
        raise bad_parameter("ess", "fit_network", "a number >= 0", ess)


def _check_table(name: str, shape: tuple[int, int], table: ArrayLike) -> CPT:
    """Validate the table of a variable; return it as a read-only matrix whose rows sum to 1."""
    try:
        given = np.array(table, dtype=np.float64)
    except (TypeError, ValueError):
        raise NetworkError(
            f"The table of {name!r} must be numbers, with rows of equal length."
        ) from None
    if given.size != shape[0] * shape[1]:
        raise NetworkError(
            f"The table of {name!r} has {given.size:,} probabilities; its {shape[1]} states "
            f"and {shape[0]:,} parent configurations need {shape[0] * shape[1]:,}."
        )
    matrix = given.reshape(shape)
    if not (np.isfinite(matrix).all() and (matrix >= 0).all()):
        raise NetworkError(
            f"The table of {name!r} has an entry that is not a number of 0 or above."
        )
    with np.errstate(over="ignore"):
        sums = matrix.sum(axis=1)
    worst = int(np.abs(sums - 1).argmax())
    if abs(sums[worst] - 1) > TOLERANCE:
        raise NetworkError(
            f"Row {worst + 1} of the table of {name!r} sums to {sums[worst]:.9g}; "
            f"each row must sum to 1 within {TOLERANCE:g}."
        )
    # Normalise only the rows that need it. Dividing twice could change the last bit, and a
    # network that is written and read back must be the same network.
    is_off = np.abs(sums - 1) > ROUNDOFF
    matrix[is_off] /= sums[is_off, None]
    matrix.flags.writeable = False
    return matrix


def _read_codes(variable: Variable, values: Mapping[str, ArrayLike]) -> Codes:
    """Return the number of the state of a variable in each row, from numbers or from states."""
    if variable.name not in values:
        raise NetworkError(f"There are no values of {variable.name!r}.")
    given = np.asarray(values[variable.name])
    if given.dtype.kind not in "iu":  # states, or numbers that fall into bins
        given = np.array([find_code(variable, value) for value in given.tolist()], dtype=np.int64)
    if given.size and not (given.min() >= 0 and given.max() < variable.arity):
        raise NetworkError(
            f"A value of {variable.name!r} is no state of it. Its states are "
            f"{format_list([repr(state) for state in variable.states])}, or the numbers from 0 to "
            f"{variable.arity - 1}."
        )
    return given


def check_size(
    family: Sequence[Variable], way_out: str = "Learn with fewer parents (max_parents)."
) -> None:
    """Raise `NetworkError` if the table of a family (parents, then child) is too large."""
    n_cells = math.prod(variable.arity for variable in family)
    if n_cells > LARGEST_TABLE:
        raise NetworkError(
            f"The table of {family[-1].name!r} with its {len(family) - 1} parents would have "
            f"{n_cells:.3g} cells. {way_out}"
        )


def _arrange_counts(family: Sequence[Variable], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return one row for each parent configuration, with states in the order of the source."""
    for i, variable in enumerate(family):
        canonical = {state: k for k, state in enumerate(variable.to_canonical().states)}
        counts = counts.take([canonical[state] for state in variable.states], axis=i)
    return counts.reshape(-1, family[-1].arity)


def _estimate_table(counts: NDArray[np.int64], ess: float) -> CPT:
    """Return the table of one variable from its counts."""
    table = counts.astype(np.float64) + ess / counts.size
    totals = table.sum(axis=1, keepdims=True)
    return np.where(totals > 0, table / np.where(totals > 0, totals, 1), 1 / counts.shape[1])
