"""``coevo explain``: what matters for a variable, and what each finding tells about it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

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
from coevo.errors import ParameterError

if TYPE_CHECKING:
    from coevo.network.explanation import TargetExplanation

__all__ = ["command"]


@click.command("explain")
@click.argument("model", metavar="MODEL")
@click.argument("target", metavar="TARGET")
@given_option
@soft_option
@click.option(
    "--state",
    metavar="STATE",
    help="State of TARGET to explain.  [default: the state that the evidence changes most]",
)
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    help="Maximum number of variables to list that tell most about TARGET.",
)
@exact_option
@format_option
def command(
    model: str,
    target: str,
    given: tuple[str, ...],
    soft: tuple[str, ...],
    state: str | None,
    top: int,
    exact: bool,
    output_format: str,
) -> None:
    """Show what matters for a variable, and explain its probability.

    Without evidence this answers "what matters for TARGET?": the variables that tell most about
    it, and how far each moves its probability. With evidence it shows for each finding how far it
    moves the probability of TARGET, given all other findings and alone, and along which arcs, and
    then what to observe next. The number in parentheses is the weight of evidence: the change of
    the log odds, in nats. All numbers are exact. They are about the network: what tells much about
    TARGET need not be a cause of it.

    \b
    coevo explain run/ ill
    coevo explain asia lung --given xray=yes,smoke=yes
    coevo explain asia lung --given dysp=yes,bronc=no --state no --top 3
    """
    with show_status(f"Querying {model} ..."):
        from coevo.bundled import open_network

        network = open_network(model)
        names = read_names(network, [target])
        if len(names) > 1:
            raise ParameterError(f"'explain' is about one variable; got {len(names)}. Name one.")
        evidence = read_given(network, given, soft)
        found = network.explain(names[0], evidence, state=state, top=top, exact=exact)
    if output_format == "json":
        print_json(found.as_dict())
        return
    click.echo("\n\n".join("\n".join(block) for block in _list_blocks(found, top > 0)))


def _list_blocks(found: TargetExplanation, shows_next: bool) -> Iterator[list[str]]:
    """Yield the answer as blocks of lines, with what to observe next if that is wanted."""
    yield [found.target.name, *_format_distributions(found)]
    yield [found.describe()]
    for effect in found.findings:
        first, *others = found.describe_finding(effect)
        yield [first, *(f"  {sentence}" for sentence in others)]
    if found.next_observations:
        told = [f"  {found.describe_observation(one)}" for one in found.next_observations]
        title = (
            "what to observe next" if found.findings else f"what matters for {found.target.name}"
        )
        yield [title, *told]
    elif not found.entropy:
        yield [f"Nothing is unknown about {found.target.name}."]
    elif shows_next:
        yield [f"No unobserved variable tells more about {found.target.name}."]


def _format_distributions(found: TargetExplanation) -> Iterator[str]:
    """Yield the prior, and with evidence the posterior, of each state."""
    from coevo.data.summary import shorten_states

    has_evidence, shown = bool(found.findings), shorten_states(found.target.states)
    yield "     prior" + "  posterior" * has_evidence
    for state, prior in found.prior.items():
        posterior = f"   {found.posterior[state]:.6f}" if has_evidence else ""
        yield f"  {prior:.6f}{posterior}  {shown[state]}"
