"""The answer of ``coevo learn`` as text: score, arcs, confidence, and the best rejected arc."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from coevo.cli.column_output import format_audit, format_columns, format_decisions
from coevo.cli.missing import format_missing
from coevo.errors import format_count

__all__ = ["format_answer"]

RANKED = 3  # arcs that are named as the strongest, and as the weakest
LACKING = 5  # significant arcs outside the network that are named
NUMBERS = ("strength", "direction", "support")  # printed beside each arc, if known
STOP_REASONS = {
    "time": "stopped by the time limit",
    "generations": "stopped by the limit on generations",
    "evaluations": "stopped by the limit on evaluations",
    "patience": "stopped after generations without improvement",
    "target": "stopped at the target score",
    "callback": "stopped by a callback",
    "interrupt": "stopped by the user",
    "finished": "finished",
}


def format_answer(answer: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of an answer; `answer` is what ``--format json`` prints."""
    prior = "" if answer["ess"] is None else f", ess {answer['ess']:g}"
    if "log_prior" in answer:
        prior += f", log prior of arcs {answer['log_prior']:+g}"
    yield f"score       {answer['score']:.6f}  ({answer['scoring']}{prior}; higher is better)"
    reason = STOP_REASONS.get(answer["stop_reason"], answer["stop_reason"])
    yield (
        f"method      {answer['method']}, seed {answer['seed']}: "
        f"{format_count(answer['generations'], 'generation')} in {answer['seconds']:.2f} s, "
        f"{reason}"
    )
    n_rows, n_variables = answer["n_rows"], answer["n_variables"]
    yield f"table       {format_count(n_rows, 'row')}, {format_count(n_variables, 'variable')}"
    if "traffic" in answer:
        yield _format_traffic(answer["traffic"])
    yield from format_columns(answer["columns"])
    yield from format_decisions(answer["decisions"])
    if "missing" in answer:
        yield from format_missing(answer["missing"])
    yield from format_audit(answer["audit"])
    yield from _format_arcs(answer)
    yield from _format_gains(answer["arcs"])
    if "bootstraps" in answer:
        yield from _format_bootstrap(answer["arcs"], answer["bootstraps"])
    if 2 * answer["n_arcs"] < answer["n_variables"]:
        yield _format_best_rejected(answer)
    for path in answer.get("files", {}).values():
        yield f"wrote       {path}"


def _format_traffic(traffic: dict[str, int]) -> str:
    """Return the line about what was sent to the workers of a cluster, and received."""
    return (
        f"cluster     {traffic['families']:,} families in {traffic['batches']:,} round trips: "
        f"{traffic['sent'] / 1e6:,.1f} MB sent, {traffic['received'] / 1e6:,.1f} MB received"
    )


def _format_arcs(answer: dict[str, Any]) -> Iterator[str]:
    """Yield all arcs; those that data cannot direct are shown without an arrow."""
    n_edges = len(answer["cpdag"]["edges"])
    note = f", of which data alone cannot direct {n_edges:,} (--)" if n_edges else ""
    yield f"arcs        {answer['n_arcs']:,}{note}"
    shown = [name for name in NUMBERS if any(name in arc for arc in answer["arcs"])]
    if shown:
        yield "  " + "  ".join(shown)
    for arc in answer["arcs"]:
        numbers = "".join(f"{arc[name]:>{len(name)}.3f}  " for name in shown)
        yield f"  {numbers}{_format_arc(arc)}"


def _format_gains(arcs: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the arcs with the largest gain, and those with the smallest."""
    ranked = sorted(arcs, key=lambda arc: (-arc["gain"], arc["from"], arc["to"]))
    weakest = ranked[RANKED:][-RANKED:][::-1]
    for label, some in (("strongest", ranked[:RANKED]), ("weakest", weakest)):
        if some:
            named = ", ".join(f"{_format_arc(arc)} ({arc['gain']:+,.2f})" for arc in some)
            yield f"{label:12}{named}"


def _format_bootstrap(arcs: list[dict[str, Any]], bootstraps: dict[str, Any]) -> Iterator[str]:
    """Yield the number of samples, the arcs of lowest confidence, and those outside the network."""
    yield (
        f"bootstraps  {format_count(bootstraps['n_bootstraps'], 'sample')}; consensus of "
        f"{format_count(len(bootstraps['consensus']), 'arc')} above the threshold "
        f"{bootstraps['threshold']:.3f}"
    )
    ranked = sorted(arcs, key=lambda arc: (arc["strength"], arc["gain"], arc["from"], arc["to"]))
    lowest = [
        f"{_format_arc(arc)} ({arc['strength']:.3f})" for arc in ranked if arc["strength"] < 1
    ]
    if lowest:
        yield f"uncertain   {', '.join(lowest[:RANKED])}"
    elif arcs:
        yield "uncertain   none: every sample joins the variables of every arc"
    lacking = [
        f"{arc['from']} -> {arc['to']} ({arc['strength']:.3f})"
        for arc in bootstraps["not_in_network"]
    ]
    more = f" and {len(lacking) - LACKING:,} more" if len(lacking) > LACKING else ""
    if lacking:
        named = ", ".join(lacking[:LACKING])
        yield f"outside     {named}{more}: above the threshold, but not in the network"
    else:
        yield "outside     none: the network joins the variables of every arc above the threshold"


def _format_best_rejected(answer: dict[str, Any]) -> str:
    """Return the line about the best arc outside the network."""
    rejected = answer["best_rejected"]
    if rejected is None:
        return "rejected    none: no further arc is allowed"
    gain = rejected["gain"]
    effect = f"lowers the score by {-gain:,.2f}"
    if gain > 0:
        effect = f"raises the score by {gain:,.2f}: the search stopped early"
    return f"rejected    {rejected['from']} -> {rejected['to']} is the best other arc; it {effect}"


def _format_arc(arc: dict[str, Any]) -> str:
    return f"{arc['from']} {'->' if arc['directed'] else '--'} {arc['to']}"
