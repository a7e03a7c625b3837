"""Large graphs in a real browser: text that can be read, and the neighbourhood of a variable."""

from __future__ import annotations

import time
from itertools import combinations

import pytest

from coevo.bundled import load_network
from coevo.graph import DAG
from coevo.view.page import Page, make_network_page
from helpers.browser import find_variable

LIMIT = 30.0  # seconds; half a second on a quiet machine
DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 375, "height": 667, "has_touch": True, "is_mobile": True}
TEXT_HEIGHT = """() => {
  const matrix = document.querySelector(".node:not(.away) text").getScreenCTM();
  return 12 * Math.hypot(matrix.a, matrix.b);
}"""
BOXES = """() => Object.fromEntries([...document.querySelectorAll(".node:not(.away)")].map(node => {
  const box = node.querySelector("rect").getBoundingClientRect();
  return [node.getAttribute("aria-label"), [box.left, box.top, box.right, box.bottom]];
}))"""
TOUCHED = """() => {
  const boxes = [...document.querySelectorAll(".node:not(.away) rect")].map(
    rect => rect.getBoundingClientRect());
  return [...document.querySelectorAll(".arc[id]:not(.away)")].filter(path => {
    const matrix = path.getScreenCTM(), length = path.getTotalLength();
    return Array.from({ length: 60 }, (_, i) => (i + 0.5) / 60 * length).some(at => {
      const point = path.getPointAtLength(at).matrixTransform(matrix);
      return boxes.some(box => box.left + 1 < point.x && point.x < box.right - 1
        && box.top + 1 < point.y && point.y < box.bottom - 1);
    });
  }).map(path => path.id);
}"""
ENDS = """() => [...document.querySelectorAll(".arc[id]:not(.away)")].map(path => {
  const matrix = path.getScreenCTM(), length = path.getTotalLength();
  return [0, length].map(at => {
    const point = path.getPointAtLength(at).matrixTransform(matrix);
    return [point.x, point.y];
  });
})"""


def neighbourhood(dag, name, steps):
    """Return a variable and its Markov blanket, and their blankets, and so on."""
    members = {name}
    for _ in range(steps):
        members |= {other for each in members for other in dag.markov_blanket(each)}
    return members


def is_inside(point, box, margin=1.5):
    (x, y), (left, top, right, bottom) = point, box
    return left - margin <= x <= right + margin and top - margin <= y <= bottom + margin


def check_drawing(tab, dag, members):
    """Check that only these variables are drawn, apart, with their arcs from top to bottom."""
    boxes = tab.evaluate(BOXES)
    assert set(boxes) == set(members)
    for one, two in combinations(boxes.values(), 2):
        is_apart = one[2] <= two[0] or two[2] <= one[0] or one[3] <= two[1] or two[3] <= one[1]
        assert is_apart
    arcs = {(a, b) for a, b in dag.arcs if a in members and b in members}
    drawn = set()
    for start, end in tab.evaluate(ENDS):
        (parent,) = [name for name, box in boxes.items() if is_inside(start, box)]
        (child,) = [name for name, box in boxes.items() if is_inside(end, box)]
        assert boxes[parent][3] <= boxes[child][1]
        drawn.add((parent, child))
    assert drawn == arcs
    assert tab.evaluate(TOUCHED) == []  # no arc passes behind a box


@pytest.mark.parametrize("name", ["insurance", "water", "mildew", "alarm", "barley"])
def test_text_can_be_read_from_the_start(opened, name):
    """Networks of 27 to 48 variables: all of it is shown."""
    tab = opened(make_network_page(load_network(name)), **DESKTOP)
    assert tab.evaluate(TEXT_HEIGHT) >= 9
    stage = tab.query_selector("#graph").bounding_box()
    for left, top, right, bottom in tab.evaluate(BOXES).values():
        assert stage["x"] <= left < right <= stage["x"] + stage["width"]
        assert stage["y"] <= top < bottom <= stage["y"] + stage["height"]
    assert not tab.is_visible("#shown")


