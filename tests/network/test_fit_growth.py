"""Fitting a variable with many states takes time linear in their number."""

from __future__ import annotations

import time

import numpy as np

from coevo.data import Variable
from coevo.network.node_distribution import _arrange_counts


def measure(n):
    states = tuple(f"s{i}" for i in range(n))
    family = [Variable("a", states[::-1])]
    counts = np.arange(n)
    began = time.process_time()
    arranged = _arrange_counts(family, counts)
    seconds = time.process_time() - began
    rank = {state: i for i, state in enumerate(sorted(states))}
    assert arranged.tolist() == [[rank[state] for state in states[::-1]]]
    return seconds


def test_a_variable_with_many_states():
    measure(100)
    short, long = measure(8000), measure(32_000)
    assert long < 12 * short + 0.1
