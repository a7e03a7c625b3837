"""The summary of each method on each network and size, over the seeds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, median
from typing import Any

from coevo.experiments.bench.results import BenchRun

__all__ = ["BEST_TOLERANCE", "BenchSummary", "summarise"]

BEST_TOLERANCE = 1e-6  # nats; allows for round-off
MEANS = (
    "held_out",
    "n_arcs",
    "true_score",
    "above_true",
    "shd",
    "shd_cpdag",
    "sid",
    "skeleton_f1",
    "arc_f1",
)


@dataclass(frozen=True)
class BenchSummary:
    """A method on one network and size.

    Means and the median are over the runs with a result, and None if there is none. The share is
    of all runs.
    """

    network: str
    rows: int
    method: str
    kind: str
    version: str | None
    score_used: str
    runs: int
    done: int
    timeouts: int
    failed: int
    mean_gap_to_best: float | None
    share_at_best: float
    mean_held_out: float | None
    mean_n_arcs: float | None
    mean_true_score: float | None
    mean_above_true: float | None
    mean_shd: float | None
    mean_shd_cpdag: float | None
    mean_sid: float | None
    mean_skeleton_f1: float | None
    mean_arc_f1: float | None
    median_seconds: float | None

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as a dict, as ``coevo bench --format json`` prints them."""
        return asdict(self)


def summarise(results: Iterable[BenchRun]) -> list[BenchSummary]:
    """Return a summary of each method on each network and size, in the order of the rows."""
    groups: dict[tuple[str, int, str], list[BenchRun]] = {}
    for result in results:
        groups.setdefault((result.network, result.rows, result.method), []).append(result)
    return [_summarise_group(group) for group in groups.values()]


def _summarise_group(results: Sequence[BenchRun]) -> BenchSummary:
    first = results[0]
    gaps = _collect_numbers(results, "gap_to_best")
    seconds = _collect_numbers(results, "seconds")
    return BenchSummary(
        network=first.network,
        rows=first.rows,
        method=first.method,
        kind=first.kind,
        version=first.version,
        score_used=first.score_used,
        runs=len(results),
        done=_count(results, "done"),
        timeouts=_count(results, "timeout"),
        failed=_count(results, "failed"),
        mean_gap_to_best=_mean_or_none(gaps),
        share_at_best=sum(gap <= BEST_TOLERANCE for gap in gaps) / len(results),
        **{f"mean_{name}": _mean_or_none(_collect_numbers(results, name)) for name in MEANS},
        median_seconds=median(seconds) if seconds else None,
    )


def _collect_numbers(results: Sequence[BenchRun], name: str) -> list[float]:
    return [value for value in (getattr(r, name) for r in results) if value is not None]


def _mean_or_none(numbers: Sequence[float]) -> float | None:
    return fmean(numbers) if numbers else None


def _count(results: Sequence[BenchRun], status: str) -> int:
    return sum(result.status == status for result in results)
