"""Graph layout: variables in layers, arcs from top to bottom, without Graphviz."""

from typing import TYPE_CHECKING

from coevo.lazy_names import import_lazily

if TYPE_CHECKING:
    from coevo.view.picture.layout.boxes import Arc, Box, Layout
    from coevo.view.picture.layout.drawing import lay_out
    from coevo.view.picture.layout.labels import clean_text, estimate_text_width, shorten_name
    from coevo.view.picture.layout.routing import Curve
else:
    __getattr__, __dir__ = import_lazily(
        __name__,
        boxes="Arc Box Layout",
        drawing="lay_out",
        labels="clean_text estimate_text_width shorten_name",
        routing="Curve",
    )

__all__ = [
    "Arc",
    "Box",
    "Curve",
    "Layout",
    "clean_text",
    "estimate_text_width",
    "lay_out",
    "shorten_name",
]
