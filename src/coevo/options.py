"""Every option of coevo, declared once: name, type, default, rule, help and flag.

An option is a field of a `TypedDict` with an `Option` beside its type. A function takes the fields
of one such class as ``**options: Unpack[...]``, so type checkers see names and types.
`coevo.signatures.accept_options` makes the signature, the documentation and the refusal of what a
function does not take; `coevo.cli.options` makes the options of the commands;
`coevo.studio.run_options` the fields of the form; `docs/_ext/option_reference.py` the table of the
reference. To add an option, add a field here, and use it.

Groups of fields that belong together are small classes. What a function takes is a class that
inherits from them. The order of the fields is that of help and documentation.

Types that stand above this module are quoted, because only type checkers import them. So this
module has no ``from __future__ import annotations``: the `Option` beside a type must be a value.
"""

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypedDict, TypeVar, cast

from coevo.errors import bad_choice, bad_parameter

if TYPE_CHECKING:  # types of values; nothing is imported from above at run time
    from coevo.data.reader import DeclaredStates
    from coevo.graph import DAG, Arc, Constraints
    from coevo.io import Knowledge
    from coevo.learning.arguments import Objective, ReadOptions
    from coevo.network import BayesianNetwork
    from coevo.parallel import Cluster
    from coevo.randomness import RandomState
    from coevo.score import Score
    from coevo.search import Budget, Method

    GivenLabels: TypeAlias = Iterable[Any] | Mapping[str, Any]
    GivenMerges: TypeAlias = Iterable[str] | Mapping[str, Mapping[str, str]]
    GivenKnowledge: TypeAlias = Constraints | Knowledge | Mapping[str, Any] | str | os.PathLike[str]
    GivenStart: TypeAlias = DAG | BayesianNetwork | Method | str | os.PathLike[str]
    GivenTypes: TypeAlias = Mapping[str, Any] | str | os.PathLike[str]

__all__ = [
    "CLUSTER",
    "ESS",
    "HOME",
    "HOMES",
    "LARGEST_PENALTY",
    "N_JOBS",
    "ON_CLUSTER",
    "RANDOM_STATE",
    "SCORE",
    "TAKEN_BY",
    "BinningFlags",
    "CellParameters",
    "ChainOptions",
    "CheckProofOptions",
    "ClusterFlags",
    "CrossValidateOptions",
    "DependenceOptions",
    "EndOptions",
    "EstimatorOptions",
    "EvidenceFlags",
    "Field",
    "FlatOptions",
    "KnowledgeFlags",
    "LearnFlags",
    "LearnOptions",
    "LimitOptions",
    "MissingFlags",
    "MovedOfCrossValidate",
    "MovedOfLearn",
    "MovedOfPosterior",
    "MovedOfProve",
    "ObjectiveOptions",
    "Option",
    "PosteriorOptions",
    "ProveOptions",
    "ReadKeywords",
    "ReadParameters",
    "RowParameters",
    "Rule",
    "ScorerOptions",
    "SearchFlags",
    "SearchOptions",
    "SourceParameters",
    "SpecOptions",
    "StrictFlags",
    "TableFlags",
    "TableOptions",
    "as_choice",
    "as_int",
    "as_number",
    "as_switch",
    "as_text",
    "check_options",
    "fill_defaults",
    "get_defaults",
    "get_type_text",
    "list_options",
    "select_options",
]

LARGEST_PENALTY = 1_000_000  # nats; with more, rows would not count, and sums could overflow

Group = TypeVar("Group", bound=Mapping[str, Any])


@dataclass(frozen=True, slots=True)
class Rule:
    """Which values an option takes.

    Attributes
    ----------
    expected : str
        What a value must be, as an error says it; without None.
    is_valid : function
        Whether a value that is not None follows the rule.
    kind : type
        The type of a value on the command line.
    least : float, optional
        The smallest number.
    choices : tuple of str
        The only texts that are taken.
    is_optional : bool
        Whether None is taken, even if it is not the default.
    """

    expected: str
    is_valid: Callable[[Any], bool]
    kind: type
    least: float | None = None
    choices: tuple[str, ...] = ()
    is_optional: bool = False


