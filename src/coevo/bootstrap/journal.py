"""How bootstraps stand in the journal of a folder, so that the same command goes on."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

from coevo.bootstrap.runs import BootstrapRun, Plan
from coevo.data import IncompleteDataset
from coevo.io.journal import Form, Journal
from coevo.score import FamilyScorer
from coevo.search.fingerprint import search_fingerprint

__all__ = ["strength_journal"]


def strength_journal(
    folder: Path, scorer: FamilyScorer, plan: Plan, table: IncompleteDataset | None = None
) -> Journal[BootstrapRun]:
    """Return the journal of a folder, or refuse one of other data or settings.

    The number of bootstraps is not among them: more can be added later.
    """
    identity = search_fingerprint(scorer, plan.method, plan.constraints, plan.seed)
    if table is not None:
        identity |= {"data_hash": table.content_hash, "missing": plan.missing}
    limits = {name: value for name, value in asdict(plan.budget).items() if value is not None}
    names = set(scorer.dataset.names)
    form = Form(("bootstrap",), ("seconds",), lambda line: _record(line, names), _times)
    return Journal(folder, form, {**identity, "budget": limits}, lambda key: key)


def _numbers(listed: Any) -> tuple[tuple[str, str, float], ...] | None:
    """Return a number for each of some pairs of variables, if there are any."""
    if listed is None:
        return None
    return tuple((parent, child, float(number)) for parent, child, number in listed)


def _times(line: dict[str, Any]) -> dict[str, Any]:
    return {"seconds": float(line["seconds"])}


def _record(line: dict[str, Any], names: set[str]) -> BootstrapRun:
    """Return the bootstrap of a line; its time stands elsewhere."""
    arcs = tuple((parent, child) for parent, child in line["arcs"])
    numbers = {name: _numbers(line.get(name)) for name in ("support", "worth")}
    record = BootstrapRun(**{**line, "arcs": arcs, **numbers}, seconds=0.0)
    if (
        not all(type(n) is int and n >= 0 for n in (record.bootstrap, record.generations))
        or not math.isfinite(record.score)
        or not all(end in names for arc in (*arcs, *(record.shares or ())) for end in arc)
    ):
        raise ValueError
    return record
