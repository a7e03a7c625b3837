"""Sampled DAGs in a compact form, what can be counted in them, and answers averaged over them.

A sample keeps the arcs of each DAG, not its matrix, so that a thousand DAGs of a thousand variables
fit into a few megabytes. Every feature of a DAG has a probability: the share of the sampled DAGs
that have it. Draws of chains are correlated, so the number of DAGs is not the number of independent
draws.

An averaged answer is what the data say, not what one network says. Each sampled DAG gets its
conditional probability tables from the same rows. Each network gives an answer, and the average of
the answers has the probability of each network as its weight. DAGs that were drawn more than once
are fitted once.

The networks can be stored: each distinct family with its table, and for each network its weight and
its families. So `coevo query RUN/posterior` needs no rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.checks import is_number
from coevo.data import Dataset, Variable
from coevo.errors import CoevoError, FormatError
from coevo.files.user_files import UserFile, read_json
from coevo.graph import DAG
from coevo.io import write_json
from coevo.network import BayesianNetwork
from coevo.network.bayesian_network import Evidence
from coevo.network.distribution import Distribution, average_distributions
from coevo.network.fit import fit_networks
from coevo.network.inference import EvidenceProbability
from coevo.network.rows import Prediction
from coevo.signatures import check_keywords

__all__ = [
    "AVERAGED",
    "AveragedNetwork",
    "DagSample",
    "find_descendants",
    "read_averaged",
    "write_averaged",
]


Matrix = NDArray[np.float64]  # (n, n)


@dataclass(frozen=True, eq=False)
class DagSample(Sequence[DAG]):
    """DAGs that were drawn from the posterior, in the order of the draws.

    Attributes
    ----------
    names : tuple of str
        The variables.
    start : array of int64, (m + 1,)
        DAG i has the arcs ``start[i]`` to ``start[i + 1]``.
    arcs : array of int32, (n_arcs, 2)
        Parent and child of each arc, as numbers of variables.

    Examples
    --------
    >>> sample = DagSample.from_matrices(("a", "b"), [np.array([[0, 1], [0, 0]], dtype=bool)])
    >>> len(sample), sample[0].arcs
    (1, (('a', 'b'),))
    >>> sample.measure(lambda dag: "b" in dag.children("a"))
    1.0
    """

    names: tuple[str, ...]
    start: NDArray[np.int64]
    arcs: NDArray[np.int32]

    @classmethod
    def from_matrices(
        cls, names: tuple[str, ...], matrices: Iterable[NDArray[np.bool_]]
    ) -> DagSample:
        """Make a sample from adjacency matrices, ``[parent, child]``, which it needs one by one."""
        listed = [np.argwhere(matrix) for matrix in matrices]
        start = np.concatenate([[0], np.cumsum([len(arcs) for arcs in listed])]).astype(np.int64)
        arcs = np.concatenate([*listed, np.empty((0, 2), dtype=np.int64)])
        return cls(names, start, arcs.astype(np.int32))

    def __len__(self) -> int:
        return len(self.start) - 1

    def __getitem__(self, number: int) -> DAG:  # type: ignore[override]
        """Return a DAG."""
        if not -len(self) <= number < len(self):
            raise IndexError(f"The sample has {len(self)} DAGs.")
        place = number % len(self)
        arcs = self.arcs[self.start[place] : self.start[place + 1]].tolist()
        return DAG(self.names, [(self.names[parent], self.names[child]) for parent, child in arcs])

    def iter_matrices(self) -> Iterator[NDArray[np.bool_]]:
        """Return the adjacency matrix of each DAG in turn, ``[parent, child]``."""
        n = len(self.names)
        for first, last in zip(self.start[:-1].tolist(), self.start[1:].tolist(), strict=True):
            matrix = np.zeros((n, n), dtype=np.bool_)
            matrix[self.arcs[first:last, 0], self.arcs[first:last, 1]] = True
            yield matrix

    def measure(self, feature: Callable[[DAG], float]) -> float:
        """Return the mean of a feature: its probability, if it is True or False."""
        return float(np.mean([float(feature(dag)) for dag in self]))

    def measure_ancestors(self) -> Matrix:
        """Return the share of DAGs in which a directed path leads from i to j, ``[i, j]``."""
        return self._average(find_descendants)

    def measure_blankets(self) -> Matrix:
        """Return the share of DAGs in which i is in the Markov blanket of j; symmetric."""
        return self._average(_find_blankets)

    def _average(self, find: Callable[[NDArray[np.bool_]], NDArray[np.bool_]]) -> Matrix:
        total = np.zeros((len(self.names), len(self.names)))
        for matrix in self.iter_matrices():
            total += find(matrix)
        return total / max(1, len(self))

    def count_networks(self) -> list[tuple[int, int]]:
        """Return each distinct DAG by the number of its first draw, with how often it was drawn.

        The most frequent comes first; ties stand in the order of their first draw.
        """
        first: dict[bytes, int] = {}
        counts: dict[bytes, int] = {}
        for number in range(len(self)):
            key = self.arcs[self.start[number] : self.start[number + 1]].tobytes()
            first.setdefault(key, number)
            counts[key] = counts.get(key, 0) + 1
        ranked = sorted(first, key=lambda key: (-counts[key], first[key]))
        return [(first[key], counts[key]) for key in ranked]

    def thin(self, number: int) -> DagSample:
        """Return at most this many DAGs, evenly spread over the draws."""
        if number >= len(self):
            return self
        chosen = np.linspace(0, len(self) - 1, number).round().astype(np.int64)
        sizes = np.diff(self.start)[chosen]
        start = np.concatenate([[0], np.cumsum(sizes)])
        at = np.repeat(self.start[chosen] - start[:-1], sizes) + np.arange(int(start[-1]))
        return DagSample(self.names, start, self.arcs[at])


def find_descendants(adjacency: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return whether a directed path leads from i to j in a DAG, ``[i, j]``."""
    reached = adjacency.copy()
    n_left = adjacency.sum(axis=1)
    ready = np.flatnonzero(n_left == 0).tolist()  # all children of these are done
    while ready:
        v = ready.pop()
        parents = np.flatnonzero(adjacency[:, v])
        reached[parents] |= reached[v]
        n_left[parents] -= 1
        ready += parents[n_left[parents] == 0].tolist()
    return reached


