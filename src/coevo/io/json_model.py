"""Networks and structures as JSON, complete and bit for bit.

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

A row of a table is one configuration of the parents; the first parent varies slowest. A
structure has neither states nor tables. The CPDAG shows which arcs data can direct. It
follows from the parents, so the writer adds it for other programs and the reader ignores
it. The reader refuses fields that are not listed here; otherwise a misspelt field would be
lost without notice.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NoReturn

from coevo.errors import FormatError, find_duplicate, format_count, suggest_match
from coevo.files.files import load_json
from coevo.graph import CPDAG, DAG
from coevo.io.csv_structures import Model, check_encodable, get_dag, iterate_texts
from coevo.io.network_builder import NetworkBuilder
from coevo.io.scanner import shorten_repr
from coevo.network import BayesianNetwork

__all__ = ["FORMAT", "VERSION", "format_json", "is_model_json", "parse_json"]

FORMAT, VERSION = "coevo", 1
FIELDS = ("format", "version", "name", "variables", "cpdag")
VARIABLE_FIELDS = ("name", "states", "parents", "table")
LABEL = "JSON"


def is_model_json(value: object) -> bool:
    """Return whether a JSON value is a network or structure of coevo, by its field `format`."""
    return isinstance(value, dict) and value.get("format") == FORMAT


def parse_json(text: str, source: str = "<text>") -> Model:
    """Read a network, or a structure, from a JSON text.

    Raises `FormatError` when the text does not have the form that `format_json` writes.

    >>> rain = '{"format": "coevo", "version": 1, "variables": [{"name": "a", "parents": []}]}'
    >>> parse_json(rain)
    <DAG: 1 variables, 0 arcs>
    """
    return _JsonReader(source).read_model(_load_json(text, source))


def _load_json(text: str, source: str) -> Any:
    try:
        value = load_json(text.removeprefix("\ufeff"), _build_object, _refuse_constant)
    except json.JSONDecodeError as error:
        place = f"{source}, line {error.lineno}, column {error.colno}"
        raise FormatError(f"{place}: this is not JSON: {error.msg}.") from None
    except ValueError as error:
        raise FormatError(f"{source}: this is not JSON: {error}.") from None
    if not is_model_json(value):
        raise FormatError(
            f"{source}: this is JSON, but not a network: the field 'format' must be {FORMAT!r}."
        )
    return value


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        duplicate = find_duplicate(name for name, _ in pairs)
        raise ValueError(f"the field {duplicate!r} is given twice")
    return fields


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a valid JSON number")


class _JsonReader:
    """Check the fields and build the model. A place is a suffix to the name of the source."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._builder: NetworkBuilder[str] = NetworkBuilder(self._make_error, "entry")
        self._tables: dict[str, tuple[list[float], str]] = {}

    def _make_error(self, place: str, sentence: str) -> FormatError:
        return FormatError(f"{self._source}{place}: {sentence}")

    def read_model(self, loaded: object) -> Model:
        """Return the network, or the structure if there are no tables."""
        fields = self._check_fields(loaded, FIELDS, ("version", "variables"), "")
        if fields["version"] != VERSION:
            version = shorten_repr(json.dumps(fields["version"]))
            sentence = f"this is version {version}; only version {VERSION} is supported."
            raise self._make_error("", sentence)
        title = self._check_string(fields.get("name", ""), "'name'", "")
        for number, entry in enumerate(self._check_list(fields["variables"], "'variables'", ""), 1):
            self._add_variable(entry, f", variable {number:,}")
        builder, tables = self._builder, self._tables
        for name in builder.names:
            if tables and name not in tables:
                raise self._make_error("", f"{name!r} has no table, but other variables have.")
        parents = builder.check()
        if not tables and (parents or "name" not in fields):
            return DAG.from_parents(parents)
        arrays = {name: builder.build_table(name, *tables[name]) for name in parents}
        builder.warn_of_rounded_rows()
        return BayesianNetwork(tuple(builder.variables.values()), parents, arrays, title)

    def _add_variable(self, entry: object, place: str) -> None:
        """Add one variable with its parents, states and table."""
        fields = self._check_fields(entry, VARIABLE_FIELDS, ("name", "parents"), place)
        name = self._check_string(fields["name"], "'name'", place)
        self._builder.add_variable(name, place)
        parents = self._check_strings(fields["parents"], f"the parents of {name!r}", place)
        self._builder.add_family(name, place, [(parent, place) for parent in parents])
        if ("states" in fields) != ("table" in fields):
            has, lacks = ("states", "table") if "states" in fields else ("table", "states")
            raise self._make_error(place, f"{name!r} has the field {has!r} but not {lacks!r}.")
        if "states" in fields:
            states = self._check_strings(fields["states"], f"the states of {name!r}", place)
            self._builder.set_states(name, states, place)
            self._tables[name] = self._read_table(fields["table"], name, len(states), place), place

    def _read_table(self, table: object, name: str, arity: int, place: str) -> list[float]:
        """Return the numbers of a table, row by row."""
        what = f"the table of {name!r}"
        values: list[float] = []
        for row in self._check_list(table, what, place):
            numbers = self._check_list(row, f"a row of {what}", place)
            if len(numbers) != arity:
                n_numbers, n_states = (
                    format_count(len(numbers), "number"),
                    format_count(arity, "state"),
                )
                sentence = f"a row of {what} has {n_numbers} for {n_states}."
                raise self._make_error(place, sentence)
            for value in numbers:
                if not isinstance(value, int | float) or isinstance(value, bool):
                    shown = shorten_repr(json.dumps(value))
                    raise self._make_error(place, f"{what} holds {shown}, which is not a number.")
            values += [float(value) if abs(value) < 1e300 else math.inf for value in numbers]
        return values

    def _check_fields(
        self, entry: object, known: Iterable[str], needed: Iterable[str], place: str
    ) -> Mapping[str, Any]:
        """Return an object; raise `FormatError` for unknown or missing fields."""
        if not isinstance(entry, dict):
            shown = shorten_repr(json.dumps(entry))
            raise self._make_error(place, f"expected an object, found {shown}.")
        for name in entry:
            if name not in known:
                sentence = f"there is no field {shorten_repr(name)} here."
                raise self._make_error(place, sentence + suggest_match(name, known))
        for name in needed:
            if name not in entry:
                raise self._make_error(place, f"the field {name!r} is missing.")
        return entry

    def _check_list(self, value: object, what: str, place: str) -> list[Any]:
        if not isinstance(value, list):
            shown = shorten_repr(json.dumps(value))
            raise self._make_error(place, f"{what} must be a list; got {shown}.")
        return value

    def _check_string(self, value: object, what: str, place: str) -> str:
        if not isinstance(value, str):
            shown = shorten_repr(json.dumps(value))
            raise self._make_error(place, f"{what} must be a string; got {shown}.")
        return value

    def _check_strings(self, value: object, what: str, place: str) -> list[str]:
        items = self._check_list(value, what, place)
        return [self._check_string(item, f"each of {what}", place) for item in items]


def format_json(model: Model) -> str:
    """Return a model as a JSON text that `parse_json` turns into the same model.

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
    dag = get_dag(model)
    cpdag = CPDAG(dag)
    for text in iterate_texts(model):
        check_encodable(text, LABEL)
    entries = ",".join(f"\n    {_dump(entry)}" for entry in _describe_variables(model))
    fields = {
        "format": _dump(FORMAT),
        "version": _dump(VERSION),
        **({"name": _dump(model.name)} if isinstance(model, BayesianNetwork) else {}),
        "variables": f"[{entries}\n  ]" if entries else "[]",
        "cpdag": _dump({"arcs": cpdag.arcs, "edges": cpdag.edges}),
    }
    lines = ",\n".join(f'  "{name}": {value}' for name, value in fields.items())
    return f"{{\n{lines}\n}}\n"


def _describe_variables(model: Model) -> Iterator[dict[str, Any]]:
    """Yield the JSON object of each variable."""
    if isinstance(model, DAG):
        yield from ({"name": name, "parents": model.parents(name)} for name in model.nodes)
        return
    for variable in model.variables:
        entry = model.distribution(variable.name).as_dict()
        del entry["kind"]  # version 1 holds tables only, so it has no field for the kind
        yield entry


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
