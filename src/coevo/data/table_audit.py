"""What to know about a table before a search: its audit, and columns without causes.

Check a table before a search: find columns that are useless or misleading.

Each finding is a sentence that ends with a recommendation. `audit` changes nothing. It visits
columns in canonical order, so that the same observations give the same findings.

Two columns are duplicates if they partition the rows in the same way, whatever the names of
their states. `audit` compares hashes of the partitions. A column is determined by another column
if each state of the other column occurs with one state of it only. A full comparison of all
pairs would take time proportional to the rows times the square of the columns. A few rows with
the rarest states rule out nearly every pair first (`_DeterminedColumns`).
"""

from __future__ import annotations

import hashlib
import re
import shlex
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data.column_types import (
    ColumnInfo,
    find_part_types,
    format_drop_hint,
    format_merge_hint,
    format_part_hint,
    format_type_hint,
)
from coevo.data.dataset import Dataset, Table
from coevo.data.incomplete import IncompleteDataset
from coevo.errors import format_count

__all__ = ["Finding", "audit", "describe_roots", "is_root_name"]

MIN_ROWS = 50  # a table with fewer rows supports few arcs
MIN_COUNT = 5  # a state, or a parameter, needs at least so many rows
MAX_LISTED = 3  # names in a sentence
MAX_MERGED = 12  # states in the option that merges them
OTHER = "other"  # the state into which rare states are merged
MAX_CELLS = 1 << 28  # limit of the full comparisons that find determined columns
WITNESSES = 8  # rows per state that rule out most pairs


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem of a table.

    Attributes
    ----------
    kind : str
        ``'constant'``, ``'identifier'``, ``'duplicate'``, ``'deterministic'``,
        ``'not_compared'``, ``'rare_states'``, ``'few_rows'``, ``'small_table'``,
        ``'sentinel'``, ``'missing_word'`` or ``'synonyms'``.
    columns : tuple of str
        The columns with the problem.
    sentence : str
        The problem and a recommendation.
    part : tuple of str or None
        If the recommendation leaves out a part of a date: its column of dates, and the type of
        this column that does so (``'ignore'`` if there is no other part).
    options : dict or None
        The keyword arguments of `learn` that follow the recommendation, if it is not to leave out
        a column: ``missing_labels``, ``merge`` or ``types``.
    """

    kind: str
    columns: tuple[str, ...]
    sentence: str
    part: tuple[str, str] | None = None
    options: Mapping[str, Any] | None = field(default=None, hash=False)

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as plain values."""
        found: dict[str, Any] = {"kind": self.kind, "columns": list(self.columns)}
        found["sentence"] = self.sentence
        if self.options is not None:
            found["options"] = dict(self.options)
        return found if self.part is None else found | {"types": dict([self.part])}


def audit(
    dataset: Table | IncompleteDataset,
    columns: Iterable[ColumnInfo] = (),
    known: Iterable[Finding] = (),
) -> tuple[Finding, ...]:
    """Find columns that a search cannot learn from, or that mislead it.

    Parameters
    ----------
    dataset : Table or IncompleteDataset
        The observations. For the comparison of columns, "missing" is an additional state. If the
        rows are not in memory (`open_shards`), columns are not compared with each other, and a
        finding reports it.
    columns : iterable of ColumnInfo
        What the reader says about the columns. A part of a date is left out through its column of
        dates, because the source has no column of its name.
    known : iterable of Finding
        What the reader found. Columns that are computed from others are not found once more as
        columns that another one determines.

    Returns
    -------
    tuple of Finding
        In this order: constant columns, columns like identifiers, duplicates, columns that
        another column determines, states with fewer than 5 rows, columns with too many
        states for the number of rows, and a table with fewer than 50 rows.

    Examples
    --------
    >>> from coevo.data import Variable
    >>> rain = Variable("rain", ("no", "yes"))
    >>> wet = Variable("wet", ("0", "1"))
    >>> for finding in audit(Dataset([rain, wet], [[0, 1] * 50, [1, 0] * 50])):
    ...     print(finding.sentence)
    'wet' duplicates 'rain' in every row. Keep one of them (drop=['wet'], or --drop wet).
    """
    table: Table
    infos = {info.name: info for info in columns}
    parts = find_part_types(infos.values())
    if isinstance(dataset, IncompleteDataset):
        table = dataset.add_missing_state()
        summary = _TableSummary(dataset.dataset, dataset.state_counts, parts, infos)
        comparable = _TableSummary(table, table.state_counts, parts, infos)
        comparable.n_observed[summary.n_observed == 1] = 1  # do not compare constant columns
    else:
        table = dataset
        summary = comparable = _TableSummary(table, table.state_counts, parts, infos)
    compared = [NOT_COMPARED]
    if isinstance(table, Dataset):
        computed = [set(finding.columns) for finding in known if finding.kind == "computed"]
        found = _compare_columns(comparable, table)
        compared = [
            one for one in found if not any(set(one.columns) <= names for names in computed)
        ]
    return (
        *_find_constant(summary),
        *_find_identifiers(summary),
        *compared,
        *_find_rare_states(summary),
        *_find_few_rows(summary),
        *_find_small_table(summary),
    )


