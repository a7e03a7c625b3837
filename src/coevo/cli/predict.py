"""``coevo predict``: the most probable state of a variable in each row of a table."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coevo.cli.console import finite_or_none, print_json, show_status
from coevo.cli.options import drop_option, format_option, source_options
from coevo.errors import format_count

if TYPE_CHECKING:
    from coevo.network import BayesianNetwork, Prediction

__all__ = ["command"]

SHOWN = 10  # maximum number of states for which the confusion matrix is printed


@click.command("predict")
@click.argument("model", metavar="FILE_OR_NETWORK")
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
    help="Write the table to this file.  [default: standard output]",
)
@source_options
@format_option
def command(
    model: str,
    data: str,
    target: str,
    probabilities: bool,
    drop: tuple[str, ...],
    opening: dict[str, Any],
    output: str | None,
    output_format: str,
) -> None:
    """Predict a variable in each row of a table.

    DATA is a table, as for coevo learn, with a column for each variable of the Markov blanket of
    TARGET: its parents, its children and the other parents of its children. Numbers are put
    into the bins of the network; other columns are ignored. The answer is a CSV table: the
    most probable state of TARGET given the rest of the row, and the probability of this state.
    If DATA has the column TARGET, stderr shows the accuracy, the log loss (the mean of minus
    the logarithm of the probability of the true state; lower is better) and the confusion
    matrix.

    \b
    coevo predict run/model.bif new.csv HR
    coevo predict alarm alarm.csv BP --probabilities -o predicted.csv
    """
    with show_status(f"Reading {data} ..."):
        from coevo.bundled import open_network
        from coevo.files import check_output_path
        from coevo.network import read_rows

        network = open_network(model)
        columns = _list_columns(network, target)
        if output is not None:
            check_output_path(Path(output))
        dataset = read_rows(network, data, only=columns, drop=drop, **opening)
        prediction = network.predict(dataset, target)
        states = list(prediction.variable.states)
        answer = {"target": target, "states": states, "n_rows": dataset.n_rows}
        if target in dataset.names:
            evaluation = prediction.evaluate(dataset)
            answer |= {
                "accuracy": evaluation.accuracy,
                "log_loss": finite_or_none(evaluation.log_loss),
                "confusion": evaluation.confusion.tolist(),
            }
        rows = list(_make_rows(prediction, probabilities))
        if output is not None:
            from coevo.io.text_files import write_text_file

            write_text_file(Path(output), _format_csv(rows))
            answer["file"] = output
    if output_format == "json":
        print_json(answer if output else answer | {"predictions": _make_records(rows)})
        return
    if output is None:
        click.echo(_format_csv(rows), nl=False)
    for line in _format_summary(answer):
        print(line, file=sys.stderr)


def _list_columns(network: BayesianNetwork, target: str) -> list[str]:
    """Return the columns to read: the target and its Markov blanket."""
    network.variable(target)  # raises an error if there is none
    blanket = network.dag.markov_blanket(target)
    # Without a blanket, any column gives the number of rows.
    return [target, *blanket] if blanket else [variable.name for variable in network.variables]


def _make_rows(prediction: Prediction, each_state: bool) -> Iterator[tuple[Any, ...]]:
    """Yield the header and the rows of the answer."""
    name, states = prediction.variable.name, prediction.variable.states
    yield ("predicted", "probability", *(f"{name}={s}" for s in states if each_state))
    probabilities = prediction.probabilities.tolist()
    for code, row in zip(prediction.codes.tolist(), probabilities, strict=True):
        yield (states[code], row[code], *(row if each_state else ()))


def _format_csv(rows: Sequence[tuple[Any, ...]]) -> str:
    """Return rows as CSV, numbers with twelve digits."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(
        [f"{cell:z.12g}" if isinstance(cell, float) else cell for cell in row] for row in rows
    )
    return stream.getvalue()


def _make_records(rows: Sequence[tuple[Any, ...]]) -> list[dict[str, Any]]:
    header, *others = rows
    return [dict(zip(header, row, strict=True)) for row in others]


def _format_summary(answer: dict[str, Any]) -> Iterator[str]:
    """Yield the lines for stderr: the accuracy, if known, and the file."""
    if "accuracy" in answer:
        confusion, n_rows = answer["confusion"], answer["n_rows"]
        n_correct = sum(row[i] for i, row in enumerate(confusion))
        loss = answer["log_loss"]
        rows = format_count(n_rows, "row")
        yield f"accuracy    {answer['accuracy']:.6f}  ({n_correct:,} of {rows})"
        yield f"log loss    {'inf' if loss is None else f'{loss:z.6f}'}  (lower is better)"
        yield from _format_confusion(answer["states"], confusion)
    if "file" in answer:
        n_predictions = format_count(answer["n_rows"], "prediction")
        yield f"Wrote {n_predictions} of {answer['target']!r} to {answer['file']}."


def _format_confusion(states: Sequence[str], confusion: Sequence[Sequence[int]]) -> Iterator[str]:
    """Yield the confusion matrix: a row for each true state, a column for each predicted one."""
    if len(states) > SHOWN:
        yield f"confusion   {len(states):,} states; see --format json"
        return
    yield "confusion   rows: true states; columns: predicted states"
    cells = [["", *states]]
    cells += [
        [state, *map("{:,}".format, row)] for state, row in zip(states, confusion, strict=True)
    ]
    first, *widths = (max(map(len, column)) for column in zip(*cells, strict=True))
    for name, *others in cells:
        padded = (cell.rjust(width) for cell, width in zip(others, widths, strict=True))
        yield f"  {name.ljust(first)}  {'  '.join(padded)}".rstrip()
