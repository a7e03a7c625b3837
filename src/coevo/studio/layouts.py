"""Layouts that are kept in the workspace: a large graph takes seconds to lay out.

A file holds the layout of one graph. Its name is the hash of the graph, of the sizes of its boxes
and of the version of coevo. A file that is damaged is made again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from coevo import __version__
from coevo.errors import CoevoError
from coevo.json_text import load_json
from coevo.run_files import write_json
from coevo.view.picture.layout import Box, Layout, lay_out

__all__ = ["make_lay_out"]

MOST = 300  # files; the oldest are removed
SMALL = 60  # variables; laying out a smaller graph takes no longer than reading a file

Arc = tuple[str, str]


def make_lay_out(folder: Path) -> Callable[..., Layout]:
    """Return a function like `lay_out` that keeps its results in a folder."""

    def lay_out_once(
        nodes: Iterable[str],
        arcs: Iterable[Arc],
        *,
        sizes: Mapping[str, tuple[float, float]] | None = None,
    ) -> Layout:
        names, pairs, least = sorted(nodes), sorted(arcs), dict(sizes or {})
        if len(names) <= SMALL:
            return lay_out(names, pairs, sizes=least)
        path = folder / f"{_make_hash(names, pairs, least)}.json"
        found = _read(path)
        if found is None:
            found = lay_out(names, pairs, sizes=least)
            _write(path, found)
        return found

    return lay_out_once


def _make_hash(names: list[str], arcs: list[Arc], sizes: dict[str, Any]) -> str:
    text = json.dumps([__version__, names, arcs, sorted(sizes.items())])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _read(path: Path) -> Layout | None:
    """Return a kept layout, or None if there is none or if it is damaged."""
    try:
        found = load_json(path.read_text("utf-8"))
        boxes = {
            str(name): Box(float(x), float(y), float(width), tuple(map(str, lines)), float(extra))
            for name, x, y, width, lines, extra in found["boxes"]
        }
        curves = {
            (str(parent), str(child)): tuple((float(x), float(y)) for x, y in curve)
            for parent, child, curve in found["curves"]
        }
        return Layout(float(found["width"]), float(found["height"]), boxes, curves)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _write(path: Path, layout: Layout) -> None:
    """Keep a layout. Where the folder cannot be written, it is laid out again next time."""
    boxes = [[n, b.x, b.y, b.width, list(b.lines), b.extra] for n, b in layout.boxes.items()]
    curves = [[*arc, [list(point) for point in curve]] for arc, curve in layout.curves.items()]
    content = {"width": layout.width, "height": layout.height, "boxes": boxes, "curves": curves}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, content)
        kept = sorted(path.parent.glob("*.json"), key=lambda each: each.stat().st_mtime)
        for old in kept[:-MOST]:
            old.unlink(missing_ok=True)
    except (OSError, CoevoError):
        return
