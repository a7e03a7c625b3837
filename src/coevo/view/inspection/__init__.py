"""Look at a table before learning: its columns, what the reader decided, and its problems.

The package is not called ``inspect``: the standard library has a module of that name.
"""

from typing import TYPE_CHECKING

from coevo.lazy_names import import_lazily

if TYPE_CHECKING:
    from coevo.view.inspection.api import inspect_table
    from coevo.view.inspection.result import InspectedColumn, TableInspection
else:
    __getattr__, __dir__ = import_lazily(
        __name__,
        api="inspect_table",
        result="InspectedColumn TableInspection",
    )

__all__ = ["InspectedColumn", "TableInspection", "inspect_table"]
