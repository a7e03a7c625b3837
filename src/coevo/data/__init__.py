"""From a table to a `Dataset`: the only room that knows data frames and files of rows."""

from coevo.data.audit import Finding, audit
from coevo.data.column_types import BIN_METHODS, ColumnNote, read_types
from coevo.data.cuts import Cuts
from coevo.data.dataset import Codes, Dataset, digest_of_marks, row_marks
from coevo.data.incomplete import IncompleteDataset, Rows
from coevo.data.reader import read_columns, read_data, read_incomplete
from coevo.data.request import Request, leave_out
from coevo.data.table import RowDigest, Table
from coevo.data.variable import MAX_STATES, Variable, natural_order
from coevo.data.write import check_writable, write_data

__all__ = [
    "BIN_METHODS",
    "MAX_STATES",
    "Codes",
    "ColumnNote",
    "Cuts",
    "Dataset",
    "Finding",
    "IncompleteDataset",
    "Request",
    "RowDigest",
    "Rows",
    "Table",
    "Variable",
    "audit",
    "check_writable",
    "digest_of_marks",
    "leave_out",
    "natural_order",
    "read_columns",
    "read_data",
    "read_incomplete",
    "read_types",
    "row_marks",
    "write_data",
]
