"""What comes out of the comparison, and why, in sentences that follow from the numbers.

No sentence is written in advance for one outcome: each function has a sentence for either sign.
A system *beats* another on a data set if its mean score is significantly higher there.

The reasons why CCMA is above the other systems are properties of the algorithms. The numbers beside
them are differences between systems that have the property and systems that do not.
`benchmarks/ablation.py` takes single parts of CCMA away, which is the cleaner test.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean

from coevo.experiments.paper.plan import PaperDataSet
from coevo.experiments.related_methods.plan import SYSTEMS
from coevo.experiments.related_methods.summary import ROUND_OFF, PairedComparison, ReviewedResults

__all__ = [
    "describe_against",
    "describe_claim_of_paper",
    "describe_older_systems",
    "describe_reasons",
    "describe_winner",
    "format_names",
    "list_shd_winners",
]


OLDER = ("ccga-1", "ga", "ga-information", "ga-random-order", "k2ga", "wong", "mdlep")  # all evolve


def describe_claim_of_paper(results: ReviewedResults) -> str:
    """Return whether CCGA beats K2 with random orders here, as it does in the paper."""
    if not {"ccga", "k2"} <= set(results.systems):
        return ""
    holds = all(sign == 1 for sign in _list_signs(results, "ccga", "k2"))
    claim = (
        "The main statement of the paper holds here."
        if holds
        else "The main statement of the paper does not hold on every data set here."
    )
    return f"{claim} {describe_against(results, 'ccga', 'k2')}"


def describe_older_systems(results: ReviewedResults) -> str:
    """Return which of the older systems that evolve beat the CCGA of the paper, and by how much."""
    older = [name for name in OLDER if name in results.systems]
    if "ccga" not in results.systems or not older:
        return ""
    winners = [name for name in older if set(_list_signs(results, name, "ccga")) == {1}]
    on_all = _count_data_sets(len(results.data_sets), len(results.data_sets))
    if winners:
        verb = "beats" if len(winners) == 1 else "beat"
        first = (
            f"With no more evaluations than the CCGA of the paper, {format_names(winners)} "
            f"{verb} it {on_all}."
        )
    else:
        first = f"No older system that evolves beats the CCGA of the paper {on_all}."
    return "\n".join([first, "", *(f"- {describe_against(results, n, 'ccga')}" for n in older)])


def describe_winner(results: ReviewedResults) -> str:
    """Return where CCMA stands among all systems."""
    others = [name for name in results.systems if name != "ccma"]
    if "ccma" not in results.systems or not others:
        return ""
    found = [_compare(results, name, "ccma", data) for data in results.data_sets for name in others]
    above = [c for c in found if c.difference > ROUND_OFF]
    n = len(results.data_sets)
    n_highest = n - len({c.data for c in above})
    n_worse, n_better = (sum(c.sign == sign for c in found) for sign in (-1, 1))
    lines = [
        f"CCMA has the highest mean score of all systems {_count_data_sets(n_highest, n)}. In "
        f"{len(found)} comparisons with other systems it is significantly better in {n_worse} and "
        f"significantly worse in {n_better}. {_describe_best_runs(results)}"
    ]
    if above:
        lines.append("")
    lines += [
        f"- On {c.data.label}, {_label(c.system)} is {c.difference:,.1f} nats above CCMA"
        f"{'' if c.sign else ', which is not significant'}."
        for c in above
    ]
    return "\n".join(lines)


def _describe_best_runs(results: ReviewedResults) -> str:
    """Return how many runs of CCMA, and of all others, end at the best score of all runs."""
    counts = dict.fromkeys(results.systems, 0)
    for data in results.data_sets:
        scores = {name: [r.score for r in results.records[data, name]] for name in counts}
        best = max(max(found) for found in scores.values())
        for name, found in scores.items():
            counts[name] += sum(score > best - ROUND_OFF for score in found)
    n_runs = sum(len(results.records[data, "ccma"]) for data in results.data_sets)
    n_others = sum(counts.values()) - counts["ccma"]
    return (
        f"{counts['ccma']} of its {n_runs} runs end at the best score that any run found, and "
        f"{n_others or 'none'} of all runs of the other systems."
    )


def list_shd_winners(results: ReviewedResults) -> dict[PaperDataSet, tuple[list[str], float]]:
    """Return the systems with the smallest mean SHD on each data set, and this mean."""
    winners = {}
    for data in results.data_sets:
        means = {name: results.compute_mean_shd(data, name) for name in results.systems}
        least = min(means.values())
        winners[data] = ([name for name, mean in means.items() if mean == least], least)
    return winners


def describe_against(results: ReviewedResults, system: str, other: str) -> str:
    """Return on how many data sets a system is better or worse than another."""
    found = [_compare(results, system, other, data) for data in results.data_sets]
    signs, n = [c.sign for c in found], len(found)
    names = _label(system), _label(other)
    if set(signs) == {1}:
        by = _format_range([c.difference for c in found])
        return f"{_capitalise(names[0])} beats {names[1]} {_count_data_sets(n, n)}, by {by} nats."
    if set(signs) == {-1}:
        by = _format_range([-c.difference for c in found])
        return (
            f"{_capitalise(names[0])} loses to {names[1]} {_count_data_sets(n, n)}, by {by} nats."
        )
    differences = _format_range([c.difference for c in found], sign="+")
    return (
        f"{_capitalise(names[0])} is significantly better than {names[1]} "
        f"{_count_data_sets(signs.count(1), n)} and significantly worse "
        f"{_count_data_sets(signs.count(-1), n)}; the mean difference is {differences} nats."
    )


def compute_mean_advantage(results: ReviewedResults, system: str, other: str) -> float:
    """Return the mean over the data sets of the difference between two mean scores."""
    return fmean(
        results.compute_mean(data, system) - results.compute_mean(data, other)
        for data in results.data_sets
    )


def format_names(names: Sequence[str]) -> str:
    """Return the labels of systems as a list in a sentence."""
    labels = [_label(name) for name in names]
    return " and ".join([", ".join(labels[:-1]), labels[-1]] if labels[1:] else labels)


def _label(name: str) -> str:
    return SYSTEMS[name].label


def _capitalise(text: str) -> str:
    return text[0].upper() + text[1:]


def _compare(
    results: ReviewedResults, system: str, other: str, data: PaperDataSet
) -> PairedComparison:
    """Return a comparison of two systems, of which one has been compared with all."""
    if other in results.comparisons:
        return results.comparisons[other][data, system]
    found = results.comparisons[system][data, other]
    return PairedComparison(data, system, other, -found.difference, found.p_value)


def _list_signs(results: ReviewedResults, system: str, other: str) -> list[int]:
    return [_compare(results, system, other, data).sign for data in results.data_sets]


def _count_data_sets(count: int, total: int) -> str:
    """Return on how many data sets something holds.

    >>> _count_data_sets(6, 6), _count_data_sets(2, 6), _count_data_sets(0, 6)
    ('on all 6 data sets', 'on 2 of 6 data sets', 'on no data set')
    """
    if count == 0:
        return "on no data set"
    if count < total:
        return f"on {count} of {total} data sets"
    return {1: "on the data set", 2: "on both data sets"}.get(total, f"on all {total} data sets")


def _format_range(values: Iterable[float], sign: str = "") -> str:
    """Return the smallest and the largest value, or the value if there is one.

    >>> _format_range([-3.2, 11.9], "+"), _format_range([1234.5])
    ('-3 to +12', '1,234')
    """
    chosen = list(values)
    low, high = f"{min(chosen):{sign}z,.0f}", f"{max(chosen):{sign}z,.0f}"
    return low if low == high else f"{low} to {high}"


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