# The checks import NumPy, which `coevo --help` must not do.


def as_int(least: int, is_optional: bool = False) -> Rule:
    """Return the rule of an int that is at least this."""

    def is_valid(value: Any) -> bool:
        from coevo.checks import is_int

        return is_int(value, least)

    return Rule(f"an int >= {least}", is_valid, int, least, is_optional=is_optional)


def as_number(expected: str, least: float = 0, most: float = math.inf) -> Rule:
    """Return the rule of a number from `least` to `most`, in these words."""

    def is_valid(value: Any) -> bool:
        from coevo.checks import is_number

        return is_number(value) and least <= float(value) <= most

    return Rule(expected, is_valid, float, least)


def as_choice(*choices: str) -> Rule:
    """Return the rule of one of these texts."""

    def is_valid(value: Any) -> bool:
        from coevo.checks import is_choice

        return is_choice(value, choices)

    return Rule("", is_valid, str, choices=choices)


def as_switch() -> Rule:
    """Return the rule of True and False."""

    def is_valid(value: Any) -> bool:
        from coevo.checks import is_bool

        return is_bool(value)

    return Rule("a bool", is_valid, bool)


def as_text(expected: str = "a str") -> Rule:
    """Return the rule of a text, in these words."""
    return Rule(expected, lambda value: isinstance(value, str), str)


@dataclass(frozen=True, slots=True)
class Field:
    """The field of an option in the form of the studio.

    Attributes
    ----------
    title : str
        The label.
    placeholder : str
        What an empty field means.
    hint : str
        A short sentence below the field.
    least : float, optional
        The smallest number, of an option without a rule.
    is_whole : bool
        Whether the number is an int, of an option without a rule.
    """

    title: str
    placeholder: str = ""
    hint: str = ""
    least: float | None = 0
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Option:
    """The declaration of one option, beside the type of its values.

    Attributes
    ----------
    default : object
        The value of an option that is not given.
    help : str
        What the option means, for the command line.
    rule : Rule, optional
        Which values are valid. Without it, the code that uses the option validates it.
    flags : str, optional
        The flags of the command line, with blanks between them (default: the name with hyphens).
        An empty text: the option is not on the command line.
    metavar : str, optional
        The placeholder of the value on the command line.
    said : str
        The default in words, where the value does not say it.
    doc : str
        What the option means, for Python, where that differs from `help`.
    field : Field, optional
        The field in the form of the studio.
    in_studio : bool
        Whether the studio takes the option from a request. Not an option that names a file or code.
    is_repeated : bool
        Whether the flag can be given several times.
    kind : type, optional
        The type on the command line, of an option without a rule (default: text).
    recorded : {'', 'always', 'set'}
        Whether run.json has the value: never, always, or if it is not zero.
    """

    default: Any
    help: str
    rule: Rule | None = None
    flags: str | None = None
    metavar: str | None = None
    said: str = ""
    doc: str = ""
    field: Field | None = None
    in_studio: bool = False
    is_repeated: bool = False
    kind: type | None = None
    recorded: str = ""

    @property
    def is_optional(self) -> bool:
        """Whether None is a valid value."""
        return self.default is None or (self.rule is not None and self.rule.is_optional)

    def list_flags(self, name: str) -> list[str]:
        """Return the flags of the command line; `name` is the name of the option."""
        if self.flags is not None:
            return self.flags.split()
        return [f"--{name.replace('_', '-')}"]

    def check(self, name: str, owner: str, value: Any) -> None:
        """Raise `ParameterError` if a value breaks the rule; `owner` is the function."""
        if self.rule is None or (value is None and self.is_optional) or self.rule.is_valid(value):
            return
        if not self.rule.expected:
            raise bad_choice(name, owner, self.rule.choices, value)
        expected = self.rule.expected
        if self.is_optional:
            expected = "True, False or None" if self.rule.kind is bool else f"{expected} or None"
        raise bad_parameter(name, owner, expected, value)