NOT_COMPARED = Finding(
    "not_compared",
    (),
    "The rows are not in memory, so columns were not compared with each other: there may be "
    "duplicates. Learn from a sample of the rows to find them.",
)


class _TableSummary:
    """The variables of a table, the count of each state, and which columns are parts of dates."""

    def __init__(
        self,
        dataset: Table,
        counts: tuple[NDArray[np.int64], ...],
        parts: Mapping[str, tuple[str, str]],
        infos: Mapping[str, ColumnInfo],
    ) -> None:
        self.parts = parts
        self.infos = infos
        self.variables = dataset.variables
        self.names = dataset.names
        self.n_rows = dataset.n_rows
        self.counts = counts
        self.n_observed = np.array([np.count_nonzero(count) for count in self.counts])
        # A state of such a column occurs less than twice on average.
        self.is_identifier = (2 * self.n_observed > self.n_rows) & (self.n_observed > 20)
        self.is_duplicate = np.zeros(len(self.names), dtype=np.bool_)

    def format_states(self, variable: int, which: NDArray[np.bool_]) -> list[str]:
        """Return the selected states of a variable, quoted."""
        states = self.variables[variable].states
        return [repr(states[code]) for code in np.flatnonzero(which)]

    def format_hint(self, name: str) -> str:
        """Return the options that leave out a column."""
        part = self.parts.get(name)
        return format_drop_hint(name) if part is None else format_part_hint(*part)


def _find_constant(summary: _TableSummary) -> Iterator[Finding]:
    for i in np.flatnonzero(summary.n_observed == 1).tolist() if summary.n_rows > 1 else ():
        name, (state,) = summary.names[i], summary.format_states(i, summary.counts[i] > 0)
        yield Finding(
            "constant",
            (name,),
            f"{name!r} is {state} in every row, so nothing can be learned about it. Leave it out "
            f"({summary.format_hint(name)}).",
            summary.parts.get(name),
        )


def _find_identifiers(summary: _TableSummary) -> Iterator[Finding]:
    for i in np.flatnonzero(summary.is_identifier).tolist():
        name = summary.names[i]
        yield Finding(
            "identifier",
            (name,),
            f"{name!r} has {summary.n_observed[i]:,} states in {summary.n_rows:,} rows, like an "
            f"identifier. Leave it out ({summary.format_hint(name)}), or merge its states.",
            summary.parts.get(name),
        )


def _compare_columns(summary: _TableSummary, dataset: Dataset) -> Iterator[Finding]:
    yield from _find_duplicates(summary, dataset)
    yield from _find_deterministic(summary, dataset)


def _find_duplicates(summary: _TableSummary, dataset: Dataset) -> Iterator[Finding]:
    first: dict[bytes, str] = {}
    for i, codes in enumerate(dataset.codes):
        if summary.n_observed[i] < 2:
            continue
        partition = _hash_partition(codes, len(summary.counts[i]))
        name, original = summary.names[i], first.setdefault(partition, summary.names[i])
        if original == name:
            continue
        summary.is_duplicate[i] = True
        yield Finding(
            "duplicate",
            (original, name),
            f"{name!r} duplicates {original!r} in every row. Keep one of them "
            f"({summary.format_hint(name)}).",
            summary.parts.get(name),
        )


