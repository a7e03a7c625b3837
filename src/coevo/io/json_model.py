"""Networks and structures as JSON: everything that coevo knows of them, to the last bit.

    {
      "format": "coevo",
      "version": 1,
      "name": "weather",
      "variables": [
        {"name": "rain", "states": ["no", "yes"], "parents": [], "table": [[0.8, 0.2]]},
        {"name": "wet", "states": ["no", "yes"], "parents": ["rain"],
         "table": [[0.9, 0.1], [0.05, 0.95]]}
      ],
      "cpdag": {"arcs": [], "edges": [["rain", "wet"]]}
    }

A row of a table is one configuration of the parents, the first parent varying slowest. A
structure has neither states nor tables. The CPDAG says which arcs data can direct; it
follows from the parents, so it is written for others and passed over when read. Fields that
are not listed here are refused: a misspelt one would otherwise be lost without a word.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NoReturn

from coevo.errors import FormatError, suggestion
from coevo.graph import CPDAG, DAG
from coevo.io.bif_document import Document
from coevo.io.declarations import Declarations, counted
from coevo.io.scanner import shown
from coevo.io.structures import Model, check_encodable, dag_of, texts_of
from coevo.network import BayesianNetwork

__all__ = ["FORMAT", "VERSION", "format_json", "is_model_json", "parse_json"]

FORMAT, VERSION = "coevo", 1
FIELDS = ("format", "version", "name", "variables", "cpdag")
OF_A_VARIABLE = ("name", "states", "parents", "table")
LABEL = "JSON"


def is_model_json(found: object) -> bool:
    """Return whether a JSON value says that it is a network or structure of coevo."""
    return isinstance(found, dict) and found.get("format") == FORMAT


def parse_json(text: str, source: str = "<text>") -> Model:
    """Read a network, or a structure, from a JSON text.

    Raises `FormatError` when it is not what `format_json` writes.

    >>> rain = '{"format": "coevo", "version": 1, "variables": [{"name": "a", "parents": []}]}'
    >>> parse_json(rain)
    <DAG: 1 variables, 0 arcs>
    """
    return _JsonReader(source).model(_loaded(text, source))


def _loaded(text: str, source: str) -> Any:
    try:
        found = json.loads(
            text.removeprefix("\ufeff"), object_pairs_hook=_unique, parse_constant=_no_constant
        )
    except json.JSONDecodeError as error:
        place = f"{source}, line {error.lineno}, column {error.colno}"
        raise FormatError(f"{place}: this is not JSON: {error.msg}.") from None
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{source}: this is not JSON: {error}.") from None
    if not is_model_json(found):
        raise FormatError(f"{source}: this is JSON, but not a network: no field 'format' says it.")
    return found


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the field {twice!r} is given twice")
    return found


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number of JSON")


class _JsonReader:
    """Checks what the fields hold and takes it down. A place is a part of the source."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._found: Declarations[str] = Declarations(self._error, "entry")
        self._tables: dict[str, tuple[list[float], str]] = {}

    def _error(self, place: str, sentence: str) -> FormatError:
        return FormatError(f"{self._source}{place}: {sentence}")

    def model(self, loaded: object) -> Model:
        """Return the network or the structure."""
        fields = self._fields(loaded, FIELDS, ("version", "variables"), "")
        if fields["version"] != VERSION:
            version = shown(json.dumps(fields["version"]))
            raise self._error("", f"this is version {version}; version {VERSION} is read.")
        title = self._text(fields.get("name", ""), "'name'", "")
        for number, entry in enumerate(self._list(fields["variables"], "'variables'", ""), 1):
            self._declare(entry, f", variable {number:,}")
        found, tables = self._found, self._tables
        for name in found.names:
            if tables and name not in tables:
                raise self._error("", f"{name!r} has no table, but other variables have.")
        parents = found.check()
        if not tables and (parents or "name" not in fields):
            return DAG.from_parents(parents)
        rows = {name: found.table(name, *tables[name]) for name in parents}
        found.warn()
        return Document(title, tuple(found.variables.values()), parents, rows).network()

    def _declare(self, entry: object, place: str) -> None:
        """Take down one variable."""
        fields = self._fields(entry, OF_A_VARIABLE, ("name", "parents"), place)
        name = self._text(fields["name"], "'name'", place)
        self._found.declare(name, place)
        parents = self._texts(fields["parents"], f"the parents of {name!r}", place)
        self._found.add_family(name, place, [(parent, place) for parent in parents])
        if ("states" in fields) != ("table" in fields):
            has, lacks = ("states", "table") if "states" in fields else ("table", "states")
            raise self._error(place, f"{name!r} has the field {has!r} and not {lacks!r}.")
        if "states" in fields:
            states = self._texts(fields["states"], f"the states of {name!r}", place)
            self._found.set_states(name, states, place)
            self._tables[name] = self._values(fields["table"], name, len(states), place), place

    def _values(self, table: object, name: str, arity: int, place: str) -> list[float]:
        """Return the numbers of a table."""
        what = f"the table of {name!r}"
        values: list[float] = []
        for row in self._list(table, what, place):
            numbers = self._list(row, f"a row of {what}", place)
            if len(numbers) != arity:
                found = f"{counted(len(numbers), 'number')} for {counted(arity, 'state')}"
                raise self._error(place, f"a row of {what} has {found}.")
            for value in numbers:
                if not isinstance(value, int | float) or isinstance(value, bool):
                    found = shown(json.dumps(value))
                    raise self._error(place, f"{what} holds {found}, which is not a number.")
            values += [float(value) if abs(value) < 1e300 else math.inf for value in numbers]
        return values

    def _fields(
        self, entry: object, known: Iterable[str], needed: Iterable[str], place: str
    ) -> Mapping[str, Any]:
        """Return an object after checking which fields it has."""
        if not isinstance(entry, dict):
            raise self._error(place, f"expected an object, found {shown(json.dumps(entry))}.")
        for name in entry:
            if name not in known:
                hint = suggestion(name, known)
                raise self._error(place, f"there is no field {shown(name)} here.{hint}")
        for name in needed:
            if name not in entry:
                raise self._error(place, f"the field {name!r} is missing.")
        return entry

    def _list(self, value: object, what: str, place: str) -> list[Any]:
        if not isinstance(value, list):
            raise self._error(place, f"{what} must be a list; got {shown(json.dumps(value))}.")
        return value

    def _text(self, value: object, what: str, place: str) -> str:
        if not isinstance(value, str):
            raise self._error(place, f"{what} must be a text; got {shown(json.dumps(value))}.")
        return value

    def _texts(self, value: object, what: str, place: str) -> list[str]:
        return [
            self._text(item, f"each of {what}", place) for item in self._list(value, what, place)
        ]


