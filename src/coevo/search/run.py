"""Run a search for a network: validate its arguments, run the loop, and return the result.

The loop with its budget, clock, history and interrupts is `coevo.search.loop`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.errors import ParameterError, bad_parameter
from coevo.graph import DAG, Constraints, read_constraints
from coevo.runtime.deadline import OutOfTime, defer_interrupts, limit_work_time, measure_work_time
from coevo.runtime.memory import check_memory
from coevo.runtime.randomness import RandomState, resolve_seed
from coevo.score import CacheStatistics, Scorer
from coevo.search.base import Info, Method, Problem, Search, SearchState, find_flaw
from coevo.search.loop import SHARE_OF_GRACE, Budget, GenerationLoop, StopReason
from coevo.search.registry import choose_method, open_search
from coevo.search.result import Checkpoint, HistoryRow, SearchResult, Support, arc_support
from coevo.signatures import check_keywords

__all__ = ["Callback", "CheckpointCallback", "list_callbacks", "run_search"]

MOST_SUPPORTED = 2000  # variables; the table of support then takes 32 MB

Callback = Callable[[HistoryRow], object]  # the search stops if it returns True
CheckpointCallback = Callable[[Checkpoint], object]


@check_keywords()
def run_search(
    method: str | Method,
    scorer: Scorer,
    *,
    constraints: Constraints | Mapping[str, Any] | None = None,
    budget: Budget | None = None,
    random_state: RandomState = 0,
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
    constraints : Constraints or dict, optional
        Required and forbidden arcs, tiers, roots, leaves, and the limit on parents (default:
        none). A dict has the parameters of `Constraints`, as ``{"roots": ["age"]}``.
    budget : Budget, optional
        The limits of the search (default: the default budget of the method).
    random_state : int, numpy Generator or None
        The seed (default: 0). The same int gives the same structure; None gives a random seed.
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
    functions = list_callbacks(callbacks, "run_search")
    selected = choose_method(method, "run_search")
    chosen = selected.method
    if not isinstance(scorer, Scorer):
        raise bad_parameter("scorer", "run_search", "a FamilyScorer", scorer)
    if budget is not None and not isinstance(budget, Budget):
        raise bad_parameter("budget", "run_search", "a Budget or None", budget)
    given = selected.limit(budget, "run_search")
    limits = given.with_default(chosen.default_budget)
    if start is not None and not isinstance(start, DAG):
        raise bad_parameter("start", "run_search", "a DAG or None", start)
    known = read_constraints(constraints, "run_search")
    problem = Problem.from_scorer(scorer, known, start)
    needed = scorer.estimate_memory() + chosen.estimate_memory(problem.n_variables)
    what = f"A search by {chosen.name} on {problem.n_variables:,} variables"
    check_memory(needed, what, "Leave columns out, or give the scorer a smaller cache.")
    seed = resolve_seed(random_state, "run_search")
    search = open_search(chosen, problem)
    checkpoint = Checkpoint(state, ()) if isinstance(state, SearchState) else state
    if checkpoint is not None:
        _check_state(checkpoint.state, chosen, problem, search)
    counter = _FamilyCounter(scorer, 0 if checkpoint is None else checkpoint.families_scored)
    loop = _Loop(search, limits, seed, functions, on_checkpoint, counter)
    if not given.is_bounded:
        loop.least_patience = chosen.least_patience
    if checkpoint is not None:
        loop.resume(checkpoint.state, checkpoint.history)
    reason = loop.run(seconds if checkpoint is None else max(seconds, checkpoint.seconds))
    with defer_interrupts():  # keep the result even if Ctrl-C comes now
        return _make_result(problem, chosen, loop, reason, seed)


def list_callbacks(callbacks: Iterable[Callback], owner: str) -> tuple[Callback, ...]:
    """Return the callbacks; raise `ParameterError` unless they are functions."""
    functions = tuple(callbacks) if isinstance(callbacks, Iterable) else (None,)
    if not all(map(callable, functions)):
        raise bad_parameter("callbacks", owner, "a list of functions", callbacks)
    return functions


class _FamilyCounter:
    """Counts the families that a search has scored; `earlier` ones before it was resumed."""

    def __init__(self, scorer: Scorer, earlier: int | None) -> None:
        self._scorer, self._earlier, self._before = scorer, earlier, scorer.cache_statistics

    def measure(self) -> CacheStatistics:
        """Return the statistics of the cache since the search was started or resumed."""
        return self._scorer.cache_statistics.since(self._before)

    def count(self) -> int | None:
        """Return the number of families of the whole search; None if it is not known."""
        return None if self._earlier is None else self._earlier + self.measure().scored


class _Loop(GenerationLoop[SearchState, HistoryRow]):
    """A running search for a network."""

    def __init__(
        self,
        search: Search[Any],
        budget: Budget,
        seed: int,
        callbacks: tuple[Callback, ...],
        on_checkpoint: CheckpointCallback | None,
        counter: _FamilyCounter,
    ) -> None:
        super().__init__(budget, seed, callbacks)
        self.search, self.on_checkpoint, self.counter = search, on_checkpoint, counter
        self.info: Info = {}

    def start(self, rng: Generator) -> SearchState:
        state: SearchState
        state, self.info = self.search.start(rng)
        return state

    def step(self, rng: Generator, state: SearchState) -> SearchState:
        after: SearchState
        after, self.info = self.search.step(rng, state)
        return after

    def is_finished(self, state: SearchState) -> bool:
        return self.search.is_finished(state)

    def make_row(self, state: SearchState) -> HistoryRow:
        return HistoryRow(
            generation=state.generation,
            evaluations=state.evaluations,
            seconds=self.seconds,
            improved=state.improved,
            score=state.score,
            n_arcs=int(state.adjacency.sum()),
            details=self.info,
        )

    def save(self, state: SearchState) -> None:
        if self.on_checkpoint is not None:
            n_scored = self.counter.count()
            self.on_checkpoint(Checkpoint(state, self.history, families_scored=n_scored))


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
) -> SearchResult:
    """Return the result; after an end before generation 0, it is the start structure."""
    state, seconds = loop.state, loop.seconds
    cache, n_scored = loop.counter.measure(), loop.counter.count()  # before the answer is scored
    adjacency = _choose_structure(problem, loop)
    dag = problem.make_dag(np.asarray(adjacency))
    per_variable = problem.scorer.score_per_variable(dag)
    return SearchResult(
        dag=dag,
        score=math.fsum(per_variable.values()),
        per_variable=per_variable,
        history=tuple(loop.history),
        generations=0 if state is None else state.generation,
        evaluations=0 if state is None else state.evaluations,
        seconds=seconds,
        stop_reason=reason,
        method=method.name,
        settings=method.settings,
        seed=seed,
        cache=cache,
        families_scored=n_scored,
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
    """Return the support of arcs in the last population; after the time limit, if it is quick.

    There is none with many variables: its table would be the largest thing of the search.
    """
    if loop.state is None or len(loop.state.adjacency) > MOST_SUPPORTED:
        return None
    allowed = SHARE_OF_GRACE * loop.budget.grace if reason == "time" else math.inf
    try:
        with limit_work_time(measure_work_time() + allowed):
            return arc_support(loop.search.iter_structures(loop.state))
    except OutOfTime:
        return None
