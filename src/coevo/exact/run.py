"""Prove how good a network is: families, the search for a proof, and its certificate."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.exact.bounds import Clusters
from coevo.exact.certificate import Certificate, CertificateNode, Tables
from coevo.exact.families import Families
from coevo.exact.relaxation import load_highs
from coevo.exact.rounding import make_adjacency
from coevo.exact.rows import ProofRow
from coevo.exact.solver import ProofSearch
from coevo.exact.state import ProofState
from coevo.exact.superset_bounds import make_batch
from coevo.exact.tree import Weights
from coevo.graph import DAG
from coevo.score import FamilyScorer
from coevo.search import Budget, GenerationLoop, StopReason
from coevo.search.base import Problem

__all__ = [
    "Callback",
    "ProofCheckpoint",
    "ProofTask",
    "choose_families",
    "make_certificate",
    "run_proof",
]

Callback = Callable[[ProofRow], bool | None]


@dataclass(frozen=True, slots=True)
class ProofCheckpoint:
    """The state and the history of a proof: all that is needed to resume it."""

    state: ProofState
    history: tuple[ProofRow, ...]

    @property
    def seconds(self) -> float:
        """The time that the proof has taken so far."""
        return self.history[-1].seconds if self.history else 0.0


@dataclass(frozen=True)
class ProofTask:
    """What is to be proved: a network, among all networks of these families."""

    problem: Problem
    families: Families
    network: DAG

    def __post_init__(self) -> None:
        if self.families.part is not None:  # it may lack families of the network
            object.__setattr__(self, "families", _add_network(self))

    def make_search(self) -> ProofSearch:
        """Return the search for the proof."""
        return ProofSearch(self.families, self.problem.rules.required)


class _Loop(GenerationLoop[ProofState, ProofRow]):
    """A running proof."""

    def __init__(
        self,
        task: ProofTask,
        budget: Budget,
        callbacks: tuple[Callback, ...],
        on_checkpoint: Callable[[ProofCheckpoint], object] | None,
    ) -> None:
        super().__init__(budget, 0, callbacks)
        self.task, self.search, self.on_checkpoint = task, task.make_search(), on_checkpoint

    def start(self, rng: Generator) -> ProofState:
        return self.search.start(choose_families(self.task))

    def step(self, rng: Generator, state: ProofState) -> ProofState:
        return self.search.step(state)

    def is_finished(self, state: ProofState) -> bool:
        return self.search.is_finished(state)

    def make_row(self, state: ProofState) -> ProofRow:
        search = self.search
        network = make_adjacency(search.families, state.chosen)
        return ProofRow(
            generation=state.generation,
            evaluations=state.evaluations,
            seconds=self.seconds,
            improved=state.improved,
            score=state.score,
            gap=search.compute_gap(state),
            n_certain=int((search.combine_certain_arcs(state) & network).sum()),
            n_open=len(search.list_open(state)),
        )

    def save(self, state: ProofState) -> None:
        if self.on_checkpoint is not None:
            self.on_checkpoint(ProofCheckpoint(state, tuple(self.history)))


def _add_network(task: ProofTask) -> Families:
    """Return the families of a task with those of its network."""
    scorer, families = task.problem.scorer, task.families
    adjacency = DAG(task.problem.names, task.network.arcs).adjacency()
    more = []
    for child in range(families.n_variables):
        sets = np.flatnonzero(adjacency[:, child])[None]
        sets = sets[: families.find(child, sets[0]) is None]
        more.append((sets, scorer.local_scores(make_batch(child, sets))))
    return families.add(more)


def choose_families(task: ProofTask) -> NDArray[np.int64]:
    """Return a family of the list for each variable of the network.

    It is the best one whose parents are parents in the network, so the score is at least as high.
    """
    families, n = task.families, task.families.n_variables
    inside = np.zeros((n + 1, n), dtype=np.bool_)
    inside[:n] = DAG(task.problem.names, task.network.arcs).adjacency()
    inside[n] = True
    chosen = np.empty(n, dtype=np.int64)
    for child in range(n):
        first, last = families.begin[child], families.begin[child + 1]
        is_inside = inside[families.parents[first:last], child].all(axis=1)
        chosen[child] = first + int(is_inside.argmax())  # the best come first
    return chosen


def run_proof(
    task: ProofTask,
    *,
    budget: Budget,
    callbacks: Iterable[Callback] = (),
    resume_from: ProofCheckpoint | None = None,
    on_checkpoint: Callable[[ProofCheckpoint], object] | None = None,
    seconds: float = 0.0,
) -> tuple[ProofCheckpoint, StopReason]:
    """Run the search for a proof; return its last state with the history, and why it ended.

    Ctrl-C ends the run with the bound so far; before the first bound `KeyboardInterrupt` is raised.
    """
    load_highs()
    loop = _Loop(task, budget, tuple(callbacks), on_checkpoint)
    if resume_from is not None:
        loop.resume(loop.search.restore(resume_from.state), resume_from.history)
    reason = loop.run(seconds if resume_from is None else max(seconds, resume_from.seconds))
    state = loop.state
    if state is None:
        raise KeyboardInterrupt
    if state.improved:  # earlier nodes did not know the best network
        state = loop.search.restore(state)
    return ProofCheckpoint(state, tuple(loop.history)), reason


def make_certificate(task: ProofTask, state: ProofState) -> Certificate:
    """Return the certificate of what a state has proved."""
    problem, search = task.problem, task.make_search()
    scorer = problem.scorer
    assert isinstance(scorer, FamilyScorer)
    used = _find_used(state)
    number = {int(cluster): i for i, cluster in enumerate(used)}

    def convert(weights: Weights) -> list[tuple[int, int]]:
        pairs = zip(weights.clusters.tolist(), weights.values.tolist(), strict=True)
        return [(number[cluster], weight) for cluster, weight in pairs]

    clusters = state.clusters.take(used)
    members = [np.flatnonzero(row).tolist() for row in clusters.members]
    adjacency = make_adjacency(task.families, state.chosen)
    tables, orders = _number_tables(clusters)
    return Certificate(
        data_hash=scorer.dataset.content_hash,
        variables=problem.names,
        score=scorer.scoring.name,
        ess=getattr(scorer.scoring, "ess", None),
        parent_penalty=scorer.parent_penalty,
        sparse_penalty=scorer.sparse_penalty,
        max_table=scorer.max_table,
        constraints=problem.constraints,
        weights=scorer.weights,
        network=tuple(sorted(problem.make_dag(adjacency).arcs)),
        gap=search.compute_bound(state) - search.compute_floor(state),
        tables=tables,
        clusters=tuple(zip(orders, members, strict=True)),
        filters=tuple(convert(one.weights) for one in state.filters),
        listed=None if task.families.part is None else task.families.part.n_free,
        nodes=tuple(
            CertificateNode(
                node.parent, node.arc, node.is_in, [] if node.is_split else convert(node.weights)
            )
            for node in state.nodes
        ),
    )


def _number_tables(clusters: Clusters) -> tuple[Tables, list[int]]:
    """Return the tables, each once, and the k of each cluster; -1 - t for table t."""
    numbers: dict[tuple[int, bytes], int] = {}
    tables: list[tuple[int, list[list[int]]]] = []
    orders = clusters.orders.tolist()
    for place, table in enumerate(clusters.tables):
        if table is None:
            continue
        key = (table.right, table.points.tobytes())
        if key not in numbers:
            numbers[key] = len(tables)
            tables.append((table.right, table.points.tolist()))
        orders[place] = -1 - numbers[key]
    return tuple(tables), orders


def _find_used(state: ProofState) -> NDArray[np.int64]:
    """Return the clusters that have a weight in a leaf or a filter, ascending."""
    leaves = [node.weights.clusters for node in state.nodes if not node.is_split]
    filters = [one.weights.clusters for one in state.filters]
    return np.unique(np.concatenate([*leaves, *filters, np.empty(0, dtype=np.int64)]))
