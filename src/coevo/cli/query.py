"""``coevo query``: probabilities of variables, given evidence."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Iterable, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

import click

from coevo.cli.evidence_args import (
    exact_option,
    given_option,
    read_given,
    read_names,
    soft_option,
)
from coevo.cli.options import format_option
from coevo.cli.output import print_json, show_status
from coevo.cli.tables import open_answering
from coevo.errors import CoevoWarning, ParameterError

if TYPE_CHECKING:
    from coevo.cli.tables import Answering
    from coevo.network import BayesianNetwork, Distribution

__all__ = ["command"]

ShownStates = Mapping[str, Mapping[str, str]]  # by variable: the text of each state


@click.command("query")
@click.argument("model", metavar="MODEL")
@click.argument("targets", nargs=-1, metavar="[TARGET[,TARGET]]...")
@given_option
@soft_option
@click.option("--joint", is_flag=True, help="Print the joint distribution of the targets.")
@click.option(
    "--mpe",
    is_flag=True,
    help="Print the most probable explanation: the jointly most probable states of all variables "
    "that are not given, or of the targets, with all others summed out.",
)
@exact_option
@format_option
def command(
    model: str,
    targets: tuple[str, ...],
    given: tuple[str, ...],
    soft: tuple[str, ...],
    joint: bool,
    mpe: bool,
    exact: bool,
    output_format: str,
) -> None:
    """Compute probabilities of variables, given evidence.

    MODEL is a network: a file, the folder of a run or the name of a bundled network. If it is the
    folder of a posterior, answers are averaged over its networks. Prints the distribution of each
    TARGET. Without a TARGET, prints the distribution of every variable that
    is not given. Inference is exact. If no way is found to fit the tables into memory, or to
    compute them in about a minute, the answer is an estimate, and its first line says so; a most
    probable explanation is refused then.

    \b
    coevo query earthquake Burglary --given JohnCalls=True,MaryCalls=True
    coevo query earthquake Burglary,Earthquake --joint --given Alarm=True
    coevo query alarm --given HR=HIGH --given CO=LOW --mpe
    coevo query alarm HYPOVOLEMIA,LVFAILURE --given HR=HIGH --mpe
    coevo query run/posterior ill --given smoker=yes
    coevo query run ill --given age=47 --soft smoker=yes:0.8,no:0.2
    """
    if mpe and joint:
        raise ParameterError("'--mpe' and '--joint' are two questions. Leave out one of them.")
    if joint and not targets:
        raise ParameterError(
            "'--joint' needs targets. Name the variables of the joint distribution."
        )
    with show_status(f"Querying {model} ..."), warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", "The answer is approximate", CoevoWarning
        )  # printed below
        from coevo.data.summary import shorten_states
        from coevo.network import BayesianNetwork

        network = open_answering(model)
        names, evidence = read_names(network, targets), read_given(network, given, soft)
        if not mpe:
            answer, line = (_compute_joint if joint else _compute_marginals)(
                network, names, evidence, exact
            )
        elif isinstance(network, BayesianNetwork):
            answer, line = _explain(network, names, evidence, exact), ""
        else:
            raise ParameterError(
                f"'--mpe' needs one network, and {model!r} averages over many. Ask the network of "
                "its run."
            )
        measured = network.measure_evidence(evidence, exact=exact)
    log_probability = measured.log_probability
    probability = math.exp(log_probability)
    if output_format == "json":
        facts = {"given": evidence, "log_probability": log_probability, "probability": probability}
        if not measured.is_exact:
            facts["log_probability_standard_error"] = measured.standard_error
        print_json({**facts, **answer})
        return
    shown = {variable.name: shorten_states(variable.states) for variable in network.variables}
    condition = " given the evidence" if evidence else ""
    blocks = _format_answer(answer, log_probability, condition, shown)
    if evidence:
        error = "" if measured.is_exact else f", standard error {measured.standard_error:.1g}"
        logarithm = f"logarithm {log_probability:z.6f}{error}"
        title = f"evidence, with probability {probability:.6g} ({logarithm})"
        blocks.insert(0, _format_block(title, _format_states(evidence, shown)))
    if line:
        is_in_memory = answer["approximation"]["is_in_memory"]
        blocks.insert(0, line + ("; --exact computes it" if is_in_memory else ""))
    click.echo("\n\n".join(blocks))


def _compute_marginals(
    network: Answering, names: list[str], given: dict[str, Any], exact: bool
) -> tuple[dict[str, Any], str]:
    """Return the distribution of each target, or of all variables; and how it is approximate."""
    from coevo.network.distribution import describe_approximation

    marginals = network.marginals(names or None, given, exact=exact)
    answer: dict[str, Any] = {
        **_describe_quality(marginals.values()),
        "marginals": {name: marginal.to_dict() for name, marginal in marginals.items()},
    }
    if not answer["is_exact"]:
        answer["standard_errors"] = {
            name: dict(zip(marginal, marginal.standard_errors.tolist(), strict=True))
            for name, marginal in marginals.items()
        }
    return answer, describe_approximation(marginals.values())


def _compute_joint(
    network: Answering, names: list[str], given: dict[str, Any], exact: bool
) -> tuple[dict[str, Any], str]:
    """Return the joint distribution of the targets; and how it is approximate."""
    from coevo.network.distribution import describe_approximation

    distribution = network.query(names, given, exact=exact)
    states = product(*(variable.states for variable in distribution.variables))
    rows = [
        {"states": list(row), "probability": value}
        for row, value in zip(states, distribution.probabilities.ravel().tolist(), strict=True)
    ]
    if not distribution.is_exact:
        for row, error in zip(rows, distribution.standard_errors.ravel().tolist(), strict=True):
            row["standard_error"] = error
    answer = {**_describe_quality([distribution]), "targets": names, "joint": rows}
    return answer, describe_approximation([distribution])


def _describe_quality(answers: Collection[Distribution]) -> dict[str, Any]:
    """Return whether all answers are exact; if not, how they were estimated."""
    found = [answer.approximation for answer in answers if answer.approximation is not None]
    if not found:
        return {"is_exact": True}
    return {
        "is_exact": False,
        "approximation": {
            "method": "likelihood weighting",
            "samples": min(each.n_samples for each in found),
            "effective_sample_size": min(each.effective_sample_size for each in found),
            "smallest_order_bytes": max(each.smallest_order_bytes for each in found),
            "smallest_order_operations": max(each.smallest_order_operations for each in found),
            "is_in_memory": all(each.is_in_memory for each in found),
        },
    }


def _explain(
    network: BayesianNetwork, names: list[str], given: dict[str, Any], exact: bool
) -> dict[str, Any]:
    """Return the most probable states of the targets, or of all variables, and their probability.

    That is the joint probability of these states with the evidence.
    """
    if names:
        found = network.most_probable_states(names, given, exact=exact)
    else:
        found = network.most_probable_explanation(given, exact=exact)
    return {
        "is_exact": True,
        **({"targets": names} if names else {}),
        "states": dict(found.states),
        "log_probability_with_states": found.log_probability,
    }


def _format_answer(
    answer: dict[str, Any], log_evidence: float, condition: str, shown: ShownStates
) -> list[str]:
    """Return the answer as blocks of text; `log_evidence` is the evidence's log-probability."""
    if "states" in answer:
        probability = math.exp(answer["log_probability_with_states"] - log_evidence)
        of = "states of the targets" if "targets" in answer else "explanation"
        title = f"most probable {of}, with probability {probability:.6g}{condition}"
        return [_format_block(title, _format_states(answer["states"], shown))]
    if "joint" in answer:
        names = [shown[name] for name in answer["targets"]]
        rows = [
            (
                ", ".join(name[state] for name, state in zip(names, row["states"], strict=True)),
                row["probability"],
                row.get("standard_error"),
            )
            for row in answer["joint"]
        ]
        return [_format_block(", ".join(answer["targets"]), _format_probabilities(rows))]
    errors = answer.get("standard_errors", {})
    return [
        _format_block(
            name,
            _format_probabilities(
                (shown[name][s], p, errors[name][s] if errors else None)
                for s, p in distribution.items()
            ),
        )
        for name, distribution in answer["marginals"].items()
    ]


def _format_block(title: str, lines: Iterable[str]) -> str:
    return "\n  ".join([title, *lines])


def _format_states(states: Mapping[str, Any], shown: ShownStates) -> list[str]:
    return [f"{name} = {_format_value(value, shown[name])}" for name, value in states.items()]


def _format_value(value: Any, shown: Mapping[str, str]) -> str:
    """Return a state, or the weights of soft evidence."""
    if isinstance(value, Mapping):
        return ", ".join(f"{shown[state]}:{weight:g}" for state, weight in value.items())
    return shown.get(str(value), str(value))


def _format_probabilities(rows: Iterable[tuple[str, float, float | None]]) -> list[str]:
    """Return a line for each state, its probability and its standard error, if it has one."""
    return [
        f"{value:.6f}  {state}" if error is None else f"{value:.6f} +- {error:.6f}  {state}"
        for state, value, error in rows
    ]
