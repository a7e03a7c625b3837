"""The specification of a search: one frozen value that decides what a search finds.

`SearchSpec` holds the method with its settings, the score, the constraints, the log prior of arcs,
a structure to start from, the budget and the seed. `learn`, the bootstrap, the imputation policies,
the benchmarks and the checkpoints all take this one value. Rows, threads and clusters are not part
of it. Threads and clusters change only the time.

A new setting is an option in `coevo.options` and a field of `SearchSpec`; the fingerprint and every
caller then have it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Unpack

from coevo import __version__
from coevo.checks import as_plain
from coevo.data import Dataset
from coevo.errors import bad_parameter
from coevo.files.checkpoints import describe_difference
from coevo.graph import DAG, Arc, Constraints, read_constraints
from coevo.options import (
    ObjectiveOptions,
    ScorerOptions,
    SpecOptions,
    check_options,
    fill_defaults,
    list_options,
    select_options,
)
from coevo.runtime.randomness import resolve_seed
from coevo.score import FamilyScorer, Score, Scorer, make_score
from coevo.search.base import Method, SearchState
from coevo.search.loop import Budget
from coevo.search.registry import choose_method, find_code_hash
from coevo.search.result import Checkpoint, SearchResult
from coevo.search.run import Callback, CheckpointCallback, run_search

__all__ = [
    "SearchSpec",
    "describe_difference",
    "make_spec",
]

# The default objective, chosen by `benchmarks/defaults.py`: BDeu with this equivalent sample size
# and this price on each parent. Nothing else is as good in both held-out likelihood and SHD.
DEFAULT_ESS = 5.0
DEFAULT_PARENT_PENALTY = 4.0  # nats
# Without it, ten independent columns of 15 states and 60 rows give 7 "decisive" arcs
# (benchmarks/null_tables.py).
DEFAULT_SPARSE_PENALTY = 1.0  # of the regret of a variable


@dataclass(frozen=True)
class SearchSpec:
    """The specification of a search. `make_spec` validates the values.

    Attributes
    ----------
    method : Method
        The search method with its settings.
    score : Score
        The score that the search maximises.
    constraints : Constraints
        Required and forbidden arcs, tiers, and the limit on parents.
    weights : mapping of (parent, child) to float
        The log prior of some arcs.
    parent_penalty : float
        The log prior of every arc, as a cost in nats.
    sparse_penalty : float
        The cost of tables with few rows, as a multiple of the regret of the child.
    max_table : int or None
        The maximum number of cells of the table of a variable with parents.
    start : DAG, Method or None
        The structure that the search starts from, or the method that finds it on the same rows
        and under the same constraints.
    budget : Budget
        When the search stops. It is not part of the fingerprint: a larger budget extends a search.
    seed : int
        The seed of all random numbers.
    """

    method: Method
    score: Score
    constraints: Constraints = field(default_factory=Constraints)
    weights: Mapping[Arc, float] = field(default_factory=dict)
    parent_penalty: float = 0.0
    sparse_penalty: float = 0.0
    max_table: int | None = None
    start: DAG | Method | None = None
    budget: Budget = field(default_factory=Budget)
    seed: int = 0

    @property
    def limits(self) -> Budget:
        """The budget, with the method's default where the budget has no end."""
        return self.budget.with_default(self.method.default_budget)

    def make_scorer_options(self, n_jobs: int = 1) -> ScorerOptions:
        """Return the options that every scorer of this search takes."""
        return {**select_options(ScorerOptions, vars(self)), "n_jobs": n_jobs}

    def make_scorer(self, dataset: Dataset, n_jobs: int = 1) -> FamilyScorer:
        """Return the scorer of a table in memory."""
        return FamilyScorer(dataset, self.score, **self.make_scorer_options(n_jobs))

    def run(
        self,
        scorer: Scorer,
        *,
        callbacks: Iterable[Callback] = (),
        state: SearchState | Checkpoint | None = None,
        on_checkpoint: CheckpointCallback | None = None,
        seconds: float = 0.0,
    ) -> SearchResult:
        """Search with a scorer; see `run_search` for the parameters.

        If the start is a method, it runs first. A search that resumes has no need of it. Its time
        counts against the time limit; if it is interrupted, its structure is the result.
        """
        first = self._run_start(scorer, seconds) if state is None else None
        is_stopped = first is not None and first.stop_reason == "interrupt"
        given = self.start if isinstance(self.start, DAG) else None
        result = run_search(
            self.method,
            scorer,
            constraints=self.constraints,
            budget=Budget(max_generations=0) if is_stopped else self.budget,
            random_state=self.seed,
            callbacks=callbacks,
            start=given if first is None else first.dag,
            state=state,
            on_checkpoint=on_checkpoint,
            seconds=seconds if first is None else first.seconds,
        )
        return replace(result, stop_reason="interrupt") if is_stopped else result

    def _run_start(self, scorer: Scorer, seconds: float) -> SearchResult | None:
        """Run the method that finds the start, within its own budget and the time limit."""
        if not isinstance(self.start, Method):
            return None
        default = self.start.default_budget
        return run_search(
            self.start,
            scorer,
            constraints=self.constraints,
            budget=replace(default, max_time=self.budget.max_time),
            random_state=self.seed,
            seconds=seconds,
        )

    def describe_options(self) -> dict[str, Any]:
        """Return the settings that run.json records, by the name of their option."""
        found = {}
        for name, option in list_options(ObjectiveOptions).items():
            value = getattr(self, name, None)
            if option.recorded == "always" or (option.recorded and value):
                found[name] = value
        return found

    def fingerprint(self, data_hash: str, **more: Any) -> dict[str, Any]:
        """Return all that the answer depends on but the budget, as plain JSON values.

        A checkpoint or a journal belongs to one search: both store these values and compare them
        (`describe_difference`) before they are used again.
        """
        written: dict[str, Any] = {
            "method": self.method.name,
            "settings": self.method.settings,
            "score": self.score.name,
            "ess": getattr(self.score, "ess", None),
        }
        for setting in fields(self):
            if setting.name not in ("method", "score", "budget"):
                convert = _AS_JSON.get(setting.name, _return_unchanged)
                written[setting.name] = convert(getattr(self, setting.name))
        code_hash = find_code_hash(self.method)
        if code_hash is not None:
            written["code_hash"] = code_hash
        facts = {"version": __version__, "data_hash": data_hash, **written, **more}
        plain: dict[str, Any] = json.loads(json.dumps(facts, default=as_plain))
        return plain


