"""`prove`: how far from the best network a network can be, with a certificate."""

from __future__ import annotations

import math
import os
import pathlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from coevo.checks import is_number
from coevo.data import Dataset
from coevo.errors import (
    DataError,
    FileError,
    ParameterError,
    bad_parameter,
    format_count,
    warn_caller,
)
from coevo.exact import (
    CERTIFICATE,
    Certificate,
    Families,
    GoodNetworks,
    PartOfFamilies,
    Proof,
    ProofCheckpoint,
    ProofRow,
    ProofTask,
    Verdict,
    check_certificate,
    check_equivalent,
    check_family_memory,
    find_families,
    list_good_networks,
    load_highs,
    make_certificate,
    read_certificate,
    run_proof,
)
from coevo.exact.families import NO_BOUND
from coevo.exact.result import PROVED
from coevo.exact.run import ProofCheckpointFile
from coevo.exact.solver import ProofState, make_adjacency
from coevo.files.checkpoints import CHECKPOINT
from coevo.files.run_folder import check_output
from coevo.io import read_run
from coevo.learning.arguments import flatten
from coevo.learning.result import PROOF, LearnResult
from coevo.learning.settings import LearnSettings, check_settings
from coevo.learning.structure_posterior import limit_search
from coevo.learning.task import LearnTask, open_task
from coevo.network import BayesianNetwork
from coevo.options import CheckProofOptions, MovedOfProve, ProveOptions
from coevo.progress import ProgressCallback, check_progress, show_progress
from coevo.runtime.deadline import defer_interrupts, measure_work_time
from coevo.score import FamilyScorer
from coevo.search import Budget, Problem
from coevo.signatures import accept_options

if TYPE_CHECKING:
    from coevo.options import GivenStart

__all__ = [
    "ProofRun",
    "check_proof",
    "check_within",
    "describe_bounds",
    "extend_with_proof",
    "prepare_proof",
    "prove",
    "prove_result",
    "read_run_network",
    "search_and_prove",
]

ProofCallback = Callable[[ProofRow], bool | None]


@accept_options(ProveOptions, MovedOfProve)
def prove(
    data: Any,
    *,
    structure: GivenStart | None = None,
    within: float | None = None,
    output: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: bool | None = None,
    **options: Unpack[ProveOptions],
) -> Proof:
    """Prove how far from the best network a network can be.

    The answer is an upper bound on the score of every network, under the same score, constraints,
    weights and limits. Where the bound meets the score of the network, the network is optimal. The
    certificate of the answer can be checked by anyone who has the table (`check_proof`).

    Needs HiGHS: ``pip install 'coevo[prove]'``.

    Parameters
    ----------
    data : path, data frame, PyArrow table, array, SQL query or Dataset
        The observations, as for `learn`, without missing values.
    structure : DAG, BayesianNetwork, path or name, optional
        The network (default: the one that a search finds). If the proof meets a better one, the
        answer is about that one.
    within : float, optional
        List all equivalence classes within so many nats of the best network, too. It needs a score
        that is equivalent, as ``'bdeu'`` and ``'bic'``.
    **options
        The search, the score, the constraints and how the table is read, as for `learn`.
    output : path, optional
        The run folder, as for `learn`, with the certificate in its sub-folder ``proof``.
    resume : bool
        Resume from the checkpoint of `output`. The answer is the same as without the interruption.
    progress : bool, optional
        Whether to show progress, as for `learn`.

    Notes
    -----
    The proof stops after `max_time`, with the bound so far. Without `max_parents`, BIC and AIC are
    often feasible; other scores on more than about twenty variables need it.

    Returns
    -------
    Proof
        Ctrl-C stops with the bound so far.

    Examples
    --------
    >>> import coevo
    >>> rows = coevo.sample(coevo.load_network("asia"), 1000, random_state=1)
    >>> proof = coevo.prove(rows, score="bic")
    >>> proof.is_proved, round(proof.score, 4)
    (True, -2245.8105)
    >>> coevo.check_proof(proof.certificate, rows).gap < 1e-6
    True
    """
    check_progress(progress, "prove")
    check_output(output, resume, "prove")
    chosen = flatten("prove", options)
    chosen = {**chosen, "bootstraps": 0}
    if structure is not None:
        chosen = {**chosen, "start": structure, "max_generations": 0}
    settings = prepare_proof(check_settings("prove", **chosen), within)
    is_file = isinstance(data, str | os.PathLike) and settings.opening["connection"] is None
    source = os.path.basename(data) if is_file else None
    with open_task(settings, data, source=source, output=output, resume=resume) as task:
        for decision in task.info.decisions:
            warn_caller(str(decision))
        with show_progress(progress, f"Learning by {task.spec.method.name} ...") as show:
            learned = search_and_prove(task, within, resume, show)
    for notice in (*task.notices, *task.describe_failures()):
        warn_caller(notice)
    assert learned.proof is not None
    return learned.proof


