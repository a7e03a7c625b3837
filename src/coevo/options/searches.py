"""The options of searches: what is maximised, what limits it, what is known, what else is done.

Types that stand above this package are quoted, because only type checkers import them. So this
module has no ``from __future__ import annotations``: the `Option` beside a type must be a value.
"""

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypedDict

from coevo.options.declaration import (
    LARGEST_PENALTY,
    Field,
    Option,
    as_choice,
    as_int,
    as_number,
    as_switch,
)

if TYPE_CHECKING:  # types of values; nothing is imported from above at run time
    from coevo.graph import DAG, Arc, Constraints
    from coevo.io import Knowledge
    from coevo.network import BayesianNetwork
    from coevo.parallel import Cluster
    from coevo.runtime.randomness import RandomState
    from coevo.score import Score
    from coevo.search import Budget, Method

    GivenKnowledge: TypeAlias = Constraints | Knowledge | Mapping[str, Any] | str | os.PathLike[str]
    GivenStart: TypeAlias = DAG | BayesianNetwork | Method | str | os.PathLike[str]

__all__ = [
    "CLUSTER",
    "CONSTRAINTS",
    "ESS",
    "MAX_PARENTS",
    "MAX_TABLE",
    "METHOD",
    "MISSING",
    "N_JOBS",
    "ON_CLUSTER",
    "PARENT_PENALTY",
    "RANDOM_STATE",
    "SCORE",
    "SPARSE_PENALTY",
    "START",
    "BootstrapsGroup",
    "ChainOptions",
    "ClusterGroup",
    "ConstraintsGroup",
    "EndOptions",
    "EssGroup",
    "EvaluationsGroup",
    "EvidenceGroup",
    "GoalsGroup",
    "JobsGroup",
    "KnowledgeGroup",
    "LimitOptions",
    "LimitsGroup",
    "MaxParentsGroup",
    "MethodGroup",
    "ObjectiveOptions",
    "PenaltiesGroup",
    "ScoreGroup",
    "ScorerOptions",
    "SearchOptions",
    "SeedGroup",
    "SpecOptions",
    "StartGroup",
]

