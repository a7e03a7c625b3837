"""Look at a table before learning: its columns, what the reader decided, and its problems.

The package is not called ``inspect``: the standard library has a module of that name.
"""

from coevo.inspection.api import inspect_table
from coevo.inspection.result import InspectedColumn, TableInspection

__all__ = ["InspectedColumn", "TableInspection", "inspect_table"]
