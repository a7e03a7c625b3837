"""Find the table in a text file: its delimiter, its header, and the lines above it.

Python's `csv` module parses the start of the file with each delimiter. The best delimiter splits
all lines into the same number of fields; of several, the one with the most fields. Comment lines
and lines with fewer fields than the table are not part of it. A first row of values instead of
names is recognised only if every cell is a value without doubt (`lacks_header`).
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from coevo.data.number_labels import MISSING_LABELS

__all__ = ["COMMENTS", "DELIMITERS", "SPACES", "Layout", "detect_layout"]

DELIMITERS = (",", ";", "\t", "|")  # in a tie the earlier one wins
SPACES = " "  # stands for any number of spaces and tabs
COMMENTS = ("#", "%", "//")
_ROWS = 100  # number of rows that are examined
_SAMPLE_BYTES = 1 << 16  # enough for so many rows of most tables
_QUOTED_OR_SPACES = re.compile(rb'(?<![^ \t\r\n])("[^"\r\n]*")|[ \t]+')
_EDGES = re.compile(rb"(?m)^[ \t]+|[ \t]+(?=\r?$|\r)")
_NUMBER = re.compile(r"[-+(]*[$€£¥]?\s*\d[\d.,'\s]*([eE][-+]?\d+)?\s*[%$€£¥)]?|[-+]?[.,]\d+")


@dataclass(frozen=True, slots=True)
class Record:
    """One line of a file as fields; a quoted field can contain line breaks."""

    offset: int  # of its first byte
    line: int  # counted from 1
    fields: list[str]  # each character stands for a byte


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the table of a text file begins, and how its lines are split.

    Attributes
    ----------
    delimiter : str
        The character between fields, or `SPACES`.
    n_fields : int
        Number of fields of each row.
    offset, line : int
        First byte and line of the header, or of the first row if there is no header.
    n_names : int
        Number of fields of the header; 0 if there is no header.
    comments, titles : tuple of Record
        Lines above the table that are left out.
    has_row_names : bool
        Whether the header lacks the name of the first column.
    comment_names : tuple of str
        The column names in a comment line above the first row, if there is no other header.
    """

    delimiter: str
    n_fields: int
    offset: int = 0
    line: int = 1
    n_names: int = 0
    comments: tuple[Record, ...] = ()
    titles: tuple[Record, ...] = ()
    has_row_names: bool = False
    comment_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A delimiter, and how well it splits the lines."""

    layout: Layout
    rows: list[list[str]]  # from the header on
    agreement: float  # share of the lines that belong to the table

    @property
    def is_clean(self) -> bool:
        """Whether all lines belong to a table of several columns."""
        return self.agreement == 1 and self.layout.n_fields > 1

    @property
    def rank(self) -> tuple[bool, float, int]:
        """The better of two candidates has the higher rank."""
        return self.layout.n_fields > 1, self.agreement, self.layout.n_fields


def detect_layout(
    head: bytes,
    is_complete: bool,
    delimiter: str | None = None,
    header: bool | None = None,
    comments: Sequence[str] = COMMENTS,
    skips_titles: bool = True,
) -> Layout:
    r"""Return the layout of a text table.

    Parameters
    ----------
    head : bytes
        The start of the file. It does not end in the first row.
    is_complete : bool
        Whether `head` is the entire file; otherwise its last row can be incomplete.
    delimiter, header : optional
        The delimiter, and whether there is a header, if that is known.
    comments : sequence of str
        The starts of comment lines.
    skips_titles : bool
        Whether lines with too few fields above the header are left out.

    >>> layout = detect_layout(b"Sales in 2024\na;b;c\n1,5;2;3\n1,6;2;3\n", True)
    >>> layout.delimiter, layout.n_fields, layout.line
    (';', 3, 2)
    """
    sample = head[:_SAMPLE_BYTES]
    if len(sample) < len(head) and max(map(sample.count, (b"\n", b"\r"))) > _ROWS:
        head, is_complete = sample, False
    delimiters = DELIMITERS if delimiter is None else (delimiter,)
    found = [
        _make_candidate(_read_records(head, one, is_complete), one, comments, skips_titles)
        for one in delimiters
    ]
    best = max(found, key=lambda candidate: candidate.rank)
    if delimiter is None and not best.is_clean:
        records = _read_records(head, SPACES, is_complete)
        spaces = _make_candidate(records, SPACES, comments, skips_titles)
        best = spaces if spaces.is_clean else best if best.layout.n_fields > 1 else found[0]
    return _find_names(best, header, comments)


def iter_records(data: bytes, delimiter: str) -> Iterator[Record]:
    """Yield the records that are not blank; stop at a field that cannot be parsed."""
    lines = data.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    reader = csv.reader((line.decode("latin-1") for line in lines), delimiter=delimiter)
    first = 0
    try:
        for fields in reader:
            if fields:
                yield Record(starts[first], first + 1, fields)
            first = reader.line_num
    except csv.Error:  # a field that never ends; the CSV reader reports its line
        return


def rewrite_spaces(data: bytes) -> bytes:
    r"""Return a table with one tab in place of spaces between fields; lines stay lines.

    >>> rewrite_spaces(b'  a   "b c"\n 1 \t 2 \n')
    b'a\t"b c"\n1\t2\n'
    """
    return _QUOTED_OR_SPACES.sub(lambda match: match[1] or b"\t", _EDGES.sub(b"", data))


def _read_records(head: bytes, delimiter: str, is_complete: bool) -> list[Record]:
    """Return the first records."""
    if delimiter == SPACES:
        head, delimiter = rewrite_spaces(head), "\t"
    records = []
    for record in iter_records(head, delimiter):
        records.append(record)
        if len(records) > _ROWS:
            return records[:-1]
    return records if is_complete or len(records) == 1 else records[:-1]


def _make_candidate(
    records: list[Record], delimiter: str, comments: Sequence[str], skips_titles: bool
) -> _Candidate:
    remarks = [record for record in records if is_comment(record.fields, comments)]
    lines = [record for record in records if not is_comment(record.fields, comments)]
    if lines:
        remarks = [record for record in remarks if record.offset < lines[-1].offset]
    else:  # the header starts as a comment does
        lines, remarks = records, []
    if not lines:
        return _Candidate(Layout(delimiter, 1, n_names=1), [[""]], 0.0)
    widths = Counter(len(record.fields) for record in lines if len(record.fields) > 1)
    width = max(widths, key=lambda one: (widths[one], one), default=1)
    at = _find_header(lines, width) if skips_titles else 0
    table = lines[at:]
    header = table[0]
    n_names = len(header.fields)
    has_row_names = n_names == width - 1 > 1 and _has_row_names(table)
    n_fields = width if n_names < width else n_names
    layout = Layout(
        delimiter,
        n_fields,
        header.offset,
        header.line,
        n_names,
        tuple(record for record in remarks if record.offset < header.offset),
        tuple(lines[:at]),
        has_row_names,
    )
    fits = sum(len(record.fields) == n_fields for record in table[1:]) + 1
    return _Candidate(layout, [record.fields for record in table], fits / len(lines))


def is_comment(fields: Sequence[str], comments: Sequence[str]) -> bool:
    """Return whether a line starts as a comment."""
    return fields[0].lstrip().startswith(tuple(comments))


def _find_header(lines: list[Record], width: int) -> int:
    """Return the position of the header: the first line with the fields of the table.

    A header can lack the name of the first column, or the delimiter at its end.
    """
    for i, record in enumerate(lines):
        n_fields = len(record.fields)
        if n_fields >= width:
            return i
        if n_fields == width - 1 > 1 and (
            _has_row_names(lines[i:]) or _ends_with_delimiter(lines[i:])
        ):
            return i
    return 0


def _has_row_names(table: list[Record]) -> bool:
    """Return whether all rows have one field more than the header, and different first fields."""
    n_names, rows = len(table[0].fields), [record.fields for record in table[1:]]
    names = [fields[0] for fields in rows]
    fits = all(len(fields) == n_names + 1 for fields in rows)
    is_index = len(set(names)) == len(names) and "" not in names
    return bool(rows) and fits and is_index and not _ends_with_delimiter(table)


def _ends_with_delimiter(table: list[Record]) -> bool:
    """Return whether each row ends with a delimiter that the header does not have."""
    n_names = len(table[0].fields)
    return len(table) > 1 and all(
        len(record.fields) == n_names + 1 and not record.fields[-1] for record in table[1:]
    )


def _find_names(best: _Candidate, header: bool | None, comments: Sequence[str]) -> Layout:
    """Return the layout, without a header if the first row has values."""
    layout, rows = best.layout, best.rows
    if layout.n_names < layout.n_fields:
        return replace(layout, n_names=0) if header is False else layout
    comment_names: tuple[str, ...] = ()
    if header is None and layout.comments:
        names = _strip_comment(layout.comments[-1].fields, comments)
        if len(names) == layout.n_fields and not any(map(is_value, names)):
            comment_names = tuple(names)
    has_names = not comment_names  # then 0, 1, 2 can be names
    if header or (header is None and not lacks_header(rows, has_names)):
        return layout
    used = layout.comments[:-1] if comment_names else layout.comments
    return replace(layout, n_names=0, comment_names=comment_names, comments=used)


def _strip_comment(fields: Sequence[str], comments: Sequence[str]) -> list[str]:
    """Return the fields of a line without the mark of a comment."""
    first = fields[0].lstrip()
    mark = next(mark for mark in sorted(comments, key=len, reverse=True) if first.startswith(mark))
    first = first.removeprefix(mark).strip()
    return [first, *fields[1:]] if first else list(fields[1:])


def lacks_header(rows: Sequence[Sequence[str]], allows_sequence: bool = True) -> bool:
    """Return whether the first row of a table has values, not names.

    Each cell must be a number in a column of numbers, or a text that occurs twice below it. With
    `allows_sequence`, 0, 1, 2 and 2001, 2002, 2003 are names.

    >>> lacks_header([["5", "2"], ["7", "3"]]), lacks_header([["1", "2"], ["7", "3"]])
    (True, False)
    >>> lacks_header([["2001", "2005"], ["yes", "3"]])
    False
    """
    header, below = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    if not below or not all(cell.strip() for cell in header):
        return False
    columns = list(zip(*below, strict=True))
    numeric = [all(map(is_value, column)) for column in columns]
    if all(map(is_value, header)):
        return all(numeric) and not (allows_sequence and _is_sequence(header))
    pairs = zip(header, columns, numeric, strict=True)
    return all(
        (is_numeric and is_value(cell)) or column.count(cell) > 1
        for cell, column, is_numeric in pairs
    )


def is_value(cell: str) -> bool:
    """Return whether a cell is a number, or stands for a missing value."""
    text = cell.strip()
    return text in MISSING_LABELS or _NUMBER.fullmatch(text) is not None


def _is_sequence(cells: Sequence[str]) -> bool:
    """Return whether cells are consecutive whole numbers."""
    texts = [cell.strip() for cell in cells]
    if not all(text.isdecimal() and len(text) < 10 for text in texts):
        return False
    numbers = [int(text) for text in texts]
    is_long = len(numbers) > 2 or numbers[0] in (0, 1)
    return is_long and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
