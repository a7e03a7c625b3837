"""How commands read tables: declared states, and the models that declare them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coevo.cli.options import bundle_options, make_option, make_options
from coevo.cli.output import format_decision
from coevo.errors import DataError, suggest_match, warn_caller
from coevo.options import (
    BinningFlags,
    ClusterFlags,
    KnowledgeFlags,
    MissingFlags,
    ReadParameters,
    SourceParameters,
    StrictFlags,
    TableFlags,
    get_defaults,
    list_options,
    select_options,
)

__all__ = [
    "StatesFile",
    "column_options",
    "drop_option",
    "list_reading_options",
    "merge_types",
    "missing_options",
    "open_answering",
    "read_declared_states",
    "read_network_rows",
    "read_table",
    "reading_options",
    "refuse_overwriting",
    "row_options",
    "split_model",
    "table_options",
]

if TYPE_CHECKING:
    from coevo.data import Dataset, Variable
    from coevo.data.known_rows import KnownRows
    from coevo.graph import DAG
    from coevo.io import Model
    from coevo.network import BayesianNetwork
    from coevo.posteriors.sample import AveragedNetwork

    Answering = BayesianNetwork | AveragedNetwork


# Options whose parameters have another name.
OPTION_NAMES = {
    "missing_labels": "missing-label",
    "keep_labels": "keep-label",
    "column_types": "type",
}


def list_reading_options(columns: dict[str, Any]) -> list[str]:
    """Return the options of `reading_options` that were given, as words of a command."""
    words = []
    defaults = get_defaults(SourceParameters)
    for name, value in columns.items():
        if value in (None, ()) or value == defaults.get(name, False):
            continue
        option = OPTION_NAMES.get(name, name.replace("_", "-"))
        if isinstance(value, bool):
            words.append(f"--{option}" if value else f"--no-{option}")
            continue
        values = [f"{old}={new}" for old, new in value.items()] if name == "rename" else [value]
        for one in value if isinstance(value, tuple | list) else values:
            words += [f"--{option}", str(one)]
    return words


def split_model(model: Model) -> tuple[DAG, tuple[Variable, ...]]:
    """Return the structure of a model, and the variables whose states it declares."""
    from coevo.network import BayesianNetwork

    return (model.dag, model.variables) if isinstance(model, BayesianNetwork) else (model, ())


def read_table(
    source: str, reading: dict[str, Any], nodes: Iterable[str], default: tuple[Variable, ...] = ()
) -> Dataset:
    """Read the variables of a structure from a table, with the options of `table_options`.

    `nodes` are the variables; other columns are ignored. `default` declares the states of
    variables that ``--states`` does not name.
    """
    from coevo.data import read_data

    declared = read_declared_states(reading["states"])
    opening = select_options(ReadParameters, reading)
    states = declared.merge(default)
    dataset: Dataset
    dataset, info = read_data(
        source,
        drop=reading["drop"],
        states=states,
        types=merge_types(None, reading["column_types"]),
        decimal=reading["decimal"],
        strict=reading["strict"],
        only=nodes,
        return_info=True,
        **opening,
    )
    declared.check(tuple(column.name for column in info.columns))
    for decision in info.decisions:
        warn_caller(format_decision(decision.as_dict()))
    return dataset


def refuse_overwriting(option: str, output: str | Path, data: str) -> None:
    """Raise an error if an output is the table itself; a table on stdin (``-``) is no file."""
    if data != "-" and Path(output).resolve() == Path(data).resolve():
        raise click.UsageError(f"{option} would overwrite DATA, {data!r}. Give another name.")


def open_answering(source: str) -> Answering:
    """Open what answers queries: a network, or the averaged networks of a posterior's folder."""
    from coevo.bundled import open_network

    averaged = Path(source, "averaged.json")
    if not os.path.isfile(averaged):  # False for any name that cannot be one of a file
        return open_network(source)
    from coevo.posteriors.sample import read_averaged

    return read_averaged(averaged)


def read_network_rows(
    network: Answering, source: str, opening: dict[str, Any], **options: Any
) -> KnownRows:
    """Read rows for a network, with the options of `row_options` and others of `read_rows`."""
    from coevo.network import BayesianNetwork, read_rows

    given = dict(opening)
    types = merge_types(None, given.pop("column_types"))
    one = network if isinstance(network, BayesianNetwork) else network.networks[0][1]
    return read_rows(one, source, types=types, **given, **options)


