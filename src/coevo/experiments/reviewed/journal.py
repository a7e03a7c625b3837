"""The journal of the comparison: the format of its records."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from coevo import __version__
from coevo.experiments.data_sets import hash_networks
from coevo.experiments.reviewed.plan import Reviewed
from coevo.experiments.reviewed.runs import ReviewedRecord
from coevo.experiments.reviewed.systems import SYSTEMS
from coevo.io.journal import Journal, RecordFormat
from coevo.io.record_types import read_number

__all__ = ["ReviewedRunKey", "make_reviewed_journal"]

ReviewedRunKey = tuple[str, int, str, int]  # network, rows, system, run
COMMON = ("seed", "generations", "population")  # settings that all runs of a folder share


def make_reviewed_journal(folder: Path, reviewed: Reviewed) -> Journal[ReviewedRecord]:
    """Return the journal of a folder; raise an error if it holds another experiment."""
    common = {
        "experiment": "reviewed",
        "version": __version__,
        **{name: getattr(reviewed, name) for name in COMMON},
    }
    networks = {name: i for i, name in enumerate(reviewed.networks)}
    systems = {name: i for i, name in enumerate(SYSTEMS)}

    def get_sort_key(key: ReviewedRunKey) -> tuple[int, str, int, int, int]:
        network, rows, system, run = key
        return networks.get(network, len(networks)), network, rows, systems[system], run

    form = RecordFormat(
        ("network", "rows", "system", "run"), ("seconds",), _read_record, _read_times
    )
    inputs = hash_networks(reviewed.networks)
    return Journal(folder, form, common, get_sort_key, inputs=inputs)


def _read_times(line: dict[str, Any]) -> dict[str, Any]:
    return {"seconds": read_number(line["seconds"])}


def _read_record(line: dict[str, Any]) -> ReviewedRecord:
    """Return the record of a line, without its time, which is in another file."""
    steps = tuple((int(evaluations), float(score)) for evaluations, score in line["improvements"])
    record = ReviewedRecord(**{**line, "improvements": steps}, seconds=0.0)
    integers = (record.rows, record.run, record.seed, record.shd, record.n_arcs)
    if (
        not isinstance(record.network, str)
        or record.system not in SYSTEMS
        or not all(isinstance(number, int) for number in integers)
        or not all(isinstance(n, int) for n in (record.generations, record.evaluations))
        or not math.isfinite(record.score)
        or bool(steps) != SYSTEMS[record.system].evolves
    ):
        raise ValueError
    return record
