"""Read ARFF files, the text tables of Weka, as CSV.

The header has a line ``@attribute NAME TYPE`` for each column; the type ``{a, b}`` declares states.
The rows below ``@data`` are those of CSV, with spaces around fields and single quotes.
"""

from __future__ import annotations

import re
from pathlib import Path

from coevo.data.text_encoding import LabelDecoder
from coevo.errors import DataError

__all__ = ["is_arff", "rewrite_arff"]

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
