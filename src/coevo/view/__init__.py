"""Reports: tables, figures and HTML pages, made from plain records."""

from typing import TYPE_CHECKING

from coevo.lazy_names import import_lazily

if TYPE_CHECKING:
    from coevo.view.comparison_figures import (
        LINE_LOOKS,
        POINT_LOOKS,
        Look,
        TimeCurve,
        draw_box_panel,
        draw_time_panel,
        set_gap_axis,
    )
    from coevo.view.figures import draw_band_panel, make_figure, require_matplotlib, write_figure
    from coevo.view.tables import ReportTable
else:
    __getattr__, __dir__ = import_lazily(
        __name__,
        comparison_figures=(
            "LINE_LOOKS POINT_LOOKS Look TimeCurve draw_box_panel draw_time_panel set_gap_axis"
        ),
        figures="draw_band_panel make_figure require_matplotlib write_figure",
        tables="ReportTable",
    )

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
