"""What objects show in a notebook, in a real browser: without messages, and it loads nothing.

Without Playwright or Chromium these tests are skipped; see tests/view/test_browser.py.
"""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from coevo.bundled import load_network
from coevo.graph import DAG
from helpers.browser import open_tabs
from helpers.shown import list_shown, make_bootstrap, nasty_network

ASIA = load_network("asia")


@pytest.fixture
def opened(browser, tmp_path):
    """Return a function that opens what objects show; there must be no errors or requests."""
    path = tmp_path / "cell.html"
    with open_tabs(browser, path) as open_tab:

        def call(parts, **options):
            cells = "".join(f'<div class="cell">{part}</div>' for part in parts)
            head = '<!doctype html><meta charset="utf-8"><p id="page">page</p>'
            path.write_text(head + cells, encoding="utf-8")
            return open_tab(**options)

        yield call


LOOK = """cell => [...cell.querySelectorAll("g[data-node]")].map(node => {
  const rect = node.querySelector("rect").getBoundingClientRect();
  const texts = [...node.querySelectorAll("text")].map(text => text.getBoundingClientRect());
  return {rect: rect.toJSON(), texts: texts.map(text => text.toJSON())};
})"""


def test_labels_are_inside_their_boxes(opened):
    names = [
        "worst fractal dimension",
        "W" * 26,
        "SMOKER",
        "x",
        "aUniformly_long.name-of a variable",
    ]
    dag = DAG(names, [(names[0], names[1]), (names[2], names[3])])
    tab = opened([dag._repr_html_(), load_network("alarm")._repr_html_()], width=1300)
    found = [tab.eval_on_selector(f".cell:nth-of-type({i})", LOOK) for i in (1, 2)]
    assert [len(cell) for cell in found] == [5, 37]
    for node in (node for cell in found for node in cell):
        box = SimpleNamespace(**node["rect"])
        for text in (SimpleNamespace(**text) for text in node["texts"]):
            assert box.left - 0.5 <= text.left <= text.right <= box.right + 0.5
            assert box.top - 2 <= text.top <= text.bottom <= box.bottom + 2


def test_a_cell_changes_nothing_else(opened):
    parts = [*list_shown(nasty_network()), ASIA.query("lung")._repr_html_()]
    tab = opened(parts)
    look = "p => { const s = getComputedStyle(p); return [s.font, s.color, s.margin, s.display]; }"
    after = tab.eval_on_selector("#page", look)
    assert tab.eval_on_selector_all("script", "all => all.length") == 0
    assert tab.eval_on_selector_all("svg", "all => all.length") == len(parts) - 1
    assert opened([]).eval_on_selector("#page", look) == after


def test_a_wide_graph_scrolls_inside_its_cell(opened):
    hepar = load_network("hepar2").dag
    tab = opened([hepar._repr_html_(), ASIA._repr_html_()], width=800)
    widths = tab.eval_on_selector_all("svg", "all => all.map(s => s.getBoundingClientRect().width)")
    picture = hepar.plot()
    assert widths == pytest.approx([0.7 * picture.width, ASIA.plot().width], abs=1)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 800


def test_details_open_without_a_script(opened):
    tab = opened([make_bootstrap(ASIA.dag)._repr_html_()])
    assert not tab.locator("table").is_visible()
    tab.click("summary")
    assert tab.locator("tbody tr").count() == 8
    assert tab.locator("table").is_visible()
