"""Learning from a table with missing values: the policies, by name.

    evolve     imputations are a third species; they are drawn, never maximised
    em         structural EM: impute the most probable states, learn, impute again
    available  score each family on the rows that observe all its variables
    state      add the state "missing" to each variable with missing values
    drop       leave out rows with a missing value

Every policy but ``state`` ends with the same imputation. It estimates the probability of each state
of each missing value, given its row, under the structures that the policy found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from coevo.checks import is_choice, is_int
from coevo.data import Dataset, IncompleteDataset
from coevo.errors import bad_choice, bad_parameter
from coevo.graph import DAG
from coevo.missing.em import structural_em
from coevo.missing.evolve import N_IMPUTATIONS, evolve
from coevo.missing.imputations import Imputations
from coevo.missing.imputed_table import ImputedTable
from coevo.missing.policy_input import PolicyInput, PolicyOutput
from coevo.missing.scorers import AvailableScorer
from coevo.network import BayesianNetwork
from coevo.network.fit import FittedNetwork, fit_and_count
from coevo.options import SpecOptions
from coevo.runtime.deadline import DeferredInterrupts, defer_interrupts
from coevo.score import FamilyScorer
from coevo.search import (
    Callback,
    Checkpoint,
    CheckpointCallback,
    SearchResult,
    make_spec,
)
from coevo.signatures import accept_options

__all__ = [
    "POLICIES",
    "ImputationResult",
    "IncompleteResult",
    "check_policy",
    "learn_incomplete",
    "learn_with_policy",
    "search_incomplete",
]

FINAL_SWEEPS = 60  # over the missing values for the final imputation, after as many for burn-in


@dataclass(frozen=True, eq=False)
class ImputationResult:
    """The missing values of a table, and the values that a policy imputed.

    Attributes
    ----------
    policy : str
        The name of the policy.
    table : IncompleteDataset
        The table with its missing values.
    imputed_table : ImputedTable or None
        The table with the most probable state of each missing value, and its probability; None
        if "missing" is a state.
    dag : DAG
        The structure that was learned.
    fitted_to : Dataset
        The rows that the network is fitted to: all imputed tables, one below the other.
    """

    policy: str
    table: IncompleteDataset
    imputed_table: ImputedTable | None
    dag: DAG
    fitted_to: Dataset

    @property
    def dataset(self) -> Dataset:
        """The imputed table, or the table with the state "missing"."""
        return self.fitted_to if self.imputed_table is None else self.imputed_table.dataset

    @property
    def network(self) -> BayesianNetwork:
        """The network: the structure with tables fitted to the rows of all imputed tables.

        The equivalent sample size of the prior is the number of imputed tables. This gives the
        same tables as the mean counts over imputed tables with an equivalent sample size of 1.
        Raises `NetworkError` if a table would be too large.
        """
        return self._fitted.network

    @property
    def parent_counts(self) -> dict[str, NDArray[np.float64]]:
        """The rows with each parent configuration of each variable: the mean over imputed tables.

        They are in the order of the rows of the table of the variable.
        """
        return {
            child: counts / self.n_imputations
            for child, counts in self._fitted.parent_counts.items()
        }

    @property
    def n_imputations(self) -> int:
        """The number of imputed tables; 1 if "missing" is a state."""
        if self.imputed_table is None:
            return 1
        return self.fitted_to.n_rows // self.imputed_table.dataset.n_rows

    @cached_property
    def _fitted(self) -> FittedNetwork:
        dag = DAG([variable.name for variable in self.fitted_to.source_variables], self.dag.arcs)
        return fit_and_count(dag, self.fitted_to, ess=float(self.n_imputations))

    def as_dict(self) -> dict[str, Any]:
        """Return the policy and the missing values per column, as plain values."""
        return {"policy": self.policy, **self.table.summarise_missing()}


@dataclass(frozen=True, eq=False)
class IncompleteResult:
    """A network learned from a table with missing values.

    Attributes
    ----------
    search : SearchResult
        The structure and the search. Its score is that of `scorer`; scores of different policies
        cannot be compared.
    scorer : FamilyScorer
        The scorer of the structures.
    imputation : ImputationResult
        The imputed table, and the network fitted to it.
    checkpoint : Checkpoint or None
        The last checkpoint, to resume from; None if the search stopped before it started.
    """

    search: SearchResult
    scorer: FamilyScorer
    imputation: ImputationResult
    checkpoint: Checkpoint | None


def _drop(inputs: PolicyInput) -> PolicyOutput:
    return _search_once(inputs, inputs.make_scorer(inputs.table.drop_incomplete_rows()))


def _add_state(inputs: PolicyInput) -> PolicyOutput:
    scorer = inputs.make_scorer(inputs.table.add_missing_state())
    return PolicyOutput(inputs.run(scorer, inputs.resume_from), scorer)


def _use_available(inputs: PolicyInput) -> PolicyOutput:
    options = inputs.spec.make_scorer_options(inputs.n_jobs)
    return _search_once(inputs, AvailableScorer(inputs.table, inputs.spec.score, **options))


def _search_once(inputs: PolicyInput, scorer: FamilyScorer) -> PolicyOutput:
    """Search once, then start the imputations that the final values are drawn from."""
    result = inputs.run(scorer, inputs.resume_from)
    imputations = Imputations(inputs.table, N_IMPUTATIONS, inputs.seed, inputs.make_threads())
    return PolicyOutput(result, scorer, imputations, [result.dag.adjacency()])


POLICIES: dict[str, Callable[[PolicyInput], PolicyOutput]] = {
    "evolve": evolve,
    "em": structural_em,
    "available": _use_available,
    "state": _add_state,
    "drop": _drop,
}


def check_policy(missing: str, owner: str) -> None:
    """Raise `ParameterError` unless this is the name of a policy."""
    if not is_choice(missing, POLICIES):
        raise bad_choice("missing", owner, POLICIES, missing)


def search_incomplete(missing: str, inputs: PolicyInput) -> PolicyOutput:
    """Run a policy without the final imputation. The order of rows does not matter."""
    table, _ = inputs.table.sort_by_content()
    with defer_interrupts() as interrupts:
        output = _run_policy(missing, replace(inputs, table=table), interrupts)
    return _note_interrupt(output, interrupts)


def _run_policy(missing: str, inputs: PolicyInput, interrupts: DeferredInterrupts) -> PolicyOutput:
    """Run a policy; Ctrl-C stops it with the best structure so far."""
    callbacks = (*inputs.callbacks, lambda row: interrupts.is_pending)
    return POLICIES[missing](
        replace(inputs, callbacks=callbacks, is_stopped=lambda: interrupts.is_pending)
    )


def _note_interrupt(output: PolicyOutput, interrupts: DeferredInterrupts) -> PolicyOutput:
    """Set the stop reason to "interrupt" if the user pressed Ctrl-C."""
    if not interrupts.is_pending:
        return output
    return replace(output, result=replace(output.result, stop_reason="interrupt"))


@accept_options(SpecOptions)
def learn_incomplete(
    table: IncompleteDataset,
    missing: str = "evolve",
    *,
    n_jobs: int = 1,
    callbacks: Iterable[Callback] = (),
    state: Checkpoint | None = None,
    on_checkpoint: CheckpointCallback | None = None,
    **options: Unpack[SpecOptions],
) -> IncompleteResult:
    """Learn a network from a table with missing values.

    Parameters
    ----------
    table : IncompleteDataset
        The observations; see `read_incomplete`.
    missing : str
        The policy: ``'evolve'``, ``'em'``, ``'available'``, ``'state'`` or ``'drop'``; see
        the top of this module.
    n_jobs : int
        Number of threads. It changes the time, never the result.
    callbacks : iterable of functions
        As for `run_search`.
    state, on_checkpoint : optional
        The checkpoint to resume from, and the function that receives each new checkpoint: as for
        `run_search`, but with checkpoints of this function under the same policy. Once the last
        search has started, a larger budget continues that search on its imputations.
    **options
        The search, as for `run_search` and `FamilyScorer`.

    Returns
    -------
    IncompleteResult

    Notes
    -----
    A time limit holds for all searches of a policy together. A limit on generations holds for all
    searches of ``'evolve'`` together. Other limits hold for each search of ``'em'`` and for the
    last search of ``'evolve'``. The history is that of the last search. With ``'ccga'`` it is
    that of all searches, and its score may fall when imputations change.

    Examples
    --------
    >>> import coevo
    >>> rows = coevo.sample(coevo.load_network("asia"), 500, random_state=1).expand()
    >>> missing = np.random.default_rng(1).random(rows.codes.shape) < 0.1
    >>> table = IncompleteDataset(rows, missing)
    >>> result = learn_incomplete(table, "evolve", budget=coevo.Budget(max_generations=20))
    >>> len(result.search.dag.arcs) > 3
    True
    >>> is_right = result.imputation.dataset.codes == rows.codes
    >>> bool(is_right[~missing].all()), bool(is_right[missing].mean() > 0.7)
    (True, True)
    """
    if not isinstance(table, IncompleteDataset):
        expected = "an IncompleteDataset (see coevo.data.read_incomplete)"
        raise bad_parameter("table", "learn_incomplete", expected, table)
    check_policy(missing, "learn_incomplete")
    if not is_int(n_jobs, 1):
        raise bad_parameter("n_jobs", "learn_incomplete", "an int >= 1", n_jobs)
    spec = make_spec("learn_incomplete", **options)
    inputs = PolicyInput(table, spec, n_jobs, tuple(callbacks), state, on_checkpoint)
    return learn_with_policy(missing, inputs)


def learn_with_policy(missing: str, inputs: PolicyInput) -> IncompleteResult:
    """Run a policy and impute the missing values. The order of rows does not matter."""
    table = inputs.table
    sorted_table, order = table.sort_by_content()
    with defer_interrupts() as interrupts:
        output = _run_policy(missing, replace(inputs, table=sorted_table), interrupts)
        imputations, estimated = output.imputations, None
        if imputations is not None:
            estimated = imputations.estimate_probabilities(output.partners, FINAL_SWEEPS)
    output = _note_interrupt(output, interrupts)
    result, scorer = output.result, output.scorer
    if imputations is None or estimated is None:
        imputed_table, fitted_to = None, scorer.dataset
    else:
        imputed_table = ImputedTable.from_sorted(table, sorted_table, order, estimated)
        fitted_to = sorted_table.make_dataset(np.concatenate(imputations.codes, axis=1))
    imputation = ImputationResult(missing, table, imputed_table, result.dag, fitted_to)
    return IncompleteResult(result, scorer, imputation, output.checkpoint)