def list_options(group: type) -> dict[str, Option]:
    """Return the options of a class of this module by name, in its order.

    >>> list_options(LimitOptions)["max_generations"].default is None
    True
    """
    return {name: kind.__metadata__[0] for name, kind in group.__annotations__.items()}


def get_type_text(group: type, name: str) -> str:
    """Return the type of an option as it is written here."""
    kind = group.__annotations__[name].__origin__
    return str(getattr(kind, "__forward_arg__", getattr(kind, "__name__", kind)))


def get_defaults(group: type) -> dict[str, Any]:
    """Return the defaults of the options of a class, by name.

    >>> get_defaults(ObjectiveOptions)["max_table"]
    10000
    """
    return {name: option.default for name, option in list_options(group).items()}


def fill_defaults(group: type[Group], options: Mapping[str, Any]) -> Group:
    """Return the options of a class, with the defaults of those that are not given."""
    return cast(Group, {**get_defaults(group), **options})


def select_options(group: type[Group], options: Mapping[str, Any]) -> Group:
    """Return those of the given options that a class has."""
    return cast(Group, {name: options[name] for name in group.__annotations__ if name in options})


def check_options(group: type, owner: str, options: Mapping[str, Any]) -> None:
    """Raise `ParameterError` for the first given option that breaks its rule.

    >>> check_options(LimitOptions, "learn", {"patience": 0})
    Traceback (most recent call last):
    coevo.errors.ParameterError: 'patience' of learn must be an int >= 1 or None; got 0.
    """
    for name, option in list_options(group).items():
        if name in options:
            option.check(name, owner, options[name])


# What is maximised, and what limits it.

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


class _Method(TypedDict, total=False):
    method: Annotated["str | Method", METHOD]


class _Score(TypedDict, total=False):
    score: Annotated["str | Score | None", SCORE]


class _Ess(TypedDict, total=False):
    ess: Annotated[float | None, ESS]


class _MaxParents(TypedDict, total=False):
    max_parents: Annotated[int | None, MAX_PARENTS]


class _Penalties(TypedDict, total=False):
    parent_penalty: Annotated[float | None, PARENT_PENALTY]
    sparse_penalty: Annotated[float | None, SPARSE_PENALTY]
    max_table: Annotated[int | None, MAX_TABLE]


class _Seed(TypedDict, total=False):
    random_state: Annotated["RandomState", RANDOM_STATE]


class ObjectiveOptions(_Ess, _Penalties, total=False):
    """What makes an objective of a score, beside the score."""


class SearchOptions(_Method, ObjectiveOptions, _Seed, total=False):
    """The settings of a search that `learn` and all functions below it share."""


class SpecOptions(SearchOptions, _Score, total=False):
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


class _Limits(TypedDict, total=False):
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


class _Goals(TypedDict, total=False):
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


class _Evaluations(TypedDict, total=False):
    max_evaluations: Annotated[
        int | None,
        Option(
            None,
            "Stop after this number of local scores, those of the cache included.",
            as_int(0),
            flags="",
        ),
    ]


class LimitOptions(_Limits, _Goals, _Evaluations, total=False):
    """When a search stops: the fields of a `Budget`."""


class _Start(TypedDict, total=False):
    start: Annotated["GivenStart | None", START]


class _Constraints(TypedDict, total=False):
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


class _Knowledge(_Constraints, EndOptions, total=False):
    pass


# How a table is opened and read.


