"""The options of `learn` and of the estimator: each is listed once, with its type and default.

`coevo.learning.api.learn` explains them. The settings of the search itself come from
`coevo.search.spec.SearchOptions`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from coevo.data.cell_options import CELL_DEFAULTS, CellParameters
from coevo.data.reader import DeclaredStates
from coevo.data.row_options import ROW_DEFAULTS, ReadParameters
from coevo.data.source_options import SOURCE_DEFAULTS
from coevo.graph import DAG, Constraints
from coevo.io import Knowledge
from coevo.network import BayesianNetwork
from coevo.parallel import Cluster
from coevo.score import Score
from coevo.search import Method
from coevo.search.spec import SEARCH_DEFAULTS, SearchOptions

__all__ = [
    "ESTIMATOR_DEFAULTS",
    "LEARN_DEFAULTS",
    "DeclaredStates",
    "EstimatorOptions",
    "GivenKnowledge",
    "GivenStart",
    "GivenTypes",
    "LearnOptions",
    "Path",
]

Path = str | os.PathLike[str]
GivenKnowledge = Constraints | Knowledge | Mapping[str, Any] | Path
GivenStart = DAG | BayesianNetwork | Method | Path
GivenTypes = Mapping[str, Any] | Path


class EstimatorOptions(SearchOptions, CellParameters, total=False):
    """The options that `learn` and `BayesianNetworkLearner` share."""

    max_parents: int | None
    max_time: float | None
    max_generations: int | None
    patience: int | None
    target: float | None
    constraints: GivenKnowledge | None
    roots: Iterable[str]
    leaves: Iterable[str]
    start: GivenStart | None
    states: DeclaredStates | None
    drop: Iterable[str]
    types: GivenTypes | None
    discretise: str | None
    bins: int | None
    missing: str | None
    decimal: str | None
    strict: bool
    bootstraps: int | None
    n_jobs: int


class LearnOptions(EstimatorOptions, ReadParameters, total=False):
    """The options of `learn` that are validated before a table is read."""

    score: str | Score | None
    posterior: bool
    prove: float | None
    names: Sequence[str] | None
    shards: Path | None
    cluster: Cluster


ESTIMATOR_DEFAULTS: EstimatorOptions = {
    **SEARCH_DEFAULTS,
    "max_parents": None,
    "max_time": None,
    "max_generations": None,
    "patience": None,
    "target": None,
    "constraints": None,
    "roots": (),
    "leaves": (),
    "start": None,
    "states": None,
    "drop": (),
    "types": None,
    "discretise": None,
    "bins": None,
    "missing": None,
    **CELL_DEFAULTS,
    "decimal": None,
    "strict": False,
    "bootstraps": None,
    "n_jobs": 1,
}
LEARN_DEFAULTS: LearnOptions = {
    **ESTIMATOR_DEFAULTS,
    **SOURCE_DEFAULTS,
    **ROW_DEFAULTS,
    "score": None,
    "posterior": False,
    "prove": None,
    "names": None,
    "shards": None,
    "cluster": None,
}
