"""The encoding of a text, and where the table in it is.

Find the table in a text file: its delimiter, its header, and the lines above it.

Python's `csv` module parses the start of the file with each delimiter. The best delimiter splits
all lines into the same number of fields; of several, the one with the most fields. Comment lines
and lines with fewer fields than the table are not part of it. A first row of values instead of
names is recognised only if every cell is a value without doubt.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from coevo.data.decisions import Decision
from coevo.data.labels import MISSING_LABELS
from coevo.errors import DataError, FileError
from coevo.files.files import ByteSource, ByteStream

__all__ = [
    "COMMENTS",
    "DELIMITERS",
    "SPACES",
    "LabelDecoder",
    "Layout",
    "convert_to_utf8",
    "detect_layout",
    "has_number",
    "is_value",
    "lacks_header",
]


# Decide whether the first row of a table has names or values.
#
# Most tables have a header, and a header that is taken for values adds a false state to every
# column. So a row is taken for values only if each of its cells is a value without doubt.


_MAX_NUMBER = 50  # characters
_NUMBER = re.compile(
    r"[-+(]*+[$€£¥]?\s*+\d[\d.,'\s]*+(?:[eE][-+]?\d++\s*+)?[%$€£¥)]?|[-+]?[.,]\d++"
)


def lacks_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row of a table has values, not names.

    Each cell must be a number in a column of numbers, or a text that occurs twice below it. The
    numbers 0, 1, 2 and 2001, 2002, 2003 are names.

    >>> lacks_header([["5", "2"], ["7", "3"]]), lacks_header([["1", "2"], ["7", "3"]])
    (True, False)
    >>> lacks_header([["2001", "2005"], ["yes", "3"]])
    False
    """
    header, columns, numeric = _split(rows)
    if not columns or not all(cell.strip() for cell in header):
        return False
    if all(map(is_value, header)):
        return all(numeric) and not _is_sequence(header)
    pairs = zip(header, columns, numeric, strict=True)
    return all(
        (is_numeric and is_value(cell)) or column.count(cell) > 1
        for cell, column, is_numeric in pairs
    )


