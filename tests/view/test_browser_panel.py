"""The panel of a variable in a real browser: counts, long names, and small screens."""

from __future__ import annotations

import csv
from itertools import product

import pytest

import coevo
import naive
from coevo.bundled import load_network
from coevo.io import read_run
from coevo.view.page import make_network_page, make_run_page
from helpers.browser import find_variable
from helpers.long_names import NAMES, STATES, long_page

PHONE = {"width": 375, "height": 667, "has_touch": True, "is_mobile": True}


def read_table(tab):
    return [
        line.locator("td").all_inner_texts() for line in tab.locator("#panel .cpt tbody tr").all()
    ]


# -- the number of rows behind each parent configuration


@pytest.fixture
def run(tmp_path):
    """Return the run of a table in which one of nine parent configurations has no rows."""
    rows = [(str(i % 3), str(i // 3 % 3)) for i in range(140)]
    rows = [(a, b, "yes" if a == b else "no") for a, b in rows if (a, b) != ("2", "1")]
    with open(tmp_path / "t.csv", "w", newline="") as stream:
        csv.writer(stream).writerows([("a", "b", "c"), *rows])
    known = coevo.Constraints(required=[("a", "c"), ("b", "c")], forbidden=[("a", "b"), ("b", "a")])
    coevo.learn(tmp_path / "t.csv", method="hill_climb", constraints=known, output=tmp_path / "run")
    return rows, read_run(tmp_path / "run")


def test_the_table_shows_the_number_of_rows(opened, run):
    rows, saved = run
    page = make_run_page(saved.facts, saved.history, saved.network)
    tab = opened(page)
    find_variable(tab, "c")
    assert tab.locator("#panel .cpt th").all_inner_texts() == [
        *saved.network.parents("c"), "rows", *saved.network.variable("c").states,
    ]  # fmt: skip
    codes = [[int(a), int(b), int(c == "yes")] for a, b, c in rows]
    order = ["ab".index(parent) for parent in saved.network.parents("c")]
    counted = naive.count_family(codes, [3, 3, 2], 2, order)
    expected = {given: sum(counts) for given, counts in counted.items()}
    found = {tuple(map(int, row[:2])): row[2] for row in read_table(tab)}
    assert found == {given: f"{n}" if n else "no rows" for given, n in expected.items()}
    assert sorted(expected.values())[:2] == [0, 15]
    unseen = tab.locator("#panel .cpt tr.unseen")
    assert [line.locator("td").all_inner_texts()[2:] for line in unseen.all()] == [
        ["no rows", "0.500", "0.500"]
    ]
    assert unseen.get_attribute("title") == "No rows: the probabilities come from the prior only."
    seen, not_seen = (
        tab.eval_on_selector(f"#panel .cpt tr{kind} .p", "e => getComputedStyle(e).color")
        for kind in (":not(.unseen)", ".unseen")
    )
    assert seen != not_seen
    assert tab.inner_text("#panel h3:text('Probabilities') + p") == (
        "1 of 9 parent configurations has no rows (grey): their probabilities come from the prior "
        "only."
    )
    find_variable(tab, "a")
    assert read_table(tab)[0][0] == str(len(rows))


def test_unknown_counts_are_not_shown(opened, run):
    _, saved = run
    facts = {key: value for key, value in saved.facts.items() if key != "parent_counts"}
    tab = opened(make_run_page(facts, saved.history, saved.network))
    find_variable(tab, "c")
    assert tab.locator("#panel .cpt .count, #panel .unseen").count() == 0
    assert len(read_table(tab)[0]) == 4
    assert tab.locator("#panel .cpt th").count() == 4


def test_means_over_imputed_tables(opened):
    page = long_page()
    counts = dict(page.parent_counts) | {NAMES[3]: [0.0, 0.02, 1.25, 12345.0] + [3.0] * 23}
    object.__setattr__(page, "parent_counts", counts)
    object.__setattr__(page, "are_counts_means", True)
    tab = opened(page)
    find_variable(tab, NAMES[3])
    assert [row[3] for row in read_table(tab)[:4]] == ["no rows", "<0.1", "1.3", "12,345"]
    notes = tab.locator("#panel h3:text('Probabilities') ~ p").all_inner_texts()
    assert notes[-1] == "Numbers of rows are means over the imputed tables."


# -- long names


@pytest.mark.parametrize("options", [PHONE, {"width": 800}, {"width": 1280}, {"width": 1800}])
def test_long_names_stay_inside(opened, options):
    tab = opened(long_page(), **options)
    width = options["width"]

    def check_width():
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        assert tab.evaluate("document.body.scrollWidth") <= width

    check_width()
    for name in NAMES:
        find_variable(tab, name)
        check_width()
        outside = tab.eval_on_selector(
            "#panel",
            """panel => {
              const right = panel.getBoundingClientRect().right;
              return [...panel.querySelectorAll("*")].filter(e => !e.closest(".cpt"))
                .filter(e => !e.matches(".wide") && getComputedStyle(e).display !== "inline")
                .filter(e => e.getBoundingClientRect().right > right
                  || e.scrollWidth > e.clientWidth + 1)
                .map(e => e.outerHTML);
            }""",
        )
        assert outside == []
    cells = tab.locator("#panel .cpt .clip").all()
    assert len(cells) == 3 + 27 * 3 + 3
    for cell in cells[:12]:
        box = cell.bounding_box()
        assert box["width"] <= 175
        assert box["height"] < 70  # three lines
        text = cell.text_content()
        assert cell.get_attribute("title") == (text if len(text) > 18 else None)
    assert {cell.text_content() for cell in cells} == {*NAMES[:3], *STATES}


def test_the_tables_of_the_page_scroll_inside(opened):
    tab = opened(long_page(), **PHONE)
    for box in tab.locator(".scroll").all():
        assert box.bounding_box()["width"] <= 375
    for key in tab.locator(".pairs .key").all():
        assert key.bounding_box()["width"] <= 150
    tab.hover(".node >> nth=0")
    assert tab.query_selector("#tip").bounding_box()["width"] <= 375


def test_a_page_with_usual_names_has_no_sideways_scrolling(opened):
    for width in (375, 700, 1280):
        tab = opened(make_network_page(load_network("alarm")), width=width)
        find_variable(tab, "VENTLUNG")
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
    short = tab.locator("#panel .cpt td.p").all()
    assert {round(cell.bounding_box()["height"]) for cell in short} == {
        round(short[0].bounding_box()["height"])
    }  # no number is broken


# -- a phone


def is_in_view(tab, selector, height=667):
    box = tab.query_selector(selector).bounding_box()
    return box["y"] >= -1 and box["y"] + min(box["height"], 60) <= height


def test_the_details_of_a_tapped_variable_scroll_into_view(opened):
    tab = opened(make_network_page(load_network("asia")), **PHONE)
    for name in ("either", "xray"):
        tab.tap(f'.node[aria-label="{name}"]')
        assert tab.inner_text("#panel h2") == name
        assert is_in_view(tab, "#panel h2")
        assert tab.evaluate("scrollY") > 0
    tab.tap("#panel .name >> text=either")  # from the panel: its new content stays in view
    assert tab.inner_text("#panel h2") == "either"
    assert is_in_view(tab, "#panel h2")
    tab.tap("#panel .around")
    assert is_in_view(tab, "#graph")  # the neighbourhood is drawn there
    tab.tap("#panel .close")
    assert is_in_view(tab, "#graph")
    tab.tap("#arcs tbody .name >> nth=0")  # from a table below the graph
    assert is_in_view(tab, "#panel h2")


def test_on_a_desktop_the_page_does_not_scroll(opened):
    tab = opened(make_network_page(load_network("asia")), width=1280, height=800)
    tab.click('.node[aria-label="either"]')
    assert tab.evaluate("scrollY") == 0
    tab.click("#panel .around")
    assert tab.evaluate("scrollY") == 0


def test_all_parent_configurations_are_named(opened):
    """The rows of the table are in the order of the network."""
    network = load_network("asia")
    tab = opened(make_network_page(network))
    find_variable(tab, "dysp")
    states = [network.variable(parent).states for parent in network.parents("dysp")]
    assert [tuple(row[:2]) for row in read_table(tab)] == list(product(*states))
