"""The loop around every search: budget, clock, history and interrupts.

A step is pure, so this loop needs no lock and no clean-up: if a step fails, the previous state
is still valid. A step that lasts beyond the time limit is dropped after a short grace. A first
interrupt (Ctrl-C) ends the search after the current step, a second one ends it at once. In all
cases the result is the best structure so far.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.checks import is_true
from coevo.errors import ParameterError, bad_parameter
from coevo.graph import DAG, Constraints
from coevo.interrupts import DeferredInterrupts, defer_interrupts, is_interrupt
from coevo.memory import check_memory
from coevo.randomness import RandomState, random_stream, resolve_seed
from coevo.score import CacheStatistics, Scorer
from coevo.search.base import Info, Method, Problem, Search, SearchState
from coevo.search.budget import Budget, StopReason
from coevo.search.registry import choose_method, open_search
from coevo.search.result import Checkpoint, HistoryRow, SearchResult
from coevo.search.state_schema import find_flaw
from coevo.search.support import Support, arc_support
from coevo.warmup import ensure_compiled
from coevo.work_time import OutOfTime, limit_work_time, measure_work_time

__all__ = ["Callback", "CheckpointCallback", "run_search"]

Callback = Callable[[HistoryRow], object]  # the search stops if it returns True
CheckpointCallback = Callable[[Checkpoint], object]
SHARE_OF_GRACE = 0.3  # for the last step; the rest is for the result


def run_search(
    method: str | Method,
    scorer: Scorer,
    *,
    constraints: Constraints | None = None,
    budget: Budget | None = None,
    random_state: RandomState = None,
    callbacks: Iterable[Callback] = (),
    start: DAG | None = None,
    state: SearchState | Checkpoint | None = None,
    on_checkpoint: CheckpointCallback | None = None,
    seconds: float = 0.0,
) -> SearchResult:
    """Search for the structure with the highest score.

    Parameters
    ----------
    method : str or Method
        The search method: a name such as ``'ccma'`` or ``'k2'``, a name with settings such as
        ``'ccga:population=50'``, a class such as ``'mypackage.search:MySearch'``, or a method
        such as ``CCGA(population=50)``.
    scorer : FamilyScorer
        The data and the score. Several searches may share its cache.
    constraints : Constraints, optional
        Required and forbidden arcs, tiers, and the limit on parents (default: none).
    budget : Budget, optional
        The limits of the search (default: the default budget of the method).
    random_state : int, numpy Generator or None
        The seed. The same int gives the same structure; None gives a random seed.
    callbacks : iterable of functions
        Called with each new row of the history. The search stops if one returns True.
    start : DAG, optional
        The start structure (default: the required arcs only). The result is at least as good.
    state : SearchState or Checkpoint, optional
        Resume the search from here. With the same seed the result is that of one
        uninterrupted search. A checkpoint also restores the history and the clock.
    on_checkpoint : callable, optional
        Called with a checkpoint after each generation.
    seconds : float
        Earlier time that counts against the time limit (default: 0). The clock of a checkpoint
        holds if it is larger.

    Returns
    -------
    SearchResult

    Examples
    --------
    >>> import coevo
    >>> rows = coevo.sample(coevo.load_network("asia"), 500, random_state=1)
    >>> scorer = coevo.FamilyScorer(rows, "k2")
    >>> found = run_search("ccga", scorer, budget=Budget(max_generations=30), random_state=7)
    >>> found.stop_reason, len(found.history), found.score == scorer.score(found.dag)
    ('generations', 31, True)
    """
    selected = choose_method(method, "run_search")
    chosen = selected.method
    if not isinstance(scorer, Scorer):
        raise bad_parameter("scorer", "run_search", "a FamilyScorer", scorer)
    for name, value, kind in (
        ("budget", budget, Budget),
        ("constraints", constraints, Constraints),
    ):
        if value is not None and not isinstance(value, kind):
            raise bad_parameter(name, "run_search", f"a {kind.__name__} or None", value)
    limits = selected.limit(budget, "run_search").with_default(chosen.default_budget)
    if start is not None and not isinstance(start, DAG):
        raise bad_parameter("start", "run_search", "a DAG or None", start)
    problem = Problem.from_scorer(scorer, constraints, start)
    needed = scorer.estimate_memory() + chosen.estimate_memory(problem.n_variables)
    what = f"A search by {chosen.name} on {problem.n_variables:,} variables"
    check_memory(needed, what, "Leave columns out, or give the scorer a smaller cache.")
    seed = resolve_seed(random_state, "run_search")
    search = open_search(chosen, problem)
    checkpoint = Checkpoint(state, ()) if isinstance(state, SearchState) else state
    if checkpoint is not None:
        _check_state(checkpoint.state, chosen, problem, search)
    ensure_compiled()  # before the clock starts
    before = scorer.cache_statistics
    loop = _Loop(search, limits, seed, tuple(callbacks), on_checkpoint)
    reason = loop.run(checkpoint, seconds)
    with defer_interrupts():  # keep the result even if Ctrl-C comes now
        return _make_result(problem, chosen, loop, reason, seed, before)


class _Loop:
    """A running search: its current state and its history."""

    def __init__(
        self,
        search: Search[Any],
        budget: Budget,
        seed: int,
        callbacks: tuple[Callback, ...],
        on_checkpoint: CheckpointCallback | None,
    ) -> None:
        self.search, self.budget, self.seed = search, budget, seed
        self.callbacks, self.on_checkpoint = callbacks, on_checkpoint
        self.started_at = measure_work_time()
        self.offered: NDArray[np.bool_] | None = None  # by a step that ran out of time
        self.state: SearchState | None = None
        self.info: Info = {}
        self.history: list[HistoryRow] = []

    @property
    def seconds(self) -> float:
        return measure_work_time() - self.started_at

    def run(self, checkpoint: Checkpoint | None, earlier_seconds: float) -> StopReason:
        """Start or resume the search, run it until a limit is reached and return that limit."""
        if checkpoint is not None:
            self.state = checkpoint.state
            self.history.extend(checkpoint.history)
            earlier_seconds = max(earlier_seconds, checkpoint.seconds)
        self.started_at -= earlier_seconds
        try:
            with defer_interrupts() as interrupts, limit_work_time(self._find_deadline()):
                return self._run_steps(interrupts)
        except OutOfTime as late:
            self.offered = late.offered
            return "time"
        except (KeyboardInterrupt, SystemError) as error:
            if not is_interrupt(error):
                raise
            self._record_state()  # the last step may have ended just before the interrupt
            return "interrupt"

    def _find_deadline(self) -> float:
        """Return when a step is dropped. The first step has a moment, however small the limit."""
        limit = self.budget.max_time
        if limit is None:
            return math.inf
        end = max(self.started_at + limit, measure_work_time())
        return end + SHARE_OF_GRACE * self.budget.grace

    def _run_steps(self, interrupts: DeferredInterrupts) -> StopReason:
        if self.state is None:
            self.state, self.info = self.search.start(random_stream(self.seed, 0))
            if self._report_state():
                return "callback"
        while True:
            reason = self._find_stop_reason(self.state)
            if reason is not None:
                return reason
            if interrupts.is_pending:
                return "interrupt"
            rng = random_stream(self.seed, self.state.generation + 1)
            self.state, self.info = self.search.step(rng, self.state)
            if self._report_state():
                return "callback"

    def _find_stop_reason(self, state: SearchState) -> StopReason | None:
        reason = self.budget.find_reached_limit(
            seconds=self.seconds,
            generation=state.generation,
            improved=state.improved,
            evaluations=state.evaluations,
            score=state.score,
        )
        if reason in (None, "time") and self.search.is_finished(state):
            return "finished"
        return reason

    def _record_state(self) -> None:
        """Add a row for the current state to the history, unless it has one."""
        state = self.state
        last_recorded = self.history[-1].generation if self.history else -1
        if state is None or state.generation <= last_recorded:
            return
        self.history.append(
            HistoryRow(
                generation=state.generation,
                evaluations=state.evaluations,
                seconds=self.seconds,
                improved=state.improved,
                score=state.score,
                n_arcs=int(state.adjacency.sum()),
                details=self.info,
            )
        )

    def _report_state(self) -> bool:
        """Record the state and call all callbacks; return whether one of them stops the search."""
        self._record_state()
        if self.on_checkpoint is not None and self.state is not None:
            self.on_checkpoint(Checkpoint(self.state, self.history))
        answers = [callback(self.history[-1]) for callback in self.callbacks]
        return any(map(is_true, answers))


def _check_state(state: SearchState, method: Method, problem: Problem, search: Search[Any]) -> None:
    """Raise `ParameterError` for a state of another method, other settings or other data."""
    if not isinstance(state, method.state_type):
        raise ParameterError(
            f"The state is a {type(state).__name__}, which {method.name!r} cannot resume. Resume "
            "with the method that made it."
        )
    flaw = find_flaw(state)
    if flaw:
        raise ParameterError(f"The state is damaged: {flaw}. Start a new search.")
    n = problem.n_variables
    if state.adjacency.shape != (n, n):
        raise ParameterError(
            f"The state has {len(state.adjacency)} variables, and the data have {n}. Resume with "
            "the data that it was made from."
        )
    if not search.is_compatible(state):
        raise ParameterError(
            f"The state was made by {method.name!r} with other settings. Resume with the same "
            "settings."
        )
    if not problem.rules.is_satisfied_by(state.adjacency):
        raise ParameterError("The state breaks the constraints. Start a new search.")


def _make_result(
    problem: Problem,
    method: Method,
    loop: _Loop,
    reason: StopReason,
    seed: int,
    before: CacheStatistics,
) -> SearchResult:
    """Return the result; after an end before generation 0, it is the start structure."""
    state, seconds = loop.state, loop.seconds
    after = problem.scorer.cache_statistics
    adjacency = _choose_structure(problem, loop)
    dag = problem.make_dag(np.asarray(adjacency))
    return SearchResult(
        dag=dag,
        score=problem.scorer.score(dag),
        per_variable=problem.scorer.score_per_variable(dag),
        history=tuple(loop.history),
        generations=0 if state is None else state.generation,
        evaluations=0 if state is None else state.evaluations,
        seconds=seconds,
        stop_reason=reason,
        method=method.name,
        settings=method.settings,
        seed=seed,
        cache=after.since(before),
        state=state,
        support=_measure_support(loop, reason),
    )


def _choose_structure(problem: Problem, loop: _Loop) -> NDArray[np.bool_]:
    """Return the best structure so far: of the last state, or offered by an unfinished step."""
    best = problem.start if loop.state is None else loop.state.adjacency
    if loop.offered is None or not problem.rules.is_satisfied_by(loop.offered):
        return best
    return loop.offered if problem.score(loop.offered) > problem.score(best) else best


def _measure_support(loop: _Loop, reason: StopReason) -> Support | None:
    """Return the support of arcs in the last population; after the time limit, if it is quick."""
    if loop.state is None:
        return None
    allowed = SHARE_OF_GRACE * loop.budget.grace if reason == "time" else math.inf
    try:
        with limit_work_time(measure_work_time() + allowed):
            return arc_support(loop.search.iter_structures(loop.state))
    except OutOfTime:
        return None
