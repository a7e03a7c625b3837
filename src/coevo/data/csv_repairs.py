"""Lines of a text table that have another number of fields than its header.

A comment, a blank line of spaces, and the lines below the table are skipped. A row that is too
short gets empty cells at its end. A row that is too long is an error, unless its last cells are
empty. ``bad_rows`` leaves such rows out (``'skip'``), or makes all of them one error
(``'refuse'``). Each kind of repair is one `Decision` with its number of lines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from coevo.data.csv_layout import Layout, Record, iter_records
from coevo.data.decisions import Decision
from coevo.data.text_encoding import LabelDecoder
from coevo.errors import DataError, format_count

__all__ = [
    "FOOTER_BYTES",
    "Repairs",
    "cut_footer",
    "decide_empty_rows",
    "is_footer",
    "keep_filled_rows",
    "shorten",
]

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
