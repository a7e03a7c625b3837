"""Why a network has no arcs, in words: rows, states, columns that were left out, near misses.

An empty graph is an answer, but it can have several reasons, and a reader cannot tell them apart.
`explain_no_arcs` names the most likely one, and what to try. It says what the search could have
seen, not that there is nothing to see.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from coevo.data import Decision, Table
from coevo.errors import format_count
from coevo.score import NearMiss
from coevo.search import SearchSpec

__all__ = ["explain_no_arcs"]

CLOSE = 0.25  # a near miss with this probability is the reason
FEW_ROWS_A_CELL = 5  # the usual rule of thumb for a table of counts
# Decisions that leave out the columns that they name.
LEFT_OUT = (
    "unsupported",
    "empty",
    "nearly_empty",
    "constant",
    "identifier",
    "free_text",
    "too_many_states",
    "copy",
)


def explain_no_arcs(
    table: Table,
    spec: SearchSpec,
    decisions: Sequence[Decision],
    near_misses: Sequence[NearMiss],
    stop_reason: str,
) -> str:
    """Return one or two sentences that say why a network has no arcs, and what to try."""
    if not near_misses:
        if stop_reason == "time":
            return "The time limit ended the search. Give it more time (--max-time)."
        return "The constraints allow no arc, or there are not two variables to join."
    best = near_misses[0]
    if best.gain > 0.005:
        return "The search ended early: an arc would raise the score. Give it more time."
    sentences = [_describe_power(table, spec)]
    if best.probability is not None and best.probability >= CLOSE:
        sentences = [
            f"The best network has no arcs, but {best.parent} -- {best.child} is close: with a "
            f"probability of {best.probability:.2f}, if nothing else changes. More rows would "
            "decide. coevo posterior weighs all networks, and coevo test looks at the pair."
        ]
    left_out = sorted({c for d in decisions if d.kind in LEFT_OUT for c in d.columns})
    if len(left_out) > table.n_variables:
        sentences.append(
            f"{format_count(len(left_out), 'column')} of {len(left_out) + table.n_variables:,} "
            "were left out; the decisions above say why, and how to keep them."
        )
    return " ".join(sentences)


def _describe_power(table: Table, spec: SearchSpec) -> str:
    """Return a sentence about what could be found in so many rows with so many states."""
    import statistics  # seldom needed; its import takes 2 ms

    n_rows = table.n_rows
    states = round(statistics.median(table.arities.tolist()))
    rows = format_count(n_rows, "row")
    if n_rows < FEW_ROWS_A_CELL * states**2 and states > 2:
        return (
            f"{rows} are few for columns of {states} states: a table of two of them has "
            f"{states**2:,} cells. Merge rare states, use fewer bins (--bins 2), or collect more "
            "rows."
        )
    seen = estimate_visible_correlation(n_rows, spec.parent_penalty)
    return (
        f"No dependence is strong enough for {rows}: two yes/no columns, for example, need a "
        f"correlation of about {seen:.2f}. Weaker dependences need more rows; coevo test looks at "
        "one pair."
    )


def estimate_visible_correlation(n_rows: int, parent_penalty: float) -> float:
    """Return about which correlation of two yes/no columns pays for an arc.

    The data favour the arc by about N times the mutual information, which is about half the squared
    correlation; the arc costs half of log N and the parent penalty.

    >>> [round(estimate_visible_correlation(n, 4.0), 2) for n in (30, 100, 1000)]
    [0.62, 0.36, 0.12]
    """
    cost = parent_penalty + math.log(n_rows) / 2
    return min(1.0, math.sqrt(2 * cost / n_rows))