def format_json(model: Model) -> str:
    """Return a network or a structure as a JSON text that `parse_json` turns into the same.

    >>> print(format_json(DAG(["rain", "wet"], [("rain", "wet")])), end="")
    {
      "format": "coevo",
      "version": 1,
      "variables": [
        {"name": "rain", "parents": []},
        {"name": "wet", "parents": ["rain"]}
      ],
      "cpdag": {"arcs": [], "edges": [["rain", "wet"]]}
    }
    """
    dag = dag_of(model)
    cpdag = CPDAG(dag)
    for text in texts_of(model):
        check_encodable(text, LABEL)
    entries = ",".join(f"\n    {_dump(entry)}" for entry in _entries(model))
    fields = {
        "format": _dump(FORMAT),
        "version": _dump(VERSION),
        **({"name": _dump(model.name)} if isinstance(model, BayesianNetwork) else {}),
        "variables": f"[{entries}\n  ]" if entries else "[]",
        "cpdag": _dump({"arcs": cpdag.arcs, "edges": cpdag.edges}),
    }
    lines = ",\n".join(f'  "{name}": {value}' for name, value in fields.items())
    return f"{{\n{lines}\n}}\n"


def _entries(model: Model) -> Iterator[dict[str, Any]]:
    """Yield what is written of each variable."""
    if isinstance(model, DAG):
        yield from ({"name": name, "parents": model.parents(name)} for name in model.nodes)
        return
    for variable in model.variables:
        yield {
            "name": variable.name,
            "states": variable.states,
            "parents": model.parents(variable.name),
            "table": model.table(variable.name).tolist(),
        }


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
