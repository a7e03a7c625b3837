"""``coevo predict``: the most probable state of a variable in each row of a table."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coevo.cli.evidence_args import exact_option
from coevo.cli.options import format_option
from coevo.cli.output import format_confusion, format_metrics, print_json, show_status
from coevo.cli.tables import (
    drop_option,
    open_answering,
    read_network_rows,
    refuse_overwriting,
    row_options,
)
from coevo.errors import format_count
from coevo.options import SourceParameters, select_options

if TYPE_CHECKING:
    from coevo.network import Prediction

__all__ = ["command"]


@click.command("predict")
@click.argument("model", metavar="MODEL")
@click.argument("data", metavar="DATA")
@click.argument("target", metavar="TARGET")
@click.option(
    "--probabilities",
    is_flag=True,
    help="Add a column with the probability of each state.",
)
@drop_option
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write the table to this file (CSV, TSV or Parquet).  [default: standard output, as CSV]",
)
@exact_option
@row_options
@format_option
def command(
    model: str,
    data: str,
    target: str,
    probabilities: bool,
    drop: tuple[str, ...],
    opening: dict[str, Any],
    output: str | None,
    exact: bool,
    output_format: str,
) -> None:
    """Predict a variable in each row of a table.

    MODEL is a network: a file, the folder of a run or the name of a bundled network. If it is the
    folder of a posterior, predictions are averaged over its networks. DATA is a table, as for coevo
    learn. Numbers are put into the bins of the network; other columns are
    ignored. Missing values, labels that the network does not know and variables without a column
    are unknown: they are summed out, and stderr says how many there are.

    The answer is the table with two further columns: the most probable state of TARGET given the
    rest of the row, and the probability of this state. If DATA has the column TARGET, stderr shows
    how good the prediction is: the accuracy, the log loss (the mean of minus the logarithm of the
    probability of the true state; lower is better), the Brier score, the AUC and the confusion
    matrix.

    \b
    coevo predict run new.csv HR
    coevo predict alarm alarm.csv BP --probabilities -o predicted.csv
    """
    with show_status(f"Reading {data} ..."), _open_table(data) as path:
        from coevo.data import check_writable

        network = open_answering(model)
        network.variable(target)  # raises an error if there is none
        if output is not None:
            check_writable(output)
            refuse_overwriting("-o", output, data)
        rows = read_network_rows(network, path, opening, drop=drop)
        prediction = network.predict(rows, target, exact=exact)
        answer = _make_answer(prediction, rows.n_rows)
        if target in rows.codes and (rows.codes[target] >= 0).any():
            answer["metrics"] = prediction.evaluate(rows).as_dict()
        columns = prediction.list_columns(probabilities)
        if output is not None:
            _write_copy(path, Path(output), columns, opening)
            answer["file"] = output
        elif output_format == "text":
            _print_copy(path, columns, opening)
    if output_format == "json":
        print_json(answer if output else {**answer, "predictions": _make_records(columns)})
        return
    for line in (*prediction.unknown.describe(), *_format_summary(answer)):
        print(line, file=sys.stderr)


@contextlib.contextmanager
def _open_table(data: str) -> Iterator[str]:
    """Yield the path of a table that can be read twice: once for its states, once for a copy."""
    from coevo.files.files import CHUNK_BYTES, is_stream, open_input

    if data != "-" and not is_stream(Path(data)):
        yield data
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, Path(data).name if data != "-" else "stdin")
        with path.open("wb") as stream, open_input(Path(data)) as source:
            while part := source.read(CHUNK_BYTES):
                stream.write(part)
        yield str(path)


def _make_answer(prediction: Prediction, n_rows: int) -> dict[str, Any]:
    """Return the facts of a prediction without its rows."""
    return {
        "target": prediction.variable.name,
        "states": list(prediction.variable.states),
        "n_rows": n_rows,
        "unknown": prediction.unknown.as_dict(),
        "n_impossible": len(prediction.impossible),
    }


def _make_records(columns: Sequence[tuple[str, list[Any]]]) -> list[dict[str, Any]]:
    names = [name for name, _ in columns]
    cells = zip(*(column for _, column in columns), strict=True)
    return [dict(zip(names, row, strict=True)) for row in cells]


def _write_copy(
    data: str, target: Path, columns: Sequence[tuple[str, list[Any]]], opening: dict[str, Any]
) -> None:
    """Write the table with further columns."""
    from coevo.data.source_options import SourceOptions
    from coevo.data.writer import copy_with_predictions

    source = select_options(SourceParameters, opening)
    copy_with_predictions(data, target, columns, SourceOptions.from_parameters("predict", **source))


def _print_copy(
    data: str, columns: Sequence[tuple[str, list[Any]]], opening: dict[str, Any]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "predicted.csv")
        _write_copy(data, path, columns, opening)
        click.echo(path.read_text(encoding="utf-8"), nl=False, color=True)  # unchanged


def _format_summary(answer: dict[str, Any]) -> Iterator[str]:
    """Yield the lines for stderr: how good the prediction is, if known, and the file."""
    if "metrics" in answer:
        yield from format_metrics(answer["metrics"])
        yield from format_confusion(answer["states"], answer["metrics"]["confusion"])
    if "file" in answer:
        n_predictions = format_count(answer["n_rows"], "prediction")
        yield f"Wrote {n_predictions} of {answer['target']!r} to {answer['file']}."
