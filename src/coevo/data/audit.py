"""What to know about a table before a search: columns that cannot help, or will mislead.

Each finding is one sentence that ends with what to do. Nothing is changed. Columns are
looked at in canonical order, so that the same observations give the same findings.

Two columns are duplicates when they part the rows in the same way, whatever their states are
called; that is compared by a mark of the partition. A column follows from another when each
state of the other goes with one state of it. For all pairs that would be the cost of the
square of the columns times the rows; but nearly every pair is ruled out by a few rows that
show the rarest states of the one (`_Followers`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data.dataset import Dataset
from coevo.data.incomplete import IncompleteDataset
from coevo.data.read_options import leave_out
from coevo.data.table import Table

__all__ = ["Finding", "audit"]

FEW_ROWS = 5  # a state that is seen less often says little; so does a parameter
SHOWN = 3  # names that a sentence lists
MOST_CELLS = 1 << 28  # looked at in full for columns that follow from others
WITNESSES = 8  # rows by which most pairs are ruled out


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing about a table that is worth a look.

    Attributes
    ----------
    kind : str
        ``'constant'``, ``'identifier'``, ``'duplicate'``, ``'deterministic'``,
        ``'not_compared'``, ``'rare_states'`` or ``'few_rows'``.
    columns : tuple of str
        The columns that it is about.
    sentence : str
        What it is, and what to do.
    """

    kind: str
    columns: tuple[str, ...]
    sentence: str

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as plain values."""
        return {"kind": self.kind, "columns": list(self.columns), "sentence": self.sentence}


def audit(dataset: Table | IncompleteDataset) -> tuple[Finding, ...]:
    """Look for columns that a search cannot learn from, or that will mislead it.

    Parameters
    ----------
    dataset : Table or IncompleteDataset
        The observations. That a cell is missing is a state only where columns are compared.
        Where rows are not in memory (`open_shards`), columns are looked at one by one and not
        compared with each other; a finding says so.

    Returns
    -------
    tuple of Finding
        Constant columns, those like identifiers, duplicates, columns that follow from
        another, states seen fewer than 5 times, and columns with too many states for so
        few rows; in this order.

    Examples
    --------
    >>> from coevo.data import Variable
    >>> rain = Variable("rain", ("no", "yes"))
    >>> wet = Variable("wet", ("0", "1"))
    >>> for finding in audit(Dataset([rain, wet], [[0, 1] * 50, [1, 0] * 50])):
    ...     print(finding.sentence)
    'wet' says the same as 'rain' in every row. Keep one of them (drop=['wet'], or --drop wet).
    """
    table: Table
    if isinstance(dataset, IncompleteDataset):
        looked, table = _Looked(dataset.dataset, dataset.state_counts), dataset.with_state()
        marked = _Looked(table, table.state_counts)
        marked.n_seen[looked.n_seen == 1] = 1  # such a column is compared with no other
    else:
        table = dataset
        looked = marked = _Looked(table, table.state_counts)
    return (
        *_constant(looked),
        *_identifiers(looked),
        *(_compared(marked, table) if isinstance(table, Dataset) else [NOT_COMPARED]),
        *_rare_states(looked),
        *_few_rows(looked),
    )


NOT_COMPARED = Finding(
    "not_compared",
    (),
    "The rows are not in memory, so columns were not compared with each other: there may be "
    "duplicates. Learn from some of the rows to have them named.",
)


class _Looked:
    """A table, and how often each state of each variable is seen."""

    def __init__(self, dataset: Table, counts: tuple[NDArray[np.int64], ...]) -> None:
        self.variables = dataset.variables
        self.names = dataset.names
        self.n_rows = dataset.n_rows
        self.counts = counts
        self.n_seen = np.array([np.count_nonzero(count) for count in self.counts])
        # On average such a column shows a state less than twice.
        self.is_identifier = (2 * self.n_seen > self.n_rows) & (self.n_seen > 20)
        self.is_duplicate = np.zeros(len(self.names), dtype=np.bool_)

    def states(self, variable: int, which: NDArray[np.bool_]) -> list[str]:
        """Return some states of a variable, as they are shown."""
        states = self.variables[variable].states
        return [repr(states[code]) for code in np.flatnonzero(which)]


def _constant(looked: _Looked) -> Iterator[Finding]:
    for i in np.flatnonzero(looked.n_seen == 1).tolist() if looked.n_rows > 1 else ():
        name, (state,) = looked.names[i], looked.states(i, looked.counts[i] > 0)
        yield Finding(
            "constant",
            (name,),
            f"{name!r} is {state} in every row, so nothing can be learned about it. Leave it out "
            f"({leave_out(name)}).",
        )


def _identifiers(looked: _Looked) -> Iterator[Finding]:
    for i in np.flatnonzero(looked.is_identifier).tolist():
        name = looked.names[i]
        yield Finding(
            "identifier",
            (name,),
            f"{name!r} has {looked.n_seen[i]:,} states in {looked.n_rows:,} rows, like an "
            f"identifier. Leave it out ({leave_out(name)}), or join its states.",
        )


def _compared(looked: _Looked, dataset: Dataset) -> Iterator[Finding]:
    yield from _duplicates(looked, dataset)
    yield from _deterministic(looked, dataset)


def _duplicates(looked: _Looked, dataset: Dataset) -> Iterator[Finding]:
    first: dict[bytes, str] = {}
    for i, codes in enumerate(dataset.codes):
        if looked.n_seen[i] < 2:
            continue
        mark = _partition_mark(codes, len(looked.counts[i]))
        name, original = looked.names[i], first.setdefault(mark, looked.names[i])
        if original == name:
            continue
        looked.is_duplicate[i] = True
        yield Finding(
            "duplicate",
            (original, name),
            f"{name!r} says the same as {original!r} in every row. Keep one of them "
            f"({leave_out(name)}).",
        )


def _partition_mark(codes: NDArray[np.unsignedinteger], arity: int) -> bytes:
    """Return a digest of how a column parts the rows, whatever its states are called."""
    rank = np.argsort(np.argsort(_first_rows(codes, arity))).astype(np.uint16)
    return hashlib.blake2b(rank[codes].tobytes(), digest_size=16).digest()


def _first_rows(codes: NDArray[np.unsignedinteger], arity: int) -> NDArray[np.int64]:
    """Return the first row that shows each state; behind all rows for one never seen."""
    first = np.full(arity, len(codes), dtype=np.int64)
    np.minimum.at(first, codes, np.arange(len(codes)))
    return first


def _deterministic(looked: _Looked, dataset: Dataset) -> Iterator[Finding]:
    search = _Followers(looked, dataset)
    for i in search.candidates.tolist():
        followers = [looked.names[j] for j in search.of(i)]
        if not followers:
            continue
        name = looked.names[i]
        listed = _listed([repr(follower) for follower in followers])
        verb = "follows" if len(followers) == 1 else "follow"
        yield Finding(
            "deterministic",
            (name, *followers),
            f"{listed} {verb} from {name!r} in every row. Leave out {name!r} ({leave_out(name)}), "
            f"or what follows from it.",
        )


class _Followers:
    """For each column those that follow from it, found without looking at all rows of all."""

    def __init__(self, looked: _Looked, dataset: Dataset) -> None:
        self._codes = dataset.codes
        self._n_seen = looked.n_seen
        self._budget = MOST_CELLS
        useful = ~looked.is_identifier & ~looked.is_duplicate & (looked.n_seen > 1)
        # From two states nothing can follow but a duplicate or a constant; and by chance
        # much follows from a column with nearly a state for each row.
        often = looked.n_seen * FEW_ROWS <= looked.n_rows
        self.candidates = np.flatnonzero(useful & often & (looked.n_seen > 2))
        self._others = np.flatnonzero(useful)
        rows = [self._witnesses(j, looked.counts[j]) for j in self._others.tolist()]
        self._rows = np.array(rows, dtype=np.int64)

    def _witnesses(self, variable: int, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return a few rows that show the rarest states of a variable, the rarest first."""
        codes = self._codes[variable]
        rarest = np.argsort(np.where(counts > 0, counts, np.iinfo(np.int64).max), kind="stable")
        seen = rarest[: int(np.count_nonzero(counts))]
        rows = np.concatenate([np.flatnonzero(codes == s)[:WITNESSES] for s in seen[:2]])
        return np.resize(rows, 2 * WITNESSES)

    def of(self, variable: int) -> list[int]:
        """Return the columns that follow from this one and have fewer states."""
        codes = self._codes[variable]
        first = _first_rows(codes, int(codes.max()) + 1)
        is_coarser = self._n_seen[self._others] < self._n_seen[variable]
        others, rows = self._others[is_coarser], self._rows[is_coarser]
        stands_for = first[codes[rows]]  # the row whose states those of the row must equal
        agree = self._codes[others[:, None], rows] == self._codes[others[:, None], stands_for]
        found = []
        for other in others[agree.all(axis=1)].tolist():
            self._budget -= len(codes)
            if self._budget < 0:
                break
            column = self._codes[other]
            if np.array_equal(column[first[codes]], column):
                found.append(other)
        return found


