"""Explore a network: its drawing, and answers to questions about it, as plain values.

The studio and the notebook widget show them with the same script, which asks for them by name.
"""

from typing import TYPE_CHECKING

from coevo.lazy_names import import_lazily

if TYPE_CHECKING:
    from coevo.view.exploration.answers import QUESTIONS, Explorer
    from coevo.view.exploration.drawing import draw_page, list_sizes
    from coevo.view.exploration.widget import explore
else:
    __getattr__, __dir__ = import_lazily(
        __name__,
        answers="QUESTIONS Explorer",
        drawing="draw_page list_sizes",
        widget="explore",
    )

__all__ = ["QUESTIONS", "Explorer", "draw_page", "explore", "list_sizes"]
