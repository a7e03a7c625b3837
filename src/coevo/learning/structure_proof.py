"""`prove`: how far from the best network a network can be, with a certificate."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Unpack

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
    Families,
    GoodNetworks,
    Proof,
    ProofRow,
    ProofTask,
    Verdict,
    check_certificate,
    check_equivalent,
    find_families,
    list_good_networks,
    load_highs,
    make_certificate,
    read_certificate,
    run_proof,
)
from coevo.exact.checkpoints import ProofCheckpointFile
from coevo.exact.result import PROVED
from coevo.exact.rounding import make_adjacency
from coevo.exact.state import ProofState
from coevo.interrupts import defer_interrupts
from coevo.io import read_run
from coevo.learning.options import LEARN_DEFAULTS, GivenStart, LearnOptions, Path
from coevo.learning.result import PROOF, LearnResult
from coevo.learning.settings import LearnSettings, check_settings
from coevo.learning.structure_posterior import limit_search
from coevo.learning.task import LearnTask, open_task
from coevo.network import BayesianNetwork
from coevo.progress import check_progress, show_progress
from coevo.score import FamilyScorer
from coevo.search import Budget, Problem
from coevo.signatures import accept_options
from coevo.warmup import ensure_compiled
from coevo.work_time import OutOfTime, limit_work_time, measure_work_time

__all__ = [
    "check_proof",
    "check_within",
    "describe_bounds",
    "extend_with_proof",
    "list_families",
    "prepare_proof",
    "prove",
    "prove_result",
    "read_run_network",
]

NO_BOUND = (
    "The time limit ended the proof before its first bound. Give more time, or a smaller limit on "
    "parents."
)

ProofCallback = Callable[[ProofRow], bool | None]


@accept_options(LearnOptions, LEARN_DEFAULTS)
def prove(
    table: Any,
    *,
    structure: GivenStart | None = None,
    within: float | None = None,
    output: Path | None = None,
    resume: bool = False,
    progress: bool | None = None,
    **options: Unpack[LearnOptions],
) -> Proof:
    """Prove how far from the best network a network can be.

    The answer is an upper bound on the score of every network, under the same score, constraints,
    weights and limits. Where the bound meets the score of the network, the network is optimal. The
    certificate of the answer can be checked by anyone who has the table (`check_proof`).

    Needs HiGHS: ``pip install 'coevo[prove]'``.

    Parameters
    ----------
    table : path, data frame, PyArrow table, array, SQL query or Dataset
        The observations, as for `learn`, without missing values.
    structure : DAG, BayesianNetwork, path or name, optional
        The network (default: the one that a search finds). If the proof meets a better one, the
        answer is about that one.
    within : float, optional
        List all equivalence classes within so many nats of the best network, too. It needs a score
        that is equivalent, as ``'bdeu'`` and ``'bic'``.
    max_time : float, optional
        Stop after this time, with the bound so far (default: no limit).
    max_parents : int, optional
        Maximum number of parents of a variable. Without it, BIC and AIC are often feasible; other
        scores on more than about twenty variables need it.
    output : path, optional
        The run folder, as for `learn`, with the certificate in its sub-folder ``proof``.
    resume : bool
        Resume from the checkpoint of `output`. The answer is the same as without the interruption.
    progress : bool, optional
        Whether to show progress, as for `learn`.
    method, score, ess, parent_penalty, max_table, constraints, random_state, n_jobs : optional
        The search, the score and the constraints, as for `learn`.
    encoding, delimiter, comment, header, skiprows, skipfooter, bad_rows, keep_empty_rows, rename, \
value_labels, sheet, query, connection, states, drop, names, types, discretise, bins, missing, \
missing_labels, decimal, strict : optional
        How the table is read, as for `learn`.
    start, max_generations, patience, target : optional
        Further options of the search, as for `learn`.
    bootstraps, posterior, prove, shards, cluster : optional
        Options of `learn` that have no effect here.

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
    if resume and output is None:
        raise ParameterError("'resume' of prove needs 'output', the run folder to resume.")
    chosen = {**options, "bootstraps": 0, "posterior": False, "prove": None}
    if structure is not None:
        chosen |= {"start": structure, "max_generations": 0}
    settings = prepare_proof(check_settings("prove", **chosen), within)  # type: ignore[arg-type]
    ensure_compiled()
    is_file = isinstance(table, str | os.PathLike) and settings.opening["connection"] is None
    source = os.path.basename(table) if is_file else None
    with open_task(settings, table, source=source, output=output, resume=resume) as task:
        for decision in task.info.decisions:
            warn_caller(str(decision))
        with show_progress(progress, "Listing families ...") as show:
            families = list_families(task, show, within)
            learned = task.search([task.make_progress().as_callback(show)])
            learned = prove_result(task, learned, families, within, resume, [describe_bounds(show)])
    for notice in (*task.notices, *task.describe_failures()):
        warn_caller(notice)
    assert learned.proof is not None
    return learned.proof


