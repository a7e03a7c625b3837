"""Reports: tables, figures and HTML pages, made from plain records."""

from coevo.report.comparison_figures import (
    LINE_LOOKS,
    POINT_LOOKS,
    Look,
    TimeCurve,
    draw_box_panel,
    draw_time_panel,
    set_gap_axis,
)
from coevo.report.figures import draw_band_panel, make_figure, require_matplotlib, write_figure
from coevo.report.tables import ReportTable

__all__ = [
    "LINE_LOOKS",
    "POINT_LOOKS",
    "Look",
    "ReportTable",
    "TimeCurve",
    "draw_band_panel",
    "draw_box_panel",
    "draw_time_panel",
    "make_figure",
    "require_matplotlib",
    "set_gap_axis",
    "write_figure",
]
