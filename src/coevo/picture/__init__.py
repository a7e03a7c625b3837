"""Pictures of graphs without Graphviz: SVG, PNG and PDF; graphs and tables in notebooks.

The ``plot`` methods of `DAG`, `CPDAG`, `BayesianNetwork` and of results return a `Picture`. This
package knows names and arcs only, so that all of them can use it.
"""

from coevo.picture.arc_values import list_links
from coevo.picture.graph_scene import Link, LinkKind
from coevo.picture.picture import PICTURE_FORMATS, Picture, draw_graph, find_picture_format

__all__ = [
    "PICTURE_FORMATS",
    "Link",
    "LinkKind",
    "Picture",
    "draw_graph",
    "find_picture_format",
    "list_links",
]
