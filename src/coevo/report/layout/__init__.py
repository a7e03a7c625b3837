"""Pictures of graphs: variables in layers, arcs from the top down, without Graphviz."""

from coevo.report.layout.drawing import Box, Layout, lay_out
from coevo.report.layout.labels import shortened, text_width
from coevo.report.layout.routing import Curve

__all__ = ["Box", "Curve", "Layout", "lay_out", "shortened", "text_width"]