@accept_options(CheckProofOptions)
def check_proof(certificate: Any, table: Any, **options: Unpack[CheckProofOptions]) -> Verdict:
    """Check a certificate against a table; raise `FormatError` if it does not hold.

    Parameters
    ----------
    certificate : Certificate or path
        The certificate: of a `Proof`, a file ``certificate.json.gz``, or the run folder with it.
    table : path, data frame, PyArrow table, array, SQL query or Dataset
        The table of the proof, with the same options of reading as for `prove`.
    **options
        How the table is read, and `n_jobs`, the number of threads, as for `learn`.

    Returns
    -------
    Verdict
        The score of the network, the gap, and the arcs that are in every optimal network.
    """
    if isinstance(certificate, str | os.PathLike):
        path = pathlib.Path(certificate)
        certificate = read_certificate(path / PROOF / CERTIFICATE if path.is_dir() else path)
    if not isinstance(certificate, Certificate):
        raise bad_parameter("certificate", "check_proof", "a Certificate or a path", certificate)
    settings = check_settings("check_proof", **options)
    rows, _ = settings.read_table(table)
    if not isinstance(rows, Dataset):
        raise DataError("The table has missing values; a certificate is for complete rows.")
    return check_certificate(certificate, rows, settings.n_jobs)


def read_run_network(folder: str | os.PathLike[str]) -> BayesianNetwork:
    """Return the network of a run folder; raise `FileError` if it has none."""
    network = read_run(pathlib.Path(folder)).network
    if network is None:
        raise FileError(f"The run in {str(folder)!r} has no model.bif. Give --structure instead.")
    return network


def check_within(within: float | None) -> None:
    """Raise `ParameterError` unless `within` is None or a number of nats."""
    if within is not None and not (is_number(within) and within >= 0):
        raise bad_parameter("within", "prove", "a number >= 0 or None", within)


def prepare_proof(settings: LearnSettings, within: float | None) -> LearnSettings:
    """Validate the settings of a proof before the table is read; limit its search."""
    load_highs()
    check_within(within)
    if settings.is_out_of_core:
        raise ParameterError(
            "A proof needs all rows in memory: 'shards' and 'cluster' cannot be combined with it."
        )
    return limit_search(settings)


def search_and_prove(
    task: LearnTask, within: float | None, resume: bool, show: ProgressCallback
) -> LearnResult:
    """Return the result of a search with a proof; the time limit is for both together."""
    began = measure_work_time()
    problem = _open_problem(task)
    if within is not None:
        has_arcs = problem.rules.has_arc_constraints
        check_equivalent(task.spec.score, bool(task.spec.weights), has_arcs)
    learned = task.search([task.make_progress().as_callback(show)])
    is_interrupted = learned.search.stop_reason == "interrupt"
    limit = 0.0 if is_interrupted else task.settings.spec.budget.max_time
    return prove_result(task, learned, ProofRun(began, limit, within, resume, show))


def _open_problem(task: LearnTask) -> Problem:
    """Return the problem of a task, if it can have a proof."""
    if task.incomplete is not None:
        values = format_count(task.incomplete.n_missing, "missing value")
        raise DataError(
            f"The table has {values}, and a proof holds for complete rows. Drop or impute them "
            "first; coevo learn --imputed FILE writes an imputed table."
        )
    if not isinstance(task.scorer, FamilyScorer):
        raise ParameterError("A proof needs all rows in memory.")
    problem = Problem.from_scorer(task.scorer, task.spec.constraints)
    check_family_memory(problem)
    return problem


@dataclass(frozen=True)
class ProofRun:
    """How a proof runs: its clock and limit, and the options of `prove`."""

    began: float  # on the clock of `measure_work_time`
    limit: float | None = None  # seconds since then
    within: float | None = None
    resume: bool = False
    show: Callable[[str], object] = lambda message: None

    @property
    def deadline(self) -> float:
        """When the time ends."""
        return math.inf if self.limit is None else self.began + self.limit


