"""What people look at: pictures, figures, report pages, the explorer and the inspection of a table.

picture/      graphs as SVG, PNG and PDF, and tables for notebooks; names and arcs only
figures.py    tables and figures from plain numbers
page/         the report of a run as one HTML file
explorer.py   a network that answers questions, in the studio and in a notebook
inspection/   what a table holds, and its problems, without learning
"""

from typing import TYPE_CHECKING

from coevo.lazy_names import import_lazily

if TYPE_CHECKING:
    from coevo.view.explorer import QUESTIONS, Explorer, draw_page, explore, list_sizes
    from coevo.view.figures import (
        LINE_LOOKS,
        POINT_LOOKS,
        Look,
        ReportTable,
        TimeCurve,
        draw_band_panel,
        draw_box_panel,
        draw_time_panel,
        make_figure,
        require_matplotlib,
        set_gap_axis,
        write_figure,
    )
    from coevo.view.inspection import InspectedColumn, TableInspection, inspect_table
else:
    __getattr__, __dir__ = import_lazily(
        __name__,
        explorer="QUESTIONS Explorer draw_page explore list_sizes",
        figures=(
            "LINE_LOOKS POINT_LOOKS Look ReportTable TimeCurve draw_band_panel draw_box_panel "
            "draw_time_panel make_figure require_matplotlib set_gap_axis write_figure"
        ),
        inspection="InspectedColumn TableInspection inspect_table",
    )

__all__ = [
    "LINE_LOOKS",
    "POINT_LOOKS",
    "QUESTIONS",
    "Explorer",
    "InspectedColumn",
    "Look",
    "ReportTable",
    "TableInspection",
    "TimeCurve",
    "draw_band_panel",
    "draw_box_panel",
    "draw_page",
    "draw_time_panel",
    "explore",
    "inspect_table",
    "list_sizes",
    "make_figure",
    "require_matplotlib",
    "set_gap_axis",
    "write_figure",
]
