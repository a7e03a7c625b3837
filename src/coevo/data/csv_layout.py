"""Find the table in a text file: its delimiter, its header, and the lines above it.

Python's `csv` module parses the start of the file with each delimiter. The best delimiter splits
all lines into the same number of fields; of several, the one with the most fields. Comment lines
and lines with fewer fields than the table are not part of it. A first row of values instead of
names is recognised only if every cell is a value without doubt (`coevo.data.csv_header`).
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from coevo.data.csv_header import has_number, is_value, lacks_header

__all__ = ["COMMENTS", "DELIMITERS", "SPACES", "Layout", "detect_layout"]

DELIMITERS = (",", ";", "\t", "|")  # in a tie the earlier one wins
SPACES = " "  # stands for any number of spaces and tabs
COMMENTS = ("#", "%", "//")
_ROWS = 100  # number of rows that are examined
_SAMPLE_BYTES = 1 << 16  # enough for so many rows of most tables
_QUOTED_OR_SPACES = re.compile(rb'(?<![^ \t\r\n])("[^"\r\n]*")|[ \t]+')


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
    is_regular : bool
        Whether at least half of the lines have the right number of fields; if not, the file is
        probably not a table.
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
    is_regular: bool = True
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
    if len(sample) < len(head) and _count_rows(sample, comments) > _ROWS:
        head, is_complete = sample, False
    delimiters = DELIMITERS if delimiter is None else (delimiter,)
    found = [
        _make_candidate(
            _read_records(head, one, is_complete, comments), one, comments, skips_titles
        )
        for one in delimiters
    ]
    best = max(found, key=lambda candidate: candidate.rank)
    if delimiter is None and not best.is_clean:
        records = _read_records(head, SPACES, is_complete, comments)
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
    return b"".join(map(_rewrite_line, data.splitlines(keepends=True)))


def _rewrite_line(line: bytes) -> bytes:
    body = line.rstrip(b"\r\n")
    end = line[len(body) :]
    if b'"' in body:
        fields = _QUOTED_OR_SPACES.sub(lambda match: match[1] or b"\t", body.strip(b" \t"))
        return fields + end
    return b"\t".join(filter(None, body.replace(b"\t", b" ").split(b" "))) + end


def _count_rows(data: bytes, comments: Sequence[str]) -> int:
    """Return the number of lines that are neither blank nor comments."""
    marks = tuple(mark.encode() for mark in comments)
    lines = (line.lstrip() for line in data.splitlines())
    return sum(bool(line) and not line.startswith(marks) for line in lines)


def _read_records(
    head: bytes, delimiter: str, is_complete: bool, comments: Sequence[str]
) -> list[Record]:
    """Return the first rows, and the comments above and between them."""
    if delimiter == SPACES:
        head, delimiter = rewrite_spaces(head), "\t"
    records = []
    n_rows = 0
    for record in iter_records(head, delimiter):
        records.append(record)
        n_rows += not is_comment(record.fields, comments)
        if n_rows > _ROWS:
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
    fits = sum(len(record.fields) == n_fields for record in table[1:])
    fits += n_names >= n_fields or has_row_names or _ends_with_delimiter(table)
    layout = Layout(
        delimiter,
        n_fields,
        header.offset,
        header.line,
        n_names,
        tuple(record for record in remarks if record.offset < header.offset),
        tuple(lines[:at]),
        has_row_names,
        is_regular=2 * fits >= len(table),
    )
    return _Candidate(layout, [record.fields for record in table], fits / len(lines))


def is_comment(fields: Sequence[str], comments: Sequence[str]) -> bool:
    """Return whether a line starts as a comment."""
    return fields[0].lstrip().startswith(tuple(comments))


def _find_header(lines: list[Record], width: int) -> int:
    """Return the position of the header: the first line with the fields of the table.

    A header can lack the name of the first column, or the delimiter at its end. A title can have
    all delimiters of a row; in a table of more than two columns a header has two names.
    """
    for i, record in enumerate(lines):
        n_fields = len(record.fields)
        if n_fields >= width and not (width > 2 and _is_sparse(record)):
            return i
        if n_fields == width - 1 > 1 and (
            _has_row_names(lines[i:]) or _ends_with_delimiter(lines[i:])
        ):
            return i
    return next(i for i, record in enumerate(lines) if len(record.fields) >= width)


def _is_sparse(record: Record) -> bool:
    return sum(bool(field.strip()) for field in record.fields) < 2


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
    if header:
        return layout
    lacks_names = has_number(rows) if comment_names else lacks_header(rows)
    if header is None and not lacks_names:
        return layout
    used = layout.comments[:-1] if comment_names else layout.comments
    return replace(layout, n_names=0, comment_names=comment_names, comments=used)


def _strip_comment(fields: Sequence[str], comments: Sequence[str]) -> list[str]:
    """Return the fields of a line without the mark of a comment."""
    first = fields[0].lstrip()
    mark = next(mark for mark in sorted(comments, key=len, reverse=True) if first.startswith(mark))
    first = first.removeprefix(mark).strip()
    return [first, *fields[1:]] if first else list(fields[1:])
