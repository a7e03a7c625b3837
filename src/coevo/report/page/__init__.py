"""Pages: a network and what is known of it as one HTML file that opens anywhere."""

from coevo.report.page.document import page_html, write_page
from coevo.report.page.from_run import network_page, run_page
from coevo.report.page.model import ArcFacts, FoundArc, Page, Progress, Sureness

__all__ = [
    "ArcFacts",
    "FoundArc",
    "Page",
    "Progress",
    "Sureness",
    "network_page",
    "page_html",
    "run_page",
    "write_page",
]
