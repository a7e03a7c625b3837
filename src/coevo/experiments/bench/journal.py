"""How the runs of a comparison stand in its journal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coevo import __version__
from coevo.checks import is_int, is_number
from coevo.experiments.bench.plan import Bench
from coevo.experiments.bench.records import RunRecord
from coevo.experiments.environment import machine, versions
from coevo.experiments.peers import PEERS
from coevo.io.journal import Form, Journal

__all__ = ["bench_journal"]

KEY = ("network", "rows", "repetition", "method")
TEXTS = ("network", "method", "kind", "score_name", "score_used", "status", "error")


def bench_journal(folder: Path, bench: Bench, command: str) -> Journal[RunRecord]:
    """Return the journal of a folder, or refuse one of another comparison.

    Times of two machines would not compare, so that a folder belongs to one of them.
    """
    common = {
        "version": __version__,
        "seed": bench.seed,
        "score": bench.score.label,
        "max_time": bench.max_time,
        "machine": machine(),
    }
    stamp = {
        "command": command,
        "networks": bench.networks,
        "rows": bench.rows,
        "seeds": bench.seeds,
        "methods": bench.methods,
        "peers": bench.peers,
        "not_installed": bench.missing_peers,
        "versions": versions(*(PEERS[name].package for name in bench.peers)),
    }
    networks = {name: place for place, name in enumerate(bench.networks)}
    runners = {name: place for place, name in enumerate((*bench.methods, *bench.peers))}

    def place(key: tuple[str, int, int, str]) -> tuple[int, str, int, int, int, str]:
        network, rows, repetition, method = key
        first = networks.get(network, len(networks))
        return first, network, rows, repetition, runners.get(method, len(runners)), method

    return Journal(folder, Form(KEY, ("seconds", "curve"), _record, _times), common, place, stamp)


def _times(line: dict[str, Any]) -> dict[str, Any]:
    seconds = line["seconds"]
    curve = tuple((float(at), float(score)) for at, score in line["curve"])
    return {"seconds": None if seconds is None else float(seconds), "curve": curve}


def _record(line: dict[str, Any]) -> RunRecord:
    """Return the run of a line; its times stand elsewhere."""
    arcs = line["arcs"]
    if arcs is not None:
        arcs = tuple((str(parent), str(child)) for parent, child in arcs)
    record = RunRecord(**{**line, "arcs": arcs}, seconds=None, curve=())
    if (
        not all(isinstance(getattr(record, name), str) for name in TEXTS)
        or not is_int(record.rows, 1)
        or not is_int(record.repetition, 0)
        or record.status not in ("done", "timeout", "failed")
        or (record.status == "done") != (is_number(record.score) and arcs is not None)
    ):
        raise ValueError
    return record