class CellParameters(TypedDict, total=False):
    """Options about the values of columns, as keyword arguments."""

    missing_labels: Annotated[
        "GivenLabels | None",
        Option(
            None,
            "Label of a missing value, in one column or in all (repeatable). It is added to the "
            "defaults: empty text, NA, N/A, NaN, null, ? and others.",
            flags="--missing-label",
            metavar="[COLUMN=]TEXT",
            is_repeated=True,
            in_studio=True,
            doc="Labels that stand for a missing value, in all columns, or in the columns of a "
            'mapping: ``{"age": -99}``. They are added to the defaults. Numbers are '
            'compared as numbers, and blanks around a label do not matter. ``"age=-99"`` in'
            " a list is the same as in a command. The defaults are the empty text, ``NA``, "
            "``N/A``, ``n/a``, ``#N/A``, ``<NA>``, ``NaN``, ``nan``, ``null``, ``NULL``, "
            "``#NULL!`` and other errors of spreadsheets, ``?`` and ``.``; in a column of "
            "numbers also dashes, a few cells of other text, and numbers like -999 that are "
            "far from the others. A null of a data frame is always missing. A declared "
            "state is never missing.",
        ),
    ]
    keep_labels: Annotated[
        "GivenLabels | None",
        Option(
            None,
            "Label that is a value and never missing, in one column or in all (repeatable).",
            flags="--keep-label",
            metavar="[COLUMN=]TEXT",
            is_repeated=True,
            in_studio=True,
            doc='Labels that are values and never missing, as ``{"continent": "NA"}`` or '
            '``{"x": -999}``.',
        ),
    ]
    merge: Annotated[
        "GivenMerges | None",
        Option(
            None,
            "Read a state of a column as another state (repeatable; several old states with "
            "commas).",
            metavar="COLUMN:OLD=NEW",
            is_repeated=True,
            in_studio=True,
            doc='States to merge: ``{"smoker": {"Y": "yes"}}`` reads ``Y`` as ``yes``.',
        ),
    ]


class _Opening(TypedDict, total=False):
    encoding: Annotated[
        str | None,
        Option(
            None,
            "Encoding of a text table, as latin-1.",
            as_text(),
            metavar="NAME",
            said="as detected",
            in_studio=True,
            doc="Encoding of a text table (default: UTF-8, UTF-16 or Windows-1252, as detected).",
        ),
    ]
    delimiter: Annotated[
        str | None,
        Option(
            None,
            "Character between the fields of a text table; a space stands for any number of "
            "spaces.",
            metavar="CHARACTER",
            said="as detected",
            in_studio=True,
            doc="Character between the fields of a text table; ``' '`` stands for any number of "
            "spaces.",
        ),
    ]
    comment: Annotated[
        str | None,
        Option(
            None,
            "Skip the lines of a text table that start with this text; an empty text skips none.",
            as_text(),
            metavar="TEXT",
            said="as detected: #, % or //",
            in_studio=True,
            doc="Start of the lines of a text table to skip; ``''`` skips none. By default "
            "lines that start with ``#``, ``%`` or ``//`` are skipped above the header, and "
            "below it if their number of fields differs.",
        ),
    ]
    header: Annotated[
        bool | None,
        Option(
            None,
            "Whether the first row has the column names.",
            as_switch(),
            said="as detected",
            in_studio=True,
            doc="Whether the first row has the column names (default: unless it has only values).",
        ),
    ]
    skiprows: Annotated[
        int | None,
        Option(
            None,
            "Number of lines above the table.",
            as_int(0),
            metavar="N",
            said="as detected",
            in_studio=True,
            doc="Number of lines above the table (default: as detected).",
        ),
    ]
    skipfooter: Annotated[
        int | None,
        Option(
            None,
            "Number of lines below the table.",
            as_int(0),
            metavar="N",
            said="as detected",
            in_studio=True,
            doc="Number of lines below the table (default: as detected).",
        ),
    ]
    units_row: Annotated[
        bool | None,
        Option(
            None,
            "Whether the first row below the header has the units of the columns.",
            as_switch(),
            said="as detected",
            in_studio=True,
            doc="Whether the first row below the header has the units of the columns and is "
            "skipped (default: as detected).",
        ),
    ]
    bad_rows: Annotated[
        str,
        Option(
            "repair",
            "Rows of a text table with too few or too many fields: fill or remove empty cells, "
            "leave the rows out, or make them an error.",
            as_choice("repair", "skip", "refuse"),
            in_studio=True,
            doc="Rows of a text table with too few or too many fields. ``'repair'`` fills the "
            "missing cells of a short row and removes additional empty cells; other long "
            "rows are an error. ``'skip'`` leaves all these rows out, ``'refuse'`` makes "
            "them an error.",
        ),
    ]
    keep_empty_rows: Annotated[
        bool,
        Option(
            False,
            "Keep the rows of a text table or a spreadsheet that have no value in any column.",
            as_switch(),
            in_studio=True,
            doc="Keep the rows of a text table or a spreadsheet that have no value in any column.",
        ),
    ]
    rename: Annotated[
        Mapping[str, str] | None,
        Option(
            None,
            "New name of a column (repeatable). Other options use the new name.",
            metavar="OLD=NEW",
            is_repeated=True,
            in_studio=True,
            doc="New names of columns. The old names are those that coevo gives: without spaces "
            "around them, and with ``name.1`` for the second column called ``name``. All "
            "other parameters use the new names.",
        ),
    ]
    value_labels: Annotated[
        bool,
        Option(
            True,
            "Whether the value labels of Stata and SPSS are states.",
            as_switch(),
            in_studio=True,
            doc="Use the value labels of Stata and SPSS as states. With False the states are "
            "the codes.",
        ),
    ]
    sheet: Annotated[
        str | int | None,
        Option(
            None,
            "Name or number of a sheet of a spreadsheet, or name of a table of an SQLite file.",
            flags="--sheet --table",
            metavar="NAME",
            said="the first sheet with rows; the only table",
            in_studio=True,
            doc="Name or number (from 1) of a sheet; name of a table of an SQLite file.",
        ),
    ]
    query: Annotated[
        str | None,
        Option(
            None,
            "Read the rows that this query to DATA returns.",
            as_text(),
            metavar="SQL",
            doc="SQL query for an SQLite file.",
        ),
    ]


