"""Bayesian networks from data, by cooperative coevolution.

>>> import coevo
>>> alarm = coevo.load_network("alarm")
>>> rows = coevo.sample(alarm, 1000, random_state=7)
>>> result = coevo.learn(rows, score="k2", budget=coevo.Budget(max_generations=10))
>>> result.score > coevo.FamilyScorer(rows, "k2").score(alarm.dag)
True

The names below are the usual ones; everything else is in the packages, as in
``coevo.interop.to_pgmpy``. Names and packages are imported on first use, so that ``import coevo``
and ``coevo --help`` are fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from coevo.lazy_names import describe_renamed, refuse_old_packages

if TYPE_CHECKING:
    from coevo import (  # noqa: F401  packages are reached as attributes
        bundled,
        data,
        estimators,
        experiments,
        graph,
        interop,
        io,
        learning,
        missing,
        network,
        parallel,
        posteriors,
        score,
        search,
        view,
    )
    from coevo.bundled import list_networks, load_network, open_network, open_structure
    from coevo.data import Dataset, read_data, write_data
    from coevo.errors import CoevoError, CoevoWarning
    from coevo.estimators import BayesianNetworkClassifier, BayesianNetworkLearner
    from coevo.exact import Proof
    from coevo.graph import CPDAG, DAG, Constraints, compare
    from coevo.io import (
        Knowledge,
        read_knowledge,
        read_network,
        write_model,
        write_network,
    )
    from coevo.learning import (
        LearnResult,
        Objective,
        ReadOptions,
        check_proof,
        cross_validate,
        learn,
        measure_dependence,
        posterior,
        prove,
    )
    from coevo.network import (
        BayesianNetwork,
        fit_network,
        kl_divergence,
        random_network,
        sample,
    )
    from coevo.posteriors import Posterior, bootstrap_strength
    from coevo.score import FamilyScorer
    from coevo.search import (
        CCGA,
        CCMA,
        GA,
        GES,
        K2,
        K2GA,
        MMHC,
        PC,
        TAN,
        Budget,
        ChowLiu,
        HillClimb,
        Islands,
        NaiveBayes,
        SearchResult,
        Tabu,
        run_search,
    )
    from coevo.view import explore, inspect_table

__version__ = "0.2.0"

_HOME = {
    "BayesianNetwork": "network",
    "BayesianNetworkClassifier": "estimators",
    "BayesianNetworkLearner": "estimators",
    "Budget": "search",
    "CCGA": "search",
    "CCMA": "search",
    "CPDAG": "graph",
    "ChowLiu": "search",
    "CoevoError": "errors",
    "CoevoWarning": "errors",
    "Constraints": "graph",
    "DAG": "graph",
    "Dataset": "data",
    "FamilyScorer": "score",
    "GA": "search",
    "GES": "search",
    "HillClimb": "search",
    "Islands": "search",
    "K2": "search",
    "K2GA": "search",
    "Knowledge": "io",
    "LearnResult": "learning",
    "NaiveBayes": "search",
    "Objective": "learning",
    "MMHC": "search",
    "PC": "search",
    "Posterior": "posteriors",
    "Proof": "exact",
    "ReadOptions": "learning",
    "SearchResult": "search",
    "TAN": "search",
    "Tabu": "search",
    "bootstrap_strength": "posteriors",
    "check_proof": "learning",
    "compare": "graph",
    "cross_validate": "learning",
    "explore": "view",
    "fit_network": "network",
    "inspect_table": "view",
    "kl_divergence": "network",
    "learn": "learning",
    "list_networks": "bundled",
    "load_network": "bundled",
    "measure_dependence": "learning",
    "open_network": "bundled",
    "open_structure": "bundled",
    "posterior": "learning",
    "prove": "learning",
    "random_network": "network",
    "read_data": "data",
    "read_knowledge": "io",
    "read_network": "io",
    "run_search": "search",
    "sample": "network",
    "write_data": "data",
    "write_model": "io",
    "write_network": "io",
}
_PACKAGES = (
    "posteriors",
    "bundled",
    "data",
    "estimators",
    "exact",
    "experiments",
    "graph",
    "interop",
    "io",
    "learning",
    "missing",
    "network",
    "parallel",
    "score",
    "search",
    "view",
)

__all__ = [
    "CCGA",
    "CCMA",
    "CPDAG",
    "DAG",
    "GA",
    "GES",
    "K2",
    "K2GA",
    "MMHC",
    "PC",
    "TAN",
    "BayesianNetwork",
    "BayesianNetworkClassifier",
    "BayesianNetworkLearner",
    "Budget",
    "ChowLiu",
    "CoevoError",
    "CoevoWarning",
    "Constraints",
    "Dataset",
    "FamilyScorer",
    "HillClimb",
    "Islands",
    "Knowledge",
    "LearnResult",
    "NaiveBayes",
    "Objective",
    "Posterior",
    "Proof",
    "ReadOptions",
    "SearchResult",
    "Tabu",
    "bootstrap_strength",
    "check_proof",
    "compare",
    "cross_validate",
    "explore",
    "fit_network",
    "inspect_table",
    "kl_divergence",
    "learn",
    "list_networks",
    "load_network",
    "measure_dependence",
    "open_network",
    "open_structure",
    "posterior",
    "prove",
    "random_network",
    "read_data",
    "read_knowledge",
    "read_network",
    "run_search",
    "sample",
    "write_data",
    "write_model",
    "write_network",
]

_RENAMED = {  # packages of older versions
    "averaging": "posteriors",
    "bootstrap": "posteriors",
    "exploration": "view",
    "inspection": "view",
    "outofcore": "parallel",
    "picture": "view.picture",
    "report": "view",
}
refuse_old_packages("coevo", _RENAMED)


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"coevo.{name}")
    if name not in _HOME:
        sentence = describe_renamed("coevo", _RENAMED, name)
        raise AttributeError(sentence or f"module 'coevo' has no attribute {name!r}")
    value = getattr(import_module(f"coevo.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
