"""Learning from a table with missing cells: what becomes of them is a choice, by name.

    evolve     the missing cells are a third species, drawn and never maximised
    em         structural EM: fill with the most probable states, learn, fill again
    available  each family on the rows that have all its cells
    state      that a cell is missing is one more state of its variable
    drop       rows with a missing cell are left out

Every policy but ``state`` ends with the same filling: how probable the states of each missing
cell are, given its row, under the structures that were found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from coevo.checks import is_int
from coevo.data import Dataset, IncompleteDataset
from coevo.errors import bad_choice, bad_parameter
from coevo.graph import DAG, Arc, Constraints
from coevo.interrupts import Interrupts, gentle_interrupts
from coevo.missing.available_scorer import AvailableScorer
from coevo.missing.em import structural_em
from coevo.missing.evolve import N_IMPUTATIONS, evolve
from coevo.missing.imputations import Imputations
from coevo.missing.imputed_table import ImputedTable
from coevo.missing.policy_input import Found, PolicyInput
from coevo.network import BayesianNetwork, fit
from coevo.randomness import RandomState, seed_of
from coevo.score import FamilyScorer, Score, make_score
from coevo.search import Budget, Callback, Checkpoint, Keep, Method, SearchResult, make_method

__all__ = [
    "POLICIES",
    "IncompleteResult",
    "check_policy",
    "learn_incomplete",
    "search_incomplete",
]

FILLING_SWEEPS = 60  # of each completion, counted and before


@dataclass(frozen=True)
class IncompleteResult:
    """What was learned from a table with missing cells.

    Attributes
    ----------
    policy : str
        What was done about the missing cells.
    search : SearchResult
        The structure, and how it was found. Its score is that of `scorer`; between policies
        it compares nothing.
    scorer : FamilyScorer
        What judged structures.
    completed : ImputedTable or None
        The filled table; None where missing is a state.
    stacked : Dataset
        What tables are fitted to: all completions, one below the other.
    checkpoint : Checkpoint or None
        Where it ended, to go on from; None if it was stopped before it began.
    """

    policy: str
    search: SearchResult
    scorer: FamilyScorer
    completed: ImputedTable | None
    stacked: Dataset
    checkpoint: Checkpoint | None

    @cached_property
    def network(self) -> BayesianNetwork:
        """The structure with tables; where cells were filled, their mean over completions.

        The prior is there as often as there are completions, so that the tables are those of
        mean counts with the prior once. Raises `NetworkError` if one would be too large.
        """
        names = [variable.name for variable in self.stacked.source_variables]
        dag = DAG(names, self.search.dag.arcs)
        if self.completed is None:
            return fit(dag, self.stacked)
        n_completions = self.stacked.n_rows // self.completed.dataset.n_rows
        return fit(dag, self.stacked, ess=float(n_completions))


def _drop(question: PolicyInput) -> Found:
    return _filling(question, question.scorer(question.table.complete_rows()))


def _state(question: PolicyInput) -> Found:
    scorer = question.scorer(question.table.with_state())
    return Found(question.run(scorer, question.reached), scorer)


def _available(question: PolicyInput) -> Found:
    scorer = AvailableScorer(question.table, question.score, **question.scorer_options())
    return _filling(question, scorer)


def _filling(question: PolicyInput, scorer: FamilyScorer) -> Found:
    """Return what one search finds, with completions to fill the table by."""
    result = question.run(scorer, question.reached)
    completions = Imputations(question.table, N_IMPUTATIONS, question.seed, question.threads())
    return Found(result, scorer, completions, [result.dag.adjacency()])


POLICIES: dict[str, Callable[[PolicyInput], Found]] = {
    "evolve": evolve,
    "em": structural_em,
    "available": _available,
    "state": _state,
    "drop": _drop,
}


def check_policy(missing: str, owner: str) -> None:
    """Raise `ParameterError` unless this is the name of a policy."""
    if missing not in tuple(POLICIES):
        raise bad_choice("missing", owner, POLICIES, missing)


def search_incomplete(missing: str, question: PolicyInput) -> Found:
    """Return what a policy finds; the table need not be in any order, and is not filled."""
    table, _ = question.table.by_content()
    with gentle_interrupts() as interrupts:
        found = _found(missing, replace(question, table=table), interrupts)
    return _as_it_ended(found, interrupts)


def _found(missing: str, question: PolicyInput, interrupts: Interrupts) -> Found:
    """Return what a policy finds; Ctrl-C ends it with the best so far, wherever it is."""
    heard = (*question.callbacks, lambda row: interrupts.asked)
    asked = replace(question, callbacks=heard, is_stopped=lambda: interrupts.asked)
    return POLICIES[missing](asked)


def _as_it_ended(found: Found, interrupts: Interrupts) -> Found:
    """Return what was found; where someone pressed Ctrl-C, that is why it ended."""
    if not interrupts.asked:
        return found
    return replace(found, result=replace(found.result, stop_reason="interrupt"))


def learn_incomplete(
    table: IncompleteDataset,
    missing: str = "evolve",
    *,
    method: str | Method = "ccma",
    score: str | Score = "bdeu",
    constraints: Constraints | None = None,
    weights: Mapping[Arc, float] | None = None,
    parent_penalty: float = 0.0,
    start: DAG | None = None,
    budget: Budget | None = None,
    random_state: RandomState = 0,
    n_jobs: int = 1,
    callbacks: Iterable[Callback] = (),
    state: Checkpoint | None = None,
    keep: Keep | None = None,
) -> IncompleteResult:
    """Learn a network from a table with missing cells.

    Parameters
    ----------
    table : IncompleteDataset
        The observations; see `read_incomplete`.
    missing : str
        What to do about the missing cells: ``'evolve'``, ``'em'``, ``'available'``,
        ``'state'`` or ``'drop'``; see `coevo.missing.policies`.
    method, score, constraints, start, budget, random_state, callbacks : optional
        As for `run_search`. A limit of time holds for all searches of a policy together, one
        of generations for those of ``'evolve'``; other limits hold for each search of ``'em'``
        and for the last of ``'evolve'``. The history is that of the last search; with
        ``'ccga'`` it is that of all, and its score may fall where completions change.
    weights, parent_penalty : optional
        The log prior of some arcs and of all, as for `FamilyScorer`.
    n_jobs : int
        Threads; they change the time, never the answer.
    state, keep : optional
        Go on from a checkpoint, and be told of each: as for `run_search`, but for checkpoints of
        this function, under the same policy. Once the last search has begun, a larger budget
        goes on with that, on the completions that it has.

    Returns
    -------
    IncompleteResult

    Examples
    --------
    >>> import coevo
    >>> rows = coevo.sample(coevo.load_network("asia"), 500, random_state=1).unfolded()
    >>> holes = np.random.default_rng(1).random(rows.codes.shape) < 0.1
    >>> table = IncompleteDataset(rows, holes)
    >>> found = learn_incomplete(table, "evolve", budget=Budget(max_generations=20))
    >>> len(found.search.dag.arcs) > 3
    True
    >>> filled = found.completed.dataset.codes == rows.codes
    >>> bool(filled[~holes].all()), bool(filled[holes].mean() > 0.7)
    (True, True)
    """
    if not isinstance(table, IncompleteDataset):
        expected = "an IncompleteDataset (see read_incomplete)"
        raise bad_parameter("table", "learn_incomplete", expected, table)
    check_policy(missing, "learn_incomplete")
    if not is_int(n_jobs, 1):
        raise bad_parameter("n_jobs", "learn_incomplete", "an int >= 1", n_jobs)
    sorted_table, order = table.by_content()
    question = PolicyInput(
        table=sorted_table,
        method=make_method(method, "learn_incomplete"),
        score=make_score(score, None, "learn_incomplete"),
        constraints=Constraints() if constraints is None else constraints,
        weights={} if weights is None else weights,
        parent_penalty=parent_penalty,
        start=start,
        budget=Budget() if budget is None else budget,
        seed=seed_of(random_state, "learn_incomplete"),
        n_jobs=n_jobs,
        callbacks=tuple(callbacks),
        reached=state,
        keep=keep,
    )
    with gentle_interrupts() as interrupts:
        found = _found(missing, question, interrupts)
        completions, filled = found.completions, None
        if completions is not None:
            filled = completions.fill(found.partners, FILLING_SWEEPS)
    found = _as_it_ended(found, interrupts)
    result, scorer, last = found.result, found.scorer, found.checkpoint
    if completions is None or filled is None:
        return IncompleteResult(missing, result, scorer, None, scorer.dataset, last)
    completed = ImputedTable.of(table, sorted_table, order, filled)
    stacked = sorted_table.completed(np.concatenate(completions.codes, axis=1))
    return IncompleteResult(missing, result, scorer, completed, stacked, last)
