"""Prove how good a network is: families, the search for a proof, its certificate, its checkpoints.

A checkpoint of ``coevo prove`` (`coevo.files.checkpoints`) has arrays of the state, and two texts
of JSON: the history, and the facts that identify the run. Bounds are not believed: they are
computed again from the weights (`ProofSearch.restore`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.checks import is_int, is_number
from coevo.exact.bounds import (
    LARGEST_SIZE,
    MOST_POINTS,
    Clusters,
    Filter,
    Node,
    Table,
    Weights,
    count_least_points,
)
from coevo.exact.certificate import Certificate, CertificateNode, Tables
from coevo.exact.families import Families
from coevo.exact.relaxation import Basis, load_highs
from coevo.exact.solver import ProofSearch, ProofState, make_adjacency
from coevo.exact.superset_bounds import make_batch
from coevo.files.checkpoints import (
    DIGEST,
    HISTORY,
    StateCheckpointFile,
    make_damage_error,
    make_not_a_state_error,
)
from coevo.files.files import load_json
from coevo.graph import DAG
from coevo.score import FamilyScorer
from coevo.search import Budget, GenerationLoop, StopReason
from coevo.search.base import Problem

__all__ = [
    "Callback",
    "ProofCheckpoint",
    "ProofCheckpointFile",
    "ProofRow",
    "ProofTask",
    "choose_families",
    "make_certificate",
    "run_proof",
]


@dataclass(frozen=True, slots=True)
class ProofRow:
    """One step: the score of the best network, and how many nats better another one can be."""

    generation: int
    evaluations: int  # linear programmes
    seconds: float
    improved: int
    score: float
    gap: float
    n_certain: int  # arcs of the network that are in every optimal network
    n_open: int  # nodes

    def as_dict(self) -> dict[str, Any]:
        """Return one flat record."""
        return asdict(self) | {"seconds": round(self.seconds, 6)}


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
    # only the clusters that have a weight in a leaf or a filter
    leaves = [node.weights.clusters for node in state.nodes if not node.is_split]
    filters = [one.weights.clusters for one in state.filters]
    used = np.unique(np.concatenate([*leaves, *filters, np.empty(0, dtype=np.int64)]))
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


LARGEST_WEIGHT = 1 << 58

Numbers = NDArray[np.int64]


class ProofCheckpointFile(StateCheckpointFile[ProofCheckpoint]):
    """The checkpoint file of one proof; `families` are those of the proof."""

    command, kind = "coevo prove", ProofState.__name__

    def __init__(self, folder: Path, fingerprint: Mapping[str, Any], families: Families) -> None:
        super().__init__(folder, fingerprint)
        self._families = families

    def _build(self, path: Path, entries: Mapping[str, Any]) -> ProofCheckpoint:
        """Return the checkpoint; raise `FormatError` if it does not fit the families."""
        try:
            state = _build_state(entries, self._families)
            history = tuple(_parse_row(line) for line in load_json(str(entries[HISTORY])))
            if DIGEST not in entries:
                raise ValueError
        except (KeyError, TypeError, ValueError, IndexError, OverflowError):
            raise make_not_a_state_error(path) from None
        if not history or history[-1].generation != state.generation:
            raise make_damage_error(path, "its history does not end with its state")
        return ProofCheckpoint(state, history)

    def _list_entries(
        self, content: ProofCheckpoint
    ) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        return _list_entries(content.state), [row.as_dict() for row in content.history]


def _list_entries(state: ProofState) -> dict[str, Any]:
    """Return a state as arrays."""
    nodes = [
        (node.parent, *node.arc, node.is_in, node.is_split, node.is_stuck) for node in state.nodes
    ]
    entries: dict[str, Any] = {
        "numbers": np.array([state.generation, state.evaluations, state.improved]),
        "score": state.score,
        "chosen": state.chosen,
        "members": state.clusters.members,
        "orders": state.clusters.orders,
        "rows": state.rows,
        "nodes": np.array(nodes, dtype=np.int64),
        "floors": np.array([one.floor for one in state.filters], dtype=np.int64),
        "root_bounds": np.array(state.root_bounds, dtype=np.int64),
        **_list_tables(state.clusters),
        **_list_weights("node", [node.weights for node in state.nodes]),
        **_list_weights("filter", [one.weights for one in state.filters]),
    }
    if state.basis is not None:
        entries |= {"basis.columns": state.basis.columns, "basis.rows": state.basis.rows}
    return entries


def _list_tables(clusters: Clusters) -> dict[str, Any]:
    tables = [table for table in clusters.tables if table is not None]
    points = [table.points.astype(np.uint8).ravel() for table in tables]
    return {
        "table.rights": np.array([table.right for table in tables], dtype=np.int64),
        "table.points": np.concatenate([np.empty(0, dtype=np.uint8), *points]),
    }


def _list_weights(name: str, weights: Sequence[Weights]) -> dict[str, Numbers]:
    none = np.empty(0, dtype=np.int64)
    return {
        f"{name}.lengths": np.array([len(one.values) for one in weights], dtype=np.int64),
        f"{name}.clusters": np.concatenate([none, *(one.clusters for one in weights)]),
        f"{name}.weights": np.concatenate([none, *(one.values for one in weights)]),
    }


def _build_state(entries: Mapping[str, Any], families: Families) -> ProofState:
    """Return the state; raise `ValueError` for numbers out of range. Bounds come later."""
    n = families.n_variables
    clusters = _build_clusters(entries, n)
    rows = _take(entries, "rows", np.int64)
    _require_places(rows, len(clusters))
    chosen = _take(entries, "chosen", np.int64)
    _require(chosen.shape == (n,))
    _require(bool(((chosen >= families.begin[:-1]) & (chosen < families.begin[1:])).all()))
    weights = _build_weights(entries, "filter", len(clusters))
    floors = _take(entries, "floors", np.int64).tolist()
    generation, evaluations, improved = _take(entries, "numbers", np.int64).tolist()
    _require(0 <= improved <= generation and evaluations >= 0)
    score = float(np.sum(families.scores[chosen]))
    return ProofState(
        generation=generation,
        evaluations=evaluations,
        improved=improved,
        score=score,
        chosen=chosen,
        clusters=clusters,
        rows=rows,
        nodes=_build_nodes(entries, n, len(clusters)),
        filters=tuple(Filter(*pair) for pair in zip(weights, floors, strict=True)),
        root_bounds=tuple(_take(entries, "root_bounds", np.int64).tolist()),
        basis=_build_basis(entries),
    )


def _build_clusters(entries: Mapping[str, Any], n: int) -> Clusters:
    members, orders = _take(entries, "members", np.bool_, 2), _take(entries, "orders", np.int64)
    n_inside = members.sum(axis=1)
    _require(members.shape == (len(orders), n + 1) and not members[:, n].any())
    is_table = (orders == 0) & (n_inside <= LARGEST_SIZE)
    _require(bool((is_table | ((orders >= 1) & (orders <= n_inside))).all()))
    sizes = n_inside[is_table]
    rights, points = _take(entries, "table.rights", np.int64), entries["table.points"]
    _require(len(rights) == len(sizes) and points.dtype == np.uint8)
    _require(points.shape == (int((sizes << sizes).sum()),) and bool((points <= MOST_POINTS).all()))
    tables: list[Table | None] = [None] * len(orders)
    parts = np.split(points, np.cumsum(sizes << sizes))[:-1]
    places = np.flatnonzero(is_table).tolist()
    for place, part, right in zip(places, parts, rights.tolist(), strict=True):
        table = Table(right, part.reshape(n_inside[place], -1).astype(np.int64))
        _require(count_least_points(table.points) >= right)
        tables[place] = table
    return Clusters(members, orders, tuple(tables))


def _build_nodes(entries: Mapping[str, Any], n: int, n_clusters: int) -> tuple[Node, ...]:
    table = _take(entries, "nodes", np.int64, 2)
    weights = _build_weights(entries, "node", n_clusters)
    _require(table.shape == (len(weights), 6) and len(weights) > 0)
    _require(table[0, 0] == -1 and bool((table[1:, 0] < np.arange(1, len(table))).all()))
    _require_places(table[1:, :3], max(n, len(table)))
    _require_places(table[1:, 1:3], n)
    _require(_is_tree(table))
    none = np.zeros((n, n), dtype=np.bool_)
    return tuple(
        Node(parent, (source, target), bool(is_in), 0, own, none, bool(split), bool(stuck))
        for (parent, source, target, is_in, split, stuck), own in zip(
            table.tolist(), weights, strict=True
        )
    )


def _is_tree(table: Numbers) -> bool:
    """Return whether each node that is split has two children, with an arc and without it."""
    below: list[list[tuple[int, int, int]]] = [[] for _ in table]
    for parent, source, target, is_in, *_ in table[1:].tolist():
        below[parent].append((source, target, is_in))
    return all(
        (sorted(own) == [(*own[0][:2], 0), (*own[0][:2], 1)] if own else True)
        and bool(own) == bool(is_split)
        for own, is_split in zip(below, table[:, 4].tolist(), strict=True)
    )


def _build_weights(entries: Mapping[str, Any], name: str, n_clusters: int) -> list[Weights]:
    lengths = _take(entries, f"{name}.lengths", np.int64)
    clusters = _take(entries, f"{name}.clusters", np.int64)
    values = _take(entries, f"{name}.weights", np.int64)
    _require_places(clusters, n_clusters)
    _require(len(clusters) == len(values) == int(lengths.sum()) and bool((lengths >= 0).all()))
    _require(bool((values >= 0).all()) and (not len(values) or int(values.max()) < LARGEST_WEIGHT))
    ends = np.cumsum(lengths)[:-1]
    pairs = zip(np.split(clusters, ends), np.split(values, ends), strict=True)
    return [Weights(*pair) for pair in pairs] if len(lengths) else []


def _build_basis(entries: Mapping[str, Any]) -> Basis | None:
    if "basis.columns" not in entries:
        return None
    parts = [_take(entries, f"basis.{part}", np.uint8) for part in ("columns", "rows")]
    _require(all(bool((part <= 4).all()) for part in parts))
    return Basis(*parts)


def _take(entries: Mapping[str, Any], name: str, dtype: Any, n_axes: int = 1) -> NDArray[Any]:
    array = entries[name]
    _require(isinstance(array, np.ndarray) and array.dtype == dtype and array.ndim == n_axes)
    return np.ascontiguousarray(array)


def _require_places(numbers: Numbers, size: int) -> None:
    _require(bool(((numbers >= 0) & (numbers < size)).all()))


def _require(is_valid: bool) -> None:
    if not is_valid:
        raise ValueError


def _parse_row(line: dict[str, Any]) -> ProofRow:
    """Return a row of the history; raise `ValueError` if one of its figures is no number."""
    row = ProofRow(**line)
    counts = (row.generation, row.evaluations, row.improved, row.n_certain, row.n_open)
    _require(all(is_int(one, 0) for one in counts))
    _require(all(is_number(one) for one in (row.seconds, row.score, row.gap)) and row.seconds >= 0)
    return row
