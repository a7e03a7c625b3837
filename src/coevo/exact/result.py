"""The result of a proof, and all equivalence classes near the best network.

The first says how far from the best network a network can be, the second how much weight each arc
has among the good ones.

A score within d nats of the best one is a Bayes factor of at most exp(d). The families for this job
are those that no subset beats by more than d (`coevo.exact.families`), so every network within d of
the best one is made of them. The weights of a proof then drop the families that only worse networks
have, and a search over orders of decisions lists the rest: the variables are fixed one at a time,
and a branch ends where the bound falls below the limit, or where the arcs close a cycle.

Only scores that are equivalent are treated: all networks of a class then have the same score.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.errors import ParameterError, format_count
from coevo.exact.bounds import Bound, bound_networks
from coevo.exact.certificate import CERTIFICATE, Certificate, write_certificate
from coevo.exact.families import UNITS_PER_NAT, Families
from coevo.exact.run import ProofRow
from coevo.exact.solver import ProofState, make_adjacency
from coevo.files.run_folder import make_run_folder, write_json, write_json_lines
from coevo.graph import CPDAG, DAG, Arc
from coevo.runtime.deadline import check_deadline
from coevo.score import Score

__all__ = ["PROVED", "GoodNetworks", "Proof", "check_equivalent", "list_good_networks"]


MAX_CLASSES = 1000
MAX_NETWORKS = 200_000


@dataclass(frozen=True)
class GoodNetworks:
    """The equivalence classes within some nats of the best network.

    Attributes
    ----------
    within : float
        The largest difference to the best score, in nats.
    classes : tuple of (CPDAG, score)
        The classes, the best first.
    is_complete : bool
        Whether these are all; False if there are more than the limit.
    shares : mapping of (parent, child) to float
        The share of the weight of all classes in which each arc is: an edge counts half for each
        direction. The weight of a class is the exponential of its score.
    """

    within: float
    classes: tuple[tuple[CPDAG, float], ...]
    is_complete: bool
    shares: dict[Arc, float]

    def as_dict(self) -> dict[str, Any]:
        """Return the classes and the shares of arcs as plain values."""
        return {
            "within": self.within,
            "is_complete": self.is_complete,
            "n_classes": len(self.classes),
            "classes": [
                {
                    "score": score,
                    "arcs": [list(arc) for arc in cpdag.arcs],
                    "edges": [list(edge) for edge in cpdag.edges],
                }
                for cpdag, score in self.classes
            ],
            "shares": [
                {"from": parent, "to": child, "share": share}
                for (parent, child), share in self.shares.items()
            ],
        }


def check_equivalent(score: Score, weights: bool, has_constraints: bool) -> None:
    """Raise `ParameterError` unless all networks of a class have the same score and are allowed."""
    if not score.is_equivalent:
        raise ParameterError(
            f"'within' needs a score that is equal for all networks of an equivalence class; "
            f"{score.name!r} is not. Use 'bdeu' or 'bic'."
        )
    if weights or has_constraints:
        raise ParameterError(
            "'within' lists equivalence classes, and weights or constraints on arcs treat the "
            "networks of a class differently. Leave them out."
        )


def list_good_networks(
    families: Families,
    state: ProofState,
    names: tuple[str, ...],
    within: float,
    max_classes: int = MAX_CLASSES,
) -> GoodNetworks:
    """Return all equivalence classes within some nats of the best network of a proof.

    `families` are those with a slack of `within` nats. After `max_classes` classes, or very many
    networks, the list ends and is not complete.
    """
    weights = state.filters[0].weights if state.filters else state.nodes[0].weights
    used = state.clusters.take(weights.clusters)
    everything = np.ones(len(families), dtype=np.bool_)
    hits = used.find_hits(families)
    bound = bound_networks(families, hits, used.rights, weights.values, everything)
    best = int(np.ceil(state.score * UNITS_PER_NAT))
    least = best - int(within * UNITS_PER_NAT) - families.n_variables
    found: dict[CPDAG, float] = {}
    is_complete, n_networks = True, 0
    for chosen in _iterate_networks(families, bound, least):
        n_networks += 1
        score = math.fsum(families.scores[chosen])
        if score < state.score - within:
            continue
        arcs = np.argwhere(make_adjacency(families, chosen))
        cpdag = CPDAG(DAG(names, [(names[parent], names[child]) for parent, child in arcs]))
        found[cpdag] = max(score, found.get(cpdag, -math.inf))
        if len(found) > max_classes or n_networks >= MAX_NETWORKS:
            is_complete = False
            break
    ordered = sorted(found.items(), key=lambda item: (-item[1], item[0].arcs, item[0].edges))
    classes = tuple(ordered[:max_classes])
    return GoodNetworks(within, classes, is_complete, _share_arcs(classes))


def _iterate_networks(families: Families, bound: Bound, least: int) -> Iterator[NDArray[np.int64]]:
    """Yield the families of each network with at least `least` units, in a fixed order."""
    n = families.n_variables
    losses = bound.best[families.children] - bound.values
    possible = bound.total - losses >= least
    lists = [
        [f for f in range(families.begin[v], families.begin[v + 1]) if possible[f]]
        for v in range(n)
    ]
    for own in lists:
        own.sort(key=lambda f: (int(losses[f]), f))
    order = sorted(range(n), key=lambda v: (len(lists[v]), v))
    chosen = np.full(n, -1, dtype=np.int64)
    parents = [[p for p in row if p < n] for row in families.parents.tolist()]
    # A list of iterators takes the place of nested calls: one for each variable that is decided.
    leads_to = [np.zeros((n, n), dtype=np.bool_)]  # paths, at each depth
    left = [bound.total - least]
    waiting = [iter(lists[order[0]])]
    while waiting:
        depth = len(waiting) - 1
        family = next(waiting[-1], None)
        child = order[depth]
        if family is None or losses[family] > left[-1]:  # the losses ascend
            for stack in (waiting, left, leads_to):
                stack.pop()
            chosen[child] = -1
            continue
        paths = leads_to[-1]
        if any(paths[child, parent] for parent in parents[family]):
            continue
        chosen[child] = family
        if depth + 1 == n:
            check_deadline()
            if int(families.units[chosen].sum()) >= least:
                yield chosen.copy()
            continue
        leads_to.append(_add_paths(paths, parents[family], child))
        left.append(left[-1] - int(losses[family]))
        waiting.append(iter(lists[order[depth + 1]]))


def _add_paths(paths: NDArray[np.bool_], parents: list[int], child: int) -> NDArray[np.bool_]:
    """Return the paths after arcs from `parents` to `child` are added."""
    sources = np.zeros(len(paths), dtype=np.bool_)
    sources[parents] = True
    sources |= paths[:, parents].any(axis=1)
    targets = paths[child].copy()
    targets[child] = True
    return np.asarray(paths | (sources[:, None] & targets))


def _share_arcs(classes: tuple[tuple[CPDAG, float], ...]) -> dict[Arc, float]:
    """Return the share of the weight of all classes in which each arc is, the largest first."""
    if not classes:
        return {}
    best = classes[0][1]
    weights = [math.exp(score - best) for _, score in classes]
    shares: dict[Arc, float] = {}
    for (cpdag, _), weight in zip(classes, weights, strict=True):
        for arc in cpdag.arcs:
            shares[arc] = shares.get(arc, 0.0) + weight
        for a, b in cpdag.edges:
            for arc in ((a, b), (b, a)):
                shares[arc] = shares.get(arc, 0.0) + weight / 2
    total = math.fsum(weights)
    ordered = sorted(shares.items(), key=lambda item: (-item[1], item[0]))
    return {arc: share / total for arc, share in ordered}


PROVED = 1e-6  # nats: a smaller gap is no difference


@dataclass(frozen=True, eq=False, repr=False)
class Proof:
    """What is proved about a network.

    Attributes
    ----------
    network : DAG
        The best network known.
    score : float
        Its score.
    gap : float
        No network scores more than this above it, in nats. It is rounded up.
    arcs : tuple of (parent, child)
        The arcs of the network that are in every optimal network.
    gain : float
        How much better the network is than the one that the proof began with; 0 if it is the same.
    certificate : Certificate
        The proof itself. `coevo.check_proof` checks it.
    n_families, n_scored : int
        Number of families that can be in an optimal network, and of those that were scored.
    n_leaves : int
        Number of leaves of the tree.
    max_parents : int or None
        The limit on parents under which it is proved.
    history : tuple of ProofRow
        The progress of the proof.
    stop_reason : str
        Why it ended: ``'finished'``, ``'time'``, ``'memory'``, ``'interrupt'`` or ``'callback'``.
    good : GoodNetworks or None
        All equivalence classes near the best one, if they were asked for.
    files : mapping of str to str
        The files that were written.
    """

    network: DAG
    score: float
    gap: float
    arcs: tuple[Arc, ...]
    gain: float
    certificate: Certificate
    n_families: int
    n_scored: int
    n_leaves: int
    max_parents: int | None
    history: tuple[ProofRow, ...]
    stop_reason: str
    good: GoodNetworks | None = None
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def bound(self) -> float:
        """The score that no network exceeds."""
        return self.score + self.gap

    @property
    def listed(self) -> int | None:
        """The number of parents, beside required ones, of the largest listed families.

        None if all families were listed. Otherwise time or memory ended the list; the other
        families have only a weak bound, and so have all networks.
        """
        return self.certificate.listed

    @property
    def is_proved(self) -> bool:
        """Whether the network is optimal: no other one is better by a millionth of a nat."""
        return self.gap <= PROVED

    @property
    def seconds(self) -> float:
        """The time of the proof, with that of the search and the families."""
        return self.history[-1].seconds if self.history else 0.0

    @property
    def verdict(self) -> str:
        """What is proved, in one sentence."""
        limit = "" if self.max_parents is None else f" with at most {self.max_parents} parents"
        certain = f"{len(self.arcs):,} of its {format_count(len(self.network.arcs), 'arc')}"
        verb = "is" if len(self.arcs) == 1 else "are"
        if self.is_proved:
            best = f"The network is optimal{limit}"
        else:
            best = f"A network{limit} can be at most {self.gap:,.6g} nats better"
        return f"{best}; {certain} {verb} in every optimal network."

    def as_dict(self) -> dict[str, Any]:
        """Return the facts as plain values."""
        facts: dict[str, Any] = {
            "verdict": self.verdict,
            "is_proved": self.is_proved,
            "score": self.score,
            "gap": self.gap,
            "bound": self.bound,
            "gain": self.gain,
            "certain_arcs": [list(arc) for arc in self.arcs],
            "n_arcs": len(self.network.arcs),
            "max_parents": self.max_parents,
            "n_families": self.n_families,
            "n_scored": self.n_scored,
            "listed": self.listed,
            "n_leaves": self.n_leaves,
            "steps": self.history[-1].generation if self.history else 0,
            "seconds": round(self.seconds, 6),
            "stop_reason": self.stop_reason,
        }
        if self.good is not None:
            facts["good_networks"] = self.good.as_dict()
        return facts

    def write(self, folder: Path) -> dict[str, str]:
        """Write certificate.json.gz, proof.json and history.jsonl; return their paths."""
        make_run_folder(folder)
        write_certificate(self.certificate, folder / CERTIFICATE)
        write_json_lines(folder / "history.jsonl", [row.as_dict() for row in self.history])
        write_json(folder / "proof.json", self.as_dict())
        names = {"certificate": CERTIFICATE, "proof": "proof.json", "history": "history.jsonl"}
        return {kind: str(folder / name) for kind, name in names.items()}

    def __repr__(self) -> str:
        best = "optimal" if self.is_proved else f"gap at most {self.gap:,.6g} nats"
        return f"<Proof: {len(self.network.nodes)} variables, score {self.score:.4f}, {best}>"
