"""Options about how a source is opened, and about the values of its columns.

Options that say how a source is opened: encoding, delimiter, sheet, query and so on.

They have the same names in `read_data`, `read_incomplete`, `learn` and the commands. All have a
default that lets coevo decide. A decision of coevo names the option that undoes it. An option that
does not apply to a kind of source is ignored, except `sheet`, `query` and `connection`.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

import numpy as np

from coevo.checks import is_int
from coevo.data.columns import Column, relabel_column
from coevo.data.labels import NumberLabels, parse_number
from coevo.errors import DataError, ParameterError, bad_parameter, find_duplicate, suggest_match
from coevo.options import CellParameters, SourceParameters, check_options, list_options

__all__ = ["DEFAULT_OPENING", "CellOptions", "SourceOptions"]


# Options about the values of columns: labels of missing values, labels to keep, states to merge.
#
# A label belongs to one column, or to all of them. Python gives a mapping of columns to labels, a
# command gives ``COLUMN=LABEL``; a label alone belongs to all columns. Labels are added to the
# defaults, and `keep_labels` takes labels away from what is missing. Numbers are compared as
# numbers: ``-999`` stands for the cells ``-999``, ``-999.0`` and ``" -999"``.


Item = tuple[str | None, str]  # a column ("" is all columns) and a label; None: not yet split


@dataclass(frozen=True, slots=True)
class _Labels:
    """Labels of one column, as text and as numbers."""

    texts: Set[str] = frozenset()
    numbers: Set[float] = frozenset()

    @classmethod
    def parse(cls, labels: Iterable[str]) -> _Labels:
        texts = frozenset(labels)
        parsed = (parse_number(text) for text in texts)
        return cls(texts, frozenset(number for number in parsed if number is not None))

    def find(self, column: Column) -> set[int]:
        """Return the codes of the labels of a column that are among these."""
        if isinstance(column.labels, NumberLabels):
            return set(np.flatnonzero(np.isin(column.labels.numbers, [*self.numbers])).tolist())
        codes = np.flatnonzero(column.counts).tolist()
        texts = {code: (column.labels[code] or "").strip() for code in codes}
        found = {code for code in codes if column.labels[code] is not None}
        exact = {code for code in found if texts[code] in self.texts}
        if not self.numbers:
            return exact
        return exact | {code for code in found if parse_number(texts[code]) in self.numbers}


@dataclass(frozen=True)
class CellOptions:
    """Validated options about the values of columns.

    Attributes
    ----------
    missing : tuple of (str or None, str)
        Further labels of missing values.
    kept : tuple of (str or None, str)
        Labels that are never missing.
    merges : tuple of (str or None, str or tuple)
        Old and new states.
    """

    missing: tuple[Item, ...] = ()
    kept: tuple[Item, ...] = ()
    merges: tuple[tuple[str | None, Any], ...] = ()
    _cache: dict[str, tuple[_Labels, _Labels]] = field(
        default_factory=dict, compare=False, repr=False
    )

    @classmethod
    def from_parameters(
        cls, owner: str, missing_labels: object, keep_labels: object, merge: object
    ) -> CellOptions:
        """Validate the options; `owner` is the function that error messages name.

        >>> options = CellOptions.from_parameters("learn", {"age": -99}, ["x=NA"], ["x:Y=yes"])
        >>> options.missing, options.kept, options.merges
        ((('age', '-99'),), ((None, 'x=NA'),), ((None, 'x:Y=yes'),))
        """
        return cls(
            _parse_labels("missing_labels", owner, missing_labels),
            _parse_labels("keep_labels", owner, keep_labels),
            _parse_merges(owner, merge),
        )

    def check_columns(self, names: Sequence[str]) -> None:
        """Raise `DataError` if an option names a column that the table does not have."""
        for parameter, items, mark in (
            ("missing_labels", self.missing, "="),
            ("keep_labels", self.kept, "="),
            ("merge", self.merges, ":"),
        ):
            for name, text in items:
                if name is None and any(text.startswith(f"{known}{mark}") for known in names):
                    continue
                asked = text.partition(mark)[0] if name is None else name
                if asked and asked not in names:
                    hint = ""
                    if name is None and mark == "=":
                        hint = f" A label of all columns that holds '=' is given as {'=' + text!r}."
                    raise DataError(
                        f"{parameter!r} names {asked!r}, which is not a column of the table."
                        f"{suggest_match(asked, names)}{hint}"
                    )

    def is_kept(self, name: str, label: str) -> bool:
        """Return whether a label of a column is kept, whatever it looks like."""
        _, kept = self._find_labels(name)
        return label.strip() in kept.texts or parse_number(label) in kept.numbers

    def is_missing(self, name: str, label: str) -> bool:
        """Return whether the caller gave this label of missing values of a column."""
        missing, _ = self._find_labels(name)
        return label.strip() in missing.texts or parse_number(label) in missing.numbers

    def find_missing(self, column: Column, states: Iterable[str] = ()) -> list[int]:
        """Return the codes of a column that stand for missing values, in ascending order.

        A declared state is missing only if the caller names it here, and `states` are never
        missing: the caller declares them.

        >>> column = Column("age", ["NA", "31", "-99.0", "-99"], np.array([0, 1, 2, 3]))
        >>> options = CellOptions(missing=(("age", "-99"),), kept=(("", "NA"),))
        >>> options.find_missing(column)
        [2, 3]
        """
        given, kept = self._find_labels(column.name)
        found = set(column.find_missing()) | given.find(column)
        nulls = {code for code in found if column.labels[code] is None}
        never = set(states)
        found -= {code for code in found - nulls if str(column.labels[code]) in never}
        return sorted((found - kept.find(column)) | nulls)

    def merge_states(self, column: Column, is_lenient: bool = False) -> tuple[Column, Merges]:
        """Return a column with its merged states, and the new state of each old one.

        Raises `DataError` if an old state does not occur, unless `is_lenient`: a later table need
        not have all states.
        """
        new_states: dict[str, str] = {}
        for name, given in self.merges:
            if name == column.name:
                old, new = given
                new_states |= _match_old(column, [old], new, is_lenient)
            elif name is None and given.startswith(f"{column.name}:"):
                new_states |= _split_merge(column, given[len(column.name) + 1 :], is_lenient)
        return relabel_column(column, new_states), new_states

    def _find_labels(self, name: str) -> tuple[_Labels, _Labels]:
        """Return the labels of missing values and the kept labels of a column."""
        if name not in self._cache:
            chosen = (self.missing, self.kept)
            missing, kept = (_Labels.parse(_select(items, name)) for items in chosen)
            self._cache[name] = missing, kept
        return self._cache[name]


Merges = Mapping[str, str]  # the new state of each old one


def _select(items: Iterable[Item], name: str) -> list[str]:
    """Return the labels that belong to a column."""
    found = []
    for column, label in items:
        if column in ("", name):
            found.append(label)
        elif column is None and label.startswith(f"{name}="):
            found.append(label[len(name) + 1 :].strip())
    return found


def _parse_labels(parameter: str, owner: str, given: object) -> tuple[Item, ...]:
    """Return the labels with their columns; a text with an equals sign waits for the names."""
    expected = "a list of labels, or a mapping of columns to labels"
    if given is None:
        return ()
    if isinstance(given, Mapping):
        items: list[Item] = []
        for name, labels in given.items():
            is_one = isinstance(labels, str) or not isinstance(labels, Iterable)
            listed = [labels] if is_one else list(labels)
            items += [(str(name), _format_label(label)) for label in listed]
        return tuple(items)
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise bad_parameter(parameter, owner, expected, given)
    found: list[Item] = []
    for label in given:
        text = _format_label(label)
        if text.startswith("="):
            found.append(("", text[1:].strip()))
        else:
            found.append((None if "=" in text else "", text))
    return tuple(found)


def _format_label(label: object) -> str:
    return str(label).strip()


def _parse_merges(owner: str, given: object) -> tuple[tuple[str | None, Any], ...]:
    """Return old and new states with their columns; a text waits for names and states."""
    expected = "a mapping of columns to mappings of old to new states"
    if given is None:
        return ()
    if isinstance(given, Mapping):
        found: list[tuple[str | None, Any]] = []
        for name, states in given.items():
            if not isinstance(states, Mapping):
                raise bad_parameter("merge", owner, expected, given)
            found += [(str(name), (str(old), str(new))) for old, new in states.items()]
        return tuple(found)
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise bad_parameter("merge", owner, expected, given)
    texts = tuple(map(str, given))
    for text in texts:
        column, colon, states = text.partition(":")
        if not (column and colon and "=" in states):
            raise ParameterError(f"'merge' of {owner} must be COLUMN:OLD=NEW; got {text!r}.")
    return tuple((None, text) for text in texts)


def _split_merge(column: Column, text: str, is_lenient: bool) -> dict[str, str]:
    """Return the new state of each old one of ``OLD=NEW`` or ``OLD,OLD=NEW``.

    States may hold equals signs and commas: the first way to split the text whose old states occur
    is taken.
    """
    places = [i for i, character in enumerate(text) if character == "="]
    for i in places:
        old, new = text[:i], text[i + 1 :].strip()
        for listed in ([old], old.split(",")):
            known = [_find_label(column, one) for one in listed]
            if new and None not in known:
                return {str(label): new for label in known}
    old, new = text[: places[-1]], text[places[-1] + 1 :].strip()
    return _match_old(column, old.split(","), new, is_lenient)


def _match_old(column: Column, old: Sequence[str], new: str, is_lenient: bool) -> dict[str, str]:
    """Return the new state of old states; raise `DataError` for one that does not occur."""
    found = {}
    for state in old:
        label = _find_label(column, state)
        if label is not None:
            found[label] = new.strip()
        elif not is_lenient:
            labels = [str(label) for label in column.labels if label is not None]
            raise DataError(
                f"'merge' names the state {state!r} of {column.name!r}, which does not occur."
                f"{suggest_match(state, labels)}"
            )
    return found


def _find_label(column: Column, state: str) -> str | None:
    """Return the label of a column that is a state: the same text, or else the same number."""
    number = parse_number(state)
    if isinstance(column.labels, NumberLabels):
        codes = np.flatnonzero(column.labels.numbers == (np.nan if number is None else number))
        return str(column.labels[int(codes[0])]) if len(codes) else None
    if state in column.labels:
        return state
    stripped = {label.strip(): label for label in reversed(column.labels) if label is not None}
    if state.strip() in stripped:
        return stripped[state.strip()]
    if number is None:
        return None
    same = (label for label in stripped.values() if parse_number(label) == number)
    return next(same, None)


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
