"""Open a text table: convert its encoding, and find its header and its delimiter.

Rare kinds of tables are rewritten as usual ones before the reader sees them: fields between spaces
get tabs, comment lines and given numbers of lines are removed. That needs the entire file in
memory. Other tables are read in chunks.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass

from coevo.data.arff import is_arff, rewrite_arff
from coevo.data.csv_layout import COMMENTS, SPACES, Layout, detect_layout, rewrite_spaces
from coevo.data.csv_repairs import cut_footer
from coevo.data.decisions import Decision
from coevo.data.source_options import SourceOptions
from coevo.data.text_encoding import LabelDecoder, convert_to_utf8
from coevo.errors import DataError
from coevo.files import ByteSource

__all__ = ["HEAD_BYTES", "TextStart", "open_text"]

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