class _Connection(TypedDict, total=False):
    connection: Annotated[
        Any,
        Option(
            None,
            "DB-API connection, or path of an SQLite file; the table is then an SQL query.",
            flags="",
            doc="Where to send `source`, an SQL query.",
        ),
    ]


class SourceParameters(_Opening, CellParameters, _Connection, total=False):
    """Options that say how a source is opened, with those about the values of columns."""


class _Rows(TypedDict, total=False):
    duplicates: Annotated[
        str | None,
        Option(
            None,
            "Rows that repeat other rows in all columns.",
            as_choice("keep", "drop"),
            said="drop copies, keep rows that are equal by chance",
            in_studio=True,
            doc="Rows that repeat other rows in all columns: ``'keep'`` or ``'drop'``. By "
            "default they are dropped where they are copies, and kept where equal "
            "observations are natural.",
        ),
    ]
    totals: Annotated[
        str | None,
        Option(
            None,
            "Rows of totals and subtotals.",
            as_choice("keep", "drop"),
            said="drop those whose numbers are sums",
            in_studio=True,
            doc="Rows of totals and subtotals: ``'keep'`` or ``'drop'``. By default they are "
            "dropped if their numbers are sums, or if they have no other values.",
        ),
    ]
    weights: Annotated[
        str | None,
        Option(
            None,
            "Column with the number of times that each row counts.",
            as_text("the name of a column"),
            metavar="COLUMN",
            said="a column like Freq in a frequency table",
            in_studio=True,
            doc="Column with the number of times that each row counts, as in a frequency table. "
            "It is no variable. By default a column of counts such as ``Freq`` beside all "
            "different rows is used.",
        ),
    ]


class _ClusterBy(TypedDict, total=False):  # of functions that draw rows
    cluster_by: Annotated[
        str | None,
        Option(
            None,
            "Column that says which rows belong together, as the visits of a patient do. The "
            "bootstrap draws clusters, and cross-validation keeps them together.",
            as_text("the name of a column"),
            metavar="COLUMN",
            said="rows are independent",
            in_studio=True,
            doc="Column that says which rows belong together, as the visits of a patient do. It "
            "is no variable. A bootstrap draws clusters, and a cross-validation keeps them "
            "together.",
        ),
    ]


class RowParameters(_Rows, _ClusterBy, total=False):
    """Options about the rows of a table."""


