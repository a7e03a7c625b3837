"""``coevo query``: how probable states are, given the states of others."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

import click

from coevo.cli.console import print_json, show_status
from coevo.cli.evidence_args import given_option, read_given, read_names
from coevo.cli.options import format_option
from coevo.errors import ParameterError

if TYPE_CHECKING:
    from coevo.network import BayesianNetwork

__all__ = ["command"]


@click.command("query")
@click.argument("model", metavar="FILE_OR_NETWORK")
@click.argument("targets", nargs=-1, metavar="[TARGET[,TARGET]]...")
@given_option
@click.option("--joint", is_flag=True, help="The targets together, not one by one.")
@click.option(
    "--mpe",
    is_flag=True,
    help="The most probable explanation: the jointly most probable states of all variables "
    "that are not given.",
)
@format_option
def command(
    model: str,
    targets: tuple[str, ...],
    given: tuple[str, ...],
    joint: bool,
    mpe: bool,
    output_format: str,
) -> None:
    """Ask a network about variables, given the states of others.

    Answers are exact. Without a TARGET, every variable that is not given is one.

    \b
    coevo query earthquake Burglary --given JohnCalls=True,MaryCalls=True
    coevo query earthquake Burglary,Earthquake --joint --given Alarm=True
    coevo query alarm --given HR=HIGH --given CO=LOW --mpe
    """
    if mpe and (targets or joint):
        raise ParameterError("'--mpe' is about all variables. Leave out the targets and --joint.")
    if joint and not targets:
        raise ParameterError("'--joint' needs targets. Name the variables to take together.")
    with show_status(f"Asking {model} ..."):
        from coevo.bundled import open_network

        network = open_network(model)
        names, known = read_names(network, targets), read_given(network, given)
        found = (_explanation if mpe else _joint if joint else _each)(network, names, known)
        total = network.log_probability(known)
    evidence = {"given": known, "log_probability": total, "probability": math.exp(total)}
    if output_format == "json":
        print_json({**evidence, **found})
        return
    blocks = _blocks(found, total, " given that" if known else "")
    if known:
        title = f"given, with probability {math.exp(total):.6g} (logarithm {total:.6f})"
        blocks.insert(0, _block(title, _equal(known)))
    click.echo("\n\n".join(blocks))


def _each(network: BayesianNetwork, names: list[str], given: dict[str, str]) -> dict[str, Any]:
    """Return the numbers for each target by itself."""
    found = network.marginals(names or None, given)
    return {"marginals": {name: answer.to_dict() for name, answer in found.items()}}


def _joint(network: BayesianNetwork, names: list[str], given: dict[str, str]) -> dict[str, Any]:
    """Return the numbers for all targets together."""
    found = network.query(names, given)
    states = product(*(variable.states for variable in found.variables))
    values = found.probabilities.ravel().tolist()
    return {
        "targets": names,
        "joint": [
            {"states": list(row), "probability": value}
            for row, value in zip(states, values, strict=True)
        ],
    }


def _explanation(
    network: BayesianNetwork, names: list[str], given: dict[str, str]
) -> dict[str, Any]:
    """Return the most probable states, and how probable they are with the evidence."""
    found = network.most_probable_explanation(given)
    return {"states": dict(found.states), "log_probability_with_states": found.log_probability}


def _blocks(found: dict[str, Any], total: float, condition: str) -> list[str]:
    """Return the answer as blocks of text."""
    if "states" in found:
        share = math.exp(found["log_probability_with_states"] - total)
        title = f"most probable together, with probability {share:.6g}{condition}"
        return [_block(title, _equal(found["states"]))]
    if "joint" in found:
        rows = [(", ".join(row["states"]), row["probability"]) for row in found["joint"]]
        return [_block(", ".join(found["targets"]), _numbers(rows))]
    return [_block(name, _numbers(each.items())) for name, each in found["marginals"].items()]


def _block(title: str, lines: Iterable[str]) -> str:
    return "\n  ".join([title, *lines])


def _equal(states: Mapping[str, str]) -> list[str]:
    return [f"{name} = {state}" for name, state in states.items()]


def _numbers(rows: Iterable[tuple[str, float]]) -> list[str]:
    return [f"{value:.6f}  {state}" for state, value in rows]
