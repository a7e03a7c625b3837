"""What came out for each method on each network and size, over the seeds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, median
from typing import Any

from coevo.experiments.bench.results import Result

__all__ = ["AT_THE_BEST", "Summary", "summarise"]

AT_THE_BEST = 1e-6  # nats; what round-off may do


@dataclass(frozen=True)
class Summary:
    """A method on one network and size.

    Means and the median are over the runs that found something, and None if there is none;
    the share is of all runs.
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
    mean_above_true: float | None
    mean_shd: float | None
    mean_shd_cpdag: float | None
    mean_skeleton_f1: float | None
    mean_arc_f1: float | None
    median_seconds: float | None

    def as_dict(self) -> dict[str, Any]:
        """Return one flat record, as ``coevo bench --format json`` prints it."""
        return asdict(self)


def summarise(results: Iterable[Result]) -> list[Summary]:
    """Return a summary of each method on each network and size, in the order of the rows."""
    groups: dict[tuple[str, int, str], list[Result]] = {}
    for result in results:
        groups.setdefault((result.network, result.rows, result.method), []).append(result)
    return [_summary(own) for own in groups.values()]


def _summary(results: Sequence[Result]) -> Summary:
    first = results[0]
    gaps = _numbers(results, "gap_to_best")
    seconds = _numbers(results, "seconds")
    return Summary(
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
        mean_gap_to_best=_mean(gaps),
        share_at_best=sum(gap <= AT_THE_BEST for gap in gaps) / len(results),
        mean_above_true=_mean(_numbers(results, "above_true")),
        mean_shd=_mean(_numbers(results, "shd")),
        mean_shd_cpdag=_mean(_numbers(results, "shd_cpdag")),
        mean_skeleton_f1=_mean(_numbers(results, "skeleton_f1")),
        mean_arc_f1=_mean(_numbers(results, "arc_f1")),
        median_seconds=median(seconds) if seconds else None,
    )


def _numbers(results: Sequence[Result], name: str) -> list[float]:
    return [value for value in (getattr(r, name) for r in results) if value is not None]


def _mean(numbers: Sequence[float]) -> float | None:
    return fmean(numbers) if numbers else None


def _count(results: Sequence[Result], status: str) -> int:
    return sum(result.status == status for result in results)
