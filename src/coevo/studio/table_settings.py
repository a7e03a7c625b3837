"""The settings of a table in a workspace: types of columns, and the other options of `learn`.

They are stored beside the table: the types in the ``types.json`` that ``coevo learn --types``
reads, the other options in ``table.json``. So whatever was chosen in the browser holds on the
command line, too. Only choices of the user are stored, never what was detected.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from coevo.data.decisions import Decision
from coevo.data.read.header_names import NEW_NAME
from coevo.errors import ParameterError
from coevo.files.run_folder import write_json
from coevo.studio.run_options import READING, check_options
from coevo.view.inspection.result import split_undo

if TYPE_CHECKING:
    from coevo.studio.workspace import StoredTable

__all__ = [
    "TableSettings",
    "parse_undo",
    "read_settings",
    "undo_decision",
    "write_settings",
]


@dataclass(frozen=True)
class TableSettings:
    """Types of some columns, as `learn` takes them, and other options of `learn`."""

    types: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, given: Any) -> TableSettings:
        """Validate settings that come from a browser or a file.

        >>> TableSettings.from_dict({"types": {"age": [18, 65]}, "options": {"missing": "em"}})
        TableSettings(types={'age': [18, 65]}, options={'missing': 'em'})
        >>> TableSettings.from_dict({"options": {"query": "SELECT 1"}})
        Traceback (most recent call last):
        coevo.errors.ParameterError: The studio has no option 'query'.
        """
        from coevo.learning import check_settings

        types = given.get("types", {}) if isinstance(given, Mapping) else None
        options = given.get("options", {}) if isinstance(given, Mapping) else None
        if not isinstance(types, Mapping) or not isinstance(options, Mapping):
            raise ParameterError("The settings of a table must be two objects, types and options.")
        settings = cls(dict(types), check_options(options, READING))
        check_settings("learn", **settings.as_options())
        return settings

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return {"types": dict(self.types), "options": dict(self.options)}

    def as_options(self) -> dict[str, Any]:
        """Return the settings as keyword arguments of `learn`."""
        return {**({"types": dict(self.types)} if self.types else {}), **self.options}


def read_settings(table: StoredTable) -> TableSettings:
    """Read the settings of a table."""
    from coevo.data import read_types

    types = read_types(table.types_path) if table.types_path.exists() else {}
    return TableSettings.from_dict({"types": types, "options": table.options})


def write_settings(table: StoredTable, settings: TableSettings) -> None:
    """Store the settings of a table; without types there is no file of types."""
    if settings.types:
        write_json(table.types_path, settings.types)
    else:
        table.types_path.unlink(missing_ok=True)
    table.write_options(settings.options)


def parse_undo(decision: Decision) -> dict[str, Any] | None:
    """Return the keyword arguments of `learn` that undo a decision; None if nothing undoes it.

    A new name that the user must choose is `NEW_NAME`.

    >>> parse_undo(Decision("identifier", ("id",), "", "types={'id': 'x'}, or --type id=x"))
    {'types': {'id': 'x'}}
    >>> parse_undo(Decision("empty", ("a",), "", "strict=True, or --strict")) is None
    True
    """
    text = split_undo(decision)[0].partition("; ")[0]
    try:
        call = ast.parse(f"undo({text})", mode="eval").body
        assert isinstance(call, ast.Call)
        found = {str(key.arg): ast.literal_eval(key.value) for key in call.keywords}
    except (AssertionError, SyntaxError, ValueError):
        return None
    if not found or "strict" in found:
        return None
    types = found.get("types")
    if isinstance(types, dict) and types:  # the text lists the first columns only
        kind = next(iter(types.values()))
        found["types"] = {name: types.get(name, kind) for name in (*decision.columns, *types)}
    return found


def undo_decision(
    settings: TableSettings, decision: Decision, new_names: Mapping[str, str] | None = None
) -> TableSettings:
    """Return the settings that undo a decision of the reader.

    `new_names` has the names that the user chose for columns that need a new name.
    """
    found = parse_undo(decision)
    if found is None:
        raise ParameterError(
            "Nothing undoes this decision: the table cannot be read in another way. Correct the "
            "file, and add it again."
        )
    types = {**settings.types, **found.pop("types", {})}
    rename = found.pop("rename", None)
    if rename is not None:
        found["rename"] = {
            **settings.options.get("rename", {}),
            **_choose_names(rename, new_names or {}),
        }
    for name in ("missing_labels", "keep_labels"):
        if name in found:
            found[name] = _add_labels(settings.options.get(name), found[name])
    changed = replace(settings, types=types, options={**settings.options, **found})
    return TableSettings.from_dict(changed.as_dict())


def _add_labels(given: Any, labels: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Return the labels of columns, added to those that the user gave before."""
    known = dict(given) if isinstance(given, Mapping) else {"": list(given or ())}
    both = {
        name: [*_as_list(known.get(name, ())), *_as_list(labels.get(name, ()))]
        for name in dict.fromkeys((*known, *labels))
    }
    return {name: listed for name, listed in both.items() if listed}


def _as_list(labels: Any) -> list[Any]:
    is_one = isinstance(labels, str) or not isinstance(labels, Iterable)
    return [labels] if is_one else list(labels)


def _choose_names(rename: Mapping[str, str], new_names: Mapping[str, str]) -> dict[str, str]:
    """Return new names of columns; the user gives those that an undo leaves open."""
    chosen = {}
    for old, new in rename.items():
        name = str(new_names.get(old, "")).strip() if new.startswith(NEW_NAME) else new
        if not name:
            raise ParameterError(f"Give a new name for the column {old!r}.")
        chosen[old] = name
    return chosen
