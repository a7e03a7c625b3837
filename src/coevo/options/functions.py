"""Which function and which command takes which options.

A function takes the fields of one class, as ``**options: Unpack[...]``. `TAKEN_BY` lists them. As
in `coevo.options.searches`, types from above are quoted.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from coevo.options.declaration import (
    Option,
)
from coevo.options.searches import (
    CONSTRAINTS,
    MAX_PARENTS,
    METHOD,
    MISSING,
    N_JOBS,
    RANDOM_STATE,
    SCORE,
    START,
    BootstrapsGroup,
    ChainOptions,
    ClusterGroup,
    EndOptions,
    EssGroup,
    EvidenceGroup,
    GoalsGroup,
    JobsGroup,
    KnowledgeGroup,
    LimitOptions,
    LimitsGroup,
    MaxParentsGroup,
    MethodGroup,
    ObjectiveOptions,
    PenaltiesGroup,
    ScoreGroup,
    ScorerOptions,
    SeedGroup,
    SpecOptions,
    StartGroup,
)
from coevo.options.tables import (
    BinningGroup,
    CellParameters,
    ClusterByGroup,
    ColumnsGroup,
    MissingGroup,
    NamesGroup,
    RowsGroup,
    ShardsGroup,
    SourceParameters,
    StrictGroup,
)

if TYPE_CHECKING:  # types of values; nothing is imported from above at run time
    from coevo.learning.arguments import Objective, ReadOptions
    from coevo.options.searches import GivenKnowledge, GivenStart
    from coevo.runtime.randomness import RandomState
    from coevo.score import Score
    from coevo.search import Budget, Method

__all__ = [
    "HOME",
    "HOMES",
    "TAKEN_BY",
    "BinningFlags",
    "CheckProofOptions",
    "ClusterFlags",
    "CrossValidateOptions",
    "DependenceOptions",
    "EstimatorOptions",
    "EvidenceFlags",
    "FlatOptions",
    "KnowledgeFlags",
    "LearnFlags",
    "LearnOptions",
    "MissingFlags",
    "MovedOfCrossValidate",
    "MovedOfLearn",
    "MovedOfPosterior",
    "MovedOfProve",
    "PosteriorOptions",
    "ProveOptions",
    "ReadKeywords",
    "ReadingGroup",
    "SearchFlags",
    "SearchGroup",
    "StrictFlags",
    "TableFlags",
    "TableOptions",
    "ValuesGroup",
]


class SearchGroup(
    MethodGroup, EssGroup, PenaltiesGroup, SeedGroup, MaxParentsGroup, LimitOptions, total=False
):
    """A search, without a score."""


class ReadingGroup(
    ColumnsGroup, NamesGroup, SourceParameters, RowsGroup, BinningGroup, StrictGroup, total=False
):
    """How a table is read, without clusters of rows."""


class EstimatorOptions(
    SearchGroup,
    KnowledgeGroup,
    StartGroup,
    ColumnsGroup,
    CellParameters,
    MissingGroup,
    BinningGroup,
    StrictGroup,
    BootstrapsGroup,
    JobsGroup,
    total=False,
):
    """The options that `learn` and the estimators share."""


class FlatOptions(
    ScoreGroup,
    SearchGroup,
    KnowledgeGroup,
    StartGroup,
    MissingGroup,
    ReadingGroup,
    JobsGroup,
    ClusterByGroup,
    BootstrapsGroup,
    EvidenceGroup,
    ShardsGroup,
    ClusterGroup,
    total=False,
):
    """All options of a search on a table, one by one, as the command line has them."""


class TableOptions(ReadingGroup, ClusterByGroup, total=False):
    """What `read_data`, `read_incomplete` and `inspect_table` take: how a table is read."""


class ReadKeywords(TableOptions, ShardsGroup, total=False):
    """The options of `ReadOptions`: how a table is read, in memory or in shards."""


class ValuesGroup(TypedDict, total=False):
    """The arguments of `learn` and its siblings; values hold options that belong together."""

    score: Annotated[
        "str | Score | Objective | None",
        replace(
            SCORE,
            doc=SCORE.doc + " An `Objective` holds a score with penalties and a limit on tables. "
            "The default is BDeu with an equivalent sample size of 5, a cost of 4 nats for each "
            "parent and a cost of sparse tables: ``benchmarks/defaults.py`` compares it with "
            "others.",
        ),
    ]
    method: Annotated["str | Method", METHOD]
    constraints: Annotated["GivenKnowledge | None", CONSTRAINTS]
    budget: Annotated[
        "Budget | Mapping[str, Any] | None",
        Option(
            None,
            "When the search stops: a `Budget`, or a dict of its parameters, as "
            "``{'max_time': 60}`` (default: the limits of the method).",
            flags="",
        ),
    ]
    missing: Annotated[str | None, MISSING]
    random_state: Annotated["RandomState", RANDOM_STATE]
    read: Annotated[
        "ReadOptions | Mapping[str, Any] | None",
        Option(
            None,
            "How the table is read: `ReadOptions`, or a dict of them, as ``{'drop': ['id']}``. Or "
            "read the table first, with `read_data` or `read_incomplete`.",
            flags="",
        ),
    ]
    max_parents: Annotated[int | None, MAX_PARENTS]
    start: Annotated["GivenStart | None", START]
    n_jobs: Annotated[int, N_JOBS]


class ProveOptions(ValuesGroup, total=False):
    """What `prove` takes."""


class CrossValidateOptions(ValuesGroup, total=False):
    """What `cross_validate` takes."""


class PosteriorOptions(ValuesGroup, ChainOptions, ClusterGroup, total=False):
    """What `posterior` takes: a search, and the chains from its result."""


class LearnOptions(ValuesGroup, BootstrapsGroup, EvidenceGroup, ClusterGroup, total=False):
    """What `learn` takes."""


# The parameter of `learn` that holds each group of options, and the value that it takes.
HOMES: dict[str, tuple[str, type]] = {
    "budget": ("Budget", LimitOptions),
    "read": ("ReadOptions", ReadKeywords),
    "score": ("Objective", ObjectiveOptions),
    "constraints": ("Constraints", EndOptions),
}
HOME = {name: home for home, (_, group) in HOMES.items() for name in group.__annotations__}

# Keywords of 0.2.0 that are parts of values now. They work for one version, with a warning.


class MovedOfProve(
    LimitsGroup, GoalsGroup, ObjectiveOptions, EndOptions, ReadingGroup, total=False
):
    """Of `prove`."""


class MovedOfPosterior(MovedOfProve, ShardsGroup, total=False):
    """Of `posterior`."""


class MovedOfCrossValidate(MovedOfProve, ClusterByGroup, total=False):
    """Of `cross_validate`."""


class MovedOfLearn(MovedOfCrossValidate, ShardsGroup, total=False):
    """Of `learn`."""


class DependenceOptions(
    ColumnsGroup, NamesGroup, SourceParameters, RowsGroup, BinningGroup, total=False
):
    """What `measure_dependence` takes: how a table is read."""


class CheckProofOptions(ReadingGroup, MissingGroup, JobsGroup, total=False):
    """What `check_proof` takes: how the table of the proof was read."""


# The groups of the commands; functions have some of them in another order.


class SearchFlags(
    MethodGroup, ScoreGroup, EssGroup, MaxParentsGroup, PenaltiesGroup, LimitsGroup, total=False
):
    """A search on the command line."""


class LearnFlags(SearchFlags, GoalsGroup, StartGroup, total=False):
    """The search of ``coevo learn``."""


class TableFlags(ColumnsGroup, SourceParameters, RowsGroup, total=False):
    """How a table is opened, and its rows."""


class ClusterFlags(ClusterByGroup, total=False):
    """Which rows belong together."""


class MissingFlags(MissingGroup, total=False):
    """What is done about missing values."""


class BinningFlags(BinningGroup, total=False):
    """How columns of numbers become states."""


class StrictFlags(StrictGroup, total=False):
    """Whether decisions about the table are errors."""


class KnowledgeFlags(KnowledgeGroup, total=False):
    """Prior knowledge."""


class EvidenceFlags(BootstrapsGroup, EvidenceGroup, ShardsGroup, total=False):
    """What ``coevo learn`` does beside the search, and where the rows are."""


# The functions that take the options of a class, by the class.
TAKEN_BY: dict[str, type] = {
    "learn": LearnOptions,
    "posterior": PosteriorOptions,
    "prove": ProveOptions,
    "check_proof": CheckProofOptions,
    "cross_validate": CrossValidateOptions,
    "bootstrap_strength": SpecOptions,
    "inspect_table": TableOptions,
    "measure_dependence": DependenceOptions,
    "read_data": TableOptions,
    "ReadOptions": ReadKeywords,
    "Objective": ObjectiveOptions,
    "Budget": LimitOptions,
    "FamilyScorer": ScorerOptions,
    "BayesianNetworkLearner": EstimatorOptions,
    "BayesianNetworkClassifier": EstimatorOptions,
}
