"""The quick bootstrap: arc strengths that are part of every answer, where they cost little.

Each sample is learned by two hill climbs, with the score, the constraints and the arc weights of
the search: one from the required arcs, one from the network of the original table. The structure
with the higher score counts. The first climb alone misses arcs that hill climbing cannot find, such
as those of an exclusive or, and its strengths are too low. The second climb alone keeps to its
start, and its strengths are too high. The better of the two comes closest to the full bootstrap,
which repeats the search itself. It still favours the network a little
(``benchmarks/quick_bootstrap.py`` measures that).

The number of samples is the largest that costs at most 40 % of the search, up to `MAX_SAMPLES`.
With fewer than `MIN_SAMPLES` there is none. A cost is a number of local scores, never a time, so
the same search has the same samples on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from coevo.bootstrap.result import BootstrapResult
from coevo.bootstrap.run import make_consensus_rules, summarise_runs
from coevo.bootstrap.samples import ORIGINAL, ROWS, BootstrapRun, record_original
from coevo.data import Dataset
from coevo.data.dataset import BYTES_PER_DRAW
from coevo.graph import DAG, Arc
from coevo.interrupts import defer_interrupts, is_interrupt
from coevo.memory import get_machine_memory
from coevo.randomness import random_stream
from coevo.search import HillClimb, Problem, SearchResult, SearchSpec
from coevo.search.base import LEAST_GAIN
from coevo.search.climbing import Climb, climb_up
from coevo.work_time import check_deadline

__all__ = ["QUICK_METHOD", "count_quick_samples", "run_quick_bootstrap"]

QUICK_METHOD = HillClimb.name
MIN_SAMPLES, MAX_SAMPLES = 10, 50
SHARE = 0.4  # of the cost of the search
GENERATION, SAMPLE = 400, 250  # cost of each beside its local scores
CACHED = {"ccga": 0.01}  # cost of a local score of methods that request most of them repeatedly


def count_quick_samples(search: SearchResult) -> int:
    """Return the number of samples of the quick bootstrap after a search; 0 if it costs too much.

    A hill climb on n variables scores n changes of each variable at first, and n more after each
    move. The climb from the required arcs makes about as many moves as the network has arcs. The
    other one makes few moves, and half of its first scores come from the cache.
    """
    if search.stop_reason == "interrupt":
        return 0
    n_variables, n_arcs = len(search.dag.nodes), len(search.dag.arcs)
    per_score = CACHED.get(search.method, 1.0)
    cost_of_search = per_score * search.evaluations + GENERATION * search.generations
    cost_of_sample = n_variables * (1.5 * n_variables + n_arcs) + SAMPLE
    n_samples = min(MAX_SAMPLES, int(SHARE * cost_of_search / cost_of_sample))
    return n_samples if n_samples >= MIN_SAMPLES else 0


def run_quick_bootstrap(
    dataset: Dataset,
    spec: SearchSpec,
    search: SearchResult,
    gains: Mapping[Arc, float],
    on_interrupt: Callable[[], object] = lambda: None,
) -> BootstrapResult | None:
    """Return the quick bootstrap of a search; None if it costs too much or is interrupted.

    Parameters
    ----------
    dataset : Dataset
        The observations; with missing values the imputed table.
    spec : SearchSpec
        The search. Its method, its start and its budget are not used.
    search : SearchResult
        Its result.
    gains : mapping of (parent, child) to float
        The gain of each arc.
    on_interrupt : callable
        Called at the first Ctrl-C, which ends the bootstrap after the current sample.

    Examples
    --------
    >>> import coevo
    >>> rows = coevo.sample(coevo.load_network("asia"), 500, random_state=1)
    >>> found = coevo.learn(rows, bootstraps=0, random_state=7)
    >>> run_quick_bootstrap(rows, found.spec, found.search, found.gains)
    <BootstrapResult: 6 of 6 arcs above 0, 12 bootstrap samples>
    """
    n_samples, memory = count_quick_samples(search), get_machine_memory()
    if not n_samples or (memory is not None and BYTES_PER_DRAW * dataset.n_rows > memory):
        return None
    runs = {ORIGINAL: record_original(search, 0.0, gains)}
    try:
        with defer_interrupts(on_interrupt) as interrupts:
            for number in range(1, n_samples + 1):
                runs[number] = _run_sample(dataset, spec, search.dag, number)
                if interrupts.is_pending:
                    return None
    except (KeyboardInterrupt, SystemError) as error:
        if not is_interrupt(error):
            raise
        return None
    rules = make_consensus_rules(dataset, spec)
    return summarise_runs(dataset.names, rules, spec, n_samples, runs)


def _run_sample(dataset: Dataset, spec: SearchSpec, network: DAG, number: int) -> BootstrapRun:
    """Return the better of two climbs on a sample; a tie goes to that from the network."""
    scorer = spec.make_scorer(dataset.resample(random_stream(spec.seed, number, ROWS)))
    problems = [Problem.from_scorer(scorer, spec.constraints, start) for start in (network, None)]
    (score, structure), (other_score, other) = map(_climb, problems)
    if other_score > score + LEAST_GAIN:
        score, structure = other_score, other
    return BootstrapRun(number, score, problems[0].make_dag(structure).arcs, 1, 0.0)


def _climb(problem: Problem) -> tuple[float, NDArray[np.bool_]]:
    """Climb to a local optimum, without the history and the budget of a search."""
    climb = Climb.from_problem(problem)
    while not climb_up(climb):
        check_deadline()
    return math.fsum(climb.local), climb.adjacency
