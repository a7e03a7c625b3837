"""The certificate of a proof: a file that anyone can check (`coevo.exact.check`).

    certificate.json.gz   the hash of the data, the score, the limits, the network, and the tree

It holds all that decides what is proved, and no score of a family: a checker computes those from
the rows. Numbers of variables are places in the sorted list of names. Weights and the gap are in
units of 2 ** -32 nats.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coevo.checks import is_int, is_number
from coevo.errors import CoevoError, FormatError
from coevo.files.files import MAX_TEXT_BYTES, load_json, open_source, replace_file
from coevo.graph import Arc, Constraints

__all__ = [
    "CERTIFICATE",
    "Certificate",
    "CertificateNode",
    "parse_certificate",
    "read_certificate",
    "write_certificate",
]

CERTIFICATE = "certificate.json.gz"
FORMAT, VERSION = "coevo certificate", 1
MOST_POINTS, LARGEST_SIZE = 9, 8  # of a family in a table; variables of a table
LARGEST_WEIGHT = 1 << 59  # units: all weights of a bound together

ClusterWeights = list[tuple[int, int]]  # (number of a cluster, weight)
Tables = tuple[tuple[int, list[list[int]]], ...]  # (right side, points of each variable)


@dataclass(frozen=True)
class CertificateNode:
    """A node of the tree; only leaves have weights."""

    parent: int
    arc: tuple[int, int]
    is_in: bool
    weights: ClusterWeights


@dataclass(frozen=True)
class Certificate:
    """The content of a certificate."""

    data_hash: str
    variables: tuple[str, ...]
    score: str
    ess: float | None
    parent_penalty: float
    sparse_penalty: float
    max_table: int | None
    constraints: Constraints
    weights: Mapping[Arc, float]
    network: tuple[Arc, ...]
    gap: int  # units above the score of the network that no network exceeds
    tables: Tables
    clusters: tuple[tuple[int, list[int]], ...]  # (k, variables); -1 - t for table t
    filters: tuple[ClusterWeights, ...]
    nodes: tuple[CertificateNode, ...]
    listed: int | None = None  # families of more parents beside the required ones are only bounded

    def as_dict(self) -> dict[str, Any]:
        """Return the certificate as plain values."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "data_hash": self.data_hash,
            "variables": list(self.variables),
            "score": self.score,
            "ess": self.ess,
            "parent_penalty": self.parent_penalty,
            "sparse_penalty": self.sparse_penalty,
            "max_table": self.max_table,
            "constraints": self.constraints.as_dict(),
            "weights": [[*arc, weight] for arc, weight in sorted(self.weights.items())],
            "network": [list(arc) for arc in self.network],
            "gap": self.gap,
            "tables": [
                [right, ["".join(map(str, row)) for row in rows]] for right, rows in self.tables
            ],
            "clusters": [[k, members] for k, members in self.clusters],
            "filters": [[list(pair) for pair in weights] for weights in self.filters],
            "nodes": [
                [node.parent, *node.arc, int(node.is_in), [list(pair) for pair in node.weights]]
                for node in self.nodes
            ],
            "listed": self.listed,
        }


def write_certificate(certificate: Certificate, path: Path) -> None:
    """Write a certificate; the same one gives the same bytes."""
    text = json.dumps(certificate.as_dict(), ensure_ascii=False, allow_nan=False)
    with replace_file(path) as stream:
        stream.write(gzip.compress(text.encode(), mtime=0))


def read_certificate(path: Path) -> Certificate:
    """Read a certificate and validate its form; `check_certificate` validates what it says."""
    with open_source(path) as source:
        content = source.read_all(MAX_TEXT_BYTES)
    try:
        return parse_certificate(load_json(content.decode()))
    except FormatError as error:
        raise FormatError(f"{str(path)!r} is not a valid certificate: {error}") from None
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, CoevoError):
        raise FormatError(f"{str(path)!r} is not a certificate of coevo prove.") from None


