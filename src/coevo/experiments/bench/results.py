"""One tidy row a run: its score beside the true and the best one, and its structure judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from coevo.experiments.bench.plan import DataSet, Setting
from coevo.experiments.bench.records import RunRecord
from coevo.graph import DAG, compare

__all__ = ["Result", "results_of"]


@dataclass(frozen=True)
class Result:
    """A run in numbers; what a run that found nothing has none of is None.

    `seed` counts the data sets of a network and size; `best_score` is the highest that any
    run found on the same rows.
    """

    network: str
    rows: int
    seed: int
    method: str
    kind: str
    version: str | None
    score_name: str
    score_used: str
    status: str
    stop_reason: str | None
    score: float | None
    true_score: float
    best_score: float | None
    gap_to_best: float | None  # how far below the best, >= 0
    above_true: float | None  # how far above the true network, of either sign
    n_arcs: int | None
    shd: int | None
    shd_cpdag: int | None
    skeleton_f1: float | None
    arc_f1: float | None
    seconds: float | None
    data_seed: int
    search_seed: int | None
    error: str

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of the columns."""
        return [field.name for field in fields(cls)]

    @property
    def setting(self) -> Setting:
        """The network and the size."""
        return Setting(self.network, self.rows)

    def as_dict(self) -> dict[str, Any]:
        """Return one flat record."""
        return asdict(self)


def results_of(
    data: DataSet, records: Sequence[RunRecord], true: DAG, true_score: float
) -> list[Result]:
    """Return the rows of all runs on one data set."""
    best = max((r.score for r in records if r.score is not None), default=None)
    return [_result(data, record, true, true_score, best) for record in records]


def _result(
    data: DataSet, record: RunRecord, true: DAG, true_score: float, best: float | None
) -> Result:
    found: dict[str, Any] = dict.fromkeys(
        ("gap_to_best", "above_true", "n_arcs", "shd", "shd_cpdag", "skeleton_f1", "arc_f1")
    )
    if record.score is not None and record.arcs is not None and best is not None:
        judged = compare(DAG(true.nodes, record.arcs), true)
        found = {
            "gap_to_best": best - record.score,
            "above_true": record.score - true_score,
            "n_arcs": len(record.arcs),
            "shd": judged.shd,
            "shd_cpdag": judged.shd_cpdag,
            "skeleton_f1": judged.skeleton_f1,
            "arc_f1": judged.arc_f1,
        }
    own = {
        name: getattr(record, name)
        for name in Result.names()
        if name in RunRecord.__dataclass_fields__
    }
    return Result(**own, **found, seed=data.repetition, true_score=true_score, best_score=best)
