"""A page in a real browser: it opens without messages, searches, shows, and loads nothing.

Without Playwright or Chromium these tests are skipped; `scripts/browser` installs both if it can.
``COEVO_BROWSER`` is the path of a Chromium that the tests do not find themselves.
"""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace

import pytest

from coevo.bundled import load_network
from coevo.graph import DAG
from coevo.view.page import ArcFacts, Page, make_network_page
from coevo.view.page.model import list_drawn_edges
from helpers.pages import NASTY, full_page, nasty_page

LOOK = """panel => ({
  name: panel.querySelector("h2").textContent,
  rows: [...panel.querySelectorAll(".cpt tbody tr")].map(
    row => [...row.cells].map(cell => cell.textContent)),
  names: Object.fromEntries([...panel.querySelectorAll("h3")].map(title => [
    title.textContent.split(":")[0],
    [...title.nextElementSibling.querySelectorAll("button")].map(name => name.textContent)])),
})"""


def facts(tab):
    """Return the content of the panel."""
    return SimpleNamespace(**tab.eval_on_selector("#panel", LOOK))


def box_of(tab, name):
    """Return the centre of a variable on the screen, and its height."""
    box = tab.query_selector(f'.node[aria-label="{name}"] rect').bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, box["height"]


def test_open_search_click(opened):
    tab = opened(make_network_page(load_network("alarm")))
    assert tab.title() == "alarm"
    assert tab.locator(".node").count() == 37
    tab.keyboard.press("/")
    tab.keyboard.type("ventl")
    assert tab.locator("#found li").all_inner_texts() == ["VENTLUNG"]
    tab.keyboard.press("Enter")
    shown, network = facts(tab), load_network("alarm")
    assert shown.name == "VENTLUNG"
    assert shown.names["Parents"] == ["INTUBATION", "KINKEDTUBE", "VENTTUBE"]
    assert shown.names["Children"] == ["EXPCO2", "MINVOL", "VENTALV"]
    assert shown.names["Markov blanket"] == list(network.dag.markov_blanket("VENTLUNG"))
    table = network.table("VENTLUNG")
    assert [[float(cell) for cell in row[3:]] for row in shown.rows] == table.round(3).tolist()
    states = [network.variable(name).states for name in network.parents("VENTLUNG")]
    assert [tuple(row[:3]) for row in shown.rows] == list(product(*states))
    stage = tab.query_selector("#graph").bounding_box()
    x, y, _ = box_of(tab, "VENTLUNG")
    assert abs(x - stage["x"] - stage["width"] / 2) < 2  # in the middle
    assert abs(y - stage["y"] - stage["height"] / 2) < 2
    tab.click("#panel .name >> text=MINVOL")
    assert facts(tab).name == "MINVOL"
    tab.click('.node[aria-label="VENTALV"]')
    assert facts(tab).name == "VENTALV"
    assert tab.locator(".node.chosen").count() == 1
    tab.keyboard.press("Escape")
    assert not tab.is_visible("#panel")


def test_a_search_without_a_match(opened):
    tab = opened(make_network_page(load_network("asia")))
    tab.fill("#search", "no such thing")
    assert tab.inner_text("#found") == "No variable name contains this text."
    tab.press("#search", "Enter")
    assert not tab.is_visible("#panel")
    tab.fill("#search", "")
    assert tab.locator("#found li").count() == 8
    tab.press("#search", "ArrowUp")
    tab.press("#search", "Enter")
    assert facts(tab).name == "xray"


def test_zoom_and_pan(opened):
    tab = opened(make_network_page(load_network("alarm")))
    start = box_of(tab, "HR")
    tab.click("#zoom-in")
    assert box_of(tab, "HR")[2] == pytest.approx(1.4 * start[2], rel=0.02)
    tab.click("#zoom-out")
    assert box_of(tab, "HR") == pytest.approx(start, abs=0.5)
    tab.mouse.move(*start[:2])
    tab.mouse.wheel(0, -300)
    x, y, height = box_of(tab, "HR")
    assert (x, y) == pytest.approx(start[:2], abs=1)  # what is under the pointer stays there
    assert height > 1.3 * start[2]
    tab.click("#zoom-fit")
    tab.mouse.move(60, 300)
    tab.mouse.down()
    tab.mouse.move(100, 330)
    tab.mouse.move(160, 380)
    tab.mouse.up()
    assert box_of(tab, "HR")[:2] == pytest.approx((start[0] + 100, start[1] + 80), abs=2)
    assert not tab.is_visible("#panel")  # a drag is no click
    tab.focus("#graph")
    tab.keyboard.press("ArrowRight")
    assert box_of(tab, "HR")[0] < start[0] + 100
    tab.keyboard.press("0")
    assert box_of(tab, "HR") == pytest.approx(start, abs=0.5)


def test_keys_walk_from_variable_to_variable(opened):
    tab = opened(make_network_page(load_network("asia")))
    tab.focus('.node[aria-label="asia"]')
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Enter")
    assert facts(tab).name == "tub"
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("Enter")
    assert facts(tab).name == "lung"


def test_the_comparison_and_the_cpdag_view(opened):
    tab = opened(full_page())
    style = "element => getComputedStyle(element)"

    def look(kind, of):
        return tab.eval_on_selector(f"#graph .arc.{kind}", f"{style}.{of}")

    colours = {kind: look(kind, "stroke") for kind in ("same", "added", "missing", "reversed")}
    assert len(set(colours.values())) == 4
    dashes = [look(kind, "strokeDasharray") for kind in ("added", "missing", "reversed")]
    assert len(set(dashes)) == 3  # not by colour alone
    assert "head" in look("undirected", "markerEnd")
    tab.click("#view-cpdag")
    assert look("undirected", "markerEnd") == "none"
    tab.click("#view-dag")
    tab.check("#differences")
    assert float(look("same", "opacity")) < 0.5 < float(look("missing", "opacity"))


