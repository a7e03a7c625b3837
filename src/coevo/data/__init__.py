"""From a table to a `Dataset`: the only room that knows data frames and files of rows."""

from coevo.data.dataset import Codes, Dataset
from coevo.data.reader import read_data
from coevo.data.request import leave_out
from coevo.data.variable import MAX_STATES, Variable, natural_order
from coevo.data.write import check_writable, write_data

__all__ = [
    "MAX_STATES",
    "Codes",
    "Dataset",
    "Variable",
    "check_writable",
    "leave_out",
    "natural_order",
    "read_data",
    "write_data",
]