def _return_unchanged(value: Any) -> Any:
    return value


def _convert_start(start: DAG | Method | None) -> Any:
    if isinstance(start, Method):
        return {"method": start.name, "settings": start.settings}
    return None if start is None else sorted(map(list, start.arcs))


_AS_JSON: dict[str, Callable[[Any], Any]] = {
    "constraints": Constraints.as_dict,
    "weights": lambda weights: [[*arc, float(w)] for arc, w in sorted(weights.items())],
    "start": _convert_start,
}


def make_spec(owner: str = "make_spec", **options: Unpack[SpecOptions]) -> SearchSpec:
    """Validate the settings of a search; `owner` is the function that error messages name.

    >>> make_spec(method="k2", score="bic").fingerprint("0")["settings"]
    {'order': None, 'max_parents': None}
    >>> make_spec("learn", parent_penalty=-1)
    Traceback (most recent call last):
    coevo.errors.ParameterError: 'parent_penalty' of learn must be a number from 0 to 1,000,000 or \
None; got -1.
    """
    chosen = fill_defaults(SpecOptions, options)
    check_options(ObjectiveOptions, owner, chosen)
    budget, start = chosen["budget"], chosen["start"]
    if budget is not None and not isinstance(budget, Budget):
        raise bad_parameter("budget", owner, "a Budget or None", budget)
    if start is not None and not isinstance(start, DAG | Method):
        raise bad_parameter("start", owner, "a DAG, a Method or None", start)
    score, parent_penalty, sparse_penalty = _resolve_objective(chosen, owner)
    selected = choose_method(chosen["method"], owner)
    return SearchSpec(
        method=selected.method,
        score=score,
        constraints=read_constraints(chosen["constraints"], owner),
        weights={} if chosen["weights"] is None else chosen["weights"],
        parent_penalty=parent_penalty,
        sparse_penalty=sparse_penalty,
        max_table=chosen["max_table"],
        start=start,
        budget=selected.limit(chosen["budget"], owner),
        seed=resolve_seed(chosen["random_state"], owner),
    )


def _resolve_objective(chosen: SpecOptions, owner: str) -> tuple[Score, float, float]:
    """Return the score, the parent penalty and the sparse penalty.

    Without a score, all are those of the default objective. A score that is named is what its name
    says: it has no penalty unless one is given.
    """
    name, ess = chosen["score"], chosen["ess"]
    if name is None:
        penalties = (DEFAULT_PARENT_PENALTY, DEFAULT_SPARSE_PENALTY)
        ess = DEFAULT_ESS if ess is None else ess
    else:
        penalties = (0.0, 0.0)
    given = (chosen["parent_penalty"], chosen["sparse_penalty"])
    parent, sparse = (
        default if value is None else float(value)
        for value, default in zip(given, penalties, strict=True)
    )
    return make_score("bdeu" if name is None else name, ess, owner), parent, sparse
