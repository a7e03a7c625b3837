"""Read tables into a `Dataset` and write them; the only package that knows data frames."""

from typing import TYPE_CHECKING

from coevo.lazy_names import import_lazily

if TYPE_CHECKING:
    from coevo.data.bins import CutPoints
    from coevo.data.column_types import (
        BIN_METHODS,
        ColumnInfo,
        format_drop_hint,
        format_type_hint,
        read_types,
    )
    from coevo.data.dataset import Codes, Dataset, RowDigest, Table, combine_row_hashes, hash_rows
    from coevo.data.decisions import Decision, TableInfo, check_strict
    from coevo.data.incomplete import IncompleteDataset, Rows
    from coevo.data.labels import sort_naturally
    from coevo.data.read_options import ReadPlan
    from coevo.data.reader import as_dataset, as_rows, read_data, read_incomplete, read_table
    from coevo.data.table_audit import Finding, audit
    from coevo.data.variable import MAX_STATES, Continuous, Discrete, Variable
    from coevo.data.writer import check_writable, write_data
else:
    __getattr__, __dir__ = import_lazily(
        __name__,
        bins="CutPoints",
        column_types="BIN_METHODS ColumnInfo format_drop_hint format_type_hint read_types",
        dataset="Codes Dataset RowDigest Table combine_row_hashes hash_rows",
        decisions="Decision TableInfo check_strict",
        incomplete="IncompleteDataset Rows",
        labels="sort_naturally",
        read_options="ReadPlan",
        reader="as_dataset as_rows read_data read_incomplete read_table",
        table_audit="Finding audit",
        variable="Continuous Discrete MAX_STATES Variable",
        writer="check_writable write_data",
    )

__all__ = [
    "BIN_METHODS",
    "MAX_STATES",
    "Codes",
    "ColumnInfo",
    "Continuous",
    "CutPoints",
    "Dataset",
    "Decision",
    "Discrete",
    "Finding",
    "IncompleteDataset",
    "ReadPlan",
    "RowDigest",
    "Rows",
    "Table",
    "TableInfo",
    "Variable",
    "as_dataset",
    "as_rows",
    "audit",
    "check_strict",
    "check_writable",
    "combine_row_hashes",
    "format_drop_hint",
    "format_type_hint",
    "hash_rows",
    "read_data",
    "read_incomplete",
    "read_table",
    "read_types",
    "sort_naturally",
    "write_data",
]