class ReadParameters(SourceParameters, RowParameters, total=False):
    """The options of a source, and those about its rows."""


class _Columns(TypedDict, total=False):
    states: Annotated[
        "DeclaredStates | None",
        Option(
            None,
            "Declare states that may not occur in the rows: a network, or a JSON object with a "
            "list of states for each column.",
            metavar="MODEL",
            doc="All states of some columns, in display order. A declared state need not occur "
            "in the rows. Declare states to keep decimal numbers or identifiers as labels, "
            "or to use text such as ``NA`` as a state. Variables come from a network "
            "(``states=network.variables``); variables that are not columns of the table "
            "are ignored.",
        ),
    ]
    drop: Annotated[
        Iterable[str],
        Option(
            (),
            "Leave a column out (repeatable, or several with commas).",
            metavar="COLUMN",
            is_repeated=True,
            in_studio=True,
            doc="Columns to leave out. Their values are not checked.",
        ),
    ]


class _Names(TypedDict, total=False):
    names: Annotated[
        Sequence[str] | None,
        Option(
            None,
            "The names of the columns of an array.",
            flags="",
            doc="Column names of a NumPy array.",
        ),
    ]


class _Binning(TypedDict, total=False):
    types: Annotated[
        "GivenTypes | None",
        Option(
            None,
            "Types of columns (continuous, categorical, ignore, or cut points), as JSON or CSV. "
            "The run.json of an earlier run gives the same cut points.",
            metavar="FILE",
            doc="Types of some columns: ``'categorical'`` (each value is a state), "
            "``'continuous'``, ``'ignore'``, parts of dates (``'year'``, ``'month'``, "
            "``'weekday'``, ``'hour'``, ``'year+month'``), ``'date'`` (a date as a number), "
            "``'dmy'`` or ``'mdy'`` (the order of day and month), a list of cut points, "
            '`CutPoints`, or ``{"type": "continuous", "bins": 3, "method": "kmeans"}``. '
            "Where `learn` takes it, also the path of a file, as for `read_types`. A type "
            "undoes what was decided about a column.",
        ),
    ]
    discretise: Annotated[
        str | None,
        Option(
            None,
            "How to discretise columns of numbers: mdl (chooses the number of bins), quantile, "
            "uniform, kmeans or none.",
            metavar="METHOD",
            said="mdl",
            in_studio=True,
            doc="Method that cuts columns of numbers into bins: ``'mdl'`` (chooses the number "
            "of bins by the information about the other columns), ``'quantile'``, "
            "``'uniform'`` or ``'kmeans'``. A column with at most 20 distinct integers, or "
            "at most 10 distinct decimal numbers that recur, keeps its values as states "
            "unless `types` declares it continuous.",
        ),
    ]
    bins: Annotated[
        int | None,
        Option(
            None,
            "Number of bins, by quantiles unless --discretise is given; for mdl the maximum.",
            as_int(2),
            said="3; mdl: 5",
            in_studio=True,
            doc="Number of bins (default: 3), or the maximum for ``'mdl'`` (default: 5). If "
            "`bins` is given without `discretise`, the method is ``'quantile'``.",
        ),
    ]
    decimal: Annotated[
        str | None,
        Option(
            None,
            "Decimal mark of numbers.",
            replace(as_choice(".", ","), expected="'.', ','"),
            said="found from the table",
            in_studio=True,
            doc="The decimal mark of numbers, ``'.'`` or ``','``. By default it is found: all "
            "labels of a column have the same mark, and ``1,234`` follows the other columns "
            "of the table.",
        ),
    ]


class _Strict(TypedDict, total=False):
    strict: Annotated[
        bool,
        Option(
            False,
            "Make an error of everything that would be decided about the table.",
            as_switch(),
            in_studio=True,
            doc="Raise an error for everything that would be decided about the table.",
        ),
    ]


class _Missing(TypedDict, total=False):
    missing: Annotated[str | None, MISSING]


class _Bootstraps(TypedDict, total=False):
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


class _Evidence(TypedDict, total=False):
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


