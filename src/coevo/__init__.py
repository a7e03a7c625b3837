"""Bayesian networks from data, by cooperative coevolution.

>>> import coevo
>>> alarm = coevo.load_network("alarm")
>>> rows = coevo.sample(alarm, 1000, random_state=7)
>>> found = coevo.learn(rows, score="k2", max_generations=10)
>>> found.score > coevo.FamilyScorer(rows, "k2").score(alarm.dag)
True

Everything below is imported when it is first used, so that ``import coevo`` and
``coevo --help`` take no time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coevo.bootstrap import BootstrapResult, strength, write_strength
    from coevo.bundled import list_networks, load_network, open_network, open_structure
    from coevo.data import (
        CutPoints,
        Dataset,
        IncompleteDataset,
        Variable,
        audit,
        read_columns,
        read_data,
        read_incomplete,
        read_types,
        write_data,
    )
    from coevo.errors import CoevoError, CoevoWarning
    from coevo.estimator import BayesianNetworkLearner
    from coevo.graph import CPDAG, DAG, Comparison, Constraints, compare
    from coevo.interop import (
        from_networkx,
        from_pgmpy,
        from_pyagrum,
        to_networkx,
        to_pgmpy,
        to_pyagrum,
    )
    from coevo.io import (
        Knowledge,
        read_bif,
        read_knowledge,
        write_bif,
        write_knowledge,
        write_model,
    )
    from coevo.learning import LearnResult, learn
    from coevo.missing import IncompleteResult, learn_incomplete, write_imputed
    from coevo.network import BayesianNetwork, fit, sample
    from coevo.outofcore import ShardedScorer, open_shards
    from coevo.parallel import DistributedScorer, distribute_islands
    from coevo.report.page import Page, network_page, write_page
    from coevo.score import FamilyBatch, FamilyScorer, arc_gains
    from coevo.search import (
        CCGA,
        CCMA,
        K2,
        Budget,
        HillClimb,
        Islands,
        SearchResult,
        Tabu,
        run_search,
    )

__version__ = "0.1.0"

_HOME = {
    "BayesianNetwork": "network",
    "BayesianNetworkLearner": "estimator",
    "Budget": "search",
    "CCGA": "search",
    "CCMA": "search",
    "CPDAG": "graph",
    "CoevoError": "errors",
    "CoevoWarning": "errors",
    "Comparison": "graph",
    "Constraints": "graph",
    "CutPoints": "data",
    "DAG": "graph",
    "Dataset": "data",
    "FamilyBatch": "score",
    "FamilyScorer": "score",
    "HillClimb": "search",
    "IncompleteDataset": "data",
    "IncompleteResult": "missing",
    "Islands": "search",
    "K2": "search",
    "Knowledge": "io",
    "LearnResult": "learning",
    "Page": "report.page",
    "SearchResult": "search",
    "ShardedScorer": "outofcore",
    "DistributedScorer": "parallel",
    "BootstrapResult": "bootstrap",
    "Tabu": "search",
    "Variable": "data",
    "arc_gains": "score",
    "audit": "data",
    "compare": "graph",
    "fit": "network",
    "from_networkx": "interop",
    "from_pgmpy": "interop",
    "from_pyagrum": "interop",
    "learn": "learning",
    "learn_incomplete": "missing",
    "load_network": "bundled",
    "list_networks": "bundled",
    "network_page": "report.page",
    "open_network": "bundled",
    "open_shards": "outofcore",
    "open_structure": "bundled",
    "read_bif": "io",
    "read_columns": "data",
    "read_data": "data",
    "read_incomplete": "data",
    "read_knowledge": "io",
    "read_types": "data",
    "run_search": "search",
    "sample": "network",
    "distribute_islands": "parallel",
    "strength": "bootstrap",
    "to_networkx": "interop",
    "to_pgmpy": "interop",
    "to_pyagrum": "interop",
    "write_bif": "io",
    "write_imputed": "missing",
    "write_data": "data",
    "write_knowledge": "io",
    "write_model": "io",
    "write_page": "report.page",
    "write_strength": "bootstrap",
}

__all__ = [
    "CCGA",
    "CCMA",
    "CPDAG",
    "DAG",
    "K2",
    "BayesianNetwork",
    "BayesianNetworkLearner",
    "BootstrapResult",
    "Budget",
    "CoevoError",
    "CoevoWarning",
    "Comparison",
    "Constraints",
    "CutPoints",
    "Dataset",
    "DistributedScorer",
    "FamilyBatch",
    "FamilyScorer",
    "HillClimb",
    "IncompleteDataset",
    "IncompleteResult",
    "Islands",
    "Knowledge",
    "LearnResult",
    "Page",
    "SearchResult",
    "ShardedScorer",
    "Tabu",
    "Variable",
    "arc_gains",
    "audit",
    "compare",
    "distribute_islands",
    "fit",
    "from_networkx",
    "from_pgmpy",
    "from_pyagrum",
    "learn",
    "learn_incomplete",
    "list_networks",
    "load_network",
    "network_page",
    "open_network",
    "open_shards",
    "open_structure",
    "read_bif",
    "read_columns",
    "read_data",
    "read_incomplete",
    "read_knowledge",
    "read_types",
    "run_search",
    "sample",
    "strength",
    "to_networkx",
    "to_pgmpy",
    "to_pyagrum",
    "write_bif",
    "write_data",
    "write_imputed",
    "write_knowledge",
    "write_model",
    "write_page",
    "write_strength",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'coevo' has no attribute {name!r}")
    value = getattr(import_module(f"coevo.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