def has_number(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row has a number in a column of numbers."""
    header, _, numeric = _split(rows)
    return any(
        is_numeric and is_value(cell) and cell.strip()
        for cell, is_numeric in zip(header, numeric, strict=False)
    )


def _split(
    rows: Sequence[Sequence[str]],
) -> tuple[Sequence[str], list[tuple[str, ...]], list[bool]]:
    """Return the first row, the columns below it, and whether each of them has only numbers."""
    header, below = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    columns = list(zip(*below, strict=True))
    return header, columns, [all(map(is_value, column)) for column in columns]


def is_value(cell: str) -> bool:
    """Return whether a cell is a number, or stands for a missing value."""
    text = cell.strip()
    is_number = len(text) <= _MAX_NUMBER and _NUMBER.fullmatch(text) is not None
    return is_number or text in MISSING_LABELS


def _is_sequence(cells: Sequence[str]) -> bool:
    """Return whether cells are consecutive whole numbers."""
    texts = [cell.strip() for cell in cells]
    if not all(text.isdecimal() and len(text) < 10 for text in texts):
        return False
    numbers = [int(text) for text in texts]
    is_long = len(numbers) > 2 or numbers[0] in (0, 1)
    return is_long and numbers == list(range(numbers[0], numbers[0] + len(numbers)))


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


# The encoding of a text table: detect it, and turn other encodings into UTF-8.
#
# The kernels of CSV need an encoding in which the bytes of ASCII characters occur nowhere else.
# UTF-8 and the encodings with one byte per character are such. UTF-16 and UTF-32 are converted to
# UTF-8 while the file is read. Bytes that are not UTF-8 are decoded label by label as
# Windows-1252, so that no row has to be read twice.


_HEAD_BYTES = 4096
_READ_BYTES = 1 << 18
# The BOM of UTF-32 starts with the BOM of UTF-16, so UTF-32 comes first.
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass
class LabelDecoder:
    """Decode the labels of one text table; remember whether one of them is not UTF-8.

    >>> decoder = LabelDecoder(Path("t.csv"))
    >>> decoder.decode("Zürich".encode("latin-1"), "Column 'city'"), len(decoder.decisions)
    ('Zürich', 1)
    """

    path: Path
    is_strict: bool = False  # text that is not UTF-8 is an error
    decisions: list[Decision] = field(default_factory=list)

    def decode(self, text: bytes, place: str) -> str:
        """Return a label as text; `place` is for the error message."""
        try:
            return text.decode()
        except UnicodeDecodeError:
            if self.is_strict:
                raise self._make_error(text, place) from None
        if not self.decisions:
            self.decisions.append(
                Decision(
                    "encoding",
                    (),
                    "The file is not UTF-8; it was read as Windows-1252.",
                    "encoding='utf-8', or --encoding utf-8",
                )
            )
        return decode_windows(text)

    def _make_error(self, text: bytes, place: str) -> DataError:
        shown = text if len(text) <= 40 else text[:40] + b"..."
        return DataError(
            f"{place} of {str(self.path)!r} is not UTF-8 text: {shown!r}. Give the encoding of the "
            "file, for example encoding='latin-1' (--encoding latin-1)."
        )


def decode_windows(text: bytes) -> str:
    """Return text in Windows-1252, or in Latin-1 if it has bytes that Windows-1252 lacks."""
    try:
        return text.decode("cp1252")
    except UnicodeDecodeError:
        return text.decode("latin-1")


def convert_to_utf8(source: ByteSource, encoding: str | None) -> LabelDecoder:
    """Make a source return UTF-8 without a BOM, as far as its encoding is known.

    The decoder that is returned decodes the labels. Without `encoding`, text without a BOM is
    UTF-8 or Windows-1252, unless every second byte is zero.
    """
    decoder = LabelDecoder(source.path, is_strict=encoding is not None)
    if encoding is not None:
        name = codecs.lookup(encoding).name
        if name not in ("utf-8", "utf-8-sig", "ascii"):
            _transcode(source, name)
            return decoder
    else:
        head = source.peek(_HEAD_BYTES)
        for bom, name in _BOMS:
            if head.startswith(bom):
                _transcode(source, name)
                return decoder
        name = _detect_utf16(head)
        if name:
            decoder.decisions.append(
                Decision(
                    "encoding",
                    (),
                    "The file has a zero in every second byte; it was read as UTF-16.",
                    "encoding='utf-8', or --encoding utf-8",
                )
            )
            _transcode(source, name)
            return decoder
    source.skip_bom()
    return decoder


def _detect_utf16(head: bytes) -> str:
    """Return the encoding of text with a zero in most of its even or odd bytes, or nothing."""
    low, high = head[0::2], head[1::2]
    if len(head) < 4 or (len(head) % 2 and len(head) < _HEAD_BYTES):
        return ""
    half = len(high) / 2
    if high.count(0) > half and not low.count(0):
        return "utf-16-le"
    if low.count(0) > half and not high.count(0):
        return "utf-16-be"
    return ""


def _transcode(source: ByteSource, encoding: str) -> None:
    source.replace_stream(lambda stream: _Transcoder(stream, encoding, source.path))


class _Transcoder:
    """Text in another encoding, read as UTF-8."""

    def __init__(self, stream: ByteStream, encoding: str, path: Path) -> None:
        self._stream, self._encoding, self._path = stream, encoding, path
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._ready = b""
        self._is_first, self._is_done = True, False

    def read(self, size: int, /) -> bytes:
        """Return `size` bytes of UTF-8, fewer at the end."""
        parts, n_bytes = [self._ready], len(self._ready)
        while not self._is_done and (size < 0 or n_bytes < size):
            parts.append(self._convert(self._stream.read(_READ_BYTES)))
            n_bytes += len(parts[-1])
        data = b"".join(parts)
        stop = len(data) if size < 0 else size
        self._ready = data[stop:]
        return data[:stop]

    def _convert(self, chunk: bytes) -> bytes:
        self._is_done = not chunk
        try:
            text = self._decoder.decode(chunk, final=not chunk)
            if self._is_first:
                self._is_first, text = False, text.removeprefix("\ufeff")
            return text.encode()
        except UnicodeError:
            name = self._encoding.upper()
            raise FileError(
                f"{str(self._path)!r} is not {name} text. Give its encoding with encoding= "
                "(--encoding)."
            ) from None