def prove_result(task: LearnTask, learned: LearnResult, run: ProofRun) -> LearnResult:
    """Return the result of a search with a proof, and write the run folder."""
    problem = _open_problem(task)
    families = find_families(problem, show=run.show, deadline=run.deadline)
    part = families.part
    if part is not None and run.within is not None:
        raise ParameterError(f"All good networks need all families. {part.note}")
    proof_task = ProofTask(problem, families, learned.search.dag)
    checkpoints, state = _open_checkpoints(task, families, run.resume)
    last, reason = run_proof(
        proof_task,
        budget=Budget(max_time=run.limit),
        callbacks=[describe_bounds(run.show)],
        resume_from=state,
        on_checkpoint=None if checkpoints is None else checkpoints.write_if_due,
        seconds=measure_work_time() - run.began,
    )
    with defer_interrupts():  # keep the result even if Ctrl-C comes now
        if checkpoints is not None:
            task.note_failure("proof", checkpoints.finish(last, reason))
        good = None
        if run.within is not None and reason != "interrupt":
            good = _list_good(task, last.state, run)
        proof = _make_proof(proof_task, last.state, learned.score)
        stop_reason: str = reason
        if part is not None:
            stop_reason = part.reason
            task.notices.append(_describe_part(part))
        if learned.search.stop_reason == "interrupt":
            stop_reason = "interrupt"
        proof = replace(proof, history=last.history, stop_reason=stop_reason, good=good)
        if proof.gain > 0:
            learned = task.adopt(learned, proof.network)
        return task.write(replace(learned, proof=proof))


def _describe_part(part: PartOfFamilies) -> str:
    """Return the notice about a partial list of families."""
    number = format_count(part.n_free, "parent")
    return (
        f"Only the families of at most {number} were listed, so the bound is far from tight. "
        f"{part.note}"
    )


def _list_good(task: LearnTask, state: ProofState, run: ProofRun) -> GoodNetworks:
    assert run.within is not None
    families = find_families(_open_problem(task), run.within, deadline=run.deadline)
    return list_good_networks(families, state, tuple(task.dataset.names), run.within)


def _make_proof(task: ProofTask, state: ProofState, score: float) -> Proof:
    """Return what a state has proved."""
    search, problem, scorer = task.make_search(), task.problem, task.problem.scorer
    certificate = make_certificate(task, state)
    network = problem.make_dag(make_adjacency(task.families, state.chosen))
    found = scorer.score(network)
    is_better = found > score + PROVED
    names, certain = problem.names, search.find_certain_arcs(state)
    arcs = [(names[u], names[v]) for u, v in np.argwhere(certain)]
    limit = problem.rules.max_parents
    return Proof(
        network=network,
        score=found,
        gap=search.compute_gap(state),
        arcs=tuple(arc for arc in arcs if arc in set(network.arcs)),
        gain=found - score if is_better else 0.0,
        certificate=certificate,
        n_families=len(task.families),
        n_scored=task.families.n_scored,
        n_leaves=sum(not node.is_split for node in state.nodes),
        max_parents=limit if limit < len(names) - 1 else None,
        history=(),
        stop_reason="finished",
    )


def _open_checkpoints(
    task: LearnTask, families: Families, resume: bool
) -> tuple[ProofCheckpointFile | None, ProofCheckpoint | None]:
    """Return the checkpoint file of the proof, and the checkpoint to resume from.

    The file knows the rows, the settings and the families. A part of the families depends on the
    time, so it has no checkpoint, and takes no other one's place.
    """
    if task.folder is None:
        return None, None
    fingerprint = replace(task.spec, start=None).fingerprint(task.dataset.content_hash)
    start = task.spec.start
    given = None if start is None else str(getattr(start, "arcs", start))
    folder, facts = task.folder / PROOF, {**fingerprint, "structure": given}
    checkpoints = ProofCheckpointFile(folder, facts, families)
    if not resume:
        checkpoints.check_replaceable()
    if families.part is not None:
        if resume and (folder / CHECKPOINT).exists():
            raise ParameterError(NO_BOUND)
        return None, None
    return checkpoints, checkpoints.load() if resume else None


def extend_with_proof(
    task: LearnTask,
    learned: LearnResult,
    max_time: float,
    resume: bool = False,
    show: Callable[[str], object] = lambda message: None,
) -> LearnResult:
    """Return the result of `learn` with a proof; where none is possible, a notice says why."""
    try:
        run = ProofRun(measure_work_time(), max_time, resume=resume, show=show)
        return prove_result(task, learned, run)
    except (ParameterError, DataError) as error:
        task.notices.append(f"There is no proof. {error}")
    return learned


def describe_bounds(show: Callable[[str], object]) -> ProofCallback:
    """Return a callback that shows both bounds."""

    def callback(row: ProofRow) -> None:
        show(
            f"Proving: step {row.generation:,}, score {row.score:,.4f}, at most {row.gap:,.4f} "
            f"nats better, {format_count(row.n_certain, 'arc')} certain, {row.n_open:,} open"
        )

    return callback
