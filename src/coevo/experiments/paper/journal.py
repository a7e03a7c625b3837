"""How the runs of the paper's experiment stand in its journal."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from coevo import __version__
from coevo.experiments.paper.plan import ALGORITHMS, Paper
from coevo.experiments.paper.runs import RunRecord
from coevo.io.journal import Form, Journal

__all__ = ["Key", "paper_journal"]

Key = tuple[str, int, str, int]  # network, rows, algorithm, run
COMMON = ("seed", "generations", "population")  # what all runs of a folder share


def paper_journal(folder: Path, paper: Paper) -> Journal[RunRecord]:
    """Return the journal of a folder, or refuse one of another experiment."""
    common = {"version": __version__, **{name: getattr(paper, name) for name in COMMON}}
    networks = {name: place for place, name in enumerate(paper.networks)}

    def place(key: Key) -> tuple[int, str, int, int, int]:
        network, rows, algorithm, run = key
        first = networks.get(network, len(networks))
        return first, network, rows, ALGORITHMS.index(algorithm), run

    form = Form(("network", "rows", "algorithm", "run"), ("seconds",), _record, _times)
    return Journal(folder, form, common, place)


def _times(line: dict[str, Any]) -> dict[str, Any]:
    return {"seconds": float(line["seconds"])}


def _record(line: dict[str, Any]) -> RunRecord:
    """Return the run of a line; its time stands elsewhere."""
    steps = tuple((int(generation), float(score)) for generation, score in line["improvements"])
    record = RunRecord(**{**line, "improvements": steps}, seconds=0.0)
    whole = (record.rows, record.run, record.seed, record.n_arcs, record.generations)
    if (
        not isinstance(record.network, str)
        or record.algorithm not in ALGORITHMS
        or not all(isinstance(number, int) for number in whole)
        or not math.isfinite(record.score)
        or (record.algorithm == "ccga" and (not steps or steps[0][0] != 0))
    ):
        raise ValueError
    return record
