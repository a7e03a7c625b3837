"""A picture of a graph: it shows itself in a notebook, and it can be saved."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from coevo.checks import is_choice
from coevo.errors import ParameterError, bad_choice
from coevo.files import check_output_path, replace_file
from coevo.view.picture.graph_scene import Link, LinkKind, make_scene
from coevo.view.picture.scene import Scene
from coevo.view.picture.svg import render_svg

__all__ = ["PICTURE_FORMATS", "Picture", "draw_graph", "find_picture_format"]

PICTURE_FORMATS = ("svg", "png", "pdf")
MIN_SCALE = 0.7  # of a wide picture in a narrow notebook; below that it scrolls


class Picture:
    """A picture of a graph, as the ``plot`` methods of graphs, networks and results return it.

    In a notebook it shows itself. The names of variables and the facts about arcs appear while the
    pointer is on them. The same graph gives the same bytes.

    Parameters
    ----------
    scene : Scene
        The shapes.

    Examples
    --------
    >>> picture = draw_graph(["rain", "wet"], [Link("rain", "wet")])
    >>> picture
    <Picture: 2 variables, 1 arc, 76 x 118>
    >>> picture.svg[:41]
    '<svg xmlns="http://www.w3.org/2000/svg" w'
    >>> picture.save("rain.gif")
    Traceback (most recent call last):
    coevo.errors.ParameterError: The extension of 'rain.gif' names no format of pictures. Use one \
of .svg, .png, .pdf.
    """

    __slots__ = ("__dict__", "_scene")

    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    @property
    def width(self) -> int:
        """The width in CSS pixels, of which an inch has 96."""
        return int(self._scene.width)

    @property
    def height(self) -> int:
        """The height in CSS pixels."""
        return int(self._scene.height)

    @property
    def about(self) -> str:
        """What it shows: the number of variables and arcs."""
        return self._scene.about

    @cached_property
    def svg(self) -> str:
        """The picture as SVG text, which needs no other file."""
        return render_svg(self._scene)

    def to_bytes(self, format_name: str) -> bytes:
        """Return the content of a file: ``'svg'``, ``'png'`` or ``'pdf'``.

        PNG and PDF need matplotlib (``pip install 'coevo[plot]'``).
        """
        if not is_choice(format_name, PICTURE_FORMATS):
            raise bad_choice("format_name", "Picture", PICTURE_FORMATS, format_name)
        if format_name == "svg":
            return self.svg.encode("utf-8")
        from coevo.view.picture.matplotlib_files import draw_file

        return draw_file(self._scene, format_name)

    def save(self, path: str | os.PathLike[str], format_name: str | None = None) -> None:
        """Write the picture. A failure leaves no partial file.

        Parameters
        ----------
        path : str or path
            The file. An existing file is replaced.
        format_name : {'svg', 'png', 'pdf'}, optional
            The format (default: that of the file extension). PNG and PDF need matplotlib
            (``pip install 'coevo[plot]'``).
        """
        kind = find_picture_format(path) if format_name is None else format_name
        if kind is None:
            raise ParameterError(
                f"The extension of {str(path)!r} names no format of pictures. Use one of "
                f"{', '.join(f'.{name}' for name in PICTURE_FORMATS)}."
            )
        check_output_path(Path(path))
        content = self.to_bytes(kind)
        with replace_file(Path(path)) as stream:
            stream.write(content)

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        least, most = round(MIN_SCALE * self.width), self.width
        style = (
            f"display:block;width:100%;height:auto;min-width:{least}px;max-width:{most}px;"
            "border-radius:6px"
        )
        svg = render_svg(self._scene, style)
        return f'<div style="max-width:100%;overflow:auto">{svg}</div>'

    def __repr__(self) -> str:
        return f"<Picture: {self.about}, {self.width} x {self.height}>"


def find_picture_format(path: str | os.PathLike[str]) -> str | None:
    """Return the format of pictures that the extension of a file names, or None.

    >>> find_picture_format("a.SVG"), find_picture_format("a.svg.gz")
    ('svg', None)
    """
    extension = os.path.splitext(str(path))[1].lower().removeprefix(".")
    return extension if extension in PICTURE_FORMATS else None


def draw_graph(
    nodes: Sequence[str],
    links: Sequence[Link],
    node_notes: Mapping[str, str] | None = None,
    legend: Mapping[LinkKind, str] | None = None,
) -> Picture:
    """Draw a graph.

    Parameters
    ----------
    nodes : sequence of str
        All variables.
    links : sequence of Link
        The arcs and edges. The directed ones must not form a cycle, except those that a
        comparison calls missing.
    node_notes : mapping of str to str, optional
        What the picture shows while the pointer is on a variable, after its name.
    legend : mapping of LinkKind to str, optional
        The kinds of links that the picture explains.

    Returns
    -------
    Picture
        Parents are above their children, and no two variables overlap.
    """
    return Picture(make_scene(nodes, links, node_notes, legend))
