"""Markov chains over layerings or orders, whose stationary distribution is the posterior.

The two priors over structures have different chains. With the uniform prior over DAGs the state
of a chain is a layering, of which each DAG has exactly one (partition MCMC [1]_). With the prior
over orders it is an order (order MCMC [2]_). In both the sum over all DAGs of a state comes from
the tables of `coevo.posteriors.chain_tables`, as in Gadget [3]_.

What makes the chains over layerings mix are blocks: a DAG of the layering is drawn, and the
families of up to `block_size` variables, which may be parents of each other, are redrawn
together from their exact conditional distribution (engine/block.h). No move is ever rejected.

A chain begins at a given DAG. For some rounds a chain over orders moves it to the region of high
weight. Then it takes the layering of a DAG that is drawn under its order.

Random numbers belong to (seed, step, chain), so the answer does not depend on the number of
threads, and a run that is stopped and resumed gives the same bits.

**Tempering.** With several temperatures each chain is a ladder of coupled chains, of which the
coldest one is the answer. A chain with the power b (one over its temperature)
samples DAGs in proportion to their weights raised to b. The flatter the weights, the easier a chain
leaves a region. After every few rounds neighbours on the ladder may exchange their DAGs: with
the powers b > c and the log weights x and y of their DAGs, the exchange is accepted with the
probability min(1, exp((b - c)(y - x))). This keeps the distribution of every chain [4]_, so the
chain with the power 1 keeps the posterior.

An exchange moves the layering or the order together with the DAG that was drawn under it. The
chain is over such pairs, and the weight of a pair is that of its DAG.

The log weights of a posterior vary more for more variables. So the powers are nearer to each other
there, in proportion to one over the root of the number of variables.

**Clusters.** On the workers of a cluster, one step of one chain is one job. The tables are sent
once. A job takes the state of a chain and returns its next state, so the answer is the same as on
the threads of one machine.

.. [1] J. Kuipers and G. Moffa, Partition MCMC for inference on acyclic digraphs, JASA 112, 2017.
.. [2] N. Friedman and D. Koller, Being Bayesian about network structure, Machine Learning 50,
   2003.
.. [3] J. Viinikka, A. Hyttinen, J. Pensar and M. Koivisto, Towards scalable Bayesian learning of
   causal DAGs, NeurIPS 2020.
.. [4] C. J. Geyer, Markov chain Monte Carlo maximum likelihood, Computing Science and Statistics
   23, 1991.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.parallel import Cluster, Workers, open_workers
from coevo.posteriors.chain_kernels import (
    ChainArrays,
    ChainRun,
    ChainScratch,
    RoundPlan,
    count_uniforms,
    make_scratch,
    run_layerings,
    run_orders,
)
from coevo.posteriors.chain_state import (
    EXCHANGE,
    ChainRecords,
    ChainSettings,
    ChainState,
    make_round_plan,
)
from coevo.posteriors.chain_tables import BlockChoice, ChainTables, prepare_tables
from coevo.posteriors.family_weights import FamilyWeights
from coevo.runtime.deadline import check_deadline
from coevo.runtime.randomness import random_stream
from coevo.runtime.threads import Threads

__all__ = [
    "ChainRunner",
    "draw_roughly",
    "exchange_neighbours",
    "find_layering",
    "have_weight",
    "list_segments",
    "make_powers",
    "make_tables",
    "open_chain_runner",
    "start_chains",
    "step_chains",
]


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


CHAIN_KERNELS = {"uniform": run_layerings, "order": run_orders}  # by the prior over structures
ROUNDS_PER_CHECK = 5  # of the deadline
WARM_UP = 1 << 62  # in place of the number of a step, the key of the random numbers of the start


class RoughDraws(NamedTuple):
    """Where short chains over orders end, and what they have seen in their second half."""

    level: NDArray[np.int64]  # (n_chains, n), twice the last layer or place of each variable
    arcs: NDArray[np.float64]  # (n, n), [parent, child], the probabilities of arcs
    dags: NDArray[np.int32]  # (n_draws, n), the families of drawn DAGs


def make_tables(weights: FamilyWeights | ChainTables, settings: ChainSettings) -> ChainTables:
    """Return the tables of weights at all temperatures, or the tables that are given."""
    if isinstance(weights, ChainTables):
        return weights
    return prepare_tables(weights, make_powers(settings.temperatures, weights.n_variables))


def start_chains(
    weights: FamilyWeights | ChainTables,
    settings: ChainSettings,
    starts: NDArray[np.bool_] | None = None,
    seed: int = 0,
    threads: Threads | None = None,
) -> ChainState:
    """Return chains that have made no step.

    Parameters
    ----------
    weights : FamilyWeights or ChainTables
        The weights of all families, or the tables made of them (`make_tables`).
    settings : ChainSettings
        The prior, the number of chains and the moves.
    starts : array of bool, (n_starts, n, n), optional
        DAGs, ``[start, parent, child]``, which the chains begin from by turns (default: random
        orders).
    seed : int
        The seed of all random numbers, below 2^64.
    threads : Threads, optional
        The threads that share the chains (default: none).
    """
    tables = make_tables(weights, settings)
    rough = draw_roughly(tables, settings, starts, (seed, WARM_UP), threads)
    if settings.count_warm_up(tables.n_variables):
        tables = tables.with_near(rough.arcs)
    return ChainState.make_first(rough.level, tables, settings, seed)


def draw_roughly(
    tables: ChainTables,
    settings: ChainSettings,
    starts: NDArray[np.bool_] | None,
    key: tuple[int, ...],
    threads: Threads | None = None,
) -> RoughDraws:
    """Run short chains over orders: the rounds of the warm-up, from the given DAGs.

    The random numbers belong to the key and the chain. The rest is as for `start_chains`.
    """
    n = tables.n_variables
    level = np.empty((settings.chains, n), dtype=np.int64)
    arcs = np.empty((settings.chains, len(tables.arrays.pair_parent)))
    n_kept = max(1, settings.count_warm_up(n) // 2)
    dags = np.empty((settings.chains, n_kept, n), dtype=np.int32)

    def start(begin: int, end: int, _: int) -> None:
        for chain in range(begin, end):
            graph = None if starts is None or not len(starts) else starts[chain % len(starts)]
            rng = random_stream(*key, chain)
            found = _find_start(tables, settings, graph, rng)
            level[chain], arcs[chain], dags[chain] = found

    (threads or Threads(1)).run_in_parts(start, settings.chains, 1)
    return RoughDraws(level, _make_matrix(tables, arcs.mean(axis=0)), dags.reshape(-1, n))


class ChainJob(NamedTuple):
    """One step of one chain: all that its outcome depends on, beside the tables and settings."""

    chain: int
    seed: int
    step: int
    rounds: int
    level: NDArray[np.int64]
    blocks: BlockChoice


class ChainOutcome(NamedTuple):
    """What a job returns: the last level of a chain, and its records."""

    chain: int
    level: NDArray[np.int64]
    records: ChainRecords


ChainRunner = Callable[[ChainTables, ChainSettings, Sequence[ChainJob]], list[ChainOutcome]]


def step_chains(
    tables: FamilyWeights | ChainTables,
    settings: ChainSettings,
    state: ChainState,
    threads: Threads | None = None,
    runner: ChainRunner | None = None,
) -> ChainState:
    """Return the chains after one more step: `ChainState.rounds` rounds of moves.

    They run on threads, or where the runner runs them. The answer is the same.
    """
    prepared = make_tables(tables, settings)
    blocks = BlockChoice(state.near_begin, state.near, state.first)
    numbers = int(state.seed), int(state.step), int(state.rounds)
    jobs = [
        ChainJob(chain, *numbers, state.level[chain], blocks) for chain in range(state.n_chains)
    ]
    if runner is not None:
        done = runner(prepared, settings, jobs)
    else:
        found: dict[int, ChainOutcome] = {}

        def step(begin: int, end: int, _: int) -> None:
            for job in jobs[begin:end]:
                found[job.chain] = advance_chain(prepared, settings, job)

        (threads or Threads(1)).run_in_parts(step, state.n_chains, 1)
        done = [found[job.chain] for job in jobs]
    level = np.stack([outcome.level for outcome in done])
    return state.advance(level, ChainRecords.join([outcome.records for outcome in done]))


def have_weight(tables: ChainTables, settings: ChainSettings, levels: NDArray[np.int64]) -> bool:
    """Return whether the tables have a DAG with each layering or order, (n_levels, n)."""
    plan = settings.make_plan(tables.blocks)
    scratch = make_scratch(tables.n_variables, plan)
    nothing, lots = _make_records(tables, 1, 0), np.empty((0, count_uniforms(len(levels.T), plan)))
    run_chain = CHAIN_KERNELS[settings.prior]
    return all(
        run_chain(tables.arrays, plan, _make_run(level.copy(), lots, nothing), scratch, 0, 0)
        > -np.inf
        for level in levels
    )


def advance_chain(tables: ChainTables, settings: ChainSettings, job: ChainJob) -> ChainOutcome:
    """Return one chain after one more step."""
    n, n_rounds, ladder = tables.n_variables, job.rounds, (tables.arrays, *tables.hotter)
    plan = settings.make_plan(job.blocks)
    scratch = make_scratch(n, plan)
    new, *hot = (_make_records(tables, 1, n_rounds) for _ in ladder)
    level = job.level.copy()
    key = (job.seed, job.step, job.chain)
    shape = (n_rounds, count_uniforms(n, plan))
    lots = [random_stream(*key, *([k] if k else [])).random(shape) for k in range(len(ladder))]
    rng = random_stream(*key, len(ladder))  # of the exchanges
    runs = [_make_run(*each) for each in zip(level, lots, (new, *hot), strict=True)]
    for begin, end, parity in list_segments(job.step, n_rounds, len(ladder)):
        for arrays, run in zip(ladder, runs, strict=True):
            _run_chain(settings.prior, arrays, plan, run, scratch, (begin, end))
        drawn = [run.dags[end - 1] for run in runs]
        log_weights = tables.arrays.weight[np.stack(drawn)].sum(axis=1)
        tried = exchange_neighbours(tables.powers, level, log_weights, parity, rng)
        new.counts[0, EXCHANGE] += tried
    new.counts[0, :EXCHANGE] += sum(records.counts[0, :EXCHANGE] for records in hot)
    return ChainOutcome(job.chain, level, new)


def _make_records(tables: ChainTables, n_chains: int, n_rounds: int) -> ChainRecords:
    """Return room for what the chains write."""
    n = tables.n_variables
    return ChainRecords(
        arcs=np.zeros((n_chains, len(tables.arrays.pair_parent))),
        trace=np.empty((n_chains, n_rounds)),
        dags=np.empty((n_chains, n_rounds, n), dtype=np.int32),
        best=np.zeros((n_chains, n), dtype=np.int32),
        best_weight=np.full(n_chains, -np.inf),
        counts=np.zeros((n_chains, 3, 2), dtype=np.int64),
    )


def _make_run(
    level: NDArray[np.int64], uniforms: NDArray[np.float64], new: ChainRecords
) -> ChainRun:
    """Return a run of a single chain, which overwrites its level and its records."""
    return ChainRun(
        level,
        uniforms,
        new.arcs[0],
        new.trace[0],
        new.dags[0],
        new.best[0],
        new.best_weight,
        new.counts[0, :EXCHANGE],
    )


def _run_chain(
    prior: str,
    arrays: ChainArrays,
    plan: RoundPlan,
    run: ChainRun,
    scratch: ChainScratch,
    rounds: tuple[int, int],
) -> None:
    """Run some rounds of one chain: from the first number up to the second.

    The deadline is checked every few rounds. A chain continues from its level alone.
    """
    for begin in range(*rounds, ROUNDS_PER_CHECK):
        check_deadline()
        end = min(begin + ROUNDS_PER_CHECK, rounds[1])
        log_weight = CHAIN_KERNELS[prior](arrays, plan, run, scratch, begin, end)
        assert log_weight > -np.inf, "no DAG of the tables has the level of the chain"


def _find_start(
    tables: ChainTables, settings: ChainSettings, graph: NDArray[np.bool_] | None, rng: Generator
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int32]]:
    """Return the layering or the order at which a chain begins, rough arc probabilities, and DAGs.

    The arcs and the DAGs come from the second half of the warm-up.
    """
    n = tables.n_variables
    level = 2 * np.argsort(_find_order(tables, graph, rng))
    warm_up = settings.count_warm_up(n)
    plan = make_round_plan(tables.blocks, n if warm_up else 0)
    scratch = make_scratch(n, plan)
    n_rounds = max(1, warm_up // 2)
    for _ in range(2):
        new = _make_records(tables, 1, n_rounds)
        uniforms = rng.random((n_rounds, count_uniforms(n, plan)))
        run = _make_run(level, uniforms, new)
        _run_chain("order", tables.arrays, plan, run, scratch, (0, n_rounds))
    if settings.prior == "uniform":
        level = find_layering(tables.make_adjacency(new.dags[0, -1]))
    return level, new.arcs[0] / n_rounds, new.dags[0]


def _make_matrix(tables: ChainTables, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a matrix, [parent, child], with the values of the possible arcs."""
    matrix = np.zeros((tables.n_variables, tables.n_variables))
    matrix[tables.pairs[:, 0], tables.pairs[:, 1]] = values
    return matrix


