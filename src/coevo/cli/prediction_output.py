"""How commands print the quality of a prediction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from coevo.errors import format_count

__all__ = ["format_confusion", "format_metrics", "format_states"]

SHOWN = 10  # maximum number of states for which the confusion matrix is printed


def format_metrics(metrics: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the measures of a prediction."""
    confusion, loss = metrics["confusion"], metrics["log_loss"]
    n_correct = sum(row[i] for i, row in enumerate(confusion))
    rows = format_count(metrics["n_rows"], "row")
    yield f"accuracy    {metrics['accuracy']:.6f}  ({n_correct:,} of {rows})"
    yield f"log loss    {'inf' if loss is None else f'{loss:z.6f}'}  (lower is better)"
    yield f"Brier       {metrics['brier']:.6f}  (lower is better)"
    if metrics["auc"] is not None:
        mean = "" if len(confusion) == 2 else "  (mean over the states)"
        yield f"AUC         {metrics['auc']:.6f}{mean}"


def format_confusion(states: Sequence[str], confusion: Sequence[Sequence[int]]) -> Iterator[str]:
    """Yield the confusion matrix: a row for each true state, a column for each predicted one."""
    if len(states) > SHOWN:
        yield f"confusion   {len(states):,} states; see --format json"
        return
    from coevo.data.state_words import shorten_states

    yield "confusion   rows: true states; columns: predicted states"
    shown = [*shorten_states(tuple(states)).values()]
    cells = [["", *shown]]
    cells += [
        [state, *map("{:,}".format, row)] for state, row in zip(shown, confusion, strict=True)
    ]
    first, *widths = (max(map(len, column)) for column in zip(*cells, strict=True))
    for name, *others in cells:
        padded = (cell.rjust(width) for cell, width in zip(others, widths, strict=True))
        yield f"  {name.ljust(first)}  {'  '.join(padded)}".rstrip()


def format_states(metrics: dict[str, Any]) -> Iterator[str]:
    """Yield sensitivity, specificity and AUC of each state, and the calibration error."""
    yield f"calibration {metrics['calibration_error']:.6f}  (mean error of a probability)"
    if len(metrics["per_state"]) > SHOWN:
        yield f"states      {len(metrics['per_state']):,} states; see --format json"
        return
    from coevo.data.state_words import shorten_states

    shown = shorten_states(tuple(metrics["per_state"]))
    yield "states      sensitivity  specificity       AUC     rows"
    for state, one in metrics["per_state"].items():
        numbers = [one["sensitivity"], one["specificity"], one["auc"]]
        cells = ["-" if number is None else f"{number:.4f}" for number in numbers]
        measures = f"{cells[0]:>11}  {cells[1]:>11}  {cells[2]:>8}"
        yield f"            {measures} {one['n_rows']:>8,}  {shown[state]}"
