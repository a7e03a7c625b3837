"""One table row per run: its score, the true and the best score, and the structural distances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from coevo.experiments.bench.data import BenchDataSet, BenchSetting
from coevo.experiments.bench.records import BenchRecord
from coevo.graph import DAG, compare

__all__ = ["BenchRun", "evaluate_runs"]

DISTANCES = ("shd", "shd_cpdag", "sid", "skeleton_f1", "arc_f1")  # to the true structure


@dataclass(frozen=True)
class BenchRun:
    """The evaluation of a run. Fields without a value are None, as in a run without a result.

    `network` is the network or the table. `seed` is the number of the data set among those of its
    network and size. `best_score` is the highest score of all runs on the same rows.
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
    held_out: float | None  # mean log-likelihood of a row that was held out
    true_score: float | None
    best_score: float | None
    gap_to_best: float | None  # best_score - score, >= 0
    above_true: float | None  # score - true_score, of either sign
    n_arcs: int | None
    shd: int | None
    shd_cpdag: int | None
    sid: int | None
    skeleton_f1: float | None
    arc_f1: float | None
    seconds: float | None
    data_seed: int
    search_seed: int | None
    error: str

    @classmethod
    def list_column_names(cls) -> list[str]:
        """Return the names of the columns."""
        return [field.name for field in fields(cls)]

    @property
    def setting(self) -> BenchSetting:
        """The network and the size."""
        return BenchSetting(self.network, self.rows)

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as a dict."""
        return asdict(self)


def evaluate_runs(
    data: BenchDataSet, records: Sequence[BenchRecord], true: DAG | None, true_score: float | None
) -> list[BenchRun]:
    """Return the evaluation of all runs on one data set."""
    best = max((r.score for r in records if r.score is not None), default=None)
    return [_evaluate_run(data, record, true, true_score, best) for record in records]


def _evaluate_run(
    data: BenchDataSet,
    record: BenchRecord,
    true: DAG | None,
    true_score: float | None,
    best: float | None,
) -> BenchRun:
    evaluation: dict[str, Any] = dict.fromkeys(("gap_to_best", "above_true", "n_arcs", *DISTANCES))
    if record.score is not None and record.arcs is not None and best is not None:
        evaluation |= {"gap_to_best": best - record.score, "n_arcs": len(record.arcs)}
        if true is not None and true_score is not None:
            comparison = compare(DAG(true.nodes, record.arcs), true)
            evaluation["above_true"] = record.score - true_score
            evaluation |= {name: getattr(comparison, name) for name in DISTANCES}
    copied = {
        name: getattr(record, name)
        for name in BenchRun.list_column_names()
        if name in BenchRecord.__dataclass_fields__
    }
    return BenchRun(
        **copied, **evaluation, seed=data.repetition, true_score=true_score, best_score=best
    )
