"""What is asked of `learn`, checked in three steps: the plan, the plan on a table, the search.

Everything that can be wrong without a table is found by `Plan`; everything that can be wrong
with one by `task_of`; a `Task` then only has to run (`coevo.learning.task`). `learn` takes
these steps one after the other, and ``coevo learn`` takes the same, and says in between what
it is doing.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from coevo import data, search
from coevo.bundled import open_structure
from coevo.checks import is_int, is_number
from coevo.data import ColumnInfo, Dataset, IncompleteDataset, Rows, Variable, read_types
from coevo.data.column_types import BIN_METHODS
from coevo.data.read_options import ReadOptions
from coevo.errors import ParameterError, bad_choice, bad_parameter
from coevo.graph import DAG, Constraints
from coevo.io import Knowledge, check_run_folder, open_knowledge
from coevo.io.knowledge import Entries
from coevo.missing import check_policy
from coevo.network import BayesianNetwork
from coevo.parallel import Cluster, check_cluster
from coevo.randomness import RandomState, seed_of
from coevo.score import Score, make_score
from coevo.search import Budget, Islands, Method

__all__ = ["NO_BINS", "Known", "Path", "Plan", "Start", "States", "Types"]

NO_BINS = "none"
Path = str | os.PathLike[str]
Known = Constraints | Knowledge | Path
Start = DAG | BayesianNetwork | Path
States = Mapping[str, Iterable[Any]] | Sequence[Variable]
Types = Mapping[str, Any] | Path
_GIVE_CUTS = "Give the cut points with 'types'; the run.json of a run on some of the rows has them."
_WAYS_OUT = {
    "discretise": _GIVE_CUTS,
    "bins": _GIVE_CUTS,
    "missing": "Drop or fill missing cells where the table is made.",
    "bootstraps": "Leave it out; with so many rows most arcs are sure.",
}


class Plan:
    """All that can be said before there is a table: the parameters of `learn`, checked.

    `owner` is whose parameters they are, and `limit_place` where `max_parents` was given, for
    the sentences that say what is wrong.

    >>> Plan(max_parents=0)
    Traceback (most recent call last):
    coevo.errors.ParameterError: 'max_parents' of learn must be an int >= 1 or None; got 0.
    """

    def __init__(
        self,
        *,
        method: str | Method = "ccma",
        score: str | Score = "bdeu",
        ess: float | None = None,
        max_parents: int | None = None,
        parent_penalty: float = 0.0,
        budget: Budget | None = None,
        n_jobs: int = 1,
        random_state: RandomState = 0,
        constraints: Known | None = None,
        start: Start | None = None,
        types: Types | None = None,
        discretise: str | None = None,
        bins: int | None = None,
        missing: str | None = None,
        missing_labels: Sequence[str] | None = None,
        bootstraps: int | None = None,
        shards: Path | None = None,
        cluster: Cluster = None,
        owner: str = "learn",
        limit_place: str | None = None,
    ) -> None:
        self.scoring = make_score(score, ess, owner)
        self.method = search.make_method(method, owner)
        if max_parents is not None and not is_int(max_parents, 1):
            raise bad_parameter("max_parents", owner, "an int >= 1 or None", max_parents)
        if not (is_number(parent_penalty) and parent_penalty >= 0):
            raise bad_parameter("parent_penalty", owner, "a number >= 0", parent_penalty)
        if not is_int(n_jobs, 1):
            raise bad_parameter("n_jobs", owner, "an int >= 1", n_jobs)
        check_cluster(owner, cluster)
        if bootstraps is not None and not is_int(bootstraps, 1):
            raise bad_parameter("bootstraps", owner, "an int >= 1 or None", bootstraps)
        if missing is not None:
            check_policy(missing, owner)
        if missing is None and missing_labels is not None:
            raise ParameterError(
                f"'missing_labels' of {owner} goes with 'missing', what to do about such cells."
            )
        if cluster is not None and missing is not None:
            raise ParameterError(
                f"'missing' of {owner} does not go with 'cluster': leave one of them out."
            )
        self.missing, self.missing_labels = missing, missing_labels
        self.bootstraps = bootstraps
        self.shards, self.cluster = shards, cluster
        if self.in_shards:
            asked = {"discretise": discretise, "bins": bins, "missing": missing}
            _check_shards(shards, cluster, asked | {"bootstraps": bootstraps}, owner)
        self.bins = _checked_bins(types, discretise, bins, owner)
        self._says_bins = not (types is None and discretise is None and bins is None)
        self._known = _opened(constraints, owner)
        self._place = repr(constraints) if isinstance(self._known, Entries) else "the constraints"
        self._max_parents, self._limit_place = max_parents, limit_place or owner
        self.start = _structure(start, owner)
        self.budget = Budget() if budget is None else budget
        self.seed = seed_of(random_state, owner)
        self.n_jobs, self.parent_penalty = n_jobs, parent_penalty

    @property
    def in_shards(self) -> bool:
        """Whether the rows are not read into memory, but into shards."""
        spread = self.cluster is not None and not isinstance(self.method, Islands)
        return spread or self.shards is not None

    def read(
        self,
        table: Any,
        states: States | None = None,
        drop: Iterable[str] = (),
        names: Sequence[str] | None = None,
    ) -> tuple[Rows, tuple[ColumnInfo, ...]]:
        """Read a table, and what was decided about its columns."""
        is_read = isinstance(table, Dataset | IncompleteDataset)
        bins = self.bins if self._says_bins or not is_read else {}
        return self.reader(table, states=states, drop=drop, names=names, **bins)

    @property
    def reader(self) -> Callable[..., tuple[Rows, tuple[ColumnInfo, ...]]]:
        """The function that reads tables: one that keeps missing cells, if there is a policy."""
        if self.missing is None:
            return data.read_columns
        return partial(data.read_incomplete, missing_labels=self.missing_labels)

    def knowledge(self, names: Sequence[str]) -> Knowledge:
        """Return what is known about these variables, checked."""
        given = self._known
        known = given.over(names) if isinstance(given, Entries) else given
        limit, asked = known.constraints.max_parents, self._max_parents
        if asked is not None:
            if limit not in (None, asked):
                raise ParameterError(
                    f"'max_parents' is {limit} in {self._place} and {asked} in "
                    f"{self._limit_place}. Give it once."
                )
            limited = Constraints(**known.constraints.as_dict() | {"max_parents": asked})
            known = Knowledge(limited, known.weights)
        known.constraints.rules(names)  # says what is wrong with them
        return known


def _check_shards(
    shards: Path | None, cluster: Cluster, asked: Mapping[str, Any], owner: str
) -> None:
    """Raise what is wrong with rows in shards, or with what cannot be done there."""
    if shards is not None and cluster is not None:
        raise ParameterError(
            f"'shards' of {owner} are files of this machine, and a cluster keeps its own. Give one "
            "of the two."
        )
    if shards is not None:
        if not isinstance(shards, str | os.PathLike):
            raise bad_parameter("shards", owner, "the path of a folder or None", shards)
        check_run_folder(pathlib.Path(shards))
    for name, value in asked.items():
        if value is not None and (name, value) != ("discretise", NO_BINS):
            raise ParameterError(
                f"{name!r} of {owner} needs all rows in memory, and they are to be in shards "
                f"('shards' or 'cluster'). {_WAYS_OUT[name]}"
            )


def _checked_bins(
    types: Types | None, discretise: str | None, bins: int | None, owner: str
) -> dict[str, Any]:
    """Return what `read_data` is asked about columns of numbers; they are cut unless told not."""
    if discretise == NO_BINS:
        if bins is not None:
            raise ParameterError(f"'bins' of {owner} needs a method; 'discretise' is 'none'.")
    elif discretise is not None and discretise not in BIN_METHODS:
        raise bad_choice("discretise", owner, (*BIN_METHODS, NO_BINS), discretise)
    usual = None if bins is not None or discretise == NO_BINS else "mdl"
    chosen = usual if discretise in (None, NO_BINS) else discretise
    said = read_types(os.fspath(types)) if isinstance(types, str | os.PathLike) else types
    found = {"types": said, "discretise": chosen, "bins": bins}
    ReadOptions.of(**found)  # says what is wrong with them
    return found


def _opened(constraints: Known | None, owner: str) -> Knowledge | Entries:
    """Return what is known, as far as it can be understood without a table."""
    if constraints is None:
        return Knowledge()
    if isinstance(constraints, Constraints):
        return Knowledge(constraints)
    if isinstance(constraints, Knowledge):
        return constraints
    if isinstance(constraints, str | os.PathLike):
        return open_knowledge(os.fspath(constraints))
    expected = "Constraints, Knowledge, the path of a file or None"
    raise bad_parameter("constraints", owner, expected, constraints)


def _structure(start: Start | None, owner: str) -> DAG | None:
    """Return the structure to start from."""
    if start is None or isinstance(start, DAG):
        return start
    if isinstance(start, BayesianNetwork):
        return start.dag
    if isinstance(start, str | os.PathLike):
        return open_structure(start)
    expected = "a DAG, a network, the path of a file, the name of a bundled network or None"
    raise bad_parameter("start", owner, expected, start)
