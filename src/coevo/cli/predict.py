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
from coevo.cli.options import drop_option, format_option

if TYPE_CHECKING:
    from coevo.network import BayesianNetwork, Prediction

__all__ = ["command"]

SHOWN = 10  # states up to which the table of confusions is printed


@click.command("predict")
@click.argument("model", metavar="FILE_OR_NETWORK")
@click.argument("data", metavar="DATA")
@click.argument("target", metavar="TARGET")
@click.option(
    "--probabilities", is_flag=True, help="Write a column more for the probability of each state."
)
@drop_option
@click.option(
    "-o", "--output", metavar="FILE", help="Write the table here, not to the standard output."
)
@format_option
def command(
    model: str,
    data: str,
    target: str,
    probabilities: bool,
    drop: tuple[str, ...],
    output: str | None,
    output_format: str,
) -> None:
    """Predict a variable in each row of a table.

    DATA is a CSV or Parquet file with columns for the parents, the children and the other
    parents of the children of TARGET; numbers go into the bins of the network, and other
    columns are left alone. The answer is a CSV table: the most probable state of TARGET given
    the rest of each row, and how probable it is. If DATA has TARGET too, it is compared:
    accuracy, log loss (the mean of minus the logarithm of the probability of the true state;
    lower is better) and how often which state was taken for which, on stderr.

    \b
    coevo predict run/model.bif new.csv HR
    coevo predict alarm alarm.csv BP --probabilities -o predicted.csv
    """
    with show_status(f"Reading {data} ..."):
        from coevo.bundled import open_network
        from coevo.files import check_output_path
        from coevo.network import read_rows

        network = open_network(model)
        wanted = _wanted(network, target)
        if output is not None:
            check_output_path(Path(output))
        dataset = read_rows(network, data, only=wanted, drop=drop)
        found = network.predict(dataset, target)
        answer = {"target": target, "states": list(found.variable.states), "n_rows": dataset.n_rows}
        if target in dataset.names:
            agreed = found.evaluate(dataset)
            answer |= {
                "accuracy": agreed.accuracy,
                "log_loss": finite_or_none(agreed.log_loss),
                "confusion": agreed.confusion.tolist(),
            }
        rows = list(_rows(found, probabilities))
        if output is not None:
            from coevo.io.text_files import write_text_file

            write_text_file(Path(output), _table(rows))
            answer["file"] = output
    if output_format == "json":
        print_json(answer if output else answer | {"predictions": _records(rows)})
        return
    if output is None:
        click.echo(_table(rows), nl=False)
    for line in _summary(answer):
        print(line, file=sys.stderr)


def _wanted(network: BayesianNetwork, target: str) -> list[str]:
    """Return the columns to read: those that tell about the target, and itself."""
    network.variable(target)  # says if there is none
    blanket = network.dag.markov_blanket(target)
    # Without any, the table only says how many rows there are.
    return [target, *blanket] if blanket else [variable.name for variable in network.variables]


def _rows(found: Prediction, each_state: bool) -> Iterator[tuple[Any, ...]]:
    """Yield the header and the rows of the answer."""
    name, states = found.variable.name, found.variable.states
    yield ("predicted", "probability", *(f"{name}={s}" for s in states if each_state))
    for code, row in zip(found.codes.tolist(), found.probabilities.tolist(), strict=True):
        yield (states[code], row[code], *(row if each_state else ()))


def _table(rows: Sequence[tuple[Any, ...]]) -> str:
    """Return rows as CSV, numbers with twelve digits."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(
        [f"{cell:.12g}" if isinstance(cell, float) else cell for cell in row] for row in rows
    )
    return stream.getvalue()


def _records(rows: Sequence[tuple[Any, ...]]) -> list[dict[str, Any]]:
    header, *others = rows
    return [dict(zip(header, row, strict=True)) for row in others]


def _summary(answer: dict[str, Any]) -> Iterator[str]:
    """Yield what there is to say besides the table."""
    if "accuracy" in answer:
        confusion, n_rows = answer["confusion"], answer["n_rows"]
        right = sum(row[i] for i, row in enumerate(confusion))
        loss = answer["log_loss"]
        yield f"accuracy    {answer['accuracy']:.6f}  ({right:,} of {n_rows:,} rows)"
        yield f"log loss    {'inf' if loss is None else f'{loss:.6f}'}  (lower is better)"
        yield from _confusion(answer["states"], confusion)
    if "file" in answer:
        yield f"Wrote {answer['n_rows']:,} predictions of {answer['target']!r} to {answer['file']}."


def _confusion(states: Sequence[str], confusion: Sequence[Sequence[int]]) -> Iterator[str]:
    """Yield a table of how often each state, a line each, was predicted as which."""
    if len(states) > SHOWN:
        yield f"confusion   of {len(states):,} states, in --format json"
        return
    yield "confusion   a line for each true state, a column for each predicted one"
    cells = [["", *states]]
    cells += [
        [state, *map("{:,}".format, row)] for state, row in zip(states, confusion, strict=True)
    ]
    first, *widths = (max(map(len, column)) for column in zip(*cells, strict=True))
    for name, *others in cells:
        padded = (cell.rjust(width) for cell, width in zip(others, widths, strict=True))
        yield f"  {name.ljust(first)}  {'  '.join(padded)}".rstrip()