def parse_certificate(values: Any) -> Certificate:
    """Return a certificate from plain values.

    Raises `FormatError` for an invalid part, or one of the errors of Python for values of another
    form.
    """
    if values["format"] != FORMAT or values["version"] != VERSION:
        raise FormatError("its format or version is another one.")
    names = tuple(values["variables"])
    _require(all(isinstance(name, str) for name in names) and bool(names), "variables")
    _require(isinstance(values["data_hash"], str), "data_hash")
    _require(isinstance(values["score"], str), "score")
    ess, penalty, max_table = values["ess"], values["parent_penalty"], values["max_table"]
    _require(ess is None or is_number(ess), "ess")
    _require(is_number(penalty) and penalty >= 0, "parent_penalty")
    sparse = values.get("sparse_penalty", 0.0)  # certificates of 0.2.0 have none
    _require(is_number(sparse) and sparse >= 0, "sparse_penalty")
    _require(max_table is None or is_int(max_table, 1), "max_table")
    _require(is_int(values["gap"], 0), "gap")
    tables = tuple(_parse_table(one) for one in values["tables"])
    clusters = tuple(_parse_cluster(one, len(names), tables) for one in values["clusters"])
    nodes = tuple(
        _parse_node(i, one, clusters, len(names)) for i, one in enumerate(values["nodes"])
    )
    _require(bool(nodes), "nodes")
    listed = values.get("listed")
    _require(listed is None or is_int(listed, 0), "listed")
    return Certificate(
        data_hash=values["data_hash"],
        variables=names,
        score=values["score"],
        ess=ess,
        parent_penalty=float(penalty),
        sparse_penalty=float(sparse),
        max_table=max_table,
        constraints=Constraints(**values["constraints"]),
        weights={_parse_arc(one[:2]): float(one[2]) for one in values["weights"]},
        network=tuple(_parse_arc(one) for one in values["network"]),
        gap=values["gap"],
        tables=tables,
        clusters=clusters,
        filters=tuple(_parse_weights(one, clusters) for one in values["filters"]),
        nodes=nodes,
        listed=listed,
    )


def _require(is_valid: bool, what: str) -> None:
    if not is_valid:
        raise FormatError(f"{what!r} is invalid.")


def _parse_arc(values: Any) -> Arc:
    parent, child = values
    _require(isinstance(parent, str) and isinstance(child, str), "arcs")
    return parent, child


def _parse_table(values: Any) -> tuple[int, list[list[int]]]:
    """Return a table: its right side, and a digit for each variable and set of parents."""
    right, rows = values
    size = len(rows)
    _require(is_int(right, 0) and right <= MOST_POINTS * size, "tables")
    _require(isinstance(rows, list) and 2 <= size <= LARGEST_SIZE, "tables")
    for row in rows:
        are_digits = isinstance(row, str) and row.isascii() and row.isdigit()
        _require(are_digits and len(row) == 1 << size, "tables")
    return right, [[int(digit) for digit in row] for row in rows]


def _parse_cluster(values: Any, n_variables: int, tables: Tables) -> tuple[int, list[int]]:
    k, members = values
    are_places = all(is_int(member, 0) and member < n_variables for member in members)
    _require(are_places and members == sorted(set(members)), "clusters")
    is_table = is_int(k, -len(tables)) and k < 0 and len(members) == len(tables[-1 - k][1])
    _require(is_table or (is_int(k, 1) and k <= len(members)), "clusters")
    return k, members


def _parse_weights(values: Any, clusters: tuple[tuple[int, list[int]], ...]) -> ClusterWeights:
    """Return weights; their sum must be so small that no sum of a checker overflows."""
    pairs = [(cluster, weight) for cluster, weight in values]
    for cluster, weight in pairs:
        _require(is_int(cluster, 0) and cluster < len(clusters) and is_int(weight, 0), "weights")
    total = sum(
        max(clusters[cluster][0], MOST_POINTS * LARGEST_SIZE) * weight for cluster, weight in pairs
    )
    _require(total < LARGEST_WEIGHT, "weights")
    return pairs


def _parse_node(
    number: int, values: Any, clusters: tuple[tuple[int, list[int]], ...], n_variables: int
) -> CertificateNode:
    parent, source, target, is_in, weights = values
    _require(is_in in (0, 1), "nodes")
    if number == 0:
        _require(parent == -1, "nodes")
    else:
        _require(is_int(parent, 0) and parent < number, "nodes")
        _require(all(is_int(end, 0) and end < n_variables for end in (source, target)), "nodes")
    return CertificateNode(parent, (source, target), bool(is_in), _parse_weights(weights, clusters))