METHOD = Option(
    "ccma",
    "Search method: ccma (memetic coevolution), ccga (the algorithm of the 2011 paper), islands "
    "(several populations of ccma), hill_climb, tabu, ges (greedy search over equivalence "
    "classes), k2 (greedy, random order), k2ga (a genetic algorithm over orders for k2), ga (a "
    "genetic algorithm over graphs), mdlep (evolutionary programming over graphs), wong (tests, "
    "then one species for each variable), pc (tests of independence, no score), mmhc (tests, then "
    "hill climbing), chow_liu (the best tree), or naive_bayes and tan (for a class). With "
    "settings: hill_climb:restarts=5. A method of your own: MODULE:CLASS or FILE.py:CLASS.",
    flags="-m --method",
    doc="The search method: ``'ccma'`` (memetic coevolution), ``'ccga'`` (the algorithm of the "
    "2011 paper), ``'islands'`` (several populations of ccma), ``'hill_climb'``, ``'tabu'``, "
    "``'ges'`` (greedy search over equivalence classes), ``'k2'``, ``'k2ga'`` (a genetic algorithm "
    "over orders for k2), ``'ga'`` (a genetic algorithm over graphs), ``'mdlep'`` (evolutionary "
    "programming over graphs), ``'wong'`` (tests, then one species for each variable), ``'pc'`` "
    "(tests of independence, no score), ``'mmhc'`` (tests, then hill climbing) or ``'chow_liu'`` "
    "(the best tree); a name with settings, as ``'hill_climb:restarts=5'`` or "
    "``'tan:class_variable=ill'``; a method object, as ``TAN(class_variable='ill')``; or a method "
    "of your own, as ``'mypackage.search:MySearch'`` (see the guide to own methods).",
    in_studio=True,
)
SCORE = Option(
    None,
    "Score: bdeu (bde), bds, k2, bic, aic, fnml, qnml or loglik.",
    flags="-s --score",
    said="bdeu with --ess 5, --parent-penalty 4 and --sparse-penalty 1",
    doc="The score to maximise: ``'bdeu'``, ``'bds'``, ``'k2'``, ``'bic'``, ``'aic'``, "
    "``'fnml'``, ``'qnml'`` or ``'loglik'``. All are natural logarithms; higher is better.",
    in_studio=True,
)
ESS = Option(
    None,
    "Equivalent sample size of bdeu and bds.",
    flags="--ess --iss --alpha",
    said="5; with --score: 1",
    doc="Equivalent sample size of ``'bdeu'`` and ``'bds'`` (default: 5; with `score`: 1).",
    field=Field("Equivalent sample size", "by the score", "For BDeu and BDs."),
    kind=float,
    in_studio=True,
)
PARENT_PENALTY = Option(
    None,
    "Cost of each parent. A parent must gain more than this.",
    as_number(f"a number from 0 to {LARGEST_PENALTY:,}", 0, LARGEST_PENALTY),
    metavar="NATS",
    said="4; with --score: 0",
    doc="Cost of each parent in nats: a parent must gain more than this (default: 4; with "
    "`score`: 0). The default objective is BDeu with an `ess` of 5, this cost and the sparse "
    "penalty: ``benchmarks/defaults.py`` compares it with others.",
    field=Field("Cost of each parent", "by the score", "In nats."),
    recorded="set",
    in_studio=True,
)
SPARSE_PENALTY = Option(
    None,
    "Cost of tables with more cells than rows can fill, as a multiple of the cost of learning the "
    "variable without parents; it keeps parents out that are found in noise.",
    as_number(f"a number from 0 to {LARGEST_PENALTY:,}", 0, LARGEST_PENALTY),
    metavar="FACTOR",
    said="1; with --score: 0",
    doc="Cost of tables with more cells than the rows can fill, as a multiple of the cost of "
    "learning the variable without parents (default: 1; with `score`: 0). It keeps parents out "
    "that are found in noise, and changes nothing where the rows suffice.",
    field=Field(
        "Cost of sparse tables",
        "by the score",
        "Times what a table costs that the rows cannot fill.",
    ),
    recorded="set",
    in_studio=True,
)
MAX_TABLE = Option(
    10_000,  # cells: such a table can be written, shown and read
    "Maximum number of cells of a conditional probability table; 0 for no limit.",
    as_int(1, is_optional=True),
    metavar="CELLS",
    doc="Maximum number of cells of the conditional probability table of a variable with parents "
    "(default: 10,000). It is a constraint of every search, so that each table can be written, "
    "shown and read. None is no limit.",
    field=Field("Largest table", "10,000", "Cells of a conditional table."),
    recorded="always",
    in_studio=True,
)
MAX_PARENTS = Option(
    None,
    "Maximum number of parents of a variable.",
    as_int(1),
    flags="-p --max-parents",
    said="no limit",
    field=Field("Most parents", "no limit"),
    in_studio=True,
)
RANDOM_STATE = Option(
    0,
    "Random seed.",
    flags="--seed",
    doc="The same int gives the same network; None gives a new seed each time (default: 0).",
    field=Field("Seed", "0", "The same seed gives the same network.", is_whole=True),
    in_studio=True,
)
CONSTRAINTS = Option(
    None,
    "Prior knowledge: required and forbidden arcs, tiers, groups, roots, leaves, max_parents and "
    "arc weights, as JSON or CSV.",
    metavar="FILE",
    doc="Required and forbidden arcs, tiers, roots, leaves and weights; `read_knowledge` describes "
    'the file. A dict has the keys of a JSON file, as ``{"tiers": [["age"], ["ill"]]}``.',
)
START = Option(
    None,
    "Start from this structure, in any format, or from the result of another method, as pc. The "
    "result is at least as good.",
    metavar="MODEL_OR_METHOD",
    said="the required arcs",
    doc="The structure to start from; the result is at least as good. A file that `open_structure` "
    "reads, or the name of a bundled network. Or a method that finds the structure first, on the "
    "same rows and under the same constraints: ``'pc'``, or an object with settings.",
)
N_JOBS = Option(
    1,
    "Number of threads. It changes the time, never the answer.",
    as_int(1),
    flags="-j --n-jobs",
)
ON_CLUSTER = (
    "on a Dask cluster (tcp://HOST:PORT, tls://HOST:PORT), or on workers of this machine "
    "(local:4). Needs coevo[dask]."
)
CLUSTER = Option(
    None,
    f"Keep the rows (with --islands: evolve the islands) {ON_CLUSTER}",
    metavar="ADDRESS",
    doc="Keep the rows on the workers of a Dask cluster: its address, ``'local:4'`` for four "
    "workers on this machine, or a client. The workers must find the file under the same path. "
    "With the method ``'islands'`` rows are read here, and the islands evolve there.",
)

