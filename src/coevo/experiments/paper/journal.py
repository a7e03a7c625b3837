"""The journal of the paper's experiment: the format of its records."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from coevo import __version__
from coevo.experiments.data_sets import hash_networks
from coevo.experiments.paper.plan import ALGORITHMS, Paper
from coevo.experiments.paper.runs import PaperRecord
from coevo.io.journal import Journal, RecordFormat
from coevo.io.record_types import read_number

__all__ = ["PaperRunKey", "make_paper_journal"]

PaperRunKey = tuple[str, int, str, int]  # network, rows, algorithm, run
COMMON = ("seed", "generations", "population")  # settings that all runs of a folder share


def make_paper_journal(folder: Path, paper: Paper) -> Journal[PaperRecord]:
    """Return the journal of a folder; raise an error if it holds another experiment."""
    common = {"version": __version__, **{name: getattr(paper, name) for name in COMMON}}
    networks = {name: i for i, name in enumerate(paper.networks)}

    def get_sort_key(key: PaperRunKey) -> tuple[int, str, int, int, int]:
        network, rows, algorithm, run = key
        first = networks.get(network, len(networks))
        return first, network, rows, ALGORITHMS.index(algorithm), run

    form = RecordFormat(
        ("network", "rows", "algorithm", "run"), ("seconds",), _read_record, _read_times
    )
    return Journal(folder, form, common, get_sort_key, inputs=hash_networks(paper.networks))


def _read_times(line: dict[str, Any]) -> dict[str, Any]:
    return {"seconds": read_number(line["seconds"])}


def _read_record(line: dict[str, Any]) -> PaperRecord:
    """Return the record of a line, without its time, which is in another file."""
    steps = tuple((int(generation), float(score)) for generation, score in line["improvements"])
    record = PaperRecord(**{**line, "improvements": steps}, seconds=0.0)
    integers = (record.rows, record.run, record.seed, record.n_arcs, record.generations)
    if (
        not isinstance(record.network, str)
        or record.algorithm not in ALGORITHMS
        or not all(isinstance(number, int) for number in integers)
        or not math.isfinite(record.score)
        or (record.algorithm == "ccga" and (not steps or steps[0][0] != 0))
    ):
        raise ValueError
    return record