def check_proof(certificate: Any, table: Any, **options: Unpack[LearnOptions]) -> Verdict:
    """Check a certificate against a table; raise `FormatError` if it does not hold.

    Parameters
    ----------
    certificate : Certificate or path
        The certificate: of a `Proof`, a file ``certificate.json.gz``, or the run folder with it.
    table : path, data frame, PyArrow table, array, SQL query or Dataset
        The table of the proof, with the same options of reading as for `prove`.
    options
        How the table is read, and `n_jobs`, the number of threads, as for `learn`.

    Returns
    -------
    Verdict
        The score of the network, the gap, and the arcs that are in every optimal network.
    """
    if isinstance(certificate, str | os.PathLike):
        path = pathlib.Path(certificate)
        certificate = read_certificate(path / PROOF / CERTIFICATE if path.is_dir() else path)
    settings = check_settings("check_proof", **options)
    ensure_compiled()
    rows, _ = settings.read_table(table)
    if not isinstance(rows, Dataset):
        raise DataError("The table has missing values; a certificate is for complete rows.")
    return check_certificate(certificate, rows, settings.n_jobs)


def read_run_network(folder: Path) -> BayesianNetwork:
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


def list_families(
    task: LearnTask,
    show: Callable[[str], object],
    within: float | None = None,
    slack: float = 0.0,
) -> Families:
    """Return the families of a proof on the table of a task, after `within` is validated."""
    if task.incomplete is not None:
        values = format_count(task.incomplete.n_missing, "missing value")
        raise DataError(
            f"The table has {values}, and a proof holds for complete rows. Drop or impute them "
            "first; coevo learn --imputed FILE writes an imputed table."
        )
    ensure_compiled("exact")
    problem = Problem.from_scorer(task.scorer, task.spec.constraints)
    if within is not None:
        has_arcs = problem.rules.has_arc_constraints
        check_equivalent(task.spec.score, bool(task.spec.weights), has_arcs)
    limit = task.settings.spec.budget.max_time
    deadline = np.inf if limit is None else measure_work_time() + limit
    try:
        with limit_work_time(deadline):
            return find_families(problem, slack, show)
    except OutOfTime:
        raise ParameterError(NO_BOUND) from None


def prove_result(
    task: LearnTask,
    learned: LearnResult,
    families: Families,
    within: float | None = None,
    resume: bool = False,
    callbacks: Iterable[ProofCallback] = (),
    max_time: float | None = None,
) -> LearnResult:
    """Return the result of a search with a proof, and write the run folder."""
    problem = Problem.from_scorer(task.scorer, task.spec.constraints)
    proof_task = ProofTask(problem, families, learned.search.dag)
    checkpoints, state = None, None
    if task.folder is not None:
        checkpoints = _open_checkpoints(task, families)
        if resume:
            state = checkpoints.load()
        else:
            checkpoints.check_replaceable()
    limit = task.settings.spec.budget.max_time if max_time is None else max_time
    last, reason = run_proof(
        proof_task,
        budget=Budget(max_time=limit),
        callbacks=callbacks,
        resume_from=state,
        on_checkpoint=None if checkpoints is None else checkpoints.write_if_due,
    )
    with defer_interrupts():  # keep the result even if Ctrl-C comes now
        if checkpoints is not None:
            task.note_failure("proof", checkpoints.finish(last, reason))
        good = None
        if within is not None and reason != "interrupt":
            good = _list_good(task, last.state, within)
        proof = _make_proof(proof_task, last.state, learned.score)
        proof = replace(proof, history=last.history, stop_reason=reason, good=good)
        if proof.gain > 0:
            learned = task.adopt(learned, proof.network)
        return task.write(replace(learned, proof=proof))


def _list_good(task: LearnTask, state: ProofState, within: float) -> GoodNetworks:
    families = list_families(task, lambda message: None, slack=within)
    return list_good_networks(families, state, tuple(task.dataset.names), within)


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


def _open_checkpoints(task: LearnTask, families: Families) -> ProofCheckpointFile:
    """Return the checkpoint file of the proof, which knows the rows and the settings."""
    assert task.folder is not None
    fingerprint = replace(task.spec, start=None).fingerprint(task.dataset.content_hash)
    start = task.spec.start
    given = None if start is None else str(getattr(start, "arcs", start))
    return ProofCheckpointFile(task.folder / PROOF, {**fingerprint, "structure": given}, families)


def extend_with_proof(
    task: LearnTask,
    learned: LearnResult,
    max_time: float,
    resume: bool = False,
    show: Callable[[str], object] = lambda message: None,
) -> LearnResult:
    """Return the result of `learn` with a proof; where none is possible, a notice says why."""
    try:
        if not isinstance(task.scorer, FamilyScorer):
            raise ParameterError("A proof needs all rows in memory.")
        began = measure_work_time()
        with limit_work_time(began + max_time):
            families = list_families(task, show)
        left = max(0.0, max_time - (measure_work_time() - began))
        callbacks = [describe_bounds(show)]
        return prove_result(task, learned, families, None, resume, callbacks, left)
    except (ParameterError, DataError) as error:
        task.notices.append(f"There is no proof. {error}")
    except OutOfTime:
        task.notices.append(f"There is no proof. {NO_BOUND}")
    return learned


def describe_bounds(show: Callable[[str], object]) -> ProofCallback:
    """Return a callback that shows both bounds."""

    def callback(row: ProofRow) -> None:
        show(
            f"Proving: step {row.generation:,}, score {row.score:,.4f}, at most {row.gap:,.4f} "
            f"nats better, {format_count(row.n_certain, 'arc')} certain, {row.n_open:,} open"
        )

    return callback