class StatesFile:
    """The states that ``--states`` declares.

    `is_list` says whether they come from a JSON object of lists. Each variable of such an object
    must be a column of the table. A network may have more variables than the table.
    """

    def __init__(
        self, source: str | None = None, variables: tuple[Variable, ...] = (), is_list: bool = False
    ) -> None:
        self._source, self.variables, self._is_list = source, variables, is_list

    def merge(self, default: Iterable[Variable] = ()) -> tuple[Variable, ...]:
        """Return the declared variables, and those of `default` that are not declared."""
        return tuple({v.name: v for v in (*default, *self.variables)}.values())

    def complete(self, columns: dict[str, Any]) -> dict[str, Any]:
        """Return the column options as `learn` takes them, with these states."""
        options = dict(columns)
        options["types"] = merge_types(options["types"], options.pop("column_types"))
        return options | {"states": self.merge() or None}

    def check(self, columns: tuple[str, ...]) -> None:
        """Raise `DataError` if the states belong to another table."""
        unknown = [variable.name for variable in self.variables if variable.name not in columns]
        if unknown and (self._is_list or len(unknown) == len(self.variables)):
            raise DataError(
                f"{self._source!r} declares states of {unknown[0]!r}, which is not a column of "
                f"the table.{suggest_match(unknown[0], columns)}"
            )


def read_declared_states(source: str | None) -> StatesFile:
    """Read ``--states``: a network, or a JSON object with a list of states for each column."""
    if source is None:
        return StatesFile()
    from coevo.bundled import open_network
    from coevo.data import Variable
    from coevo.files.user_files import UserFile, read_json
    from coevo.io.json_model import is_model_json

    if not source.lower().endswith(".json"):
        return StatesFile(source, open_network(source).variables)
    declared = read_json(UserFile(Path(source)))
    if is_model_json(declared):
        return StatesFile(source, open_network(source).variables)
    if not isinstance(declared, dict) or not all(map(_is_plain_list, declared.values())):
        raise DataError(f"{source!r} must hold an object with a list of states for each column.")
    listed = (Variable(name, tuple(map(str, states))) for name, states in declared.items())
    return StatesFile(source, tuple(listed), is_list=True)


def merge_types(path: str | None, given: Iterable[str]) -> dict[str, Any] | None:
    """Return the types of ``--types FILE`` and of ``--type COLUMN=TYPE``; the latter prevail."""
    from coevo.data import read_types

    types: dict[str, Any] = {} if path is None else read_types(path)
    for text in given:
        name, mark, kind = text.rpartition("=")
        if not (name and mark and kind):
            raise click.UsageError(f"--type must be COLUMN=TYPE; got {text!r}.")
        types[name] = kind
    return types or None


def _is_plain_list(value: object) -> bool:
    return isinstance(value, list) and not any(isinstance(item, list | dict) for item in value)


# The options of commands that read a table.
#
# They are declared in `coevo.options`, but for ``--type``, which gives one item of `types`. A
# group of them reaches a command as one dictionary (`coevo.cli.options.bundle_options`).


_SOURCE_OPTIONS = make_options(SourceParameters)
_TABLE_OPTIONS = make_options(TableFlags)
_cluster_option = make_options(ClusterFlags)
_strict_option = make_options(StrictFlags)
_decimal_option = make_option("decimal", list_options(BinningFlags)["decimal"])
drop_option = make_option("drop", list_options(TableFlags)["drop"])
missing_options = make_options(MissingFlags)

_type_option = click.option(
    "--type",
    "column_types",
    multiple=True,
    metavar="COLUMN=TYPE",
    help="Type of one column (repeatable): categorical, continuous, ignore, or parts of dates "
    "(year, month, weekday, hour, year+month, date). It undoes what was decided about the "
    "column.",
)
_TYPE_OPTIONS = (_type_option, *make_options(BinningFlags))
# How to read the columns of a given structure, and the rows for a given network.
table_options = bundle_options(
    "reading", *_TABLE_OPTIONS, _type_option, _decimal_option, *_strict_option
)
row_options = bundle_options(
    "opening",
    *_SOURCE_OPTIONS,
    click.option(
        "--type",
        "column_types",
        multiple=True,
        metavar="COLUMN=TYPE",
        help="Type of a column of dates (repeatable): dmy or mdy gives the order of day and month; "
        "date+dmy or date+mdy does so for dates that are cut into bins.",
    ),
    _decimal_option,
)
# How to read a table, without a search: `column_options` adds what a search needs.
reading_options = bundle_options(
    "columns", *_TABLE_OPTIONS, *_cluster_option, *_TYPE_OPTIONS, *_strict_option
)
column_options = bundle_options(
    "columns",
    *_TABLE_OPTIONS,
    *_cluster_option,
    *missing_options,
    *_TYPE_OPTIONS,
    *_strict_option,
    *make_options(KnowledgeFlags),
)
