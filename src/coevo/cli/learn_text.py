"""The answer of ``coevo learn`` for people: what was found, how sure, and why not more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from coevo.cli.brought import lines_on_audit, lines_on_columns

__all__ = ["lines_of_answer"]

RANKED = 3  # arcs that are named as the strongest, and as the weakest


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
    yield from lines_on_columns(answer["columns"])
    yield from lines_on_audit(answer["audit"])
    yield from _lines_on_arcs(answer)
    yield from _lines_on_gains(answer["arcs"])
    if 2 * answer["n_arcs"] < answer["n_variables"]:
        yield _why_so_few(answer)
    for path in answer.get("files", {}).values():
        yield f"wrote       {path}"


def _lines_on_arcs(answer: dict[str, Any]) -> Iterator[str]:
    """Yield all arcs; those that no data can direct are shown without an arrow."""
    free = len(answer["cpdag"]["edges"])
    about = f", of which data alone cannot direct {free:,} (--)" if free else ""
    yield f"arcs        {answer['n_arcs']:,}{about}"
    for arc in answer["arcs"]:
        yield f"  {_arc(arc)}"


def _lines_on_gains(arcs: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the arcs that the score would miss most, and those that it would miss least."""
    ranked = sorted(arcs, key=lambda arc: (-arc["gain"], arc["from"], arc["to"]))
    weakest = ranked[RANKED:][-RANKED:][::-1]
    for label, some in (("strongest", ranked[:RANKED]), ("weakest", weakest)):
        if some:
            named = ", ".join(f"{_arc(arc)} ({arc['gain']:+,.2f})" for arc in some)
            yield f"{label:12}{named}"


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
