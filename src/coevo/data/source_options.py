"""Options that say how a source is opened: encoding, delimiter, sheet, query and so on.

They have the same names in `read_data`, `read_incomplete`, `learn` and the commands. All have a
default that lets coevo decide. A decision of coevo names the option that undoes it.
"""

from __future__ import annotations

import codecs
import os
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

from coevo.checks import is_int
from coevo.errors import ParameterError, bad_parameter

__all__ = ["DEFAULT_OPENING", "SOURCE_DEFAULTS", "SourceOptions", "SourceParameters"]


class SourceParameters(TypedDict, total=False):
    """The options as keyword arguments."""

    encoding: str | None
    delimiter: str | None
    comment: str | None
    header: bool | None
    skiprows: int | None
    skipfooter: int | None
    sheet: str | int | None
    query: str | None
    connection: Any


SOURCE_DEFAULTS: SourceParameters = {
    "encoding": None,
    "delimiter": None,
    "comment": None,
    "header": None,
    "skiprows": None,
    "skipfooter": None,
    "sheet": None,
    "query": None,
    "connection": None,
}


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """Validated options for opening a source. None lets coevo decide.

    Attributes
    ----------
    encoding : str, optional
        Encoding of a text table.
    delimiter : str, optional
        Character between fields; a space stands for any number of spaces and tabs.
    comment : str, optional
        Start of the lines to skip; the empty text skips no line.
    header : bool, optional
        Whether the first row of the table has the column names.
    skiprows : int, optional
        Number of lines, or rows of a sheet, above the table.
    skipfooter : int, optional
        Number of lines below the table.
    sheet : str or int, optional
        Name or number of the sheet of a spreadsheet; name of the table of a database.
    query : str, optional
        SQL query to send to a database file.
    connection : object, optional
        DB-API connection, or path of an SQLite file; the source is then an SQL query.
    """

    encoding: str | None = None
    delimiter: str | None = None
    comment: str | None = None
    header: bool | None = None
    skiprows: int | None = None
    skipfooter: int | None = None
    sheet: str | int | None = None
    query: str | None = None
    connection: Any = None

    @classmethod
    def from_parameters(
        cls, owner: str = "read_data", **options: Unpack[SourceParameters]
    ) -> SourceOptions:
        """Validate the options; `owner` is the function that error messages name.

        >>> SourceOptions.from_parameters(delimiter="--")
        Traceback (most recent call last):
        coevo.errors.ParameterError: 'delimiter' of read_data must be one character or None; \
got '--'.
        """
        chosen = cls(**options)
        chosen._check_texts(owner)
        for name in ("skiprows", "skipfooter"):
            value = getattr(chosen, name)
            if value is not None and not is_int(value, 0):
                raise bad_parameter(name, owner, "an int >= 0 or None", value)
        if chosen.header not in (None, True, False):
            raise bad_parameter("header", owner, "True, False or None", chosen.header)
        sheet = chosen.sheet
        if not (sheet is None or isinstance(sheet, str) or is_int(sheet, 1)):
            raise bad_parameter("sheet", owner, "a name, an int >= 1 or None", sheet)
        is_path = isinstance(chosen.connection, str | os.PathLike)
        if not (chosen.connection is None or is_path or hasattr(chosen.connection, "cursor")):
            expected = "a DB-API connection, the path of an SQLite file or None"
            raise bad_parameter("connection", owner, expected, chosen.connection)
        if chosen.connection is not None and chosen.query is not None:
            raise ParameterError(
                f"'query' and 'connection' of {owner} cannot be combined. With 'connection' the "
                "source itself is the query."
            )
        return chosen

    def _check_texts(self, owner: str) -> None:
        for name in ("encoding", "comment", "query"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise bad_parameter(name, owner, "a str or None", value)
        delimiter = self.delimiter
        if delimiter is not None and (
            not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '"\r\n'
        ):
            raise bad_parameter("delimiter", owner, "one character or None", delimiter)
        if delimiter is not None and not delimiter.isascii():
            raise bad_parameter("delimiter", owner, "an ASCII character or None", delimiter)
        if self.encoding is not None:
            _check_encoding(self.encoding, owner)


DEFAULT_OPENING = SourceOptions()


def _check_encoding(encoding: str, owner: str) -> None:
    """Raise `ParameterError` if Python does not have this text encoding."""
    try:
        is_text = codecs.lookup(encoding)._is_text_encoding
    except (LookupError, ValueError):
        is_text = False
    if not is_text:
        expected = "the name of an encoding, as 'utf-8' or 'latin-1', or None"
        raise bad_parameter("encoding", owner, expected, encoding)
