"""Answers that are averaged over networks: what the data say, not what one network says.

Each sampled DAG gets its conditional probability tables from the same rows. Each network gives an
answer, and the average of the answers has the probability of each network as its weight. DAGs that
were drawn more than once are fitted once.

The networks can be stored: each distinct family with its table, and for each network its weight and
its families. So `coevo query RUN/posterior` needs no rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from coevo.averaging.sample import DagSample
from coevo.checks import is_number
from coevo.data import Dataset, Variable
from coevo.errors import CoevoError, FormatError
from coevo.io import write_json
from coevo.network import BayesianNetwork
from coevo.network.bayesian_network import Evidence
from coevo.network.distribution import Distribution, average_distributions
from coevo.network.fit import fit_networks
from coevo.network.inference import EvidenceProbability
from coevo.network.rows import Prediction
from coevo.signatures import check_keywords
from coevo.user_files import UserFile, read_json

__all__ = ["AVERAGED", "AveragedNetwork", "read_averaged", "write_averaged"]

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
    def log_probability(self, given: Evidence | None = None) -> float:
        """Return the logarithm of the mean probability of the evidence."""
        total = math.fsum(w * math.exp(one.log_probability(given)) for w, one in self.networks)
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
    def predict(self, table: Any, target: str) -> Prediction:
        """Return the mean of the predictions of a column, given the other cells of each row."""
        first, *others = self._iter_predictions(table, target)
        mean = first[0] * first[1].probabilities
        for weight, answer in others:
            mean = mean + weight * answer.probabilities
        mean.setflags(write=False)
        return replace(first[1], probabilities=mean)

    def _iter_predictions(self, table: Any, target: str) -> Iterator[tuple[float, Prediction]]:
        for weight, network in self.networks:
            yield weight, network.predict(table, target)


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
