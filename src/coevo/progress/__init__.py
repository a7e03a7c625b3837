"""Progress display: the text about a running search, and the places that show it.

The command line and the Python API share both. A terminal shows a few lines that are redrawn, a
notebook shows one line that is replaced, and any other stream gets a plain line every few
seconds.
"""

from typing import TYPE_CHECKING

from coevo.lazy_names import import_lazily

if TYPE_CHECKING:
    from coevo.progress.displays import (
        PeriodicLines,
        ProgressCallback,
        ProgressMessage,
        can_redraw_lines,
        check_progress,
        show_on_console,
        show_progress,
        show_runs_on_console,
    )
    from coevo.progress.search_progress import SearchProgress
else:
    __getattr__, __dir__ = import_lazily(
        __name__,
        displays=(
            "PeriodicLines ProgressCallback ProgressMessage can_redraw_lines check_progress "
            "show_on_console show_progress show_runs_on_console"
        ),
        search_progress="SearchProgress",
    )

__all__ = [
    "PeriodicLines",
    "ProgressCallback",
    "ProgressMessage",
    "SearchProgress",
    "can_redraw_lines",
    "check_progress",
    "show_on_console",
    "show_progress",
    "show_runs_on_console",
]
