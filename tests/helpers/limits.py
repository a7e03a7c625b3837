"""A machine on which hardly an elimination fits into memory, or is quick enough."""

from __future__ import annotations

import coevo.runtime.memory

TOO_LONG = (
    "the exact answer would take about 1 minute with the elimination orders tried (smallest found: "
    "0.0 billion operations)"
)
INSIST = "or compute the exact answer with exact=True (--exact)."


def forget_memory(monkeypatch, n_bytes=200):
    """Let no plan of an elimination fit into memory, but small tables."""
    monkeypatch.setattr(coevo.runtime.memory, "get_machine_memory", lambda: n_bytes)
    monkeypatch.setattr("coevo.network.planning.count_bytes", lambda n_cells: 10**6 + n_cells)


def forget_time(monkeypatch, n_operations=0):
    """Let no elimination be quick enough that takes more operations."""
    monkeypatch.setattr("coevo.network.elimination.MAX_OPERATIONS", n_operations)
