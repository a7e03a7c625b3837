"""Graph layout: variables in layers, arcs from top to bottom, without Graphviz."""

from coevo.report.layout.boxes import Box, Layout
from coevo.report.layout.drawing import lay_out
from coevo.report.layout.labels import estimate_text_width, shorten_name
from coevo.report.layout.routing import Curve

__all__ = ["Box", "Curve", "Layout", "estimate_text_width", "lay_out", "shorten_name"]
