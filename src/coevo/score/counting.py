"""The arrays that the counting kernels work on, and the order in which a batch is counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from coevo.data import Codes, Dataset, Table
from coevo.score.count_kernels import (
    ARITY,
    BITS,
    COMMON,
    COMPACT,
    N_FACTS,
    N_OTHERS,
    N_WORK,
    RANK,
    ROWS_A_BLOCK,
    SINGLE,
    WORDS_A_BLOCK,
)
from coevo.score.families import FamilyBatch
from coevo.score.family_kernels import KEEP, Batch, Index, Known, Scratch, plan
from coevo.score.score_kernels import FIRST, RISING_LENGTH, RISING_ROWS

__all__ = [
    "build_index",
    "dense_limit",
    "facts_of",
    "forget",
    "new_known",
    "new_scratch",
    "pack_bits",
    "place_bits",
    "plan_batches",
]

MAX_BIT_SET_ARITY = 16  # above it the bit sets of a variable exceed twice its codes
MIN_COMPACT_BYTES = 1 << 26  # room for compact columns,
COMPACT_SHARE = 2  # or so many times the data, if that is more
LARGEST_DENSE_TABLE = 1 << 22  # cells; twice 16 MiB for each thread


def facts_of(table: Table) -> NDArray[np.int64]:
    """Return the facts of each variable that follow from how often its states occur."""
    singles = table.state_counts
    facts = np.zeros((table.n_variables, N_FACTS), dtype=np.int64)
    facts[:, ARITY] = table.arities
    facts[:, COMMON] = [counts.argmax() for counts in singles]
    most = np.array([counts.max() for counts in singles])
    facts[np.argsort(-most, kind="stable"), RANK] = np.arange(table.n_variables)
    facts[:, SINGLE] = np.cumsum(table.arities) - table.arities
    facts[:, COMPACT] = facts[:, BITS] = -1
    facts[:, N_OTHERS] = table.n_rows - most
    return facts


def build_index(dataset: Dataset) -> Index:
    """Return what the kernels need to know of `dataset`."""
    facts = facts_of(dataset)
    compact = np.empty(0, dtype=dataset.codes.dtype)
    bits = np.empty((0, 0), dtype=np.uint64)
    if dataset.weights is None:  # folded rows are few and always counted in one pass
        compact = _compact_columns(dataset, facts)
        place_bits(facts)
        bits = pack_bits(dataset.codes, facts)
    weights = np.empty(0, dtype=np.int64) if dataset.weights is None else dataset.weights
    return Index(facts, dataset.codes, weights, compact, bits)


def _compact_columns(dataset: Dataset, facts: NDArray[np.int64]) -> NDArray[np.unsignedinteger]:
    """Return, for as many variables as fit, the other rows of each later column.

    The most lopsided variables come first: theirs are the shortest and the most used.
    """
    by_rank = np.argsort(facts[:, RANK])
    sizes = facts[by_rank, N_OTHERS] * np.arange(len(by_rank), 0, -1)
    ends = np.cumsum(sizes)
    room = max(MIN_COMPACT_BYTES, COMPACT_SHARE * dataset.codes.nbytes)
    n_fit = int(np.searchsorted(ends, room // dataset.codes.itemsize, side="right"))
    compact = np.empty(int(ends[n_fit - 1]) if n_fit else 0, dtype=dataset.codes.dtype)
    by_place = dataset.codes[by_rank]
    for place, variable in enumerate(by_rank[:n_fit]):
        rows = np.flatnonzero(by_place[place] != facts[variable, COMMON])
        facts[variable, COMPACT] = begin = int(ends[place] - sizes[place])
        columns = compact[begin : int(ends[place])].reshape(len(by_rank) - place, len(rows))
        np.take(by_place[place:], rows, axis=1, out=columns)
    return compact


def place_bits(facts: NDArray[np.int64]) -> None:
    """Note where the bit sets of each variable begin: one a state but for the most common."""
    small = np.flatnonzero(facts[:, ARITY] <= MAX_BIT_SET_ARITY)
    n_sets = facts[small, ARITY] - 1
    facts[small, BITS] = np.cumsum(n_sets) - n_sets


def pack_bits(codes: Codes, facts: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the bit sets of some rows, as `place_bits` places them."""
    n_words = -(-codes.shape[1] // 64)
    small = np.flatnonzero(facts[:, BITS] >= 0)
    sets = np.zeros((int((facts[small, ARITY] - 1).sum()), n_words * 8), dtype=np.uint8)
    n = 0
    for variable in small:
        for state in range(int(facts[variable, ARITY])):
            if state != facts[variable, COMMON]:
                packed = np.packbits(codes[variable] == state)
                sets[n, : len(packed)] = packed
                n += 1
    return sets.view(np.uint64)  # which bit is which row never matters


def dense_limit(n_rows: int) -> int:
    """Return the number of cells up to which a table is counted cell by cell.

    It depends on the observations, not on the rows stored: folded or not, the same data
    take the same way and give the same last bit.
    """
    return min(max(4096, 4 * n_rows), LARGEST_DENSE_TABLE)


def new_scratch(table: Table) -> Scratch:
    """Return working memory for one thread."""
    most_axes = table.n_variables + 1
    most_cells = dense_limit(table.n_rows)
    return Scratch(
        counts=np.zeros(most_cells, dtype=np.uint32),
        margin=np.zeros(most_cells, dtype=np.uint32),
        work=np.zeros((N_WORK, most_axes), dtype=np.int64),
        joint=np.zeros(ROWS_A_BLOCK, dtype=np.uint32),
        short=np.zeros(ROWS_A_BLOCK, dtype=np.uint16),
        words=np.zeros((min(most_axes, 64), WORDS_A_BLOCK), dtype=np.uint64),
        rising=np.zeros((RISING_ROWS, FIRST + RISING_LENGTH)),
    )


def new_known(singles: Sequence[NDArray[np.int64]], n_cells: int) -> Known:
    """Return a store of `n_cells` cells that knows the tables of one variable."""
    cells = np.concatenate(singles)
    pool = np.zeros(len(cells) + n_cells, dtype=np.uint32)
    pool[: len(cells)] = cells
    slots = np.zeros((1 << max(10, (n_cells // 32).bit_length()), 2), dtype=np.int64)
    known = Known(slots, pool, np.zeros(2, dtype=np.int64), len(cells))
    forget(known)
    return known


def forget(known: Known) -> None:
    """Empty the store, but for the tables of one variable."""
    known.slots[:, 0] = -1
    known.used[:] = 0, known.n_singles


def plan_batches(
    index: Index, families: FamilyBatch, known: Known, dense_limit: int
) -> Iterator[tuple[Batch, int, int]]:
    """Yield what to evaluate next: a batch, and the families of it from where to before where.

    Tables of two and three variables come first, before the families that are built on them.
    Each must be evaluated before the next one is asked for.
    """
    n = len(families)
    batch = Batch(
        members=families.members,
        start=families.start,
        variables=np.empty_like(families.members),
        method=np.empty(n, dtype=np.int8),
        known=np.empty(n, dtype=np.int64),
        new_pairs=np.empty((n, 2), dtype=np.int32),
        new_triples=np.empty((n, 3), dtype=np.int32),
    )
    first = 0
    while first < n:
        last, n_pairs, n_triples = plan(index, batch, known, first, dense_limit)
        yield _table_batch(batch.new_pairs[:n_pairs]), 0, n_pairs
        yield _table_batch(batch.new_triples[:n_triples]), 0, n_triples
        yield batch, first, last
        if last < n:
            forget(known)
        first = last


def _table_batch(new: NDArray[np.int32]) -> Batch:
    """Return the tables that `plan` asked for as a batch that `evaluate` takes."""
    n, k = new.shape
    variables = np.ascontiguousarray(new).reshape(-1)
    start = np.arange(0, n * k + 1, k)
    keep, none = np.full(n, KEEP, dtype=np.int8), np.empty(0, dtype=np.int64)
    return Batch(variables, start, variables, keep, none, new, new)
