"""How far work has come, for people: what is said of a search, and where it is shown.

The command line and the Python face share both. A terminal has a few lines that move, a
notebook one that is replaced, and everything else gets a plain line every few seconds.
"""

from coevo.progress.notebook import check_progress, shown
from coevo.progress.search_progress import SearchProgress
from coevo.progress.terminal import COMPILING, News, OccasionalLines, Say, can_move, on_console

__all__ = [
    "COMPILING",
    "News",
    "OccasionalLines",
    "Say",
    "SearchProgress",
    "can_move",
    "check_progress",
    "on_console",
    "shown",
]
