"""Figures, drawn by matplotlib without a display. The same numbers give the same bytes.

matplotlib is an optional extra. Its global settings do not change, so the caller's plots keep
their style.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coevo.errors import ParameterError, import_optional
from coevo.files import check_output_path, replace_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "apply_style",
    "check_figure_path",
    "draw_band_panel",
    "make_figure",
    "require_matplotlib",
    "save_figure",
    "write_figure",
]

# Distinguishable in black and white, and by colour-blind readers (Okabe and Ito).
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#555555"
STYLE: Any = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "grid.linewidth": 0.5,
    "legend.frameon": False,
    "svg.hashsalt": "coevo",  # otherwise the identifiers differ from run to run
    "svg.fonttype": "none",
}

METADATA: dict[str, Any] = {  # of each format; without the date, for the same bytes
    ".png": {"Software": None},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None, "Producer": None, "Creator": None},
}


@contextlib.contextmanager
def apply_style() -> Iterator[None]:
    """Draw in coevo's style inside the ``with`` block, independent of the user's settings."""
    from matplotlib import style

    with style.context(["default", STYLE]):
        yield


def require_matplotlib() -> None:
    """Raise `DependencyError` unless matplotlib is installed."""
    import_optional("matplotlib", "matplotlib", "plot")


def make_figure(
    n_panels: int, width: float = 3.3, height: float = 2.9
) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels side by side. Width and height are inches per panel."""
    require_matplotlib()
    from matplotlib.figure import Figure

    with apply_style():
        figure = Figure(figsize=(width * n_panels, height), layout="constrained")
        panels = figure.subplots(1, n_panels, squeeze=False)
    return figure, list(panels[0])


def draw_band_panel(
    panel: Axes,
    curve: NDArray[np.float64],
    band: tuple[NDArray[np.float64], NDArray[np.float64]],
    lines: dict[str, float],
    label: str,
) -> None:
    """Draw a curve over generations with a band around it, and named horizontal lines."""
    with apply_style():
        generations = np.arange(len(curve))
        panel.fill_between(generations, *band, color=BLUE, alpha=0.2, linewidth=0)
        panel.plot(generations, curve, color=BLUE, linewidth=1.6, label=label)
        for (name, value), colour, dashes in zip(
            lines.items(), (ORANGE, GREY), ("--", ":"), strict=False
        ):
            panel.axhline(value, color=colour, linestyle=dashes, linewidth=1.3, label=name)
        panel.set_xlabel("generation")
        panel.yaxis.set_major_formatter("{x:,.0f}")
        panel.margins(x=0)


def check_figure_path(name: str) -> None:
    """Raise an error if a figure cannot be written to this file: no format, library or folder."""
    if Path(name).suffix.lower() not in METADATA:
        listed = ", ".join(METADATA)
        raise ParameterError(f"The name of a figure must end in one of {listed}; got {name!r}.")
    require_matplotlib()
    check_output_path(Path(name))


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure in the format of the suffix. A failure leaves no partial file."""
    kind = path.suffix.lower()
    with apply_style(), replace_file(path) as stream:
        figure.savefig(stream, format=kind[1:], dpi=200, metadata=METADATA[kind])


def write_figure(figure: Figure, stem: Path) -> list[Path]:
    """Write ``stem.png`` and ``stem.svg``."""
    written = [stem.with_name(f"{stem.name}.{kind}") for kind in ("png", "svg")]
    for path in written:
        save_figure(figure, path)
    return written
