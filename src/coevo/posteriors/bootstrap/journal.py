"""The bootstrap runs of a folder, so that the same command resumes."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

from coevo.data import IncompleteDataset, Rows
from coevo.io.journal import Journal, RecordFormat
from coevo.io.record_types import read_number
from coevo.posteriors.bootstrap.samples import BootstrapRun
from coevo.search import SearchSpec

__all__ = ["open_journal"]


def open_journal(
    folder: Path, table: Rows, spec: SearchSpec, missing: str | None = None
) -> Journal[BootstrapRun]:
    """Return the journal of a folder, or refuse one of other data or settings.

    The number of bootstrap samples is not part of the settings: more can be added later.
    """
    limits = {name: value for name, value in asdict(spec.budget).items() if value is not None}
    policy = {"missing": missing} if isinstance(table, IncompleteDataset) else {}
    common = spec.fingerprint(table.content_hash, **policy) | {"budget": limits}
    names = set(table.names)
    form = RecordFormat(
        ("bootstrap",), ("seconds",), lambda line: _read_run(line, names), _read_times
    )
    return Journal(folder, form, common, lambda key: key)


def _read_numbers(listed: Any) -> tuple[tuple[str, str, float], ...] | None:
    """Return a number for each listed pair of variables."""
    if listed is None:
        return None
    return tuple((parent, child, read_number(number)) for parent, child, number in listed)


def _read_times(line: dict[str, Any]) -> dict[str, Any]:
    return {"seconds": read_number(line["seconds"])}


def _read_run(line: dict[str, Any], names: set[str]) -> BootstrapRun:
    """Return the run of a line; its time stands in another file."""
    arcs = tuple((parent, child) for parent, child in line["arcs"])
    numbers = {name: _read_numbers(line.get(name)) for name in ("support", "worth")}
    run = BootstrapRun(**{**line, "arcs": arcs, **numbers}, seconds=0.0)
    pairs = (*arcs, *(run.support_by_pair or ()))
    if (
        not all(type(n) is int and n >= 0 for n in (run.bootstrap, run.generations))
        or not math.isfinite(run.score)
        or not all(name in names for pair in pairs for name in pair)
    ):
        raise ValueError
    return run