class _Jobs(TypedDict, total=False):
    n_jobs: Annotated[int, N_JOBS]


class _Shards(TypedDict, total=False):
    shards: Annotated[
        str | os.PathLike[str] | None,
        Option(
            None,
            "For DATA larger than memory (Parquet, or a folder of it): read it in chunks into "
            "files of about a byte per value in this folder, and remove them at the end.",
            metavar="DIR",
            doc="For a Parquet or Dask table that does not fit into memory: read it in chunks into "
            "files of about a byte per value in this folder, and remove them at the end. The "
            "answer is the same to the last bit. Numbers need cut points from `types`; `missing` "
            "and `bootstraps` need the rows in memory.",
        ),
    ]


class _Cluster(TypedDict, total=False):
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


# What functions take.


class _Search(_Method, _Ess, _MaxParents, _Penalties, _Seed, LimitOptions, total=False):
    pass


class _Reading(_Columns, _Names, SourceParameters, _Rows, _Binning, _Strict, total=False):
    pass


class EstimatorOptions(
    _Search,
    _Knowledge,
    _Start,
    _Columns,
    CellParameters,
    _Missing,
    _Binning,
    _Strict,
    _Bootstraps,
    _Jobs,
    total=False,
):
    """The options that `learn` and the estimators share."""


class FlatOptions(
    _Score,
    _Search,
    _Knowledge,
    _Start,
    _Missing,
    _Reading,
    _Jobs,
    _ClusterBy,
    _Bootstraps,
    _Evidence,
    _Shards,
    _Cluster,
    total=False,
):
    """All options of a search on a table, one by one, as the command line has them."""


class TableOptions(_Reading, _ClusterBy, total=False):
    """What `read_data`, `read_incomplete` and `inspect_table` take: how a table is read."""


class ReadKeywords(TableOptions, _Shards, total=False):
    """The options of `ReadOptions`: how a table is read, in memory or in shards."""


class _Values(TypedDict, total=False):
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


class ProveOptions(_Values, total=False):
    """What `prove` takes."""


class CrossValidateOptions(_Values, total=False):
    """What `cross_validate` takes."""


class PosteriorOptions(_Values, ChainOptions, _Cluster, total=False):
    """What `posterior` takes: a search, and the chains from its result."""


class LearnOptions(_Values, _Bootstraps, _Evidence, _Cluster, total=False):
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


class MovedOfProve(_Limits, _Goals, ObjectiveOptions, EndOptions, _Reading, total=False):
    """Of `prove`."""


class MovedOfPosterior(MovedOfProve, _Shards, total=False):
    """Of `posterior`."""


class MovedOfCrossValidate(MovedOfProve, _ClusterBy, total=False):
    """Of `cross_validate`."""


class MovedOfLearn(MovedOfCrossValidate, _Shards, total=False):
    """Of `learn`."""


class DependenceOptions(_Columns, _Names, SourceParameters, _Rows, _Binning, total=False):
    """What `measure_dependence` takes: how a table is read."""


class CheckProofOptions(_Reading, _Missing, _Jobs, total=False):
    """What `check_proof` takes: how the table of the proof was read."""


# The groups of the commands; functions have some of them in another order.


class SearchFlags(_Method, _Score, _Ess, _MaxParents, _Penalties, _Limits, total=False):
    """A search on the command line."""


class LearnFlags(SearchFlags, _Goals, _Start, total=False):
    """The search of ``coevo learn``."""


class TableFlags(_Columns, SourceParameters, _Rows, total=False):
    """How a table is opened, and its rows."""


class ClusterFlags(_ClusterBy, total=False):
    """Which rows belong together."""


class MissingFlags(_Missing, total=False):
    """What is done about missing values."""


class BinningFlags(_Binning, total=False):
    """How columns of numbers become states."""


class StrictFlags(_Strict, total=False):
    """Whether decisions about the table are errors."""


class KnowledgeFlags(_Knowledge, total=False):
    """Prior knowledge."""


class EvidenceFlags(_Bootstraps, _Evidence, _Shards, total=False):
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
