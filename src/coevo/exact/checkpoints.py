"""The checkpoints of ``coevo prove`` (`coevo.checkpoints`).

The entries of the file are arrays of the state, and two texts of JSON: the history, and the facts
that identify the run. Bounds are not believed: they are computed again from the weights
(`ProofSearch.restore`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.checkpoints import (
    DIGEST,
    HISTORY,
    StateCheckpointFile,
    make_damage_error,
    make_not_a_state_error,
)
from coevo.checks import is_int, is_number
from coevo.exact.bounds import Clusters
from coevo.exact.families import Families
from coevo.exact.relaxation import Basis
from coevo.exact.rows import ProofRow
from coevo.exact.run import ProofCheckpoint
from coevo.exact.state import ProofState
from coevo.exact.tables import LARGEST_SIZE, MOST_POINTS, Table, count_least_points
from coevo.exact.tree import Filter, Node, Weights
from coevo.json_text import load_json

__all__ = ["ProofCheckpointFile"]

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
