"""Numbers first, as plain records; then tables, pictures and pages made from them."""

from coevo.report.comparison_figures import (
    LINE_LOOKS,
    POINT_LOOKS,
    Curve,
    Look,
    box_panel,
    gap_axis,
    time_panel,
)
from coevo.report.figures import band_panel, new_figure, require_matplotlib, write_figure
from coevo.report.tables import ReportTable

__all__ = [
    "LINE_LOOKS",
    "POINT_LOOKS",
    "Curve",
    "Look",
    "ReportTable",
    "band_panel",
    "box_panel",
    "gap_axis",
    "new_figure",
    "require_matplotlib",
    "time_panel",
    "write_figure",
]
