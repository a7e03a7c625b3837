"""Options that say how a source is opened: encoding, delimiter, sheet, query and so on.

They have the same names in `read_data`, `read_incomplete`, `learn` and the commands. All have a
default that lets coevo decide. A decision of coevo names the option that undoes it. An option that
does not apply to a kind of source is ignored, except `sheet`, `query` and `connection`.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

from coevo.checks import is_int
from coevo.data.cell_options import CellOptions
from coevo.errors import (
    DataError,
    ParameterError,
    bad_parameter,
    find_duplicate,
    suggest_match,
)
from coevo.options import CellParameters, SourceParameters, check_options, list_options

__all__ = ["DEFAULT_OPENING", "SourceOptions"]

DEFAULT_CELLS = CellOptions()


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
    units_row : bool, optional
        Whether the first row below the header has the units of the columns.
    bad_rows : str
        Rows of a text table with too few or too many fields: ``'repair'``, ``'skip'`` or
        ``'refuse'``.
    keep_empty_rows : bool
        Whether rows without any value are rows.
    rename : dict of str to str, optional
        New names of columns. Its keys are the corrected names of the source.
    value_labels : bool
        Whether the value labels of Stata and SPSS are states.
    sheet : str or int, optional
        Name or number of the sheet of a spreadsheet; name of the table of a database.
    query : str, optional
        SQL query to send to a database file.
    connection : object, optional
        DB-API connection, or path of an SQLite file; the source is then an SQL query.
    cells : CellOptions
        Labels of missing values, labels to keep, and states to merge.
    """

    encoding: str | None = None
    delimiter: str | None = None
    comment: str | None = None
    header: bool | None = None
    skiprows: int | None = None
    skipfooter: int | None = None
    units_row: bool | None = None
    bad_rows: str = "repair"
    keep_empty_rows: bool = False
    rename: Mapping[str, str] | None = None
    value_labels: bool = True
    sheet: str | int | None = None
    query: str | None = None
    connection: Any = None
    cells: CellOptions = DEFAULT_CELLS

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
        given: dict[str, Any] = dict(options)
        check_options(SourceParameters, owner, given)
        labels = {name: given.pop(name, None) for name in list_options(CellParameters)}
        chosen = cls(**given, cells=CellOptions.from_parameters(owner, **labels))
        chosen = replace(chosen, rename=_parse_rename(chosen.rename, owner))
        chosen._check_texts(owner)
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

    def rename_columns(self, names: Sequence[str]) -> list[str]:
        """Return the names of all columns of a table, renamed.

        >>> SourceOptions(rename={"a": "b", "b": "a"}).rename_columns(["a", "b", "c"])
        ['b', 'a', 'c']
        """
        if not self.rename:
            return list(names)
        for name in self.rename:
            if name not in names:
                raise DataError(
                    f"'rename' names {name!r}, which is not a column of the table."
                    f"{suggest_match(name, names)}"
                )
        renamed = [self.rename.get(name, name) for name in names]
        twice = find_duplicate(renamed)
        if twice is not None and twice in self.rename.values():
            raise DataError(
                f"'rename' calls a column {twice!r}, but the table has another column of this "
                "name. Give another name."
            )
        return renamed

    def _check_texts(self, owner: str) -> None:
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


def _parse_rename(rename: object, owner: str) -> dict[str, str] | None:
    """Return the new names of columns as text; None if there are none."""
    if rename is None:
        return None
    if not isinstance(rename, Mapping):
        raise bad_parameter("rename", owner, "a mapping of old to new names, or None", rename)
    names = {str(old): str(new) for old, new in rename.items()}
    for old, new in names.items():
        if not new.strip():
            raise ParameterError(f"'rename' of {owner} gives {old!r} an empty name. Give a name.")
    if (twice := find_duplicate(names.values())) is not None:
        raise ParameterError(
            f"'rename' of {owner} gives two columns the name {twice!r}. Give different names."
        )
    return names or None


def _check_encoding(encoding: str, owner: str) -> None:
    """Raise `ParameterError` if Python does not have this text encoding."""
    try:
        is_text = codecs.lookup(encoding)._is_text_encoding
    except (LookupError, ValueError):
        is_text = False
    if not is_text:
        expected = "the name of an encoding, as 'utf-8' or 'latin-1', or None"
        raise bad_parameter("encoding", owner, expected, encoding)
