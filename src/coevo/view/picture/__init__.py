"""Pictures of graphs without Graphviz: SVG, PNG and PDF; graphs and tables in notebooks.

The ``plot`` methods of `DAG`, `CPDAG`, `BayesianNetwork` and of results return a `Picture`. This
package knows names and arcs only, so that all of them can use it.
"""

from typing import TYPE_CHECKING

from coevo.lazy_names import import_lazily

if TYPE_CHECKING:
    from coevo.view.picture.picture import PICTURE_FORMATS, Picture, draw_graph, find_picture_format
    from coevo.view.picture.scene import Link, LinkKind, list_links
else:
    __getattr__, __dir__ = import_lazily(
        __name__,
        picture="PICTURE_FORMATS Picture draw_graph find_picture_format",
        scene="list_links Link LinkKind",
    )

__all__ = [
    "PICTURE_FORMATS",
    "Link",
    "LinkKind",
    "Picture",
    "draw_graph",
    "find_picture_format",
    "list_links",
]
