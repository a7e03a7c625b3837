"""The options of `learn`, validated: everything that can be wrong before a table is read.

`check_settings` validates the options and returns `LearnSettings`. `coevo.learning.task` then reads
the table and validates the settings against it. `learn`, ``coevo learn`` and ``coevo strength`` all
take these steps.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

from coevo.data import (
    BIN_METHODS,
    Dataset,
    Decision,
    IncompleteDataset,
    ReadPlan,
    Rows,
    TableInfo,
    read_table,
    read_types,
)
from coevo.data.column_types import format_drop_hint
from coevo.data.columns import Column
from coevo.data.decisions import RawTable
from coevo.data.prepare.rows import prepare_rows
from coevo.data.read.sources import load_table, make_raw_table
from coevo.data.read_options import RowOptions
from coevo.data.source_options import SourceOptions
from coevo.errors import DataError, ParameterError, bad_choice, bad_parameter, format_count
from coevo.graph import DAG, Constraints
from coevo.graph.arguments import read_names
from coevo.io import Knowledge, check_run_folder, open_knowledge, parse_knowledge
from coevo.io.knowledge import KnowledgeFile
from coevo.names import match_name, split_names
from coevo.network import BayesianNetwork
from coevo.options import (
    FlatOptions,
    LimitOptions,
    ReadParameters,
    RowParameters,
    SearchOptions,
    SourceParameters,
    check_options,
    fill_defaults,
    list_options,
    select_options,
)
from coevo.parallel import Cluster, check_cluster
from coevo.search import METHODS, Budget, Islands, Method, SearchSpec, make_method, make_spec

if TYPE_CHECKING:
    from coevo.data.reader import DeclaredStates
    from coevo.options import GivenKnowledge, GivenStart, GivenTypes
    from coevo.parallel import Shards

Path = str | os.PathLike[str]

__all__ = ["DEFAULT_POLICY", "NO_BINS", "LearnSettings", "check_settings", "decide_missing"]

NO_BINS = "none"
REFUSE = "refuse"  # the policy that raises an error for missing values
DEFAULT_POLICY = "evolve"
DRAWS_ROWS = ("learn", "strength", "cross_validate", "inspect_table")  # these use clusters
_GIVE_CUTS = "Give the cut points with 'types'; the run.json of a run on some of the rows has them."
_WAYS_OUT = {
    "discretise": _GIVE_CUTS,
    "bins": _GIVE_CUTS,
    "missing": "Drop or impute missing values first.",
    "bootstraps": "Leave it out; with so many rows the strength of most arcs is near 0 or 1.",
}


@dataclass(frozen=True, eq=False)
class LearnSettings:
    """The validated options of `learn`.

    `spec` still lacks the prior knowledge, which may need the names of the columns; `resolve_spec`
    adds it. `limit_place` says where `max_parents` was given, for error messages.
    """

    spec: SearchSpec
    knowledge: Knowledge | KnowledgeFile
    knowledge_place: str
    roots: tuple[str, ...]  # names, or several with commas between them
    leaves: tuple[str, ...]
    max_parents: int | None
    limit_place: str
    states: DeclaredStates | None
    drop: Iterable[str]
    names: Sequence[str] | None
    opening: SourceParameters  # how the source is opened, as `read_data` takes it
    rows: RowParameters  # how its rows are treated, as `read_data` takes it
    binning: Mapping[str, Any]  # types, discretise and bins, as `read_data` takes them
    has_binning: bool  # whether the user gave one of them
    missing: str  # a policy, or REFUSE
    is_default_policy: bool  # whether the caller gave no policy
    decimal: str | None
    strict: bool
    bootstraps: int | None
    posterior: bool
    prove: float | None
    shards: Path | None
    cluster: Cluster
    n_jobs: int

    @property
    def is_out_of_core(self) -> bool:
        """Whether the rows are read into shards instead of memory."""
        rows_on_cluster = self.cluster is not None and not isinstance(self.spec.method, Islands)
        return rows_on_cluster or self.shards is not None

    @contextlib.contextmanager
    def open_table(self, table: Any) -> Iterator[tuple[Rows | Shards, TableInfo]]:
        """Read a table; yield it and what is known about it. Shards are removed at the end."""
        if not self.is_out_of_core:
            yield self.read_table(table)
            return
        with self._open_shards(table) as shards:
            yield shards, TableInfo(shards.infos)

    def _make_read_options(self, is_read: bool) -> ReadPlan:
        """Return the options of the reader; `is_read` says that the table is a Dataset."""
        binning = self.binning if self.has_binning or not is_read else {}
        options = ReadPlan.from_parameters(self.states, self.drop, **binning)
        options = options.use_source("read_data", **self.opening, **self.rows)
        options = options.use_decimal(self.decimal)
        return replace(options, keeps_missing=self.missing != REFUSE)

    def find_missing(self, column: Column) -> list[int]:
        """Return the codes of a column that stand for missing values."""
        return self._make_read_options(is_read=False).find_missing(column)

    def load_raw(self, table: Any) -> RawTable:
        """Open a table and return its columns as they are, so that rows can be taken of them."""
        if isinstance(table, Dataset | IncompleteDataset):
            return make_raw_table(table)
        options = replace(self._make_read_options(is_read=False), is_lenient=True)
        return prepare_rows(load_table(table, options, self.names), options)

    def read_table(self, table: Any) -> tuple[Rows, TableInfo]:
        """Read a table into memory; return it and what is known about it."""
        options = self._make_read_options(isinstance(table, Dataset | IncompleteDataset))
        names = None if isinstance(table, RawTable) else self.names
        rows, info = read_table(table, options, names, self.strict)
        if not isinstance(rows, IncompleteDataset):
            return rows, info
        if self.missing == REFUSE:
            from coevo.missing import POLICIES

            raise DataError(
                f"The table has {format_count(rows.n_missing, 'missing value')}. Choose a policy "
                f"with 'missing': {', '.join(map(repr, sorted(POLICIES)))}."
            )
        if self.is_default_policy:
            info = replace(info, decisions=(*info.decisions, decide_missing(rows, self.missing)))
        return rows, info

    @contextlib.contextmanager
    def _open_shards(self, table: Any) -> Iterator[Shards]:
        from coevo.parallel import is_dask_dataframe, read_shards

        is_path = isinstance(table, str | os.PathLike)
        if self.names is not None or not (is_path or is_dask_dataframe(table)):
            raise ParameterError(
                "'shards' and 'cluster' need a Parquet file, a folder of Parquet files, or a Dask "
                "data frame. Write the table as Parquet first, or leave them out."
            )
        opening = SourceOptions(rename=self.opening["rename"])
        options = ReadPlan.from_parameters(
            self.states, self.drop, self.binning["types"], opening=opening
        )
        is_binning = self.binning["discretise"] is not None
        options = replace(options, refuses_measurements=is_binning)
        folder = None if self.shards is None else pathlib.Path(self.shards)
        source = pathlib.Path(table) if is_path else table
        with read_shards(source, options, self.cluster, folder) as shards:
            yield shards

    def resolve_spec(self, names: Sequence[str]) -> SearchSpec:
        """Return the search with the prior knowledge about these variables, validated."""
        given = self.knowledge
        knowledge = given.resolve(names) if isinstance(given, KnowledgeFile) else given
        constraints = self._add_ends(knowledge.constraints, names)
        limit, asked = constraints.max_parents, self.max_parents
        if asked is not None:
            if limit not in (None, asked):
                raise ParameterError(
                    f"'max_parents' is {limit} in {self.knowledge_place} and {asked} in "
                    f"{self.limit_place}. Give it once."
                )
            constraints = Constraints(**constraints.as_dict() | {"max_parents": asked})
        constraints.to_rules(names)  # raises if they contradict each other or the columns
        return replace(self.spec, constraints=constraints, weights=knowledge.weights)

    def _add_ends(self, constraints: Constraints, names: Sequence[str]) -> Constraints:
        """Return the constraints with the roots and leaves that were given beside them."""
        if not (self.roots or self.leaves):
            return constraints
        given = constraints.as_dict()
        for part, items in (("roots", self.roots), ("leaves", self.leaves)):
            named = [name for item in items for name in split_names(item, names)]
            given[part] = [*given.get(part, ()), *named]
        return Constraints(**given)


def check_settings(
    owner: str, limit_place: str | None = None, **options: Unpack[FlatOptions]
) -> LearnSettings:
    """Validate the options of `learn`; `owner` is the function that error messages name.

    >>> check_settings("learn", max_parents=0)
    Traceback (most recent call last):
    coevo.errors.ParameterError: 'max_parents' of learn must be an int >= 1 or None; got 0.
    """
    chosen = fill_defaults(FlatOptions, options)
    _check_values(chosen, owner)
    missing = _choose_policy(chosen, owner)
    spec = make_spec(
        owner,
        **select_options(SearchOptions, chosen),
        score=chosen["score"],
        start=_open_start(chosen["start"], owner),
        budget=Budget(**select_options(LimitOptions, chosen)),
    )
    knowledge = _open_knowledge(chosen["constraints"], owner)
    is_path = isinstance(chosen["constraints"], str | os.PathLike)
    types, discretise, bins = chosen["types"], chosen["discretise"], chosen["bins"]
    settings = LearnSettings(
        spec=spec,
        knowledge=knowledge,
        knowledge_place=repr(chosen["constraints"]) if is_path else "the constraints",
        roots=read_names(chosen["roots"], "roots", owner),
        leaves=read_names(chosen["leaves"], "leaves", owner),
        max_parents=chosen["max_parents"],
        limit_place=limit_place or owner,
        states=chosen["states"],
        drop=chosen["drop"],
        names=chosen["names"],
        opening=_check_opening(chosen, owner),
        rows=_check_rows(chosen, owner),
        binning=_check_binning(types, discretise, bins, owner),
        has_binning=not (types is None and discretise is None and bins is None),
        missing=missing,
        is_default_policy=chosen["missing"] is None,
        decimal=chosen["decimal"],
        strict=chosen["strict"],
        bootstraps=chosen["bootstraps"],
        posterior=chosen["posterior"],
        prove=_check_prove(chosen["prove"]),
        shards=chosen["shards"],
        cluster=chosen["cluster"],
        n_jobs=chosen["n_jobs"],
    )
    if settings.is_out_of_core:
        _check_out_of_core(chosen, owner)
    if settings.posterior:
        from coevo.posteriors.settings import check_score

        check_score(settings.spec.score)
    return settings


def _check_values(chosen: FlatOptions, owner: str) -> None:
    if isinstance(chosen["target"], str):
        raise ParameterError(
            f"'target' of {owner} is the score at which the search stops; got "
            f"{chosen['target']!r}. To predict a variable, use BayesianNetworkClassifier, or "
            f"method='tan:class_variable={chosen['target']}'."
        )
    check_options(FlatOptions, owner, chosen)
    check_cluster(owner, chosen["cluster"])


def _check_prove(seconds: float | None) -> float | None:
    """Return the time limit of a proof; raise an error if HiGHS is missing."""
    if seconds is None:
        return None
    from coevo.exact import load_highs

    load_highs()
    return float(seconds)


def _choose_policy(chosen: FlatOptions, owner: str) -> str:
    """Return the policy for missing values: the given one, or the default.

    The default is to impute. A strict reader, shards and clusters refuse missing values.
    """
    missing, needs_memory = chosen["missing"], chosen["cluster"] is not None
    if missing is None:
        is_strict = chosen["strict"] or needs_memory or chosen["shards"] is not None
        return REFUSE if is_strict else DEFAULT_POLICY
    from coevo.missing import POLICIES

    choices = (*POLICIES, REFUSE)
    policy = match_name(missing, choices)
    if policy is None:
        raise bad_choice("missing", owner, choices, missing)
    if needs_memory and policy != REFUSE:
        raise ParameterError(
            f"'missing' and 'cluster' of {owner} cannot be combined. Leave one of them out."
        )
    return policy


def decide_missing(rows: IncompleteDataset, policy: str) -> Decision:
    """Return the decision that missing values are imputed by the default policy."""
    facts = rows.summarise_missing()
    values = format_count(facts["n_missing"], "missing value")
    verb = "is" if facts["n_missing"] == 1 else "are"
    return Decision(
        "missing",
        tuple(facts["columns"]),
        f"{values} ({facts['share']:.1%} of all values) {verb} imputed by the policy {policy!r}.",
        f"missing={REFUSE!r}, or --missing {REFUSE}",
    )


def _check_opening(chosen: FlatOptions, owner: str) -> SourceParameters:
    """Return the options that say how the source is opened."""
    opening = select_options(SourceParameters, chosen)
    checked = SourceOptions.from_parameters(owner, **opening)  # raises if they are wrong
    return {**opening, "rename": checked.rename}


def _check_rows(chosen: FlatOptions, owner: str) -> RowParameters:
    """Return the options that say how rows are treated."""
    rows = select_options(RowParameters, chosen)
    checked = RowOptions.from_parameters(owner, **rows)  # raises if they are wrong
    if checked.cluster_by is not None and owner not in DRAWS_ROWS:
        raise ParameterError(
            f"'cluster_by' of {owner} would have no effect, because {owner} draws no rows. Leave "
            f"it out, and the column too ({format_drop_hint(checked.cluster_by)})."
        )
    return rows


def _check_out_of_core(chosen: FlatOptions, owner: str) -> None:
    """Raise `ParameterError` for options that need all rows in memory."""
    shards, cluster = chosen["shards"], chosen["cluster"]
    if shards is not None and cluster is not None:
        raise ParameterError(
            f"'shards' and 'cluster' of {owner} cannot be combined: both say where the rows are. "
            "Give one of the two."
        )
    if shards is not None:
        if not isinstance(shards, str | os.PathLike):
            raise bad_parameter("shards", owner, "the path of a folder or None", shards)
        check_run_folder(pathlib.Path(shards))
    given = [
        name
        for name, option in list_options(ReadParameters).items()
        if dict(chosen)[name] != option.default and name != "rename"
    ]
    if given:
        raise ParameterError(
            f"{given[0]!r} of {owner} does not apply to the Parquet files and Dask data frames of "
            "'shards' and 'cluster'. Leave it out."
        )
    allowed = (("discretise", NO_BINS), ("bootstraps", 0), ("missing", REFUSE))
    for name, way_out in _WAYS_OUT.items():
        value = dict(chosen)[name]
        plain = value.lower() if isinstance(value, str) else value
        if value is not None and (name, plain) not in allowed:
            raise ParameterError(
                f"{name!r} of {owner} needs all rows in memory, and 'shards' or 'cluster' keeps "
                f"them in shards. {way_out}"
            )


def _check_binning(
    types: GivenTypes | None, discretise: str | None, bins: int | None, owner: str
) -> dict[str, Any]:
    """Return how `read_data` treats columns of numbers; the default is to discretise them."""
    choices = (*BIN_METHODS, NO_BINS)
    chosen = None if discretise is None else match_name(discretise, choices)
    if discretise is not None and chosen is None:
        raise bad_choice("discretise", owner, choices, discretise)
    if chosen == NO_BINS and bins is not None:
        raise ParameterError(f"'bins' of {owner} needs a method; 'discretise' is 'none'.")
    default = None if bins is not None or chosen == NO_BINS else "mdl"
    binning = {
        "types": read_types(os.fspath(types)) if isinstance(types, str | os.PathLike) else types,
        "discretise": default if chosen in (None, NO_BINS) else chosen,
        "bins": bins,
    }
    ReadPlan.from_parameters(**binning)  # raises if they are wrong
    return binning


def _open_knowledge(constraints: GivenKnowledge | None, owner: str) -> Knowledge | KnowledgeFile:
    """Return the prior knowledge, as far as it can be read without the names of columns."""
    if constraints is None:
        return Knowledge()
    if isinstance(constraints, Constraints):
        return Knowledge(constraints)
    if isinstance(constraints, Knowledge):
        return constraints
    if isinstance(constraints, str | os.PathLike):
        return open_knowledge(os.fspath(constraints))
    if isinstance(constraints, Mapping):
        return parse_knowledge(constraints, owner)
    expected = "Constraints, Knowledge, a dict, the path of a file or None"
    raise bad_parameter("constraints", owner, expected, constraints)


def _open_start(start: GivenStart | None, owner: str) -> DAG | Method | None:
    """Return the structure to start from, or the method that finds it.

    A file or a folder with the name of a method is a file or a folder.
    """
    if start is None or isinstance(start, DAG | Method):
        return start
    if isinstance(start, BayesianNetwork):
        return start.dag
    if isinstance(start, str) and start in METHODS and not pathlib.Path(start).exists():
        return make_method(start, owner)
    if isinstance(start, str | os.PathLike):
        from coevo.bundled import open_structure

        return open_structure(start)
    expected = (
        "a DAG, a network, the path of a file, the name of a bundled network, a method or None"
    )
    raise bad_parameter("start", owner, expected, start)
