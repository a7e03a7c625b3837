"""Explore a network: its drawing, and answers to questions about it, as plain values.

The studio and the notebook widget show them with the same script, which asks for them by name.
"""

from coevo.exploration.answers import QUESTIONS, Explorer
from coevo.exploration.drawing import draw_page, list_sizes
from coevo.exploration.widget import explore

__all__ = ["QUESTIONS", "Explorer", "draw_page", "explore", "list_sizes"]