def _rare_states(looked: _Looked) -> Iterator[Finding]:
    for i, counts in enumerate(looked.counts):
        rare = (counts > 0) & (counts < FEW_ROWS)
        if looked.is_identifier[i] or not rare.any():
            continue
        name, states = looked.names[i], looked.states(i, rare)
        is_one = len(states) == 1
        yield Finding(
            "rare_states",
            (name,),
            f"{name!r} has {len(states):,} {'state' if is_one else 'states'} seen fewer than "
            f"{FEW_ROWS} times: {_listed(states)}. Join {'it' if is_one else 'them'} with others.",
        )


def _few_rows(looked: _Looked) -> Iterator[Finding]:
    """Yield one finding on the columns for whose tables there are too few rows."""
    seen = looked.n_seen
    usual = float(np.median(seen))
    n_parameters = (seen - 1) * usual  # with one parent of the usual kind
    many = (n_parameters * FEW_ROWS > looked.n_rows) & ~looked.is_identifier & (seen > 1)
    found = np.flatnonzero(many)
    if not len(found):
        return
    order = found[np.argsort(-seen[found], kind="stable")]
    names = [f"{looked.names[i]!r} ({seen[i]:,} states)" for i in order.tolist()]
    yield Finding(
        "few_rows",
        tuple(looked.names[i] for i in order.tolist()),
        f"With one parent, fewer than {FEW_ROWS} rows are left for each parameter of "
        f"{_listed(names)}. Join states, use fewer bins, or bring more rows than "
        f"{looked.n_rows:,}.",
    )


def _listed(items: Sequence[str]) -> str:
    """Return the first few items, and how many more there are."""
    shown = ", ".join(items[:SHOWN])
    rest = len(items) - SHOWN
    return f"{shown} and {rest:,} more" if rest > 0 else shown