def _find_order(
    tables: ChainTables, graph: NDArray[np.bool_] | None, rng: Generator
) -> NDArray[np.int64]:
    """Return a random topological order of a graph and the arcs that every DAG has."""
    needed = tables.find_required()
    lots = rng.random(tables.n_variables)
    if graph is not None:
        order = _sort_graph(graph | needed, lots)
        if order is not None:
            return order
    order = _sort_graph(needed, lots)
    assert order is not None
    return order


def _sort_graph(graph: NDArray[np.bool_], lots: NDArray[np.float64]) -> NDArray[np.int64] | None:
    """Return a topological order, the smallest lot first where there is a choice, or None."""
    order = list[int]()
    waiting = graph.sum(axis=0)
    is_left = np.ones(len(graph), dtype=np.bool_)
    while is_left.any():
        ready = np.flatnonzero(is_left & (waiting == 0))
        if not len(ready):
            return None
        v = int(ready[lots[ready].argmin()])
        order.append(v)
        is_left[v] = False
        waiting = waiting - graph[v]
    return np.array(order, dtype=np.int64)


def find_layering(adjacency: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return twice the layer of each variable of a DAG."""
    level = np.zeros(len(adjacency), dtype=np.int64)
    while True:
        after = np.where(adjacency, level[:, None] + 2, 0).max(axis=0, initial=0)
        if (after == level).all():
            return level
        level = after


@contextlib.contextmanager
def open_chain_runner(cluster: Cluster) -> Iterator[ChainRunner | None]:
    """Yield what runs chains on a cluster; None if there is none."""
    if cluster is None:
        yield None
        return
    with open_workers(cluster=cluster) as workers:
        yield ClusterChains(workers)


@dataclass(frozen=True)
class ClusterChains:
    """A runner that advances chains on workers."""

    workers: Workers

    def __call__(
        self, tables: ChainTables, settings: ChainSettings, jobs: Sequence[ChainJob]
    ) -> list[ChainOutcome]:
        """Return the outcome of each job, in the order of the jobs."""
        found = self.workers.run(_advance_on_worker, jobs, shared=(tables, settings))
        outcomes = {outcome.chain: outcome for outcome in found}
        return [outcomes[job.chain] for job in jobs]


def _advance_on_worker(tables: ChainTables, settings: ChainSettings, job: ChainJob) -> ChainOutcome:
    """Advance a chain, on a worker."""
    return advance_chain(tables, settings, job)
