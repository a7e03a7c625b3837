"""The quick bootstrap: arc strengths that are part of every answer, where they cost little.

A sample is that of the full bootstrap: the same rows, seed, score, constraints and policy for
missing values. Only its search is shorter. It ends after `PATIENCE` generations without a better
structure, where ccma itself waits for 25; if imputations evolve too, after `MAX_GENERATIONS`. It
never starts from the learned network.

Both matter. Up to version 0.2.0 each sample was learned by two hill climbs, one of them from the
learned network. On bootstrap samples of real tables, hill climbing from no arcs ends far below the
best structure (breast cancer of scikit-learn: 257 nats), and the climb from the network ends at its
first local optimum, beside the network (70 nats below). The better of the two was nearly always the
second, so that arcs of the network had strength 1. Similarly, samples of an *imputed* table repeat
what the network has imputed: with 13 % of the values missing, strengths were 0.12 too high. The
short search of a sample with its missing values has no such bias
(``benchmarks/quick_bootstrap.py``).

The number of samples is the largest, up to `MAX_SAMPLES`, that keeps within two limits: the samples
make at most `SHARE` times as many generations as the search, and they cost at most `MAX_COST`, or
as much as the search. With fewer than `MIN_SAMPLES` there is none, because a strength would be too
uncertain. Costs are numbers of generations and local scores, never times, so the same search has
the same samples on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from coevo.data import IncompleteDataset, Rows
from coevo.data.dataset import BYTES_PER_DRAW
from coevo.graph import Arc
from coevo.posteriors.bootstrap import (
    ORIGINAL,
    BootstrapResult,
    choose_rows,
    make_consensus_rules,
    record_original,
    run_bootstrap,
    summarise_runs,
)
from coevo.runtime.deadline import check_deadline, defer_interrupts, is_interrupt
from coevo.runtime.memory import get_machine_memory
from coevo.search import CCMA, Islands, SearchResult, SearchSpec

__all__ = ["count_quick_samples", "make_quick_spec", "run_quick_bootstrap"]


PATIENCE = 2  # generations without a better structure, after which the search of a sample ends
MAX_GENERATIONS = 16  # of the search of a sample whose imputations evolve
MIN_SAMPLES, MAX_SAMPLES = 25, 40
SHARE = 10  # times the generations of the search, for all samples together
MAX_COST = 1_200_000  # local scores of a small table, for all samples: about eight seconds
ROWS = 7000  # that double the cost of a local score
GENERATION = 700  # cost of a generation beside its local scores
IMPUTED = 3  # cost of a local score that is a mean over imputations


def make_quick_spec(spec: SearchSpec, table: Rows) -> SearchSpec | None:
    """Return the short search of a sample; None for methods that have none.

    The limits of the search hold for the short one too, but not its time limit: the result of a
    sample does not depend on the machine.
    """
    method = spec.method.ccma if isinstance(spec.method, Islands) else spec.method
    if not isinstance(method, CCMA):
        return None
    budget = spec.budget
    patience = PATIENCE if budget.patience is None else min(PATIENCE, budget.patience)
    generations = budget.max_generations
    if isinstance(table, IncompleteDataset):
        generations = min(MAX_GENERATIONS, MAX_GENERATIONS if generations is None else generations)
    limits = replace(budget, max_time=None, patience=patience, max_generations=generations)
    return replace(spec, method=method, budget=limits)


def count_quick_samples(table: Rows, spec: SearchSpec, search: SearchResult) -> int:
    """Return the number of samples of the quick bootstrap after a search; 0 if it costs too much.

    The search of a sample makes about as many generations as the search needed to find its
    structure, and then waits. A generation of either costs about the same.
    """
    short = make_quick_spec(spec, table)
    if short is None or not search.generations or search.stop_reason == "interrupt":
        return 0
    epoch, n_populations = 1, 1
    if isinstance(spec.method, Islands):  # a generation is an epoch of every island
        epoch, n_populations = spec.method.epoch, spec.method.islands
    n_generations = search.generations * epoch * n_populations
    # the last search of a table with missing values may have no generation of its own
    improved = search.history[-1].improved if search.history else search.generations
    per_sample = improved * epoch + PATIENCE
    if short.budget.max_generations is not None:
        per_sample = min(per_sample, max(1, short.budget.max_generations))

    per_score = (1 + table.n_rows / ROWS) * (IMPUTED if isinstance(table, IncompleteDataset) else 1)
    cost = per_score * search.evaluations + GENERATION * n_generations
    searches = min(SHARE, max(MAX_COST / cost, 1.0))  # that all samples may cost together
    n_samples = min(MAX_SAMPLES, int(searches * n_generations / per_sample))
    return n_samples if n_samples >= MIN_SAMPLES else 0


def run_quick_bootstrap(
    table: Rows,
    spec: SearchSpec,
    search: SearchResult,
    gains: Mapping[Arc, float],
    missing: str | None = None,
    on_interrupt: Callable[[], object] = lambda: None,
) -> BootstrapResult | None:
    """Return the quick bootstrap of a search; None if it costs too much or is interrupted.

    Parameters
    ----------
    table : Dataset or IncompleteDataset
        The observations, with their missing values.
    spec : SearchSpec
        The search.
    search : SearchResult
        Its result.
    gains : mapping of (parent, child) to float
        The gain of each arc.
    missing : str, optional
        The policy for missing values.
    on_interrupt : callable
        Called at the first Ctrl-C, which ends the bootstrap after the current sample.

    Examples
    --------
    >>> import coevo
    >>> rows = coevo.sample(coevo.load_network("asia"), 500, random_state=1)
    >>> found = coevo.learn(rows, bootstraps=0, random_state=7)
    >>> run_quick_bootstrap(rows, found.spec, found.search, found.gains)
    <BootstrapResult: 6 of 15 arcs above 0.175, 40 bootstrap samples>
    """
    n_samples, memory = count_quick_samples(table, spec, search), get_machine_memory()
    short = make_quick_spec(spec, table)
    if not n_samples or short is None:
        return None
    if memory is not None and BYTES_PER_DRAW * table.n_rows > memory:
        return None
    rows = choose_rows(table, missing)
    runs = {ORIGINAL: record_original(search, 0.0, gains)}
    try:
        with defer_interrupts(on_interrupt) as interrupts:
            for number in range(1, n_samples + 1):
                runs[number] = run_bootstrap(rows, short, missing, 1, number)
                check_deadline()  # the search of a sample that ran out of time is no sample
                if interrupts.is_pending:
                    return None
    except (KeyboardInterrupt, SystemError) as error:
        if not is_interrupt(error):
            raise
        return None
    rules = make_consensus_rules(rows, spec, missing)
    return summarise_runs(rows.names, rules, spec, n_samples, runs)
