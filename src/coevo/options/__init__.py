"""Every option of coevo, declared once: name, type, default, rule, help and flag.

An option is a field of a `TypedDict` with an `Option` beside its type. A function takes the fields
of one such class as ``**options: Unpack[...]``, so type checkers see names and types.
`coevo.signatures.accept_options` makes the signature, the documentation and the refusal of what a
function does not take; `coevo.cli.options` makes the options of the commands;
`coevo.studio.run_options` the fields of the form; `docs/_ext/option_reference.py` the table of the
reference. To add an option, add a field to one of its classes, and use it.

Groups of fields that belong together are small classes. What a function takes is a class that
inherits from them. The order of the fields is that of help and documentation.

`declaration` says what an option is; `searches` and `tables` declare all options; `functions` says
who takes which.
"""

from typing import TYPE_CHECKING

from coevo.options.declaration import (
    LARGEST_PENALTY,
    Field,
    Option,
    Rule,
    as_choice,
    as_int,
    as_number,
    as_switch,
    as_text,
    check_options,
    fill_defaults,
    get_defaults,
    get_type_text,
    list_options,
    select_options,
)
from coevo.options.functions import (
    HOME,
    HOMES,
    TAKEN_BY,
    BinningFlags,
    CheckProofOptions,
    ClusterFlags,
    CrossValidateOptions,
    DependenceOptions,
    EstimatorOptions,
    EvidenceFlags,
    FlatOptions,
    KnowledgeFlags,
    LearnFlags,
    LearnOptions,
    MissingFlags,
    MovedOfCrossValidate,
    MovedOfLearn,
    MovedOfPosterior,
    MovedOfProve,
    PosteriorOptions,
    ProveOptions,
    ReadKeywords,
    SearchFlags,
    StrictFlags,
    TableFlags,
    TableOptions,
)
from coevo.options.searches import (
    CLUSTER,
    ESS,
    N_JOBS,
    ON_CLUSTER,
    RANDOM_STATE,
    SCORE,
    ChainOptions,
    EndOptions,
    LimitOptions,
    ObjectiveOptions,
    ScorerOptions,
    SearchOptions,
    SpecOptions,
)
from coevo.options.tables import (
    CellParameters,
    ReadParameters,
    RowParameters,
    SourceParameters,
)

if TYPE_CHECKING:
    from coevo.options.searches import GivenKnowledge as GivenKnowledge
    from coevo.options.searches import GivenStart as GivenStart
    from coevo.options.tables import GivenTypes as GivenTypes

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
