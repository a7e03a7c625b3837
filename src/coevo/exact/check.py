"""The checker of certificates. It shares the scorer and its bounds with the solver, nothing else.

It lists all families that can be in an optimal network, drops those that the filters exclude, and
bounds each leaf of the tree. All sums are of whole numbers, so round-off proves nothing. See
`coevo.exact.bounds` for why weights of clusters bound the score of every network.

A family that does not score more than each of its subsets is left out: a subset can replace it in
any network. `coevo.exact.superset_bounds` says why some sets need not be extended.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data import Dataset
from coevo.errors import FormatError
from coevo.exact.certificate import Certificate
from coevo.exact.superset_bounds import SupersetBounds
from coevo.graph import DAG, Arc
from coevo.score import FamilyBatch, FamilyScorer, make_score

__all__ = ["Verdict", "check_certificate", "check_table", "list_families", "round_up"]


Array = NDArray[Any]


def round_up(scores: Array) -> Array:
    """Return scores in units of 2 ** -32 nats, rounded up."""
    return np.ceil(scores * 2.0**32).astype(np.int64)


def check_table(right: int, rows: list[list[int]]) -> None:
    """Raise `FormatError` unless each network of the variables receives `right` points."""
    least, size = np.array(rows), len(rows)
    sets = np.arange(1 << size)
    for u in range(size):  # the fewest points for parents inside each set
        longer = sets[sets >> u & 1 == 1]
        least[:, longer] = np.minimum(least[:, longer], least[:, longer ^ (1 << u)])
    fewest = [0]  # of the networks of each set: the last variable has its parents among the others
    for inside in range(1, 1 << size):
        last = [v for v in range(size) if inside >> v & 1]
        fewest.append(min(fewest[inside ^ 1 << v] + int(least[v, inside ^ 1 << v]) for v in last))
    if fewest[-1] < right:
        raise FormatError("The certificate does not hold: a table of points is wrong.")


def give_points(parents: Array, child: int, k: int, members: list[int], tables: Any) -> Array:
    """Return the points of families: 1 with fewer than k parents inside, or those of a table."""
    size = max(int(parents.max(initial=0)), *members) + 1
    if k > 0:
        inside = np.zeros(size, dtype=np.int64)
        inside[members] = 1
        return np.asarray(inside[parents].sum(axis=1) < k, dtype=np.int64)
    bits = np.zeros(size, dtype=np.int64)
    bits[members] = 1 << np.arange(len(members))
    row = np.array(tables[-1 - k][1][members.index(child)])
    return np.asarray(row[bits[parents].sum(axis=1)])


def list_families(
    bounds: SupersetBounds, child: int, most: int | None = None
) -> tuple[Array, Array]:
    """Return all families of a child that score more than each of their subsets.

    With at most so many free parents, one more family without any stands for all larger ones.
    """
    scorer, rules = bounds.scorer, bounds.rules
    n = len(rules.allowed)
    required = np.flatnonzero(rules.required[:, child])
    free = np.flatnonzero(rules.allowed[:, child] & ~rules.required[:, child])
    sets, inherited = np.empty((1, 0), dtype=np.int64), np.full(1, -np.inf)
    kept: list[tuple[Array, Array]] = []
    while len(sets):
        size = sets.shape[1] + len(required)
        parents = np.concatenate([free[sets], np.tile(required, (len(sets), 1))], axis=1)
        parents.sort(axis=1)
        members = np.insert(parents, 0, child, axis=1).astype(np.int32)
        starts = np.arange(len(sets) + 1, dtype=np.int64) * (size + 1)
        scores = scorer.score_once(FamilyBatch(members.ravel(), starts))
        is_kept = scores > inherited
        kept.append((parents[is_kept], scores[is_kept]))
        best = np.maximum(scores, inherited)
        is_open = (scores > -np.inf) & (size < rules.max_parents)
        bound = bounds.bound_supersets(child, parents[is_open], scores[is_open], best[is_open])
        is_larger = bound > best[is_open]
        is_open[is_open] = is_larger
        if sets.shape[1] == most and is_open.any():
            kept.append((required[None], bound[is_larger].max(keepdims=True)))
            break

        def is_redundant(
            at: Array, place: Array, opened: Array = parents[is_open], own: Array = scores[is_open]
        ) -> Array:
            return bounds.find_redundant(child, opened[at], own[at], free[place])

        sets, inherited = extend(sets[is_open], best[is_open], len(free), is_redundant)
    width = max(p.shape[1] for p, _ in kept)
    wide = [np.pad(p, ((0, 0), (0, width - p.shape[1])), constant_values=n) for p, _ in kept]
    return np.concatenate(wide), round_up(np.concatenate([s for _, s in kept]))


def extend(sets: Array, best: Array, n_free: int, is_redundant: Any) -> tuple[Array, Array]:
    """Return the sets with one more member all of whose subsets are given, and their best score.

    Leave out a set if one of its members is redundant beside the others.
    """
    last = sets[:, -1] if sets.shape[1] else np.full(len(sets), -1)
    counts = n_free - 1 - last
    source = np.repeat(np.arange(len(sets)), counts)
    offset = np.arange(len(source)) - np.repeat(np.cumsum(counts) - counts, counts)
    longer = np.concatenate([sets[source], (last[source] + 1 + offset)[:, None]], axis=1)
    numbers = number_sets(sets, n_free)
    order = np.argsort(numbers)
    known, inherited = numbers[order], np.full(len(longer), -np.inf)
    for place in range(longer.shape[1]):
        wanted = number_sets(np.delete(longer, place, axis=1), n_free)
        found = np.minimum(np.searchsorted(known, wanted), max(len(known) - 1, 0))
        is_kept = known[found] == wanted
        longer, inherited, found = longer[is_kept], inherited[is_kept], order[found[is_kept]]
        is_kept = ~is_redundant(found, longer[:, place])
        longer, inherited = longer[is_kept], np.maximum(inherited, best[found])[is_kept]
    return longer, inherited


def number_sets(sets: Array, base: int) -> Array:
    """Return a different number for each set of one size; of Python where 64 bits are too few."""
    is_small = base ** sets.shape[1] < 2**63
    numbers = np.zeros(len(sets), dtype=np.int64 if is_small else object)
    for column in sets.T:
        numbers = numbers * base + column
    return numbers


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