def _find_blankets(adjacency: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return whether two variables are neighbours or parents of the same child."""
    numbers = adjacency.astype(np.float32)
    blanket: NDArray[np.bool_] = adjacency | adjacency.T | ((numbers @ numbers.T) > 0)
    np.fill_diagonal(blanket, False)
    return blanket


AVERAGED = "averaged.json"  # the file of the networks, in the folder of a posterior


class AveragedNetwork:
    """Sampled networks that answer together.

    Parameters
    ----------
    networks : iterable of (float, BayesianNetwork)
        Networks of the same variables with their weights, which add up to 1.
    """

    def __init__(self, networks: Iterable[tuple[float, BayesianNetwork]]) -> None:
        self.networks = tuple(networks)

    @classmethod
    def from_sample(cls, sample: DagSample, dataset: Dataset, ess: float = 1.0) -> AveragedNetwork:
        """Estimate the tables of sampled DAGs from rows, as `fit_network` does."""
        counted = sample.count_networks()
        fitted = fit_networks([sample[first] for first, _ in counted], dataset, ess)
        return cls(
            (count / len(sample), network)
            for (_, count), network in zip(counted, fitted, strict=True)
        )

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables."""
        return self.networks[0][1].variables

    def variable(self, name: str) -> Variable:
        """Return a variable; raise an error if there is none of this name."""
        return self.networks[0][1].variable(name)

    @check_keywords()
    def query(
        self, targets: str | Iterable[str], given: Evidence | None = None, *, exact: bool = False
    ) -> Distribution:
        """Return the mean of the distributions of one or more variables, given evidence."""
        wanted = targets if isinstance(targets, str) else tuple(targets)
        return average_distributions(
            [(weight, one.query(wanted, given, exact=exact)) for weight, one in self.networks]
        )

    @check_keywords()
    def marginals(
        self,
        targets: str | Iterable[str] | None = None,
        given: Evidence | None = None,
        *,
        exact: bool = False,
    ) -> dict[str, Distribution]:
        """Return the mean distribution of each target; of all variables without evidence."""
        wanted = targets if targets is None or isinstance(targets, str) else tuple(targets)
        answers = [
            (weight, one.marginals(wanted, given, exact=exact)) for weight, one in self.networks
        ]
        return {
            name: average_distributions([(weight, answer[name]) for weight, answer in answers])
            for name in answers[0][1]
        }

    @check_keywords()
    def log_probability(self, given: Evidence | None = None, *, exact: bool = False) -> float:
        """Return the logarithm of the mean probability of the evidence."""
        total = math.fsum(
            w * math.exp(one.log_probability(given, exact=exact)) for w, one in self.networks
        )
        return math.log(total) if total > 0 else -math.inf

    @check_keywords()
    def measure_evidence(
        self, given: Evidence | None = None, *, exact: bool = False
    ) -> EvidenceProbability:
        """Return `log_probability` and its standard error, as `BayesianNetwork` does."""
        found = [
            (weight, one.measure_evidence(given, exact=exact)) for weight, one in self.networks
        ]
        shares = [weight * math.exp(each.log_probability) for weight, each in found]
        total = math.fsum(shares)
        if total == 0:
            return EvidenceProbability(-math.inf)
        # At most this: the estimates may share their random numbers.
        errors = [p * each.standard_error for p, (_, each) in zip(shares, found, strict=True)]
        return EvidenceProbability(math.log(total), math.fsum(errors) / total)

    @check_keywords()
    def predict(self, table: Any, target: str, *, exact: bool = False) -> Prediction:
        """Return the mean of the predictions of a column, given the other cells of each row."""
        first, *others = (
            (weight, network.predict(table, target, exact=exact))
            for weight, network in self.networks
        )
        mean = first[0] * first[1].probabilities
        for weight, answer in others:
            mean = mean + weight * answer.probabilities
        mean.setflags(write=False)
        return replace(first[1], probabilities=mean)


def write_averaged(averaged: AveragedNetwork, path: Path) -> None:
    """Write the networks; each distinct family once."""
    numbers: dict[tuple[str, ...], int] = {}
    families, networks = list[dict[str, Any]](), list[dict[str, Any]]()
    for weight, network in averaged.networks:
        chosen = []
        for variable in network.variables:
            parents = network.dag.parents(variable.name)
            key = (variable.name, *parents)
            if key not in numbers:
                numbers[key] = len(numbers)
                table = network.table(variable.name).tolist()
                families.append({"child": variable.name, "parents": parents, "table": table})
            chosen.append(numbers[key])
        networks.append({"weight": weight, "families": chosen})
    variables = [{"name": v.name, "states": v.states} for v in averaged.variables]
    write_json(path, {"variables": variables, "families": families, "networks": networks})


def read_averaged(path: Path) -> AveragedNetwork:
    """Read the networks of `write_averaged`; raise `FormatError` if the file is malformed."""
    stored = read_json(UserFile(path))
    try:
        variables = [Variable(v["name"], tuple(v["states"])) for v in stored["variables"]]
        networks = [
            (float(one["weight"]), _build_network(variables, stored["families"], one["families"]))
            for one in stored["networks"]
        ]
        is_sound = all(is_number(w) and w > 0 for w, _ in networks)
        is_sound = is_sound and math.isclose(math.fsum(w for w, _ in networks), 1.0, abs_tol=1e-6)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, CoevoError):
        is_sound = False
    if not is_sound:
        raise FormatError(
            f"{str(path)!r} does not hold averaged networks. Compute the posterior again."
        )
    return AveragedNetwork(networks)


def _build_network(
    variables: list[Variable], families: list[dict[str, Any]], numbers: list[int]
) -> BayesianNetwork:
    """Return the network of these families."""
    chosen = [families[number] for number in numbers if number >= 0]
    parents = {family["child"]: family["parents"] for family in chosen}
    return BayesianNetwork(variables, parents, {f["child"]: f["table"] for f in chosen})
