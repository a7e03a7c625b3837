"""Graph layout: variables in layers, arcs from top to bottom, without Graphviz."""

from coevo.report.layout.drawing import Box, Layout, lay_out
from coevo.report.layout.labels import shorten_name, text_width
from coevo.report.layout.routing import Curve

__all__ = ["Box", "Curve", "Layout", "lay_out", "shorten_name", "text_width"]
