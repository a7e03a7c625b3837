"""The checker of certificates. It shares the scorer and its bounds with the solver, nothing else.

It lists all families that can be in an optimal network (`coevo.exact.check_families`), drops those
that the filters exclude, and bounds each leaf of the tree. All sums are of whole numbers, so
round-off proves nothing. See `coevo.exact.bounds` for why weights of clusters bound the score of
every network.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data import Dataset
from coevo.errors import FormatError
from coevo.exact.certificate import Certificate
from coevo.exact.check_families import check_table, give_points, list_families, round_up
from coevo.exact.superset_bounds import SupersetBounds
from coevo.graph import DAG, Arc
from coevo.score import FamilyScorer, make_score

__all__ = ["Verdict", "check_certificate"]

Array = NDArray[Any]
Lists = list[tuple[Array, Array]]  # of each child: the parents of its families, and their units


@dataclass(frozen=True)
class Verdict:
    """What a certificate proves: no network scores more than `gap` nats above `score`."""

    score: float
    gap: float
    arcs: tuple[Arc, ...]  # arcs that are in every optimal network
    n_families: int
    n_leaves: int


def check_certificate(certificate: Certificate, dataset: Dataset, n_jobs: int = 1) -> Verdict:
    """Verify a certificate against the rows; raise `FormatError` if it does not hold."""
    if dataset.content_hash != certificate.data_hash:
        raise FormatError(
            f"The certificate is for another table: hash {certificate.data_hash[:12]}; this is "
            f"{dataset.content_hash[:12]}. Read the table with the same options as for the proof."
        )
    for right, rows in certificate.tables:
        check_table(right, rows)
    names, scorer = dataset.names, open_scorer(certificate, dataset, n_jobs)
    rules = certificate.constraints.to_rules(names)
    rules = rules.with_table_limit(dataset.arities, certificate.max_table)
    network = DAG(names, certificate.network)  # raises if it has a cycle
    if not rules.is_satisfied_by(network.adjacency()):
        raise FormatError("The network of the certificate breaks its constraints.")
    local = np.array(list(scorer.score_per_variable(network).values()))
    floor = int(round_up(local).sum()) - len(names)  # of all networks that are as good
    bounds = SupersetBounds(scorer, rules)
    lists = [list_families(bounds, child, certificate.listed) for child in range(len(names))]
    if certificate.listed is not None and (certificate.clusters or len(certificate.nodes) > 1):
        raise FormatError("The certificate does not hold: a part of the families has no tree.")
    n_families = sum(len(units) for _, units in lists)
    for weights in certificate.filters:
        lists, _ = drop_families(lists, certificate, weights, floor)
    leaves, highest, certain = find_leaves(certificate), floor, np.ones_like(rules.allowed)
    for number, decisions in leaves:
        allowed = decide(lists, decisions, rules.required)
        weights = certificate.nodes[number].weights
        possible, bound = drop_families(allowed, certificate, weights, floor)
        if bound >= floor:
            highest = max(highest, bound)
            for parent, child in np.argwhere(certain):
                certain[parent, child] = bool((possible[child][0] == parent).any(axis=1).all())
    if highest > floor + certificate.gap:
        raise FormatError(
            f"The certificate does not hold: it claims a gap of {certificate.gap} units, and its "
            f"weights prove {highest - floor}."
        )
    arcs = tuple((names[u], names[v]) for u, v in np.argwhere(certain) if u != v)
    gap = float(np.nextafter((highest - floor) / 2.0**32, np.inf))
    return Verdict(scorer.score(network), gap, arcs, n_families, len(leaves))


def open_scorer(certificate: Certificate, dataset: Dataset, n_jobs: int) -> FamilyScorer:
    """Return the scorer of a certificate."""
    return FamilyScorer(
        dataset,
        make_score(certificate.score, certificate.ess),
        n_jobs=n_jobs,
        weights=certificate.weights,
        parent_penalty=certificate.parent_penalty,
        sparse_penalty=certificate.sparse_penalty,
        max_table=certificate.max_table,
    )


def find_leaves(certificate: Certificate) -> list[tuple[int, list[tuple[int, int, bool]]]]:
    """Return each leaf with its decisions; raise `FormatError` unless the leaves cover all."""
    nodes, below = certificate.nodes, [list[int]() for _ in certificate.nodes]
    paths: list[list[tuple[int, int, bool]]] = [[]]
    for number, node in enumerate(nodes[1:], start=1):
        below[node.parent].append(number)
        paths.append([*paths[node.parent], (*node.arc, node.is_in)])
        if len(paths[-1]) > len(certificate.variables) ** 2:  # paths would fill the memory
            raise FormatError("The certificate does not hold: it decides an arc twice.")
    for own in below:
        decisions = sorted((nodes[number].arc, nodes[number].is_in) for number in own)
        if own and not (
            len(own) == 2 and decisions == [(nodes[own[0]].arc, False), (nodes[own[0]].arc, True)]
        ):
            raise FormatError("The certificate does not hold: its leaves leave out networks.")
    return [(number, paths[number]) for number, own in enumerate(below) if not own]


def decide(lists: Lists, decisions: list[tuple[int, int, bool]], required: Array) -> Lists:
    """Return the families that agree with decisions about arcs, and close no cycle with them."""
    leads_to = required.copy()
    for parent, child, is_in in decisions:
        leads_to[parent, child] |= is_in
    for middle in range(len(lists)):
        leads_to |= np.outer(leads_to[:, middle], leads_to[middle])
    decided = []
    for child, (parents, units) in enumerate(lists):
        barred = np.append(leads_to[child], False)
        fits = ~barred[parents].any(axis=1)
        for parent, target, is_in in decisions:
            if target == child:
                fits &= (parents == parent).any(axis=1) == is_in
        decided.append((parents[fits], units[fits]))
    return decided


def drop_families(
    lists: Lists, certificate: Certificate, weights: list[tuple[int, int]], floor: int
) -> tuple[Lists, int]:
    """Return the bound of weights, and the families that networks of at least `floor` may have."""
    values, total = [units.copy() for _, units in lists], 0
    for cluster, weight in weights:
        k, members = certificate.clusters[cluster]
        total -= (k if k > 0 else certificate.tables[-1 - k][0]) * weight
        for child in members:
            points = give_points(lists[child][0], child, k, members, certificate.tables)
            values[child] += points * weight
    if any(len(value) == 0 for value in values):
        return lists, floor - 1  # a variable has no family: there is no network
    total += sum(int(value.max()) for value in values)
    is_possible = [total - int(value.max()) + value >= floor for value in values]
    kept = [(p[good], u[good]) for (p, u), good in zip(lists, is_possible, strict=True)]
    return kept, total
