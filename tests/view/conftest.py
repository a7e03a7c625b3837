"""A report page in a real browser."""

import pytest

from coevo.view.page import write_page
from helpers.browser import open_tabs


@pytest.fixture
def opened(browser, tmp_path):
    """Return a function that opens a page; at the end there must be no errors or requests."""
    path = tmp_path / "page.html"
    with open_tabs(browser, path) as open_tab:

        def call(page, **options):
            write_page(path, page)
            return open_tab(**options)

        yield call
