"""The loop around every search: budget, clock, history and interrupts.

A step is pure, so that this loop needs no lock and no clean-up: whatever happens inside a
step, the state before it still stands. An interrupt (Ctrl-C) ends the loop after the step
under way, a second one at once, with the best structure so far.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from coevo.errors import ParameterError, bad_parameter
from coevo.graph import DAG, Constraints
from coevo.interrupts import Interrupts, gentle_interrupts, is_interrupt
from coevo.memory import check_memory
from coevo.randomness import RandomState, seed_of, stream
from coevo.score import CacheStatistics, Scorer
from coevo.search.base import Info, Method, Problem, Search, SearchState
from coevo.search.budget import Budget, StopReason
from coevo.search.registry import make_method
from coevo.search.result import Checkpoint, HistoryRow, SearchResult
from coevo.search.support import arc_support

__all__ = ["Callback", "Keep", "run_search"]

Callback = Callable[[HistoryRow], object]  # True ends the search
Keep = Callable[[Checkpoint], object]


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
    keep: Keep | None = None,
    seconds: float = 0.0,
) -> SearchResult:
    """Search for the structure with the highest score.

    Parameters
    ----------
    method : str or Method
        Which search: ``'ccga'``, ``'k2'``, or one with settings, as in
        ``CCGA(population=50)``.
    scorer : FamilyScorer
        The data and the score. Its cache may be shared between searches.
    constraints : Constraints, optional
        What is known beforehand.
    budget : Budget, optional
        When to stop. Where it has no end the method's own budget holds.
    random_state : int, numpy Generator or None
        The same int gives the same structure; None gives another each time.
    callbacks : iterable of functions
        Called with each new row of the history; one that returns True ends the search.
    start : DAG, optional
        A structure to begin with; the result is at least as good. Without one a search
        begins with the required arcs alone.
    state : SearchState or Checkpoint, optional
        Go on from here instead of starting anew: with the same seed this gives what one
        long search would have given. With a checkpoint the history and the clock go on too.
    keep : callable, optional
        Called with a checkpoint after each generation.
    seconds : float
        What the clock begins with, at least: time that was spent on the same question before.

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
    chosen = make_method(method, "run_search")
    if not isinstance(scorer, Scorer):
        raise bad_parameter("scorer", "run_search", "a FamilyScorer", scorer)
    for name, value, kind in (
        ("budget", budget, Budget),
        ("constraints", constraints, Constraints),
    ):
        if value is not None and not isinstance(value, kind):
            raise bad_parameter(name, "run_search", f"a {kind.__name__} or None", value)
    limits = (Budget() if budget is None else budget).or_usual(chosen.default_budget)
    if start is not None and not isinstance(start, DAG):
        raise bad_parameter("start", "run_search", "a DAG or None", start)
    problem = Problem.of(scorer, constraints, start)
    needed = scorer.memory() + chosen.memory(problem.n_variables)
    what = f"A search by {chosen.name} on {problem.n_variables:,} variables"
    check_memory(needed, what, "Leave columns out, or give the scorer a smaller cache.")
    seed = seed_of(random_state, "run_search")
    search = chosen.on(problem)
    reached = Checkpoint(state, ()) if isinstance(state, SearchState) else state
    if reached is not None:
        _check_state(reached.state, chosen, problem, search)
    before = scorer.statistics()
    loop = _Loop(search, limits, seed, tuple(callbacks), keep)
    reason = loop.run(reached, seconds)
    with gentle_interrupts():  # what was found is not lost any more
        return _result(problem, chosen, loop, reason, seed, before)