@pytest.mark.parametrize("options", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("name", ["alarm", "andes"])
def test_a_large_graph_starts_with_a_part_that_can_be_read(opened, name, options):
    tab = opened(make_network_page(load_network(name)), **options)
    assert tab.evaluate(TEXT_HEIGHT) >= 9
    if (name, options) != ("alarm", DESKTOP):
        assert tab.inner_text("#shown") == (
            "A part of the graph is shown. Drag it to move; Fit shows all of it."
        )
        tab.emulate_media(media="print")
        assert not tab.is_visible("#shown")  # paper shows all of it
        tab.emulate_media(media="screen")
        assert tab.is_visible("#shown")
        tab.click("#zoom-fit")
        assert not tab.is_visible("#shown")


@pytest.mark.parametrize("options", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("arcs", [[], [("a", "b")]])
def test_two_variables(opened, arcs, options):
    tab = opened(Page(DAG("ab", arcs)), **options)
    assert tab.evaluate(TEXT_HEIGHT) >= 9
    check_drawing(tab, DAG("ab", arcs), "ab")
    find_variable(tab, "b")
    tab.click("#depths button:nth-child(2)")
    check_drawing(tab, DAG("ab", arcs), "ab" if arcs else "b")
    opened(Page(DAG([])), **options)  # no variables, no errors


def test_a_thousand_variables(opened):
    tab = opened(Page(load_network("munin").dag), **DESKTOP)
    milliseconds = tab.evaluate("performance.getEntriesByType('navigation')[0].domComplete")
    assert 0 < milliseconds < 1000 * LIMIT  # about 500
    assert tab.evaluate(TEXT_HEIGHT) >= 9
    dag = load_network("munin").dag
    name = "L_ULN_AMPR_E"
    find_variable(tab, name)
    for steps in (1, 2):
        begin = time.perf_counter()
        tab.click(f"#depths button:nth-child({steps + 1})")
        assert time.perf_counter() - begin < LIMIT
        check_drawing(tab, dag, neighbourhood(dag, name, steps))


def test_a_neighbourhood(opened):
    dag = load_network("alarm").dag
    tab = opened(make_network_page(load_network("alarm")), **DESKTOP)
    whole = tab.evaluate(BOXES)
    arcs = tab.evaluate(ENDS)
    find_variable(tab, "VENTLUNG")
    for steps, text in ((1, "1 step"), (2, "2 steps"), (3, "3 steps")):
        tab.click(f"#depths button:nth-child({steps + 1})")
        members = neighbourhood(dag, "VENTLUNG", steps)
        check_drawing(tab, dag, members)
        assert tab.evaluate(TEXT_HEIGHT) >= 9
        assert tab.inner_text("#shown") == (
            f"VENTLUNG and its neighbourhood, {text}: {len(members)} of 37 variables."
        )
        assert tab.locator('#depths [aria-pressed="true"]').inner_text() == text
    tab.click("#depths button:nth-child(2)")
    tab.click('.node[aria-label="EXPCO2"]')  # a neighbour becomes the centre
    check_drawing(tab, dag, neighbourhood(dag, "EXPCO2", 1))
    tab.mouse.click(60, 700)  # beside the graph: nothing changes
    check_drawing(tab, dag, neighbourhood(dag, "EXPCO2", 1))
    assert tab.inner_text("#panel h2") == "EXPCO2"
    tab.click("#panel .name >> text=ARTCO2")
    check_drawing(tab, dag, neighbourhood(dag, "ARTCO2", 1))
    find_variable(tab, "HR")
    check_drawing(tab, dag, neighbourhood(dag, "HR", 1))
    tab.click("#panel .around")
    assert set(tab.evaluate(BOXES)) == set(whole)
    assert tab.inner_text("#panel .around") == "Show its neighbourhood"
    tab.click("#panel .close")
    assert tab.evaluate(BOXES) == {name: pytest.approx(box, abs=0.5) for name, box in whole.items()}
    assert tab.evaluate(ENDS) == [[pytest.approx(end, abs=0.5) for end in arc] for arc in arcs]
    assert not tab.is_visible("#shown")


def test_a_neighbourhood_by_keyboard(opened):
    dag = load_network("alarm").dag
    tab = opened(make_network_page(load_network("alarm")), **DESKTOP)
    tab.focus('.node[aria-label="VENTLUNG"]')
    tab.keyboard.press("1")
    check_drawing(tab, dag, neighbourhood(dag, "VENTLUNG", 1))
    assert tab.inner_text("#panel h2") == "VENTLUNG"
    tab.keyboard.press("ArrowUp")  # from variable to variable, among those that are shown
    focused = tab.evaluate("document.activeElement.getAttribute('aria-label')")
    assert focused in dag.parents("VENTLUNG")
    tab.keyboard.press("2")
    check_drawing(tab, dag, neighbourhood(dag, focused, 2))
    tab.keyboard.press("Escape")
    assert set(tab.evaluate(BOXES)) == set(dag.nodes)
    assert tab.is_visible("#panel")
    tab.keyboard.press("Escape")
    assert not tab.is_visible("#panel")
    tab.focus("#depths button:nth-child(3)")
    tab.keyboard.press("Enter")  # without a variable: the search field asks for one
    assert tab.inner_text("#shown") == "Choose a variable: click on it, or search for it."
    assert tab.evaluate("document.activeElement.id") == "search"
    tab.keyboard.type("hrekg")
    tab.keyboard.press("Enter")
    check_drawing(tab, dag, neighbourhood(dag, "HREKG", 2))


def test_every_control_is_reached_by_the_tab_key(opened):
    tab = opened(make_network_page(load_network("asia")), **DESKTOP)
    find_variable(tab, "tub")
    tab.evaluate("document.activeElement.blur()")
    reached = set()
    for _ in range(60):
        tab.keyboard.press("Tab")
        active = "e => e.id || e.className.baseVal || e.className || e.textContent"
        reached.add(tab.evaluate(f"({active})(document.activeElement)"))
    assert {"search", "view-dag", "view-cpdag", "1 step", "2 steps", "3 steps", "All"} <= {
        name.strip() for name in reached
    }
    assert {"zoom-in", "zoom-fit", "graph", "around", "close", "name", "wide"} <= reached
    assert any(name.startswith("n") and name[1:].isdigit() for name in reached)


def test_a_neighbourhood_of_a_comparison(opened):
    """Variables that only the other network joins are neighbours too."""
    page = Page(DAG("abcd", [("a", "b")]), other=DAG("abcd", [("b", "a"), ("c", "b")]))
    tab = opened(page, **DESKTOP)
    find_variable(tab, "b")
    tab.click("#depths button:nth-child(2)")
    assert set(tab.evaluate(BOXES)) == set("abc")
    assert tab.locator(".arc.missing:not(.away)[id]").count() == 1
    boxes, ends = tab.evaluate(BOXES), tab.evaluate(ENDS)
    assert is_inside(ends[1][0], boxes["c"])
    assert is_inside(ends[1][1], boxes["b"])


def test_a_neighbourhood_in_the_dark_and_on_paper(opened):
    tab = opened(make_network_page(load_network("alarm")), color_scheme="dark", **DESKTOP)
    find_variable(tab, "CATECHOL")
    tab.click("#depths button:nth-child(2)")
    colour = "e => getComputedStyle(e).fill"
    text = tab.eval_on_selector(".node:not(.chosen):not(.away) text", colour)
    box = tab.eval_on_selector(".node:not(.chosen):not(.away) rect", colour)
    assert (text, box) == ("rgb(230, 236, 245)", "rgb(34, 44, 58)")
    tab.emulate_media(media="print")
    assert not tab.is_visible("#depths")
    assert tab.is_visible("#shown")  # it says which part is printed
    assert set(tab.evaluate(BOXES)) == neighbourhood(load_network("alarm").dag, "CATECHOL", 1)
    assert tab.pdf(prefer_css_page_size=True).startswith(b"%PDF")
