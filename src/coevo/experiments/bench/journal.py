"""The journal of a comparison: the format of its records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coevo import __version__
from coevo.checks import is_int, is_number
from coevo.experiments.bench.plan import Bench
from coevo.experiments.bench.records import BenchRecord
from coevo.experiments.data_sets import hash_networks
from coevo.experiments.environment import describe_machine, find_versions
from coevo.experiments.peers import PEERS
from coevo.io.journal import Journal, RecordFormat
from coevo.io.record_types import read_number

__all__ = ["make_bench_journal"]

KEY = ("network", "rows", "repetition", "method")
TEXTS = ("network", "method", "kind", "score_name", "score_used", "status", "error")


def make_bench_journal(folder: Path, bench: Bench, command: str) -> Journal[BenchRecord]:
    """Return the journal of a folder; raise an error if it holds another comparison.

    Times of two machines cannot be compared, so a folder belongs to one machine.
    """
    common = {
        "version": __version__,
        "seed": bench.seed,
        "score": bench.score.label,
        "max_time": bench.max_time,
        "machine": describe_machine(),
    }
    stamp = {
        "command": command,
        "networks": bench.networks,
        **_describe_tables(bench),
        "rows": bench.rows,
        "seeds": bench.seeds,
        "methods": bench.methods,
        "peers": bench.peers,
        "not_installed": bench.missing_peers,
        "versions": find_versions(*(PEERS[name].package for name in bench.peers)),
    }
    networks = {name: i for i, name in enumerate(bench.sources)}
    runners = {name: i for i, name in enumerate((*bench.labels.values(), *bench.peers))}

    def get_sort_key(key: tuple[str, int, int, str]) -> tuple[int, str, int, int, int, str]:
        network, rows, repetition, method = key
        first = networks.get(network, len(networks))
        return first, network, rows, repetition, runners.get(method, len(runners)), method

    return Journal(
        folder,
        RecordFormat(KEY, ("seconds", "curve"), _read_record, _read_times),
        common,
        get_sort_key,
        stamp,
        hash_networks(bench.networks),
    )


def _describe_tables(bench: Bench) -> dict[str, Any]:
    if not bench.tables:
        return {}
    hashes = {table.name: table.dataset.content_hash for table in bench.tables}
    return {"tables": hashes, "held_out": bench.held_out}


def _read_times(line: dict[str, Any]) -> dict[str, Any]:
    seconds = line["seconds"]
    curve = tuple((read_number(at), read_number(score)) for at, score in line["curve"])
    return {"seconds": None if seconds is None else read_number(seconds), "curve": curve}


def _read_record(line: dict[str, Any]) -> BenchRecord:
    """Return the record of a line, without its times, which are in another file."""
    arcs = line["arcs"]
    if arcs is not None:
        arcs = tuple((str(parent), str(child)) for parent, child in arcs)
    record = BenchRecord(**{**line, "arcs": arcs}, seconds=None, curve=())
    if (
        not all(isinstance(getattr(record, name), str) for name in TEXTS)
        or not is_int(record.rows, 1)
        or not is_int(record.repetition, 0)
        or record.status not in ("done", "timeout", "failed")
        or (record.status == "done") != (is_number(record.score) and arcs is not None)
    ):
        raise ValueError
    return record