class _Loop:
    """A search under way: the state it has reached and the rows about it."""

    def __init__(
        self,
        search: Search[Any],
        budget: Budget,
        seed: int,
        callbacks: tuple[Callback, ...],
        keep: Keep | None,
    ) -> None:
        self.search, self.budget, self.seed = search, budget, seed
        self.callbacks, self.keep = callbacks, keep
        self.began = time.perf_counter()
        self.state: SearchState | None = None
        self.info: Info = {}
        self.history: list[HistoryRow] = []

    def seconds(self) -> float:
        return time.perf_counter() - self.began

    def run(self, reached: Checkpoint | None, spent: float) -> StopReason:
        """Go on until a limit is reached; return which. So much time is spent already."""
        if reached is not None:
            self.state = reached.state
            self.history.extend(reached.history)
            spent = max(spent, reached.seconds)
        self.began -= spent
        try:
            with gentle_interrupts() as interrupts:
                return self._steps(interrupts)
        except (KeyboardInterrupt, SystemError) as error:
            if not is_interrupt(error):
                raise
            self._note()  # the last step may have ended just before
            return "interrupt"

    def _steps(self, interrupts: Interrupts) -> StopReason:
        if self.state is None:
            self.state, self.info = self.search.start(stream(self.seed, 0))
            if self._tell():
                return "callback"
        while True:
            reason = self._reached(self.state)
            if reason is not None:
                return reason
            if interrupts.asked:
                return "interrupt"
            rng = stream(self.seed, self.state.generation + 1)
            self.state, self.info = self.search.step(rng, self.state)
            if self._tell():
                return "callback"

    def _reached(self, state: SearchState) -> StopReason | None:
        reason = self.budget.reached(
            seconds=self.seconds(),
            generation=state.generation,
            improved=state.improved,
            evaluations=state.evaluations,
            score=state.score,
        )
        if reason in (None, "time") and self.search.is_finished(state):
            return "finished"
        return reason

    def _note(self) -> None:
        """Add the row of the state, unless it is there."""
        state = self.state
        noted = self.history[-1].generation if self.history else -1
        if state is None or state.generation <= noted:
            return
        self.history.append(
            HistoryRow(
                generation=state.generation,
                evaluations=state.evaluations,
                seconds=self.seconds(),
                improved=state.improved,
                score=state.score,
                n_arcs=int(state.adjacency.sum()),
                details=self.info,
            )
        )

    def _tell(self) -> bool:
        """Add the row of the state and show it to everyone; return whether one says stop."""
        self._note()
        if self.keep is not None and self.state is not None:
            self.keep(Checkpoint(self.state, self.history))
        answers = [callback(self.history[-1]) for callback in self.callbacks]
        return any(answer is True for answer in answers)


def _check_state(state: SearchState, method: Method, problem: Problem, search: Search[Any]) -> None:
    """Raise `ParameterError` for a state of another method or of other data."""
    if not isinstance(state, method.state_type):
        raise ParameterError(f"The state is not one of {method.name!r}, so it cannot go on.")
    n = problem.n_variables
    if state.adjacency.shape != (n, n):
        raise ParameterError(
            f"The state is about {len(state.adjacency)} variables, and the data have {n}."
        )
    if not search.fits(state):
        raise ParameterError(
            f"The state was made by {method.name!r} with other settings, so it cannot go on."
        )
    if not problem.rules.fulfilled_by(state.adjacency):
        raise ParameterError("The state breaks the constraints. Start anew.")


def _result(
    problem: Problem,
    method: Method,
    loop: _Loop,
    reason: StopReason,
    seed: int,
    before: CacheStatistics,
) -> SearchResult:
    """Put the result together; after an early interrupt it is what it began with."""
    state, seconds = loop.state, loop.seconds()
    after = problem.scorer.statistics()
    adjacency = problem.start if state is None else state.adjacency
    dag = problem.dag(np.asarray(adjacency))
    return SearchResult(
        dag=dag,
        score=problem.scorer.score(dag),
        per_variable=problem.scorer.per_variable(dag),
        history=tuple(loop.history),
        generations=0 if state is None else state.generation,
        evaluations=0 if state is None else state.evaluations,
        seconds=seconds,
        stop_reason=reason,
        method=method.name,
        settings=method.settings(),
        seed=seed,
        cache=after.since(before),
        state=state,
        support=None if state is None else arc_support(loop.search.structures(state)),
    )