def _hash_partition(codes: NDArray[np.unsignedinteger], arity: int) -> bytes:
    """Return a hash of the partition of the rows by a column, independent of state names."""
    rank = np.argsort(np.argsort(_find_first_rows(codes, arity))).astype(np.uint16)
    return hashlib.blake2b(rank[codes].tobytes(), digest_size=16).digest()


def _find_first_rows(codes: NDArray[np.unsignedinteger], arity: int) -> NDArray[np.int64]:
    """Return the first row with each state; the number of rows if a state does not occur."""
    first = np.full(arity, len(codes), dtype=np.int64)
    np.minimum.at(first, codes, np.arange(len(codes)))
    return first


def _find_deterministic(summary: _TableSummary, dataset: Dataset) -> Iterator[Finding]:
    search = _DeterminedColumns(summary, dataset)
    for i in search.candidates.tolist():
        determined = [summary.names[j] for j in search.find_determined(i)]
        if not determined:
            continue
        name = summary.names[i]
        listed = _list_first([repr(other) for other in determined])
        verb, columns = ("is", "column") if len(determined) == 1 else ("are", "columns")
        yield Finding(
            "deterministic",
            (name, *determined),
            f"{listed} {verb} determined by {name!r} in every row. Leave out {name!r} "
            f"({summary.format_hint(name)}), or the {columns} that it determines.",
            summary.parts.get(name),
        )


