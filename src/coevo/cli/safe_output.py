r"""What reaches a terminal: text without control characters from names and cells.

A column may be called ``\x1b[2J``, which clears a screen, or hold characters that reverse the text
around them. On a terminal they are printed as escapes. A file or a pipe gets the text unchanged.

A file name that is not UTF-8 has lone surrogates, which no encoding can hold. They are printed as
escapes everywhere, as JSON writes them.
"""

from __future__ import annotations

import codecs
import contextlib
import re
import sys
from collections.abc import Iterator
from typing import Any

__all__ = ["escape_controls", "get_terminal", "protect_output"]

# Control characters without tab and line end; marks that change the direction of text.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_HANDLER = "coevo.escape_surrogates"


def escape_controls(text: str) -> str:
    r"""Return a text with escapes for characters that control a terminal.

    >>> print(escape_controls("a\x1b[31mb"))
    a\x1b[31mb
    """
    return _CONTROLS.sub(lambda match: ascii(match[0])[1:-1], text)


def _escape_surrogates(error: UnicodeError) -> tuple[str | bytes, int]:
    """Replace lone surrogates; raise the error for all other characters."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    if not "\ud800" <= error.object[error.start] <= "\udfff":
        raise error
    return ascii(error.object[error.start])[1:-1], error.start + 1


codecs.register_error(_HANDLER, _escape_surrogates)


class _Terminal:
    """A stream that escapes control characters; all else is that of the stream inside."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def write(self, text: str) -> Any:
        return self.stream.write(escape_controls(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def get_terminal(stream: Any) -> Any:
    """Return the stream inside a protected one, for a writer that escapes names itself."""
    return stream.stream if isinstance(stream, _Terminal) else stream


@contextlib.contextmanager
def protect_output() -> Iterator[None]:
    """Protect the two output streams inside the ``with`` block."""
    before = sys.stdout, sys.stderr
    for stream in before:
        if hasattr(stream, "reconfigure") and stream.errors in ("strict", "surrogateescape"):
            stream.reconfigure(errors=_HANDLER)
    sys.stdout, sys.stderr = protected = tuple(map(_protect, before))
    try:
        yield
    finally:
        # click replaces the streams where the reader closed the pipe: leave them as they are
        if (sys.stdout, sys.stderr) == protected:
            sys.stdout, sys.stderr = before


def _protect(stream: Any) -> Any:
    is_terminal = stream is not None and hasattr(stream, "isatty") and stream.isatty()
    return _Terminal(stream) if is_terminal else stream
