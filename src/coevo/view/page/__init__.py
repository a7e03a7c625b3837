"""HTML report: a network and the facts about it, as one self-contained file."""

from typing import TYPE_CHECKING

from coevo.lazy_names import import_lazily

if TYPE_CHECKING:
    from coevo.view.page.document import render_page, write_page
    from coevo.view.page.from_run import make_network_page, make_run_page
    from coevo.view.page.model import ArcFacts, BootstrapArc, BootstrapSummary, Page, ScorePoint
else:
    __getattr__, __dir__ = import_lazily(
        __name__,
        document="render_page write_page",
        from_run="make_network_page make_run_page",
        model="ArcFacts BootstrapArc BootstrapSummary Page ScorePoint",
    )

__all__ = [
    "ArcFacts",
    "BootstrapArc",
    "BootstrapSummary",
    "Page",
    "ScorePoint",
    "make_network_page",
    "make_run_page",
    "render_page",
    "write_page",
]
