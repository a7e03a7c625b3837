"""What comes out of the comparison, in sentences that follow from the numbers.

No sentence is written in advance for one outcome: each function has a sentence for either sign.
A system *beats* another on a data set if its mean score is significantly higher there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean

from coevo.experiments.paper.plan import PaperDataSet
from coevo.experiments.reviewed.comparisons import ROUND_OFF, PairedComparison
from coevo.experiments.reviewed.summary import ReviewedResults
from coevo.experiments.reviewed.systems import SYSTEMS

__all__ = [
    "compute_mean_advantage",
    "describe_against",
    "describe_claim_of_paper",
    "describe_older_systems",
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
