"""The answer of ``coevo learn`` as text: score, arcs, confidence, and the best rejected arc.

Arcs are sorted by gain. `coevo.score.arcs` defines the word for a gain, and
`coevo.score.arcs` the sentence of an arc.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from coevo.cli.missing import format_missing
from coevo.cli.output import format_audit, format_columns, format_decisions
from coevo.errors import format_count

__all__ = ["format_answer", "format_clusters"]

MAX_ARCS = 30  # that are listed
MAX_NAME, MAX_SENTENCE = 24, 110  # characters
UNCERTAIN = 3  # arcs of the lowest strength that are named
SIGNS = {"data": "->", "knowledge": "=>", None: "--"}  # by what directs the arc
LACKING = 5  # significant arcs outside the network that are named
PUBLISHED_METHODS = ("ccga", "ga", "k2ga", "wong", "mdlep")  # as in their papers, but for the limit
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
    from coevo.data.table_audit import describe_roots

    prior = "" if answer["ess"] is None else f", ess {answer['ess']:g}"
    if "parent_penalty" in answer:
        prior += f", {answer['parent_penalty']:g} nats for each parent"
    if "log_prior" in answer:
        prior += f", log prior of arcs {answer['log_prior']:+zg}"
    yield f"score       {answer['score']:z.6f}  ({answer['scoring']}{prior}; higher is better)"
    reason = STOP_REASONS.get(answer["stop_reason"], answer["stop_reason"])
    first = f" from the result of {answer['start_method']}" if "start_method" in answer else ""
    yield (
        f"method      {answer['method']}{first}, seed {answer['seed']}: "
        f"{format_count(answer['generations'], 'generation')} in {answer['seconds']:.2f} s, "
        f"{reason}"
    )
    if answer["method"] in PUBLISHED_METHODS and answer["max_table"] is not None:
        yield (
            f"limit       tables of at most {answer['max_table']:,} cells, which the published "
            "method does not have; --max-table 0 removes it"
        )
    n_rows, n_variables = answer["n_rows"], answer["n_variables"]
    yield f"table       {format_count(n_rows, 'row')}, {format_count(n_variables, 'variable')}"
    if "clusters" in answer:
        yield format_clusters(answer["clusters"])
    if "traffic" in answer:
        yield _format_traffic(answer["traffic"])
    yield from format_columns(answer["columns"])
    yield from format_decisions(answer["decisions"])
    if "missing" in answer:
        yield from format_missing(answer["missing"])
    yield from format_audit(answer["audit"])
    yield from _format_arcs(answer)
    if "suggested_roots" in answer:
        yield f"roots       {describe_roots(answer['suggested_roots'])}"
    if "quick_bootstrap" in answer:
        yield from _format_quick_bootstrap(answer)
    if "no_strengths" in answer:
        yield f"bootstrap   none: {answer['no_strengths']}"
    if "bootstraps" in answer:
        yield from _format_bootstrap(answer["arcs"], answer["bootstraps"])
    if "posterior" in answer:
        yield _format_posterior(answer)
    if "proof" in answer:
        yield f"proof       {answer['proof']['verdict']}"
    misses = list(_format_near_misses(answer))
    yield from misses
    if "no_arcs_reason" in answer:
        yield f"reason      {answer['no_arcs_reason']}"
    if 2 * answer["n_arcs"] < answer["n_variables"] and not misses:
        yield _format_best_rejected(answer)
    for path in answer.get("files", {}).values():
        yield f"wrote       {path}"


def format_clusters(clusters: dict[str, Any]) -> str:
    """Return the line about clusters of rows."""
    return (
        f"clusters    {clusters['n_clusters']:,} of {clusters['column']!r}: bootstrap samples draw "
        "clusters, not rows"
    )


def _format_traffic(traffic: dict[str, int]) -> str:
    """Return the line about what was sent to the workers of a cluster, and received."""
    return (
        f"cluster     {traffic['families']:,} families in {traffic['batches']:,} round trips: "
        f"{traffic['sent'] / 1e6:,.1f} MB sent, {traffic['received'] / 1e6:,.1f} MB received"
    )


def _format_arcs(answer: dict[str, Any]) -> Iterator[str]:
    """Yield a summary, then the arcs; those that data cannot direct are shown without an arrow."""
    arcs = answer["arcs"]
    counts = _count_words(arcs)
    n_known = sum(arc["directed_by"] == "knowledge" for arc in arcs)
    n_edges = sum(arc["directed_by"] is None for arc in arcs)
    note = f"; the constraints direct {n_known:,} (=>)" if n_known else ""
    note += f"; data alone cannot direct {n_edges:,} (--)" if n_edges else ""
    yield f"arcs        {len(arcs):,}{f': {counts}' if counts else ''}{note}"
    yield from _format_arc_table(arcs[:MAX_ARCS])
    if arcs and "strength" in arcs[0]:
        yield (
            "  strength: share of the samples that join the two, with its 95 % interval; "
            "-> and <-: share of these that direct the edge so"
        )
    if len(arcs) > MAX_ARCS:
        rest = arcs[MAX_ARCS:]
        file = "run.json and " if "run" in answer.get("files", ()) else ""
        yield f"  and {len(rest):,} more ({_count_words(rest)}), all in {file}--format json"


def _count_words(arcs: list[dict[str, Any]]) -> str:
    """Return the number of arcs with each word."""
    from coevo.score import GAIN_WORDS

    words = Counter(arc["word"] for arc in arcs)
    return ", ".join(f"{words[word]:,} {word}" for word in GAIN_WORDS if words[word])


def _format_arc_table(arcs: list[dict[str, Any]]) -> Iterator[str]:
    """Yield a line for each arc, in columns: gain, word, strength, arc, and what the arc says."""
    if not arcs:
        return
    columns = [
        ["gain", *(f"{arc['gain']:z,.2f}" for arc in arcs)],
        ["", *(arc["word"] for arc in arcs)],
        ["arc", *(_format_arc(arc, MAX_NAME) for arc in arcs)],
        ["", *(_cut(arc["says"] or "", MAX_SENTENCE) for arc in arcs)],
    ]
    if "strength" in arcs[0]:
        # -> and <-: the shares of the samples with the edge that direct it either way
        columns.insert(2, ["strength", *(_format_strength(arc) for arc in arcs)])
    elif "probability" in arcs[0]:
        columns.insert(2, ["probability", *(f"{arc['probability']:.2f}" for arc in arcs)])
    if any("direction" in arc for arc in arcs):
        # -> and <-: the shares of the samples with the edge that direct it either way
        columns[3:3] = [
            [sign, *(f"{arc[name]:.2f}" if name in arc else "" for arc in arcs)]
            for sign, name in (("->", "direction"), ("<-", "reverse"))
        ]
    if "strength" in arcs[0] and "probability" in arcs[0]:
        columns.insert(-2, ["probability", *(f"{arc['probability']:.2f}" for arc in arcs)])
    numeric = {column[0] for column in columns} & {*("gain", "strength", "->", "<-", "probability")}
    widths = [max(map(len, column)) for column in columns]
    for row in zip(*columns, strict=True):
        cells = [
            cell.rjust(width) if column[0] in numeric else cell.ljust(width)
            for cell, width, column in zip(row, widths, columns, strict=True)
        ]
        yield f"  {'  '.join(cells)}".rstrip()


def _format_strength(arc: dict[str, Any]) -> str:
    """Return the strength of an arc, with its interval: samples are often few."""
    low, high = arc["interval"]
    return f"{arc['strength']:.2f} ({low:.2f} to {high:.2f})"


def _cut(text: str, limit: int) -> str:
    """Return a text of at most `limit` characters; the middle of a longer text is left out.

    >>> _cut("a_name_that_is_too_long", 11)
    'a_na...long'
    """
    if len(text) <= limit:
        return text
    half = (limit - 3) // 2
    return f"{text[:half]}...{text[-(limit - 3 - half) :]}"


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
        yield f"uncertain   {', '.join(lowest[:UNCERTAIN])}"
    elif arcs:
        yield "uncertain   none: every sample joins the variables of every arc"
    outside = _format_outside(bootstraps)
    none = "none: the network joins the variables of every arc above the threshold"
    yield f"outside     {outside or none}"


def _format_outside(bootstraps: dict[str, Any]) -> str:
    """Return the significant arcs that the network lacks; empty if there are none."""
    lacking = [
        f"{arc['from']} -> {arc['to']} ({arc['strength']:.3f})"
        for arc in bootstraps["not_in_network"]
    ]
    more = f" and {len(lacking) - LACKING:,} more" if len(lacking) > LACKING else ""
    named = ", ".join(lacking[:LACKING])
    return f"{named}{more}: above the threshold, but not in the network" if lacking else ""


def _format_quick_bootstrap(answer: dict[str, Any]) -> Iterator[str]:
    """Yield the number of quick samples, of arcs that more than half have, and those outside."""
    bootstraps, arcs = answer["quick_bootstrap"], answer["arcs"]
    n_found = sum(arc["strength"] > 0.5 for arc in arcs)
    yield (
        f"bootstrap   {bootstraps['n_bootstraps']:,} samples by short searches: {n_found:,} of "
        f"{format_count(len(arcs), 'arc')} in more than half; --bootstraps 100 for the full one"
    )
    if outside := _format_outside(bootstraps):
        yield f"outside     {outside}"


def _format_posterior(answer: dict[str, Any]) -> str:
    """Return how many edges are probable, and how far the probabilities can be trusted."""
    facts = answer["posterior"]
    number = format_count(facts["n_edges"], "edge")
    return f"posterior   {number} with a probability above 0.5. {facts['verdict']}"


def _format_near_misses(answer: dict[str, Any]) -> Iterator[str]:
    """Yield the near misses of variables without arcs, with their probabilities."""
    from coevo.score.arcs import LIKELY

    joined = {name for arc in answer["arcs"] for name in (arc["from"], arc["to"])}
    for miss in answer["near_misses"]:
        ends = (miss["from"], miss["to"])
        if (miss["probability"] or 0.0) < LIKELY or joined.issuperset(ends):
            continue
        if miss["gain"] > 0:  # the search stopped early; the line about the rejected arc says so
            continue
        named = " -- ".join(_cut(end, MAX_NAME) for end in ends)
        yield (
            f"near miss   {named}: probability {miss['probability']:.2f}, if nothing else "
            f"changes; {-miss['gain']:z,.2f} nats short"
        )


def _format_best_rejected(answer: dict[str, Any]) -> str:
    """Return the line about the best arc outside the network."""
    rejected = answer["best_rejected"]
    if rejected is None and answer["stop_reason"] == "time":
        return "rejected    unknown: the time limit left no time to score the other arcs"
    if rejected is None:
        return "rejected    none: no further arc is allowed"
    gain = rejected["gain"]
    effect = f"lowers the score by {-gain:,.2f}"
    if abs(gain) < 0.005:  # 0.00 when rounded
        effect = "changes the score by less than 0.01"
    elif gain > 0:
        effect = f"raises the score by {gain:,.2f}: the search stopped early"
    return f"rejected    {rejected['from']} -> {rejected['to']} is the best other arc; it {effect}"


def _format_arc(arc: dict[str, Any], limit: int | None = None) -> str:
    """Return an arc with the sign of what directs it; names longer than `limit` are cut."""
    names = [name if limit is None else _cut(name, limit) for name in (arc["from"], arc["to"])]
    return f" {SIGNS[arc['directed_by']]} ".join(names)
