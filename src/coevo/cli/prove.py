"""``coevo prove``: how far from the best network a network can be."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from coevo.cli.missing import check_missing_options
from coevo.cli.options import (
    bundle_options,
    check_resume,
    format_option,
    make_n_jobs_option,
    make_search_options,
    make_seed_option,
)
from coevo.cli.output import print_json, show_status
from coevo.cli.tables import column_options, read_declared_states
from coevo.errors import format_count
from coevo.options import CheckProofOptions, select_options

if TYPE_CHECKING:
    from coevo.exact import Proof, Verdict
    from coevo.learning import LearnTask

__all__ = ["command"]

SHOWN = 10  # arcs of all good networks that are printed

proof_options = bundle_options(
    "chosen",
    click.option(
        "--structure",
        metavar="MODEL",
        help="The network, in any format, or the name of a bundled one.  [default: as a search "
        "finds it]",
    ),
    click.option("--run", metavar="DIR", help="The network of the run folder of coevo learn."),
    click.option(
        "--within",
        type=click.FloatRange(min=0),
        metavar="NATS",
        help="List all equivalence classes within so many nats of the best network, too, for "
        "scores that are equivalent (bdeu, bic).",
    ),
    click.option(
        "--check",
        metavar="CERTIFICATE",
        help="Check this certificate against DATA instead, with the same options of reading.",
    ),
)


@click.command("prove")
@click.argument("data", metavar="DATA")
@proof_options
@make_search_options("Stop the proof", ", with the bound so far")
@column_options
@make_seed_option("answer")
@make_n_jobs_option("threads", "answer", all_cores=True)
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    help="Run folder as of coevo learn, with the certificate in DIR/proof. It holds a checkpoint "
    "while the proof runs.",
)
@click.option("--resume", is_flag=True, help="Resume the proof of the run folder, or extend it.")
@format_option
def command(
    data: str,
    chosen: dict[str, Any],
    search: dict[str, Any],
    columns: dict[str, Any],
    seed: int,
    n_jobs: int,
    output: str | None,
    resume: bool,
    output_format: str,
) -> None:
    """Prove how far from the best network a network can be.

    The answer is an upper bound on the score of every network, under the same score, constraints,
    weights and limit on parents. Where the bound meets the score, the network is optimal. The
    certificate, DIR/proof/certificate.json.gz, holds the proof: coevo prove --check verifies it
    with a short program of its own.

    A proof lists all families that can be in an optimal network. Without a limit on parents (-p)
    that is feasible for bic and aic, and for other scores on few variables. Ctrl-C stops the proof
    and prints the bound so far; --resume continues it. Needs coevo[prove].

    \b
    coevo prove alarm.csv -s k2 -p 3 -o run/
    coevo prove alarm.csv -s bic --structure alarm.bif -t 60
    coevo prove alarm.csv -s bic --run run/ -t 600 -o run/ --resume
    coevo prove asia.csv -s bdeu --within 3
    coevo prove --check run/proof/certificate.json.gz alarm.csv
    """
    check_missing_options(columns)
    check_resume(resume, output)
    given = [f"--{name}" for name in ("structure", "run", "check") if chosen[name] is not None]
    if len(given) > 1:
        raise click.UsageError(f"{given[0]} and {given[1]} cannot be combined.")
    if chosen["check"] is not None:
        _check(data, chosen["check"], columns, n_jobs, output_format)
        return
    with show_status(f"Reading {data} ...") as show:
        from coevo.learning import check_settings, open_task
        from coevo.learning.structure_proof import (
            prepare_proof,
            read_run_network,
            search_and_prove,
        )

        declared = read_declared_states(columns["states"])
        start: Any = chosen["structure"]
        if chosen["run"] is not None:
            start = read_run_network(chosen["run"])
        if start is not None:
            search |= {"start": start, "max_generations": 0}
        settings = check_settings(
            "prove",
            "--max-parents",
            **search,
            **declared.complete(columns),
            random_state=seed,
            n_jobs=n_jobs,
            bootstraps=0,
        )
        settings = prepare_proof(settings, chosen["within"])
        with open_task(
            settings, data, source=data, output=output, resume=resume, command=sys.argv[1:]
        ) as task:
            declared.check(tuple(column.name for column in task.info.columns))
            show(f"Learning by {task.spec.method.name} ...")
            learned = search_and_prove(task, chosen["within"], resume, show)
    proof = learned.proof
    assert proof is not None
    for notice in task.notices:
        print(f"Warning: {notice}", file=sys.stderr)
    if output_format == "json":
        print_json(_describe(task, proof))
    else:
        for line in _format(task, proof):
            click.echo(line)
    for failure in task.failures.values():
        raise failure
    if proof.stop_reason == "interrupt":
        print("Interrupted. This is the bound so far.", file=sys.stderr)
        raise click.exceptions.Exit(130)


def _check(
    data: str, certificate: str, columns: dict[str, Any], n_jobs: int, output_format: str
) -> None:
    """Check a certificate, and print what it proves."""
    with show_status(f"Reading {data} ..."):
        from coevo.learning import check_proof

        declared = read_declared_states(columns["states"])
        reading = select_options(CheckProofOptions, declared.complete(columns))
        reading = {**reading, "n_jobs": n_jobs}
        verdict = check_proof(certificate, data, **reading)
    if output_format == "json":
        print_json(_describe_verdict(verdict))
        return
    click.echo(f"certificate holds: no network scores more than {verdict.gap:.6g} nats above")
    click.echo(f"score       {verdict.score:.6f}")
    click.echo(
        f"checked     {format_count(verdict.n_families, 'family', 'families')}, "
        f"{format_count(verdict.n_leaves, 'leaf', 'leaves')}; "
        f"{format_count(len(verdict.arcs), 'arc')} in every optimal network"
    )


def _describe_verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "holds": True,
        "score": verdict.score,
        "gap": verdict.gap,
        "certain_arcs": [list(arc) for arc in verdict.arcs],
        "n_families": verdict.n_families,
        "n_leaves": verdict.n_leaves,
    }


def _describe(task: LearnTask, proof: Proof) -> dict[str, Any]:
    """Return the answer as plain values."""
    facts = {
        "n_rows": task.dataset.n_rows,
        "n_variables": task.dataset.n_variables,
        "scoring": task.spec.score.name,
        "decisions": [decision.as_dict() for decision in task.info.decisions],
        "arcs": [list(arc) for arc in proof.network.arcs],
    }
    return {**facts, **proof.as_dict()}


def _format(task: LearnTask, proof: Proof) -> list[str]:
    """Return the answer as lines."""
    from coevo.cli.output import format_decisions

    rows = format_count(task.dataset.n_rows, "row")
    variables = format_count(task.dataset.n_variables, "variable")
    families = format_count(proof.n_families, "family", "families")
    lines = [
        f"table       {rows}, {variables}",
        *format_decisions([decision.as_dict() for decision in task.info.decisions]),
        f"network     {format_count(len(proof.network.arcs), 'arc')}, {task.spec.score.label} "
        f"{proof.score:.6f}",
        f"families    {families} of {proof.n_scored:,} scored {_describe_list(proof.listed)}",
        f"bound       {proof.bound:.6f}, gap {proof.gap:.6g} nats; "
        f"{format_count(proof.n_leaves, 'leaf', 'leaves')}, {proof.seconds:.1f} s",
        f"proof       {proof.verdict}",
    ]
    if proof.gain:
        lines.append(f"            It is {proof.gain:.6g} nats better than the network given.")
    if proof.good is not None:
        lines += _format_good(proof)
    if task.folder is not None:
        lines.append(f"wrote       {task.folder / 'proof'}")
    return lines


def _describe_list(listed: int | None) -> str:
    """Return what the listed families are."""
    if listed is None:
        return "can be in an optimal network"
    return f"are listed, all of at most {format_count(listed, 'parent')}"


def _format_good(proof: Proof) -> list[str]:
    """Return the lines about all good networks."""
    good = proof.good
    assert good is not None
    number = format_count(len(good.classes), "equivalence class", "equivalence classes")
    most = "" if good.is_complete else " at least"
    lines = [f"good       {most} {number} within {good.within:g} nats", "  share  arc"]
    shares = list(good.shares.items())
    lines += [f"  {share:>5.3f}  {parent} -> {child}" for (parent, child), share in shares[:SHOWN]]
    if len(shares) > SHOWN:
        lines.append(f"  and {len(shares) - SHOWN:,} more, all in --format json")
    return lines