class _DeterminedColumns:
    """Find the columns that a column determines, without a full comparison of all pairs."""

    def __init__(self, summary: _TableSummary, dataset: Dataset) -> None:
        self._codes = dataset.codes
        self._n_observed = summary.n_observed
        self._budget = MAX_CELLS
        useful = ~summary.is_identifier & ~summary.is_duplicate & (summary.n_observed > 1)
        # A column of two states can determine only duplicates and constants. A column with nearly
        # one state per row determines others by chance.
        recur = summary.n_observed * MIN_COUNT <= summary.n_rows
        self.candidates = np.flatnonzero(useful & recur & (summary.n_observed > 2))
        self._others = np.flatnonzero(useful)
        rows = [self._choose_witnesses(j, summary.counts[j]) for j in self._others.tolist()]
        self._rows = np.array(rows, dtype=np.int64)

    def _choose_witnesses(self, variable: int, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return a few rows with the rarest states of a variable, the rarest first."""
        codes = self._codes[variable]
        rarest = np.argsort(np.where(counts > 0, counts, np.iinfo(np.int64).max), kind="stable")
        observed = rarest[: int(np.count_nonzero(counts))]
        rows = np.concatenate([np.flatnonzero(codes == s)[:WITNESSES] for s in observed[:2]])
        return np.resize(rows, 2 * WITNESSES)

    def find_determined(self, variable: int) -> list[int]:
        """Return the columns with fewer states that this column determines."""
        codes = self._codes[variable]
        first = _find_first_rows(codes, int(codes.max()) + 1)
        is_coarser = self._n_observed[self._others] < self._n_observed[variable]
        others, rows = self._others[is_coarser], self._rows[is_coarser]
        first_rows = first[codes[rows]]  # the first row with the same state of this column
        agree = self._codes[others[:, None], rows] == self._codes[others[:, None], first_rows]
        determined = []
        for other in others[agree.all(axis=1)].tolist():
            self._budget -= len(codes)
            if self._budget < 0:
                break
            column = self._codes[other]
            if np.array_equal(column[first[codes]], column):
                determined.append(other)
        return determined


def _find_rare_states(summary: _TableSummary) -> Iterator[Finding]:
    for i, counts in enumerate(summary.counts) if summary.n_rows > 1 else ():
        rare = (counts > 0) & (counts < MIN_COUNT)
        if summary.is_identifier[i] or not rare.any():
            continue
        name, states = summary.names[i], summary.format_states(i, rare)
        is_one = len(states) == 1
        advice, options = _advise_merging(summary, i, rare)
        yield Finding(
            "rare_states",
            (name,),
            f"{name!r} has {len(states):,} {'state' if is_one else 'states'} with fewer than "
            f"{MIN_COUNT} rows: {_list_first(states)}. {advice}",
            options=options,
        )


def _advise_merging(
    summary: _TableSummary, variable: int, rare: NDArray[np.bool_]
) -> tuple[str, dict[str, Any] | None]:
    """Return what to do about rare states, and the options of `learn` that do it.

    Bins are made again with fewer cut points, and numbers are cut into bins. Other states are
    merged into one, or with the only state that is not rare.
    """
    name, info = summary.names[variable], summary.infos.get(summary.names[variable])
    if summary.parts.get(name) is not None:
        return "They are parts of dates; use another part.", None
    if info is not None and info.type == "continuous":
        return "Use fewer bins with bins= (--bins).", None
    if info is not None and info.holds in ("whole numbers", "decimal numbers"):
        hint = format_type_hint(name, "continuous")
        return f"Cut the numbers into bins ({hint}).", {"types": {name: "continuous"}}
    states = summary.variables[variable].states
    old = [states[code] for code in np.flatnonzero(rare)]
    if len(old) > MAX_MERGED:
        return f"Merge states with merge= (--merge {shlex.quote(f'{name}:OLD=NEW')}).", None
    kept = [states[c] for c in np.flatnonzero((summary.counts[variable] > 0) & ~rare)]
    if not kept or len(old) + len(kept) == 2:  # one state would be left
        return f"Collect more rows, or leave it out ({summary.format_hint(name)}).", None
    # A state alone goes to the most common one, several go together.
    common = states[int(np.argmax(summary.counts[variable]))]
    merged = dict.fromkeys(old, OTHER if len(old) > 1 else common)
    merged.pop(OTHER, None)
    hint = format_merge_hint(name, merged)
    them = "them" if len(old) > 1 else "it with another state"
    return f"Merge {them} ({hint}).", {"merge": {name: merged}}


def _find_few_rows(summary: _TableSummary) -> Iterator[Finding]:
    """Yield one finding on the columns with too many parameters for the number of rows."""
    n_states = summary.n_observed
    typical = float(np.median(n_states))
    n_parameters = (n_states - 1) * typical  # with one parent that has the median of states
    many = n_parameters * MIN_COUNT > summary.n_rows
    columns = np.flatnonzero(many & ~summary.is_identifier & (n_states > 1))
    if not len(columns):
        return
    order = columns[np.argsort(-n_states[columns], kind="stable")]
    names = [f"{summary.names[i]!r} ({n_states[i]:,} states)" for i in order.tolist()]
    yield Finding(
        "few_rows",
        tuple(summary.names[i] for i in order.tolist()),
        f"With one parent, fewer than {MIN_COUNT} rows are left for each parameter of "
        f"{_list_first(names)}. Merge states, use fewer bins, or collect more than "
        f"{summary.n_rows:,} rows.",
    )


def _find_small_table(summary: _TableSummary) -> Iterator[Finding]:
    """Yield a finding on a table with few rows."""
    if summary.n_rows < MIN_ROWS:
        yield Finding(
            "small_table",
            (),
            f"The table has {format_count(summary.n_rows, 'row')}. With fewer than {MIN_ROWS} rows "
            "only strong arcs can be found, and some arcs are chance. Measure their strength with "
            "bootstraps= (--bootstraps).",
        )


def _list_first(items: Sequence[str]) -> str:
    """Return the first items, and the number of further items."""
    shown = ", ".join(items[:MAX_LISTED])
    rest = len(items) - MAX_LISTED
    return f"{shown} and {rest:,} more" if rest > 0 else shown


# Columns that usually have no cause inside the table, by their names: age, sex, trial arm, date.
#
# A search directs arcs by the score alone, so a network may say that an outcome leads to the age
# of a patient. Only the user knows that this cannot be. `is_root_name` recognises the usual names
# in English, German, French, Spanish, Portuguese, Italian and Dutch, so that an answer can name
# the option ``--root``. It decides nothing: the network stays as it is.
#
# A name is split into words at punctuation, digits and capitals ("birthYear2", "DATE_OF_BIRTH").
# Some words tell wherever they stand ("patient_age", "sex.at.birth"). Others are too common for
# that, and tell only as the complete name ("group", but not "blood_group"; "year", but not
# "years_in_school").


# Words that tell in any place of a name. Accents are removed.
_ANYWHERE = re.compile(
    r"""
    age(s|cat|group|grp|years|yr|y)? | alter(sgruppe)? | edad | idade | leeftijd
    | sex[eo]? | gender | sesso | geschlecht | geslacht | genero
    | race | ethnic(ity)? | ethnie | etnia | etniciteit | raza | raca | razza
    | dob | yob | birth(date|day|year|dat) | geburts(datum|jahr|tag) | naissance
    | nacimiento | nascimento | nascita | geboorte(datum|jaar)
    | rx | trt(grp)? | treatment | treatgrp | (act)?arm(cd)? | randomi[sz](ed|ation)
    | behandlung(sarm|sgruppe)? | (studien|therapie)arm | traitement | bras
    | tratami?ento | bra[zc]o | trattamento | braccio | behandel(ing|arm|groep)
    """,
    re.VERBOSE,
)
# Words that tell only if the name has no other word (beside a number or one of `_FILLERS`).
_ALONE = re.compile(
    r"""
    male | female | eta | genre | genere | tx | allocation | assignment | placebo
    | group[eo]? | grupp[eo] | grupo | groep | cohorte? | kohorte
    | year | month | season | weekday | date | jahr | monat | datum | annee | mois | anno? | jaar
    | maand | fecha
    | site(id)? | cent(er|re|ro|rum) | zentrum | standort | country | land | pa[iy]s | paese
    """,
    re.VERBOSE,
)
_FILLERS = {"id", "is", "no", "nr", "code", "study", "trial", "patient", "subject", "of", "at"}
# Words that make something else of it: the response to a treatment, the days of a treatment.
_OTHER_THINGS = re.compile(
    r"response|outcome|effects?|success|failure|failed|costs?|days|time|duration|stopped|drive|risk"
)


def is_root_name(name: str) -> bool:
    """Return whether a column usually has no cause inside a table, by its name.

    >>> [is_root_name(name) for name in ("Age", "patientSex", "rx", "Date of birth", "group")]
    [True, True, True, True, True]
    >>> [is_root_name(name) for name in ("stage", "blood_group", "treatment_response", "years")]
    [False, False, False, False]
    """
    words = _split_words(name)
    if any(map(_OTHER_THINGS.fullmatch, words)):
        return False
    if any(map(_ANYWHERE.fullmatch, words)) or ("birth" in words and words & {"date", "year"}):
        return True
    telling = words - _FILLERS
    return len(telling) == 1 and all(map(_ALONE.fullmatch, telling))


def _split_words(name: str) -> set[str]:
    """Return the words of a name in lower case, without accents and numbers.

    >>> sorted(_split_words("birthYear2")), sorted(_split_words("ÂGE_(ans)"))
    (['birth', 'year'], ['age', 'ans'])
    """
    plain = unicodedata.normalize("NFKD", name)
    plain = "".join(character for character in plain if not unicodedata.combining(character))
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", plain)
    return {part.lower() for part in parts}


def describe_roots(names: Sequence[str], option: str = "") -> str:
    """Return a sentence about variables that have parents but usually cannot have any.

    `option` says how to exclude that; by default it is the option of the commands.

    >>> describe_roots(["age", "sex", "rx"])
    'age, sex and rx have parents here; if they cannot, --root age,sex,rx'
    >>> describe_roots(["date of birth"], "roots=['date of birth']")
    "date of birth has parents here; if it cannot, roots=['date of birth']"
    """
    listed = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    have, they = ("has", "it") if len(names) == 1 else ("have", "they")
    way_out = option or f"--root {shlex.quote(','.join(names))}"
    return f"{listed} {have} parents here; if {they} cannot, {way_out}"
