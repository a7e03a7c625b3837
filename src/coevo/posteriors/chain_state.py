"""The state of chains and their settings.

A state has arrays only, so it fits into an npz file. It holds what the next step needs (the
layering or the order of each chain, the seed and the number of the step) and what was recorded
so far. Whatever the number of steps, the records keep a bounded size:

- The probabilities of arcs are added up in batches of steps. When all batches are full, they
  are joined in pairs, and a batch has twice as many steps from then on.
- The trace and the sampled DAGs are thinned. When there is no room left, every second one is
  dropped, and from then on only every second one is kept.

The first half of all batches, of the trace and of the DAGs is the burn-in. What is reported
comes from the second half. So no length of the burn-in must be chosen, and a longer run also has
a longer burn-in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from coevo.checks import is_choice, is_int
from coevo.errors import bad_choice, bad_parameter
from coevo.posteriors.chain_kernels import MAX_BLOCK_SIZE, RoundPlan, list_block_layerings
from coevo.posteriors.chain_tables import BlockChoice, ChainTables

__all__ = [
    "EXCHANGE",
    "STRUCTURE_PRIORS",
    "ChainRecords",
    "ChainSettings",
    "ChainState",
    "make_round_plan",
]

STRUCTURE_PRIORS = ("uniform", "order")
N_BATCHES = 64  # an even number
ROUNDS, MOVES_PER_STEP = 100, 8_000  # of a step of one chain, at most
WARM_UP, MOVES_PER_WARM_UP, LEAST_WARM_UP = 200, 20_000, 20
MAX_RELOCATIONS = 4  # of a round: each one looks at all variables, and blocks move most
EXCHANGE = 2  # the row of the counts, after those of the relocations and of the blocks


@dataclass(frozen=True)
class ChainSettings:
    """Settings of the chains.

    Parameters
    ----------
    prior : {'uniform', 'order'}
        The prior over structures: uniform over DAGs (chains over layerings), or uniform over
        orders (a DAG counts once for each of its topological orders).
    chains : int
        Number of independent chains.
    temperatures : int
        Number of coupled chains in place of each of them, see `coevo.posteriors.chains`.
    rounds : int, optional
        Number of rounds of a step. After each round the arc probabilities are recorded (default:
        100, and fewer for more than 80 variables, so that a step stays short).
    relocations : int, optional
        Number of relocations of a variable in a round (default: an eighth of the variables and
        at most 4 for the uniform prior, all for the order prior).
    blocks : int, optional
        Number of blocks of families that are redrawn in a round (default: the number of
        variables). The order prior has none.
    block_size : int
        Largest number of families of a block, from 1 to 5.
    warm_up : int, optional
        Rounds of a chain over orders. They find the start of each chain, and which variables
        are near each other, so that they are redrawn together (default: 200, and fewer for more
        than 100 variables).
    max_dags : int
        Largest number of sampled DAGs that are kept of each chain, and of points of its trace.
    """

    prior: str = "uniform"
    chains: int = 4
    temperatures: int = 1
    rounds: int | None = None
    relocations: int | None = None
    blocks: int | None = None
    block_size: int = 4
    warm_up: int | None = None
    max_dags: int = 1000

    def __post_init__(self) -> None:
        owner = type(self).__name__
        if not is_choice(self.prior, STRUCTURE_PRIORS):
            raise bad_choice("prior", owner, STRUCTURE_PRIORS, self.prior)
        for name, least in (("chains", 1), ("temperatures", 1), ("max_dags", 2)):
            if not is_int(getattr(self, name), least):
                raise bad_parameter(name, owner, f"an int >= {least}", getattr(self, name))
        for name, least in (("rounds", 1), ("relocations", 0), ("blocks", 0), ("warm_up", 0)):
            if getattr(self, name) is not None and not is_int(getattr(self, name), least):
                raise bad_parameter(name, owner, f"an int >= {least} or None", getattr(self, name))
        if not is_int(self.block_size, 1) or self.block_size > MAX_BLOCK_SIZE:
            expected = f"an int from 1 to {MAX_BLOCK_SIZE}"
            raise bad_parameter("block_size", owner, expected, self.block_size)
        if self.relocations == 0 and (self.blocks == 0 or self.prior == "order"):
            raise bad_parameter("relocations", owner, "an int >= 1 without blocks", 0)

    def count_rounds(self, n_variables: int) -> int:
        """Return the number of rounds of a step."""
        fewer = max(1, MOVES_PER_STEP // max(1, n_variables * self.temperatures))
        return min(ROUNDS, fewer) if self.rounds is None else self.rounds

    def count_warm_up(self, n_variables: int) -> int:
        """Return the number of rounds of the warm-up, each with a move of every variable."""
        fewer = max(LEAST_WARM_UP, MOVES_PER_WARM_UP // max(1, n_variables))
        return min(WARM_UP, fewer) if self.warm_up is None else self.warm_up

    def make_plan(self, choice: BlockChoice) -> RoundPlan:
        """Return the moves of a round, with this choice of blocks."""
        n = len(choice.first)
        if self.prior == "order":
            relocations = n if self.relocations is None else self.relocations
            return make_round_plan(choice, max(1, relocations))
        few = min(MAX_RELOCATIONS, -(-n // 8))
        relocations = few if self.relocations is None else self.relocations
        blocks = n if self.blocks is None else self.blocks
        return make_round_plan(choice, relocations, blocks, min(self.block_size, max(1, n)))


def make_round_plan(
    choice: BlockChoice, n_relocations: int, n_blocks: int = 0, block_size: int = 1
) -> RoundPlan:
    """Return a plan of a round, with all layerings of a block."""
    near_begin, near, first = choice
    layerings = list_block_layerings(block_size)
    return RoundPlan(n_relocations, n_blocks, block_size, first, near_begin, near, *layerings)


@dataclass(frozen=True, eq=False)
class ChainRecords:
    """What all chains wrote in one step; see `coevo.posteriors.chain_kernels.ChainRun`."""

    arcs: NDArray[np.float64]  # (n_chains, n_pairs)
    trace: NDArray[np.float64]  # (n_chains, n_rounds)
    dags: NDArray[np.int32]  # (n_chains, n_rounds, n)
    best: NDArray[np.int32]  # (n_chains, n)
    best_weight: NDArray[np.float64]  # (n_chains,)
    counts: NDArray[np.int64]  # (n_chains, 3, 2)

    @classmethod
    def join(cls, parts: Sequence[ChainRecords]) -> ChainRecords:
        """Return the records of several chains together."""
        return cls(
            **{
                one.name: np.concatenate([getattr(part, one.name) for part in parts])
                for one in fields(cls)
            }
        )


@dataclass(frozen=True, eq=False)
class ChainState:
    """Chains after a number of steps.

    Attributes
    ----------
    seed, step : array of int, ()
        The seed, and the number of steps so far.
    rounds : array of int, ()
        Number of rounds of a step.
    level : array of int, (n_chains, n_temperatures, n)
        Twice the layer of each variable, or twice its place in the order, the coldest chain first.
    pairs : array of int, (n_pairs, 2)
        The possible arcs, parent and child. All other arcs have the probability 0.
    arc_sums : array of float, (n_chains, n_batches, n_pairs)
        The sums of arc probabilities in each batch.
    batch_steps : array of int, ()
        Number of steps of a batch.
    trace : array of float, (n_chains, max_dags)
        The log weight of the layering or the order after every `stride` rounds.
    dags : array of int32, (n_chains, max_dags, n)
        The families of the DAGs sampled after every `stride` rounds, as numbers in the tables
        (`ChainTables.make_adjacency`).
    stride : array of int, ()
        Rounds from one kept DAG to the next.
    best, best_weight : arrays, (n_chains, n) and (n_chains,)
        The families of the best DAG of each chain, and its log weight.
    counts : array of int, (n_chains, 3, 2)
        How many relocations, blocks and exchanges between temperatures were made, and how many of
        them changed something.
    near_begin, near, first : arrays
        How blocks are chosen, see `coevo.posteriors.chain_tables.BlockChoice`. It is fixed at the
        start.
    """

    seed: NDArray[np.uint64]
    step: NDArray[np.int64]
    rounds: NDArray[np.int64]
    level: NDArray[np.int64]
    pairs: NDArray[np.int64]
    arc_sums: NDArray[np.float64]
    batch_steps: NDArray[np.int64]
    trace: NDArray[np.float64]
    dags: NDArray[np.int32]
    stride: NDArray[np.int64]
    best: NDArray[np.int32]
    best_weight: NDArray[np.float64]
    counts: NDArray[np.int64]
    near_begin: NDArray[np.int64]
    near: NDArray[np.int64]
    first: NDArray[np.float64]

    @classmethod
    def make_first(
        cls, level: NDArray[np.int64], tables: ChainTables, settings: ChainSettings, seed: int
    ) -> ChainState:
        """Return the state of chains that have made no step. The tables say what is near."""
        n_chains, n = level.shape
        ladders = np.repeat(level[:, None], settings.temperatures, axis=1)
        pairs = tables.pairs
        return cls(
            seed=np.array(seed, dtype=np.uint64),
            step=np.array(0),
            rounds=np.array(settings.count_rounds(n)),
            level=ladders,
            pairs=pairs,
            arc_sums=np.zeros((n_chains, N_BATCHES, len(pairs))),
            batch_steps=np.array(1),
            trace=np.zeros((n_chains, settings.max_dags)),
            dags=np.zeros((n_chains, settings.max_dags, n), dtype=np.int32),
            stride=np.array(1),
            best=np.zeros((n_chains, n), dtype=np.int32),
            best_weight=np.full(n_chains, -np.inf),
            counts=np.zeros((n_chains, 3, 2), dtype=np.int64),
            **tables.blocks._asdict(),
        )

    @property
    def n_chains(self) -> int:
        """The number of chains."""
        return len(self.level)

    @property
    def n_variables(self) -> int:
        """The number of variables."""
        return int(self.level.shape[2])

    @property
    def n_proposals(self) -> int:
        """The number of moves that all chains have made."""
        return int(self.counts[:, :EXCHANGE, 0].sum())

    @property
    def exchange_rate(self) -> float | None:
        """The share of exchanges between temperatures that were accepted; None without any."""
        tried, accepted = self.counts[:, EXCHANGE].sum(axis=0).tolist()
        return accepted / tried if tried else None

    @property
    def best_chain(self) -> int:
        """The chain that has seen the best DAG."""
        return int(self.best_weight.argmax())

    @property
    def kept_means(self) -> NDArray[np.float64]:
        """The mean of each arc in each full batch after the burn-in, (n_chains, m, n_pairs).

        Before the first two batches are full, the last step counts as a batch.
        """
        n_full = int(self.step // self.batch_steps)
        kept = self.arc_sums[:, n_full // 2 : n_full]
        means: NDArray[np.float64] = kept / float(self.batch_steps * self.rounds)
        return means

    @property
    def kept_trace(self) -> NDArray[np.float64]:
        """The trace after the burn-in, (n_chains, m)."""
        return self.trace[:, self._kept]

    @property
    def kept_dags(self) -> NDArray[np.int32]:
        """The families of the DAGs sampled after the burn-in, (n_chains, m, n)."""
        return self.dags[:, self._kept]

    @property
    def held_dags(self) -> NDArray[np.int32]:
        """The families of all DAGs that are held, (n_chains, m, n)."""
        return self.dags[:, : self._n_held]

    @property
    def has_room(self) -> bool:
        """Whether the batches, the trace and the DAGs are as long as this number of steps needs."""
        n_batches, capacity = self.arc_sums.shape[1], self.trace.shape[1]
        is_full = int(self.step) > n_batches * int(self.batch_steps) or self._n_held > capacity
        return not is_full and bool(n_batches == N_BATCHES)

    @property
    def _n_held(self) -> int:
        return -(-int(self.step) * int(self.rounds) // int(self.stride))

    @property
    def _kept(self) -> slice:
        return slice(self._n_held // 2, self._n_held)

    def compute_arcs(self) -> NDArray[np.float64]:
        """Return the probability of each arc in each chain, (n_chains, n, n), [parent, child]."""
        means = self.kept_means
        arcs = np.zeros((self.n_chains, self.n_variables, self.n_variables))
        if means.shape[1]:
            arcs[:, self.pairs[:, 0], self.pairs[:, 1]] = means.mean(axis=1)
        return arcs

    def advance(self, level: NDArray[np.int64], new: ChainRecords) -> ChainState:
        """Return the state after one more step."""
        arc_sums, batch_steps = _add_to_batches(self, new.arcs)
        trace, dags, stride = _add_samples(self, new)
        is_better = new.best_weight > self.best_weight
        return replace(
            self,
            step=self.step + 1,
            level=level,
            arc_sums=arc_sums,
            batch_steps=batch_steps,
            trace=trace,
            dags=dags,
            stride=stride,
            best=np.where(is_better[:, None], new.best, self.best),
            best_weight=np.where(is_better, new.best_weight, self.best_weight),
            counts=self.counts + new.counts,
        )


def _add_to_batches(
    state: ChainState, arcs: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the batches with the sums of one more step, joined in pairs when all are full."""
    sums, batch_steps = state.arc_sums.copy(), state.batch_steps
    n_batches = sums.shape[1]
    if state.step == n_batches * batch_steps:
        sums[:, : n_batches // 2] = sums[:, ::2] + sums[:, 1::2]
        sums[:, n_batches // 2 :] = 0.0
        batch_steps = batch_steps * 2
    sums[:, int(state.step // batch_steps)] += arcs
    return sums, np.asarray(batch_steps)


def _add_samples(
    state: ChainState, new: ChainRecords
) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64]]:
    """Return the trace and the DAGs with those of one more step, and their stride."""
    trace, dags, stride = state.trace.copy(), state.dags.copy(), int(state.stride)
    capacity, first, n_rounds = trace.shape[1], int(state.step * state.rounds), int(state.rounds)
    while (first + n_rounds - 1) // stride >= capacity:
        half = -(-capacity // 2)
        trace[:, :half] = trace[:, ::2]
        dags[:, :half] = dags[:, ::2]
        stride *= 2
    chosen = np.arange(-(-first // stride) * stride, first + n_rounds, stride)
    trace[:, chosen // stride] = new.trace[:, chosen - first]
    dags[:, chosen // stride] = new.dags[:, chosen - first]
    return trace, dags, np.array(stride)