MISSING = Option(
    None,
    "Policy for missing values: evolve (values are drawn again and again under the "
    "structures of the search; with -m ccga a third species evolves them), em (structural "
    "EM), available (score each family on the rows that observe all its variables), "
    "state (missing is a state), drop (leave out incomplete rows), refuse (missing values "
    "are an error).",
    metavar="POLICY",
    said="evolve; with --strict, --shards or --cluster: refuse",
    doc="Policy for missing values: ``'evolve'`` (values are drawn again and again under "
    "the structures of the search; under ``'ccga'`` a third species evolves them), "
    "``'em'``, ``'available'``, ``'state'`` or ``'drop'``; see `learn_incomplete`. "
    "``'refuse'`` makes a missing value an error. The default is ``'evolve'``; with "
    "`strict`, `shards` or `cluster` it is ``'refuse'``. ``imputation`` of the result has "
    "the missing values per column and the imputed table.",
    in_studio=True,
)


class MethodGroup(TypedDict, total=False):
    """The search method."""

    method: Annotated["str | Method", METHOD]


class ScoreGroup(TypedDict, total=False):
    """The score of a search."""

    score: Annotated["str | Score | None", SCORE]


class EssGroup(TypedDict, total=False):
    """The equivalent sample size."""

    ess: Annotated[float | None, ESS]


class MaxParentsGroup(TypedDict, total=False):
    """The limit on parents."""

    max_parents: Annotated[int | None, MAX_PARENTS]


class PenaltiesGroup(TypedDict, total=False):
    """What an objective costs beside the score, and the limit on tables."""

    parent_penalty: Annotated[float | None, PARENT_PENALTY]
    sparse_penalty: Annotated[float | None, SPARSE_PENALTY]
    max_table: Annotated[int | None, MAX_TABLE]


class SeedGroup(TypedDict, total=False):
    """The seed."""

    random_state: Annotated["RandomState", RANDOM_STATE]


class ObjectiveOptions(EssGroup, PenaltiesGroup, total=False):
    """What makes an objective of a score, beside the score."""


class SearchOptions(MethodGroup, ObjectiveOptions, SeedGroup, total=False):
    """The settings of a search that `learn` and all functions below it share."""


class SpecOptions(SearchOptions, ScoreGroup, total=False):
    """The settings of a search as values; `learn` reads some of them from files."""

    constraints: Annotated["Constraints | Mapping[str, Any] | None", CONSTRAINTS]
    weights: Annotated[
        "Mapping[Arc, float] | None",
        Option(
            None,
            "The log prior of some arcs: above 0 favours an arc, below 0 penalises it.",
            flags="",
        ),
    ]
    start: Annotated["DAG | Method | None", START]
    budget: Annotated["Budget | None", Option(None, "When the search stops.", flags="")]


