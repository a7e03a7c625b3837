"""Numbers first, as plain records; then tables and pictures made from them."""

from coevo.report.figures import band_panel, new_figure, require_matplotlib, write_figure
from coevo.report.tables import Table

__all__ = ["Table", "band_panel", "new_figure", "require_matplotlib", "write_figure"]
