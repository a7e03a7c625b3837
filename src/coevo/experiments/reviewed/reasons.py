"""Why CCMA is above the other systems, as far as the comparison can say.

The reasons are properties of the algorithms. The numbers beside them are differences between
systems that have the property and systems that do not. Each sentence gives the sign that was
measured. `benchmarks/ablation.py` takes single parts of CCMA away, which is the cleaner test.
"""

from __future__ import annotations

from statistics import fmean

from coevo.experiments.reviewed.findings import compute_mean_advantage
from coevo.experiments.reviewed.summary import ReviewedResults

__all__ = ["describe_reasons"]


def describe_reasons(results: ReviewedResults) -> str:
    """Return the section about CCMA, or nothing if CCMA or CCGA was left out."""
    if not {"ccga", "ccma"} <= set(results.systems):
        return ""
    is_above = compute_mean_advantage(results, "ccma", "ccga") > 0
    title = "Why CCMA is better" if is_above else "What CCMA does differently"
    items = [
        _describe_partner(results),
        _describe_archive(results),
        _describe_climb(results),
        _describe_evaluations(results),
    ]
    listed = "\n".join(f"- {item}" for item in items if item)
    return f"## {title}\n\n{listed}\n"


def _describe_partner(results: ReviewedResults) -> str:
    text = (
        "**The families of an order are computed.** A mask of CCGA is about positions: if a "
        "variable moves in the order, the parents of others change. So a good order is lost with "
        "a mask that does not fit."
    )
    if "k2ga" not in results.systems:
        return text
    gain = compute_mean_advantage(results, "k2ga", "ccga")
    return (
        f"{text} K2GA has no masks: K2 completes each order. On average over the data sets it is "
        f"{_format_nats(gain)} CCGA."
    )


def _describe_archive(results: ReviewedResults) -> str:
    text = (
        "**The families come from an archive.** K2 takes one parent after the other and never "
        "removes one. CCMA scores larger and smaller parent sets around those that its orders "
        "use, keeps the best, and looks up those that an order allows."
    )
    if "k2ga" not in results.systems:
        return text
    gain = compute_mean_advantage(results, "ccma", "k2ga")
    return f"{text} CCMA is {_format_nats(gain)} K2GA."


def _describe_climb(results: ReviewedResults) -> str:
    text = (
        "**Local search improves each order.** It starts with hill climbing. Then each variable "
        "moves to its best place, and a local optimum is left by a perturbation. The other "
        "systems that evolve wait for a random change."
    )
    if "hill_climb" not in results.systems:
        return text
    gain = compute_mean_advantage(results, "ccma", "hill_climb")
    return f"{text} CCMA is {_format_nats(gain)} hill climbing alone."


def _describe_evaluations(results: ReviewedResults) -> str:
    """Return how few evaluations CCMA uses, and when it passes the mean of CCGA."""
    used = fmean(
        fmean(record.evaluations for record in results.records[data, "ccma"])
        / results.limits[data.network]
        for data in results.data_sets
    )
    text = (
        "**Its evaluations go to new families.** CCMA extends a parent set only once. A child of "
        "CCGA, GA or K2GA asks for the scores of all its families, most of which are known. CCMA "
        f"uses {_format_percent(used)} of the evaluations that it may use."
    )
    passing = [results.find_passing(data, "ccma", "ccga") for data in results.data_sets]
    reached = [
        (at, at / results.limits[data.network])
        for data, at in zip(results.data_sets, passing, strict=True)
        if at is not None
    ]
    if not reached:
        return f"{text} Half of its runs never pass the final mean of CCGA."
    counts, shares = zip(*reached, strict=True)
    where = (
        "" if len(reached) == len(passing) else f" on {len(reached)} of {len(passing)} data sets"
    )
    return (
        f"{text} It passes the final mean of CCGA{where} after "
        f"{_join_ends(f'{min(counts):,}', f'{max(counts):,}')} evaluations (median over its runs), "
        f"which is {_join_ends(_format_percent(min(shares)), _format_percent(max(shares)))} of "
        "those of CCGA."
    )


def _format_nats(difference: float) -> str:
    """Return a difference in words.

    >>> _format_nats(12.34), _format_nats(-1200.0)
    ('12 nats above', '1,200 nats below')
    """
    return f"{abs(difference):,.0f} nats {'above' if difference >= 0 else 'below'}"


def _format_percent(share: float) -> str:
    """Return a share with two digits.

    >>> _format_percent(0.0512), _format_percent(0.00123), _format_percent(1.0)
    ('5.1 %', '0.12 %', '100 %')
    """
    percent = 100 * share
    digits = 0 if percent >= 9.95 else 1 if percent >= 0.995 else 2
    return f"{percent:.{digits}f} %"


def _join_ends(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"