class ScorerOptions(TypedDict, total=False):
    """The options that all scorers share; `FamilyScorer` explains them.

    A scorer is what its score says: it has no penalty and no limit unless one is given.
    """

    ess: Annotated[float | None, ESS]
    n_jobs: Annotated[int, N_JOBS]
    cache_bytes: Annotated[int, Option(1 << 28, "Memory limit of the cache.", as_int(0), flags="")]
    weights: Annotated["Mapping[Arc, float] | None", Option(None, "", flags="")]
    parent_penalty: Annotated[float, replace(PARENT_PENALTY, default=0.0)]
    sparse_penalty: Annotated[float, replace(SPARSE_PENALTY, default=0.0)]
    max_table: Annotated[int | None, replace(MAX_TABLE, default=None)]


class LimitsGroup(TypedDict, total=False):
    """Time and generations."""

    max_time: Annotated[
        float | None,
        Option(
            None,
            "Stop after this time.",
            as_number("a number >= 0"),
            flags="-t --max-time",
            metavar="SECONDS",
            said="no limit",
            doc="When to stop, in seconds. Without a limit the method's default holds.",
            in_studio=True,
        ),
    ]
    max_generations: Annotated[
        int | None,
        Option(
            None,
            "Stop after this number of generations.",
            as_int(0),
            said="by the method",
            in_studio=True,
        ),
    ]


class GoalsGroup(TypedDict, total=False):
    """Limits that depend on what is found."""

    patience: Annotated[
        int | None,
        Option(
            None,
            "Stop after this number of generations without improvement.",
            as_int(1),
            said="by the method",
            field=Field("Patience", "by the method", "Generations without improvement."),
            in_studio=True,
        ),
    ]
    target: Annotated[
        float | None,
        Option(
            None,
            "Stop at this score.",
            metavar="SCORE",
            said="none",
            field=Field("Target score", "none", least=None),
            kind=float,
            in_studio=True,
        ),
    ]


class EvaluationsGroup(TypedDict, total=False):
    """The limit on local scores."""

    max_evaluations: Annotated[
        int | None,
        Option(
            None,
            "Stop after this number of local scores, those of the cache included.",
            as_int(0),
            flags="",
        ),
    ]


class LimitOptions(LimitsGroup, GoalsGroup, EvaluationsGroup, total=False):
    """When a search stops: the fields of a `Budget`."""


class StartGroup(TypedDict, total=False):
    """Where a search starts."""

    start: Annotated["GivenStart | None", START]


class ConstraintsGroup(TypedDict, total=False):
    """Prior knowledge."""

    constraints: Annotated["GivenKnowledge | None", CONSTRAINTS]


class EndOptions(TypedDict, total=False):
    """Which variables have no parents, and which no children: parts of the constraints."""

    roots: Annotated[
        Iterable[str],
        Option(
            (),
            "A variable without parents, as age, sex or the arm of a trial (repeatable, or several "
            "with commas).",
            flags="--root --roots",
            metavar="COLUMN",
            is_repeated=True,
            doc="Variables without parents, as age and sex. They are added to the constraints.",
        ),
    ]
    leaves: Annotated[
        Iterable[str],
        Option(
            (),
            "A variable without children, as an outcome (repeatable, or several with commas).",
            flags="--leaf --leaves",
            metavar="COLUMN",
            is_repeated=True,
            doc="Variables without children, as an outcome. They are added to the constraints.",
        ),
    ]


class KnowledgeGroup(ConstraintsGroup, EndOptions, total=False):
    """Prior knowledge, with roots and leaves beside it."""


class BootstrapsGroup(TypedDict, total=False):
    """The bootstrap of `learn`."""

    bootstraps: Annotated[
        int | None,
        Option(
            None,
            "Number of bootstrap samples; measures the strength of each arc, as coevo strength "
            "does. Limits hold for each sample. 0 turns bootstraps off.",
            as_int(0),
            said="25 to 40 samples by short searches, where they take seconds",
            doc="Number of bootstrap samples to learn from as well; ``bootstrap`` of the result "
            "then has the strength of each arc, as `bootstrap_strength` gives it. `n_jobs` is then "
            "the number of processes, and a limit holds for each sample. By default "
            "``quick_bootstrap`` of the result has strengths from 25 to 40 samples, learned by "
            "shorter searches, where they take seconds (`coevo.posteriors.quick_bootstrap`); 0 "
            "turns that off.",
            in_studio=True,
        ),
    ]


