"""Look at a table before learning: its columns, what the reader decided, and its problems.

The package is not called ``inspect``: the standard library has a module of that name.
"""

from typing import TYPE_CHECKING

from coevo.lazy_names import import_lazily

if TYPE_CHECKING:
    from coevo.view.inspection.result import InspectedColumn, TableInspection, inspect_table
else:
    __getattr__, __dir__ = import_lazily(
        __name__,
        result="inspect_table InspectedColumn TableInspection",
    )

__all__ = ["InspectedColumn", "TableInspection", "inspect_table"]
