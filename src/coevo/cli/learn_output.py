"""The answer of ``coevo learn`` for people: what was found, how sure, and why not more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from coevo.cli.column_options import lines_on_audit, lines_on_columns
from coevo.cli.missing import lines_on_missing

__all__ = ["lines_of_answer"]

RANKED = 3  # arcs that are named as the strongest, and as the weakest
MISSED = 5  # arcs that are named as missing, before it is said how many more
NUMBERS = ("strength", "direction", "support")  # that stand beside each arc, if they are known


def lines_of_answer(answer: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of an answer; `answer` is what ``--format json`` prints."""
    prior = "" if answer["ess"] is None else f", ess {answer['ess']:g}"
    if "log_prior" in answer:
        prior += f", prior of arcs {answer['log_prior']:+g}"
    yield f"score       {answer['score']:.6f}  ({answer['scoring']}{prior}; higher is better)"
    yield (
        f"method      {answer['method']}, seed {answer['seed']}: generations: "
        f"{answer['generations']:,}, in {answer['seconds']:.2f} s, ended by "
        f"{answer['stop_reason']}"
    )
    yield f"table       {answer['n_rows']:,} rows, {answer['n_variables']:,} variables"
    if "traffic" in answer:
        yield _line_on_traffic(answer["traffic"])
    yield from lines_on_columns(answer["columns"])
    if "missing" in answer:
        yield from lines_on_missing(answer["missing"])
    yield from lines_on_audit(answer["audit"])
    yield from _lines_on_arcs(answer)
    yield from _lines_on_gains(answer["arcs"])
    if "bootstraps" in answer:
        yield from _lines_on_bootstraps(answer["arcs"], answer["bootstraps"])
    if 2 * answer["n_arcs"] < answer["n_variables"]:
        yield _why_so_few(answer)
    for path in answer.get("files", {}).values():
        yield f"wrote       {path}"


def _line_on_traffic(traffic: dict[str, int]) -> str:
    """Return what went to the workers of a cluster, and came back."""
    return (
        f"cluster     {traffic['families']:,} families in {traffic['batches']:,} round trips: "
        f"{traffic['sent'] / 1e6:,.1f} MB out, {traffic['received'] / 1e6:,.1f} MB back"
    )


def _lines_on_arcs(answer: dict[str, Any]) -> Iterator[str]:
    """Yield all arcs; those that no data can direct are shown without an arrow."""
    free = len(answer["cpdag"]["edges"])
    about = f", of which data alone cannot direct {free:,} (--)" if free else ""
    yield f"arcs        {answer['n_arcs']:,}{about}"
    shown = [name for name in NUMBERS if any(name in arc for arc in answer["arcs"])]
    if shown:
        yield "  " + "  ".join(shown)
    for arc in answer["arcs"]:
        numbers = "".join(f"{arc[name]:>{len(name)}.3f}  " for name in shown)
        yield f"  {numbers}{_arc(arc)}"


def _lines_on_gains(arcs: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the arcs that the score would miss most, and those that it would miss least."""
    ranked = sorted(arcs, key=lambda arc: (-arc["gain"], arc["from"], arc["to"]))
    weakest = ranked[RANKED:][-RANKED:][::-1]
    for label, some in (("strongest", ranked[:RANKED]), ("weakest", weakest)):
        if some:
            named = ", ".join(f"{_arc(arc)} ({arc['gain']:+,.2f})" for arc in some)
            yield f"{label:12}{named}"


def _lines_on_bootstraps(arcs: list[dict[str, Any]], bootstraps: dict[str, Any]) -> Iterator[str]:
    """Yield what the strengths rest on, the least sure arcs, and what the network lacks."""
    threshold = bootstraps["threshold"]
    yield (
        f"bootstraps  {bootstraps['n_bootstraps']:,}, which keep {len(bootstraps['consensus']):,} "
        f"arcs above a threshold of {threshold:.3f}"
    )
    ranked = sorted(arcs, key=lambda arc: (arc["strength"], arc["gain"], arc["from"], arc["to"]))
    doubted = [f"{_arc(arc)} ({arc['strength']:.3f})" for arc in ranked if arc["strength"] < 1]
    if doubted:
        yield f"least sure  {', '.join(doubted[:RANKED])}"
    elif arcs:
        yield "least sure  none: every bootstrap joins the variables of every arc"
    missed = [
        f"{arc['from']} -> {arc['to']} ({arc['strength']:.3f})"
        for arc in bootstraps["not_in_network"]
    ]
    more = f" and {len(missed) - MISSED:,} more" if len(missed) > MISSED else ""
    named = f"{', '.join(missed[:MISSED])}{more}:" if missed else "nothing"
    yield f"not in it   {named} above the threshold"


def _why_so_few(answer: dict[str, Any]) -> str:
    """Return what the best of the arcs that are not there would do to the score."""
    rejected = answer["best_rejected"]
    if rejected is None:
        return "left out    nothing: no further arc is allowed"
    gain = rejected["gain"]
    would = f"lower the score by {-gain:,.2f}"
    if gain > 0:
        would = f"raise the score by {gain:,.2f}: the search ended early"
    return f"left out    {rejected['from']} -> {rejected['to']} at best, which would {would}"


def _arc(arc: dict[str, Any]) -> str:
    return f"{arc['from']} {'->' if arc['directed'] else '--'} {arc['to']}"
