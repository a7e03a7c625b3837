"""Parallel tempering: ladders of coupled chains, of which the coldest one is the answer.

A ladder has chains at several temperatures. A chain with the power b (one over its temperature)
samples DAGs in proportion to their weights raised to b. The flatter the weights, the easier a chain
leaves a region. After every few rounds neighbours on the ladder may exchange their DAGs: with
the powers b > c and the log weights x and y of their DAGs, the exchange is accepted with the
probability min(1, exp((b - c)(y - x))). This keeps the distribution of every chain [1]_, so the
chain with the power 1 keeps the posterior.

An exchange moves the layering or the order together with the DAG that was drawn under it. The
chain is over such pairs, and the weight of a pair is that of its DAG.

The log weights of a posterior vary more for more variables. So the powers are nearer to each other
there, in proportion to one over the root of the number of variables.

.. [1] C. J. Geyer, Markov chain Monte Carlo maximum likelihood, Computing Science and Statistics
   23, 1991.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

__all__ = ["EXCHANGE_ROUNDS", "exchange_neighbours", "list_segments", "make_powers"]

EXCHANGE_ROUNDS = 10  # from one exchange to the next
STEP, LARGEST_STEP = 1.0, 0.25  # of the powers, for one variable and at most
LEAST_POWER = 0.1


def make_powers(n_temperatures: int, n_variables: int) -> tuple[float, ...]:
    """Return the powers of a ladder, from 1 down.

    >>> make_powers(1, 16)
    (1.0,)
    >>> make_powers(3, 16)
    (1.0, 0.75, 0.5)
    """
    step = min(LARGEST_STEP, STEP / math.sqrt(max(1, n_variables)))
    if n_temperatures > 1:
        step = min(step, (1.0 - LEAST_POWER) / (n_temperatures - 1))
    return tuple(1.0 - step * k for k in range(n_temperatures))


def list_segments(step: int, n_rounds: int, n_temperatures: int) -> list[tuple[int, int, int]]:
    """Return the rounds between exchanges, and which neighbours are exchanged after them.

    A segment is its first round, the round after its last one, and 0 or 1: the pairs begin with the
    first or the second chain by turns. A single chain has one segment.
    """
    if n_temperatures == 1:
        return [(0, n_rounds, 0)]
    n_segments = -(-n_rounds // EXCHANGE_ROUNDS)
    begins = [EXCHANGE_ROUNDS * i for i in range(n_segments)]
    return [
        (begin, min(begin + EXCHANGE_ROUNDS, n_rounds), (step * n_segments + i) % 2)
        for i, begin in enumerate(begins)
    ]


def exchange_neighbours(
    powers: Sequence[float],
    level: NDArray[np.int64],
    log_weights: NDArray[np.float64],
    parity: int,
    rng: Generator,
) -> NDArray[np.int64]:
    """Exchange neighbours on a ladder, in place; return how many were tried and accepted.

    `level` has a row for each chain, `log_weights` those of their DAGs (raised to no power).
    """
    first = range(parity, len(powers) - 1, 2)
    n_accepted = 0
    for k, lot in zip(first, rng.random(len(first)), strict=True):
        gain = (powers[k] - powers[k + 1]) * (log_weights[k + 1] - log_weights[k])
        if lot < math.exp(min(0.0, gain)):
            level[[k, k + 1]] = level[[k + 1, k]]
            log_weights[[k, k + 1]] = log_weights[[k + 1, k]]
            n_accepted += 1
    return np.array([len(first), n_accepted])
