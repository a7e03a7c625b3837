"""Structural EM, in the hard form that R's bnlearn has (Friedman 1997; `structural.em`).

Each missing cell gets its most probable state given the cells of its row that are there; a
structure is learned from the completed table; and so on until the structure stays the same.
The first completion knows no structure: it has the most common state of each column. That a
cell is not surely what it most probably is, is forgotten in each round: what the last
structure says of the cells is taken for data by the next.
"""

from __future__ import annotations

import time
from dataclasses import replace

from coevo.graph import DAG
from coevo.missing.completions import Completions, filled_in, most_common
from coevo.missing.question import Found, Question

__all__ = ["structural_em"]

ROUNDS = 5  # at most; as `structural.em`
CHAINS = 4  # that draw cells to find how probable their states are
SWEEPS = 25  # of each


def structural_em(question: Question) -> Found:
    """Fill, learn, and fill again, until the structure stays the same."""
    table = question.table
    completions = Completions(table, CHAINS, question.seed, question.threads())
    codes = most_common(table)
    known: set[DAG] = set()
    began = time.perf_counter()
    while True:
        scorer = question.scorer(table.completed(codes))
        result = question.after(time.perf_counter() - began).run(scorer)
        partners = [result.dag.adjacency()]
        is_stopped = result.stop_reason in ("callback", "interrupt", "time")
        if is_stopped or result.dag in known or len(known) + 1 == ROUNDS:
            whole = replace(result, seconds=time.perf_counter() - began)
            return Found(whole, scorer, completions, partners)
        known.add(result.dag)
        codes = filled_in(table, completions.fill(partners, SWEEPS))