def test_the_panel_follows_the_view(opened):
    tab = opened(Page(DAG("abc", [("a", "b"), ("b", "c")]), is_learned=True, known=[("b", "c")]))
    tab.fill("#search", "b")
    tab.press("#search", "Enter")
    titles = tab.locator("#panel h3").all_inner_texts()
    assert titles[:3] == ["Parents: 0", "Children: 1", "Joined, direction unknown: 1"]
    notes = tab.locator("#panel li small").all_inner_texts()
    assert notes == ["directed by the constraints", "direction unknown"]
    tab.click("#view-dag")
    assert tab.locator("#panel h3").all_inner_texts()[:2] == ["Parents: 1", "Children: 1"]


@pytest.mark.parametrize("width", [320, 390])
def test_a_narrow_screen_shows_what_an_arc_says(opened, width):
    tab = opened(full_page(), width=width, height=844)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    cells = tab.locator("#arcs td[data-label='what the arc says']:not(:empty)")
    assert cells.count() == 8
    for cell in cells.all():
        box = cell.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    area = tab.locator(".scroll:has(#arcs)")
    assert area.evaluate("e => e.scrollWidth <= e.clientWidth")


def test_print_keeps_everything_on_the_paper(opened):
    tab = opened(full_page(), width=1280)
    tab.emulate_media(media="print")
    tab.set_viewport_size({"width": 700, "height": 990})  # the text area of A4, in pixels
    wide = "e => e.filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.className)"
    assert tab.eval_on_selector_all("main, section, .scroll, header", wide) == []
    assert tab.is_visible(".summary")
    assert tab.is_visible("figcaption")
    assert not tab.is_visible(".tools")


def test_an_arc_says_what_it_means(opened):
    tab = opened(full_page())
    index = next(i for i, edge in enumerate(list_drawn_edges(full_page())) if edge.facts.gain == 70)
    x, y = tab.evaluate(
        """(i) => {
          const path = document.getElementById("a" + i), matrix = path.getScreenCTM();
          const at = path.getPointAtLength(path.getTotalLength() / 2).matrixTransform(matrix);
          return [at.x, at.y];
        }""",
        index,
    )
    tab.mouse.move(x + 4, y)  # beside the thin line
    tip = tab.locator("#tip")
    assert tip.is_visible()
    first, second = tip.inner_text().splitlines()
    assert "gain 70.00 (decisive), strength 0.700, direction 0.500" in first
    assert second == "P(b=1) is 0.7 where a7=1, 0 elsewhere"
    tab.mouse.move(5, 5)
    assert not tip.is_visible()
    tab.mouse.click(x + 4, y)
    tab.mouse.move(5, 5)
    assert tip.is_visible()  # until the next click
    tab.keyboard.press("Escape")
    assert not tip.is_visible()
    tab.click("#arcs tbody button")
    assert second in tab.locator("#panel .says").all_inner_texts()


def test_a_zero_has_no_sign_in_the_panel(opened):
    dag = DAG("ab", [("a", "b")])
    tab = opened(Page(dag, arcs={("a", "b"): ArcFacts(-0.0004, -0.0, 0.0)}))
    tab.fill("#search", "b")
    tab.press("#search", "Enter")
    assert tab.inner_text("#panel li small") == (
        "gain 0.00 (against), strength 0.000, direction 0.000, direction unknown"
    )


def test_tables_can_be_sorted(opened):
    tab = opened(full_page())

    def column(number):
        return tab.locator(f"#arcs tbody td:nth-child({number})").all_inner_texts()

    gains = [text for text in column(4) if text]
    assert gains == sorted(gains, key=float, reverse=True)
    tab.click("#arcs th:nth-child(1) button")
    assert column(1) == sorted(column(1))
    tab.click("#arcs th:nth-child(1) button")
    assert column(1) == sorted(column(1), reverse=True)
    tab.click("#arcs th:nth-child(4) button")
    tab.click("#arcs th:nth-child(4) button")
    assert [text for text in column(4) if text] == gains[::-1]
    tab.click("#arcs tbody button")
    assert tab.is_visible("#panel")
    tab.click("#copy")
    tab.locator("#copy", has_text="Copied").wait_for()  # no script: the policy forbids them


def test_names_that_break_things(opened):
    tab = opened(nasty_page())
    for name in NASTY:
        tab.fill("#search", name.lower())
        tab.press("#search", "Enter")
        assert tab.text_content("#panel h2") == name
    assert tab.locator("script").count() == 2


def test_two_hundred_variables_dark_and_on_paper(opened):
    tab = opened(make_network_page(load_network("andes")), color_scheme="dark")
    assert tab.eval_on_selector("body", "body => getComputedStyle(body).backgroundColor") == (
        "rgb(20, 24, 31)"
    )
    tab.fill("#search", "goal_108")
    tab.press("#search", "Enter")
    assert box_of(tab, "GOAL_108")[2] > 20  # large enough to read
    tab.emulate_media(media="print")
    assert not tab.is_visible("#search")
    page = tab.query_selector("#graph").bounding_box()
    for name in ("COMPO16", "SNode_151", "GOAL_108"):  # all of it, whatever was looked at
        x, y, _ = box_of(tab, name)
        assert page["x"] < x < page["x"] + page["width"]
        assert page["y"] < y < page["y"] + page["height"]
    assert tab.pdf(prefer_css_page_size=True).startswith(b"%PDF")
