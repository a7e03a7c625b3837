"""The quick bootstrap: arc strengths that are part of every answer, where they cost little.

Each sample is learned by hill climbing, with the score, the constraints and the arc weights of the
search. Hill climbing is fast and finds worse networks than the default search. The strengths show
which arcs another draw of the rows would lose; the full bootstrap repeats the search itself.

The number of samples is the largest that costs at most a third of the search, up to
`MAX_SAMPLES`. With fewer than `MIN_SAMPLES` there is none. A cost is a number of local scores,
never a time, so the same search has the same samples on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from coevo.bootstrap.result import BootstrapResult
from coevo.bootstrap.run import run_bootstraps
from coevo.bootstrap.samples import record_original
from coevo.data import Dataset
from coevo.graph import Arc
from coevo.search import Budget, HillClimb, SearchResult, SearchSpec

__all__ = ["QUICK_METHOD", "count_quick_samples", "run_quick_bootstrap"]

QUICK_METHOD = HillClimb()
MIN_SAMPLES, MAX_SAMPLES = 10, 50
SHARE = 1 / 3  # of the cost of the search
GENERATION, SAMPLE = 400, 200  # cost of each beside its local scores
CACHED = {"ccga": 0.01}  # cost of a local score of methods that request most of them repeatedly


def count_quick_samples(search: SearchResult) -> int:
    """Return the number of samples of the quick bootstrap after a search; 0 if it costs too much.

    A hill climb on n variables scores n changes of each variable at first, and n more after each
    move. It makes about as many moves as the network has arcs.
    """
    if search.stop_reason == "interrupt":
        return 0
    n_variables, n_arcs = len(search.dag.nodes), len(search.dag.arcs)
    per_score = CACHED.get(search.method, 1.0)
    cost_of_search = per_score * search.evaluations + GENERATION * search.generations
    cost_of_sample = n_variables * (n_variables + n_arcs) + SAMPLE
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
    <BootstrapResult: 8 of 19 arcs above 0.333333, 12 bootstrap samples>
    """
    n_samples = count_quick_samples(search)
    if not n_samples:
        return None
    quick = replace(spec, method=QUICK_METHOD, start=None, budget=Budget())
    original = record_original(search, 0.0, gains)
    try:
        found = run_bootstraps(
            dataset, quick, n_samples, original=original, on_interrupt=on_interrupt
        )
    except KeyboardInterrupt:
        return None
    return found if found.is_complete else None
