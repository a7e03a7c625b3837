"""Open a text table or an ARFF file, and repair lines with too many or too few fields.

Open a text table: convert its encoding, and find its header and its delimiter.

Rare kinds of tables are rewritten as usual ones before the reader sees them: fields between spaces
get tabs, comment lines and given numbers of lines are removed. That needs the entire file in
memory. Other tables are read in chunks.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from coevo.data.decisions import Decision
from coevo.data.read.csv_layout import (
    COMMENTS,
    SPACES,
    LabelDecoder,
    Layout,
    Record,
    convert_to_utf8,
    detect_layout,
    iter_records,
    rewrite_spaces,
)
from coevo.data.source_options import SourceOptions
from coevo.errors import DataError, format_count
from coevo.files.files import ByteSource

__all__ = [
    "FOOTER_BYTES",
    "HEAD_BYTES",
    "Repairs",
    "TextStart",
    "cut_footer",
    "decide_empty_rows",
    "is_arff",
    "is_footer",
    "keep_filled_rows",
    "open_text",
    "rewrite_arff",
    "shorten",
]


# Lines of a text table that have another number of fields than its header.
#
# A comment, a blank line of spaces, and the lines below the table are skipped. A row that is too
# short gets empty cells at its end. A row that is too long is an error, unless its last cells are
# empty. ``bad_rows`` leaves such rows out (``'skip'``), or makes all of them one error
# (``'refuse'``). Each kind of repair is one `Decision` with its number of lines.


FOOTER_BYTES = 1 << 16  # the lines below a table are not longer
_SHOWN = 40  # characters of a line in a message
_EXAMINED = 200  # characters of a line that decide whether it is prose
_KEYWORDS = re.compile(
    r"\W*(total|sum|mean|average|source|sources|note|notes|data from|last updated|generated|"
    r"downloaded|copyright|end of|footnote|\(?[\d,]+ rows?|\(c\)|©|\*|-{2,}|={2,})(\W|$)",
    re.IGNORECASE,
)
_PROSE = re.compile(r"[^\W\d].*[\s:].*\S", re.DOTALL)
_SKIP_ROWS = "bad_rows='skip', or --bad-rows skip; other choices are 'refuse' (an error)"
# Attribute of `Repairs`, noun, sentence, and how to undo it.
_KINDS = (
    ("comments", "comment line", "{lines} {was} skipped", "comment='', or --comment ''"),
    ("titles", "line", "{lines} above the table {was} skipped", "skiprows=0, or --skiprows 0"),
    ("footers", "line", "{lines} below the table {was} skipped", "skipfooter=0, or --skipfooter 0"),
    ("short", "line", "{lines} {has} too few fields; the last cells are missing", _SKIP_ROWS),
    ("long", "line", "{lines} {has} too many fields; they are empty and were left out", _SKIP_ROWS),
    (
        "skipped_rows",
        "line",
        "{lines} {has} a wrong number of fields and {was} left out",
        "bad_rows='refuse', or --bad-rows refuse",
    ),
)


@dataclass
class _Count:
    """How often a repair was made, and where first."""

    n: int = 0
    line: int = 0
    text: str = ""

    def add(self, line: int, text: str = "") -> None:
        """Count one more line."""
        if not self.n:
            self.line, self.text = line, text
        self.n += 1

    def describe(self, noun: str, sentence: str) -> str:
        """Return the sentence with the number of lines, the first of them and its text."""
        was, has = ("was", "has") if self.n == 1 else ("were", "have")
        what = sentence.format(lines=format_count(self.n, noun), was=was, has=has)
        text = f": {shorten(self.text)!r}" if self.text else ""
        return f"{what} ({self.describe_place()}{text})."

    def describe_place(self) -> str:
        """Return the number of the first line."""
        return f"line {self.line:,}" if self.n == 1 else f"the first is line {self.line:,}"


@dataclass
class Repairs:
    """The repairs of one table so far."""

    comments: _Count = field(default_factory=_Count)
    titles: _Count = field(default_factory=_Count)
    footers: _Count = field(default_factory=_Count)
    short: _Count = field(default_factory=_Count)
    long: _Count = field(default_factory=_Count)
    skipped_rows: _Count = field(default_factory=_Count)
    refused_rows: _Count = field(default_factory=_Count)
    n_empty_rows: int = 0

    def add_layout(self, layout: Layout, decoder: LabelDecoder) -> None:
        """Count the lines above the table."""
        for record in layout.comments:
            self.comments.add(record.line)
        for record in layout.titles:
            line = layout.delimiter.join(record.fields).strip(layout.delimiter)
            text = line.encode("latin-1")
            self.titles.add(record.line, decoder.decode(text, "A line above the header"))

    def list_decisions(self) -> list[Decision]:
        """Return one decision for each kind of repair."""
        decisions = [
            Decision(kind, (), getattr(self, kind).describe(noun, sentence), undo)
            for kind, noun, sentence, undo in _KINDS
            if getattr(self, kind).n
        ]
        if self.n_empty_rows:
            decisions.append(decide_empty_rows(self.n_empty_rows))
        return decisions

    def check_refused(self, path: Path, n_fields: int) -> None:
        """Raise `DataError` if the caller refuses rows with a wrong number of fields."""
        refused = self.refused_rows
        if refused.n:
            has, them = ("has", "it") if refused.n == 1 else ("have", "them")
            lines, place = format_count(refused.n, "line"), refused.describe_place()
            raise DataError(
                f"{lines} of {str(path)!r} {has} a wrong number of fields ({place}); the header "
                f"has {n_fields:,}. Correct {them}, or leave {them} out with bad_rows='skip' "
                "(--bad-rows skip)."
            )


def decide_empty_rows(n_rows: int) -> Decision:
    """Return the decision that rows without any value are left out."""
    were = "was" if n_rows == 1 else "were"
    sentence = f"{format_count(n_rows, 'row')} without any value {were} left out."
    return Decision("empty_rows", (), sentence, "keep_empty_rows=True, or --keep-empty-rows")


def shorten(text: str) -> str:
    """Return the start of a text for a message."""
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def is_footer(text: str, n_fields: int, rest: bytes, layout: Layout, after_blank: bool) -> bool:
    """Return whether a line and all lines after it are not part of the table.

    Parameters
    ----------
    text : str
        The line.
    n_fields : int
        Number of its fields.
    rest : bytes
        The rest of the file.
    layout : Layout
        The layout of the table.
    after_blank : bool
        Whether the line before it is blank.
    """
    start = text[:_EXAMINED]
    is_prose = n_fields == 1 and _PROSE.search(start) is not None
    starts_with_word = after_blank and text.lstrip("\"'([*")[:1].isalpha()
    if not (starts_with_word or is_prose or _KEYWORDS.match(start)):
        return False
    return not any(_is_row(record, layout) for record in iter_records(rest, layout.delimiter))


def _is_row(record: Record, layout: Layout) -> bool:
    return len(record.fields) == layout.n_fields


def cut_footer(data: bytes, n_lines: int) -> bytes:
    r"""Return a text without its last lines; blank lines do not count.

    >>> cut_footer(b"a,b\n1,2\n\nTotal: 1\n", 1)
    b'a,b\n1,2\n\n'
    """
    lines: Sequence[bytes] = data.splitlines(keepends=True)
    stop = len(lines)
    while n_lines and stop:
        stop -= 1
        n_lines -= bool(lines[stop].strip())
    return b"".join(lines[:stop])


def keep_filled_rows(lengths: NDArray[np.int32]) -> NDArray[np.intp] | None:
    """Return the rows that have a cell with text; None if all have one.

    `lengths` is (n_fields, n_rows), the length of each cell.
    """
    if lengths[-1].all():  # the usual case, and quick
        return None
    candidates = np.flatnonzero((lengths[0] == 0) & (lengths[-1] == 0))
    empty = candidates[~lengths[:, candidates].any(axis=0)]
    return np.setdiff1d(np.arange(lengths.shape[1]), empty) if len(empty) else None


# Read ARFF files, the text tables of Weka, as CSV.
#
# The header has a line ``@attribute NAME TYPE`` for each column; the type ``{a, b}`` declares
# states. The rows below ``@data`` are those of CSV, with spaces around fields and single quotes.


_DATA = re.compile(r"(?im)^[ \t]*@data\b[^\r\n]*")
_ATTRIBUTE = re.compile(
    r"(?im)^[ \t]*@attribute\s+('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\S+)[ \t]*([^\r\n]*)"
)
_QUOTED = re.compile(r"\s*('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")\s*")


def is_arff(head: bytes) -> bool:
    """Return whether a text starts as an ARFF file: with ``@relation`` below comments."""
    lines = (line.strip() for line in head.splitlines())
    first = next((line for line in lines if line and not line.startswith(b"%")), b"")
    return first[:9].lower() == b"@relation"


def rewrite_arff(
    data: bytes, path: Path, decoder: LabelDecoder
) -> tuple[bytes, int, dict[str, tuple[str, ...]]]:
    """Return an ARFF file as CSV, its number of columns, and their declared states."""
    text = decoder.decode(data, "The text")
    start = _DATA.search(text)
    attributes = _ATTRIBUTE.findall(text[: start.start()]) if start else []
    if start is None or not attributes:
        raise DataError(
            f"{str(path)!r} starts as an ARFF file, but has no @attribute and @data lines. "
            "Write it again, or save its table as CSV."
        )
    if any(kind.lower().startswith("relational") for _, kind in attributes):
        raise DataError(
            f"{str(path)!r} is an ARFF file with tables inside its rows (relational attributes), "
            "which coevo does not read. Save one row for each observation."
        )
    names = [_unquote(name) for name, _ in attributes]
    nominal = {}
    for name, (_, kind) in zip(names, attributes, strict=True):
        if kind.startswith("{") and "}" in kind:
            states = split_fields(kind[1 : kind.rindex("}")])
            nominal[name] = tuple(dict.fromkeys(states))
    # The blank lines keep the numbers of the lines below.
    head = text[: start.end()].replace("\r\n", "\n").count("\n")
    lines = [",".join(map(_quote, names)), *[""] * head]
    for line in text[start.end() :].replace("\r\n", "\n").split("\n")[1:]:
        if line.lstrip().startswith("{"):
            raise DataError(
                f"{str(path)!r} is a sparse ARFF file, which coevo does not read. Write it again "
                "without the Sparse filter, or save its table as CSV."
            )
        is_row = line.strip() and not line.lstrip().startswith("%")
        lines.append(",".join(map(_quote, split_fields(line))) if is_row else "")
    return "\n".join(lines).encode(), len(names), nominal


def split_fields(line: str) -> list[str]:
    """Return the fields of a line of data.

    >>> split_fields("5.1, 'a, b' ,?")
    ['5.1', 'a, b', '?']
    """
    fields, position = [], 0
    while True:
        match = _QUOTED.match(line, position)
        stop = match.end() if match else line.find(",", position)
        stop = len(line) if stop < 0 else stop
        if match is not None and line[stop : stop + 1] not in ("", ","):  # text behind a quote
            stop = line.find(",", stop)
            stop = len(line) if stop < 0 else stop
            match = None
        fields.append(_unquote(match[1] if match else line[position:stop].strip()))
        if stop >= len(line):
            return fields
        position = stop + 1


def _unquote(text: str) -> str:
    if len(text) > 1 and text[0] in "'\"" and text[-1] == text[0]:
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


def _quote(text: str) -> str:
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


HEAD_BYTES = 1 << 20  # the part of the file that is examined; the header must end in it


@dataclass(frozen=True)
class TextStart:
    """The start of a text table. The source is at the header, or at the first row."""

    layout: Layout
    decoder: LabelDecoder
    comments: tuple[str, ...]  # starts of comment lines
    head: bytes  # from the header on
    is_complete: bool  # whether the file ends with `head`
    has_spaces: bool  # whether fields are separated by spaces
    decisions: list[Decision]
    nominal: dict[str, tuple[str, ...]]  # declared states, of an ARFF file


def open_text(source: ByteSource, opening: SourceOptions) -> TextStart:
    """Find the table in a source of text; leave the source at its header."""
    decoder = convert_to_utf8(source, opening.encoding)
    comments = COMMENTS if opening.comment is None else tuple(filter(None, [opening.comment]))
    starts_as_arff = source.peek(64).lstrip()[:1] in (b"@", b"%")
    if starts_as_arff and is_arff(source.peek(HEAD_BYTES)):
        data, n_columns, nominal = rewrite_arff(read_all_text(source), source.path, decoder)
        _replace_bytes(source, data)
        layout = Layout(",", n_columns, n_names=n_columns)
        return TextStart(layout, decoder, (), data, True, False, [], nominal)
    _remove_lines(source, opening)
    layout, head, is_complete = _detect(source, opening, comments, opening.delimiter)
    has_spaces = layout.delimiter == SPACES
    decisions = []
    if has_spaces:
        _replace_bytes(source, rewrite_spaces(read_all_text(source)))
        layout, head, is_complete = _detect(source, opening, comments, "\t")
        if opening.delimiter is None:
            sentence = "The fields of a line are separated by spaces."
            undo = "delimiter=',', or --delimiter ','"
            decisions.append(Decision("delimiter", (), sentence, undo))
    if layout.n_names == 0 and opening.header is None:
        decisions.append(_decide_header(layout))
    source.read(layout.offset)
    start = head[layout.offset :]
    return TextStart(layout, decoder, comments, start, is_complete, has_spaces, decisions, {})


def read_all_text(source: ByteSource) -> bytes:
    """Return the remaining text; raise `FileError` if it cannot be text."""
    source.unread(source.read_text(HEAD_BYTES))
    data = source.read_all()
    source.check_text(data)
    return data


def _replace_bytes(source: ByteSource, data: bytes) -> None:
    source.replace_stream(lambda _: io.BytesIO(data))


def _remove_lines(source: ByteSource, opening: SourceOptions) -> None:
    """Make the lines blank that the caller wants to skip; other lines keep their number."""
    if not (opening.skiprows or opening.skipfooter or opening.comment):
        return
    data = read_all_text(source)
    if opening.skipfooter:
        data = cut_footer(data, opening.skipfooter)
    if opening.skiprows:
        lines = data.splitlines(keepends=True)
        data = b"\n" * min(opening.skiprows, len(lines)) + b"".join(lines[opening.skiprows :])
    if opening.comment:
        mark = re.escape(opening.comment.encode())
        data = re.sub(rb"(?:(?<=[\r\n])|\A)[ \t]*" + mark + rb"[^\r\n]*", b"", data)
    _replace_bytes(source, data)


def _detect(
    source: ByteSource, opening: SourceOptions, comments: tuple[str, ...], delimiter: str | None
) -> tuple[Layout, bytes, bool]:
    """Return the layout, the start of the file, and whether that is the entire file."""
    head = source.read_text(HEAD_BYTES)
    more = source.read_text(1)
    source.unread(head + more)
    if not head.strip(b"\r\n"):
        path = str(source.path)
        raise DataError(f"{path!r} is empty. It needs a header and rows below it.")
    skips_titles = opening.skiprows is None
    layout = detect_layout(head, not more, delimiter, opening.header, comments, skips_titles)
    return layout, head, not more


def _decide_header(layout: Layout) -> Decision:
    undo = "header=True, or --header"
    if layout.comment_names:
        return Decision("header", (), "The column names come from the last comment line.", undo)
    sentence = (
        "The first row holds values, not names; the columns are called "
        f"{'column_1, column_2 and so on' if layout.n_fields > 1 else 'column_1'}."
    )
    return Decision("header", (), sentence, undo)
