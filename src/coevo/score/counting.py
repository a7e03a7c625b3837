"""The arrays that the counting kernels need, and the order in which a batch is counted.

A count is the number of rows with one configuration of some variables. The counts of a family
are the sufficient statistics of its local score. `build_index` prepares a dataset for the
kernels once. `plan_batches` then splits the families of a batch into parts, so that tables
which several families share are counted before the families.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data import Codes, Dataset, Table
from coevo.score.families import FamilyBatch
from coevo.score.kernels import (
    ARITY,
    BITS,
    COMMON,
    COMPACT,
    HIGH,
    KEY,
    N_FACTS,
    N_OTHERS,
    RANK,
    RISING_ROWS,
    RISING_WIDTH,
    SINGLE,
    SLOT_WIDTH,
    WORDS_PER_BLOCK,
    BatchPlan,
    CountIndex,
    Scratch,
    SharedTables,
    plan_families,
)

__all__ = [
    "build_index",
    "clear_shared_tables",
    "compute_dense_limit",
    "compute_table_offsets",
    "compute_variable_facts",
    "make_count_index",
    "make_scratch",
    "make_shared_tables",
    "pack_bits",
    "place_bits",
    "plan_batches",
    "split_into_batches",
]

MAX_BIT_SET_ARITY = 16  # with more states, the bit sets need more than twice as much as the codes
MIN_COMPACT_BYTES = 1 << 26  # compact columns may take this much memory,
COMPACT_SHARE = 2  # or this multiple of the data, if that is more
LARGEST_DENSE_TABLE = 1 << 22  # cells; two tables of 16 MiB for each thread


def compute_variable_facts(table: Table) -> NDArray[np.int64]:
    """Return the facts of each variable that follow from the counts of its states.

    `count_kernels` explains the columns. `build_index` and `place_bits` fill in the rest.
    """
    singles = table.state_counts
    facts = np.zeros((table.n_variables, N_FACTS), dtype=np.int64)
    facts[:, ARITY] = table.arities
    facts[:, COMMON] = [counts.argmax() for counts in singles]
    most = np.array([counts.max() for counts in singles])
    facts[np.argsort(-most, kind="stable"), RANK] = np.arange(table.n_variables)
    facts[:, SINGLE] = np.cumsum(table.arities) - table.arities
    facts[:, COMPACT] = facts[:, BITS] = facts[:, HIGH] = -1
    facts[:, N_OTHERS] = table.n_rows - most
    return facts


def build_index(dataset: Dataset) -> CountIndex:
    """Return the arrays that the kernels need of a dataset."""
    facts = compute_variable_facts(dataset)
    if dataset.weights is not None:  # deduplicated rows are few and always counted in one pass
        return make_count_index(facts, dataset.codes, dataset.weights)
    compact = _build_compact_columns(dataset, facts)
    place_bits(facts)
    return make_count_index(
        facts, dataset.codes, compact=compact, bits=pack_bits(dataset.codes, facts)
    )


def make_count_index(
    facts: NDArray[np.int64],
    codes: Codes,
    weights: NDArray[np.int64] | None = None,
    compact: NDArray[np.uint8] | None = None,
    bits: NDArray[np.uint64] | None = None,
) -> CountIndex:
    """Return the arrays for the kernels, with the types that the kernels take.

    Write into `facts` where the high bytes of each variable are. Without `weights` every row
    counts once.
    """
    return CountIndex(
        facts,
        _freeze(_split_into_bytes(codes, facts)),
        _freeze(np.empty(0, dtype=np.int64) if weights is None else weights),
        _freeze(np.empty(0, dtype=np.uint8) if compact is None else compact),
        _freeze(np.empty((0, 0), dtype=np.uint64) if bits is None else bits),
    )


def _freeze(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view of an array, in C order."""
    view = np.ascontiguousarray(array).view(np.ndarray)
    view.flags.writeable = False
    return view


