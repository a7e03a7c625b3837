"""From a table to a `Dataset`: the only room that knows data frames and files of rows."""

from coevo.data.dataset import Codes, Dataset
from coevo.data.variable import MAX_STATES, Variable, natural_order

__all__ = ["MAX_STATES", "Codes", "Dataset", "Variable", "natural_order"]