class EvidenceGroup(TypedDict, total=False):
    """What `learn` computes beside the network."""

    posterior: Annotated[
        bool,
        Option(
            False,
            "Compute the posterior probability of every arc as well, as coevo posterior does.",
            as_switch(),
            doc="Whether to compute the posterior probability of every arc as well, as `posterior` "
            "does with its defaults; ``posterior`` of the result has it.",
        ),
    ]
    prove: Annotated[
        float | None,
        Option(
            None,
            "Spend this time on a proof of how far from the best network this one can be, as coevo "
            "prove does. Needs coevo[prove].",
            as_number("a number >= 0"),
            metavar="SECONDS",
            doc="Number of seconds to spend on a proof of how far from the best network this one "
            "can be, as `prove` does; ``proof`` of the result has it. Needs coevo[prove].",
        ),
    ]


class JobsGroup(TypedDict, total=False):
    """The number of threads."""

    n_jobs: Annotated[int, N_JOBS]


class ClusterGroup(TypedDict, total=False):
    """Where the work is done."""

    cluster: Annotated["Cluster", CLUSTER]


class ChainOptions(TypedDict, total=False):
    """The options of a posterior alone, as `coevo.posterior` explains them."""

    prior: Annotated[
        str,
        Option(
            "uniform",
            "Prior over structures: uniform (every DAG counts once), or order (a DAG counts once "
            "for each of its orders).",
            as_choice("uniform", "order"),
            doc="The prior over structures. ``'uniform'``: every DAG has the same prior. "
            "``'order'``: a DAG counts once for each of its topological orders; it is feasible "
            "exactly for more variables.",
        ),
    ]
    family_prior: Annotated[
        str,
        Option(
            "uniform",
            "Prior over parent sets: uniform (each set), or fair (each number of parents).",
            as_choice("uniform", "fair"),
            doc="The prior over the parent sets of a variable: each set has the same prior, or "
            "each number of parents.",
        ),
    ]
    sampler: Annotated[
        str,
        Option(
            "auto",
            "exact (all structures are summed), chains (they are sampled), or auto: exact where "
            "that takes seconds.",
            as_choice("auto", "exact", "chains"),
            doc="How to compute it: ``'exact'`` (all structures are summed), ``'chains'`` (they "
            "are sampled) or ``'auto'`` (exactly where that takes seconds).",
        ),
    ]
    candidates: Annotated[
        int,
        Option(
            12,
            "Candidate parents of each variable, for the chains.",
            as_int(1),
            doc="Number of candidate parents of each variable for the chains. Memory and time "
            "double with each.",
        ),
    ]
    chains: Annotated[
        int, Option(4, "Number of chains.", as_int(2), doc="Number of chains, at least 2.")
    ]
    temperatures: Annotated[
        int,
        Option(
            1,
            "Coupled chains in place of each one (parallel tempering), for chains that do not "
            "agree.",
            as_int(1),
            doc="Number of coupled chains in place of each of them (parallel tempering). It costs "
            "as many times the work, and can help where chains do not agree.",
        ),
    ]
    networks: Annotated[int, Option(1000, "Number of sampled networks that are kept.", as_int(1))]
    tolerance: Annotated[
        float,
        Option(
            0.05,
            "Stop when no arc differs between two chains by more than this.",
            as_number("a number between 0 and 1", math.ulp(0.0), math.nextafter(1.0, 0.0)),
            doc="The chains have converged when no probability of an arc differs between two of "
            "them by more than this.",
        ),
    ]
    max_steps: Annotated[
        int | None,
        Option(
            None,
            "Stop the chains after this number of steps.",
            as_int(1),
            said="no limit",
            doc="Stop the chains after this number of steps. The answer is then the same on every "
            "machine.",
        ),
    ]