def _split_into_bytes(codes: Codes, facts: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return the low bytes of all variables, then the high bytes of those that have them."""
    wide = np.flatnonzero(facts[:, ARITY] > 256)
    n = len(codes)
    facts[wide, HIGH] = n + np.arange(len(wide))
    if codes.dtype == np.uint8:
        return codes.astype(np.uint8, copy=False)
    parts = np.empty((n + len(wide), codes.shape[1]), dtype=np.uint8)
    parts[:n] = codes & 255
    parts[n:] = codes[wide] >> 8
    return parts


def _build_compact_columns(dataset: Dataset, facts: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return the compact columns of as many variables as fit; write where each begins.

    The compact columns of a variable hold the rows in which it is not in its most common
    state: one column for the variable and one for each variable of higher rank. The most
    skewed variables come first, because their columns are the shortest and the most used.
    """
    by_rank = np.argsort(facts[:, RANK])
    sizes = facts[by_rank, N_OTHERS] * np.arange(len(by_rank), 0, -1)
    sizes[facts[by_rank, ARITY] > 256] = 0  # no level counts them
    ends = np.cumsum(sizes)
    room = max(MIN_COMPACT_BYTES, COMPACT_SHARE * dataset.codes.nbytes)
    n_fit = int(np.searchsorted(ends, room, side="right"))
    compact = np.empty(int(ends[n_fit - 1]) if n_fit else 0, dtype=np.uint8)
    by_place = dataset.codes.astype(np.uint8, copy=False)[by_rank]
    for place, variable in enumerate(by_rank[:n_fit]):
        if facts[variable, ARITY] > 256:
            continue
        rows = np.flatnonzero(by_place[place] != facts[variable, COMMON])
        facts[variable, COMPACT] = begin = int(ends[place] - sizes[place])
        columns = compact[begin : int(ends[place])].reshape(len(by_rank) - place, len(rows))
        np.take(by_place[place:], rows, axis=1, out=columns)
    return compact


def place_bits(facts: NDArray[np.int64]) -> None:
    """Write where the bit sets of each variable begin.

    Each state has one bit set, except the most common state.
    """
    small = np.flatnonzero(facts[:, ARITY] <= MAX_BIT_SET_ARITY)
    n_sets = facts[small, ARITY] - 1
    facts[small, BITS] = np.cumsum(n_sets) - n_sets


def pack_bits(codes: Codes, facts: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the bit sets of some rows, at the places that `place_bits` has written."""
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
    return sets.view(np.uint64)  # the order of the bits does not matter


def compute_dense_limit(n_rows: int) -> int:
    """Return the largest number of cells of a table that is counted cell by cell.

    It depends on the number of observations, not on the number of stored rows. Deduplicated
    or not, the same data are counted by the same method and give the same last bit.
    """
    return min(max(4096, 4 * n_rows), LARGEST_DENSE_TABLE)


def make_scratch(table: Table) -> Scratch:
    """Return the working memory of one thread."""
    most_axes = table.n_variables + 1
    most_cells = compute_dense_limit(table.n_rows)
    return Scratch(
        counts=np.zeros(most_cells, dtype=np.uint32),
        margin=np.zeros(most_cells, dtype=np.uint32),
        stride=np.zeros(most_axes, dtype=np.int64),
        variables=np.zeros(most_axes, dtype=np.int32),
        words=np.zeros((min(most_axes, 64), WORDS_PER_BLOCK), dtype=np.uint64),
        rising=np.zeros((RISING_ROWS, RISING_WIDTH)),
    )


def make_shared_tables(
    singles: Sequence[NDArray[np.int64]], arities: NDArray[np.int64], n_cells: int
) -> SharedTables:
    """Return room for `n_cells` cells of shared tables, with the tables of one variable.

    There is no more room than for the tables of all pairs and triples: a search on a small table
    makes a scorer for each sample of a bootstrap, and clearing 8 MiB takes as long as scoring.
    """
    cells = np.concatenate(singles)
    n_tables, n_all = _measure_shared_tables(arities.tolist())
    pool = np.zeros(len(cells) + min(n_cells, n_all), dtype=np.uint32)
    pool[: len(cells)] = cells
    # at most half of the slots are used
    n_slots = 1 << min(max(10, (n_cells // 32).bit_length()), (2 * n_tables + 2).bit_length())
    slots = np.zeros((n_slots, SLOT_WIDTH), dtype=np.int64)
    shared = SharedTables(slots, pool, np.zeros(2, dtype=np.int64), len(cells))
    clear_shared_tables(shared)
    return shared


def _measure_shared_tables(arities: Sequence[int]) -> tuple[int, int]:
    """Return the number of pairs and triples of variables, and the cells of all their tables."""
    n, sums = len(arities), [1, 0, 0, 0]  # of the products of 0, 1, 2 and 3 arities
    for arity in arities:
        for k in (3, 2, 1):
            sums[k] += sums[k - 1] * arity
    return math.comb(n, 2) + math.comb(n, 3), sums[2] + sums[3]


def clear_shared_tables(shared: SharedTables) -> None:
    """Remove all shared tables except the tables of one variable."""
    shared.slots[:, KEY] = -1
    shared.used[:] = 0, shared.n_singles


def plan_batches(
    index: CountIndex, families: FamilyBatch, shared: SharedTables, dense_limit: int
) -> Iterator[tuple[BatchPlan, int, int, int]]:
    """Yield (plan, size, first, last): count what is from `first` to before `last` next.

    That is new shared tables of two or three variables, if `size` is their number, or families, if
    `size` is 0. Shared tables come before the families that are built on them. The caller must
    count each part before it requests the next one.
    """
    n = len(families)
    plan = BatchPlan(
        families.members,
        families.start,
        np.empty_like(families.members),  # variables
        np.empty(n, dtype=np.int8),  # method
        np.empty(n, dtype=np.int64),  # shared_start
        np.empty((n, 2), dtype=np.int32),  # new_pairs
        np.empty((n, 3), dtype=np.int32),  # new_triples
    )
    first, requested = 0, np.empty(2, dtype=np.int64)
    while first < n:
        last = plan_families(index, plan, shared, first, dense_limit, requested)
        for size, n_tables in zip((2, 3), requested.tolist(), strict=True):
            if n_tables:
                yield plan, size, 0, n_tables
        if last > first:
            yield plan, 0, first, last
        if last < n:
            clear_shared_tables(shared)
        first = last


def compute_table_offsets(
    families: FamilyBatch, arities: NDArray[np.int64], dense_limit: int
) -> NDArray[np.int64]:
    """Return where the table of each family begins, and where the last table ends.

    The table of a family is empty if it would have more than `dense_limit` cells.
    """
    if not len(families):
        return np.zeros(1, dtype=np.int64)
    states = arities[families.members].astype(np.float64)
    with np.errstate(over="ignore"):
        sizes = np.multiply.reduceat(states, families.start[:-1])
    sizes[sizes > dense_limit] = 0
    return np.concatenate([[0], np.cumsum(sizes.astype(np.int64))])


def split_into_batches(begin: NDArray[np.int64], most_cells: int) -> Iterator[tuple[int, int]]:
    """Yield (first, last): count the tables of the families from `first` to before `last` together.

    `begin` is where each table begins. The tables of a batch have at most `most_cells` cells, or
    the batch is a single family.

    >>> list(split_into_batches(np.array([0, 4, 4, 9, 20]), 10))
    [(0, 3), (3, 4)]
    """
    first, n_families = 0, len(begin) - 1
    while first < n_families:
        end = int(np.searchsorted(begin, begin[first] + most_cells, side="right"))
        last = max(first + 1, end - 1)
        yield first, last
        first = last
