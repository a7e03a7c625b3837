"""Pictures: every variable and arc is there, for any names, and the same bytes each time."""

from __future__ import annotations

import os
import random
import xml.etree.ElementTree as ET
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coevo.bundled import load_network
from coevo.errors import FileError, ParameterError
from coevo.graph import CPDAG, DAG, compare
from coevo.view.picture import Link, draw_graph, find_picture_format
from coevo.view.picture.labels import clean_text
from coevo.view.picture.scene import COLOURS, MAX_STROKE, MIN_STROKE, _order_nodes
from helpers.errors import refusal
from helpers.hash_seeds import collect_outputs
from helpers.nasty_networks import SETTINGS, networks
from helpers.random_networks import random_network

SVG = "{http://www.w3.org/2000/svg}"
NASTY = ["</svg><script>alert(1)</script>", "a\"b'c<&>", "漢字 \u2028 ü", "\x00\ud800", "x" * 300]


def read(picture):
    """Return the groups of an SVG picture by what they stand for, after checking the file."""
    root = ET.fromstring(picture.svg)
    assert root.tag == f"{SVG}svg"
    assert {element.tag for element in root.iter()} <= {
        f"{SVG}{tag}" for tag in ("svg", "g", "title", "rect", "path", "polygon", "text")
    }
    for element in root.iter():
        assert not {"id", "class", "style", "href"} & set(element.attrib)
        assert not [name for name in element.attrib if name.startswith("on")]
    width, height = float(root.get("width")), float(root.get("height"))
    assert root.get("viewBox") == f"0 0 {width:g} {height:g}"
    assert (width, height) == (picture.width, picture.height)
    nodes, arcs, edges = {}, {}, {}
    for group in root.iter(f"{SVG}g"):
        if "data-node" in group.attrib:
            nodes[group.get("data-node")] = group
        elif "data-from" in group.attrib:
            arcs[group.get("data-from"), group.get("data-to")] = group
        elif "data-between" in group.attrib:
            edges[group.get("data-between"), group.get("data-and")] = group
    return nodes, arcs, edges


def box_of(group):
    rect = group.find(f"{SVG}rect")
    return [float(rect.get(name)) for name in ("x", "y", "width", "height")]


def check_boxes(picture, nodes):
    """Check that all boxes are inside the picture, and that no two overlap."""
    boxes = [box_of(group) for group in nodes.values()]
    for x, y, width, height in boxes:
        assert 0 < x < x + width < picture.width
        assert 0 < y < y + height < picture.height
    for (x1, y1, w1, h1), (x2, y2, w2, h2) in combinations(boxes, 2):
        assert x1 + w1 <= x2 or x2 + w2 <= x1 or y1 + h1 <= y2 or y2 + h2 <= y1


def read_start(group):
    """Return the first point of the line of an arc."""
    first, _ = group.find(f"{SVG}path").get("d").removeprefix("M").split("C")
    return [float(number) for number in first.split()]


def touches(point, box, slack=0.2):
    x, y, width, height = box
    inside_x = x - slack <= point[0] <= x + width + slack
    return inside_x and (abs(point[1] - y) <= slack or abs(point[1] - y - height) <= slack)


@pytest.mark.parametrize("name", ["asia", "alarm", "hepar2", "win95pts"])
def test_published_networks(name):
    dag = load_network(name).dag
    picture = dag.plot()
    nodes, arcs, edges = read(picture)
    assert sorted(nodes) == sorted(dag.nodes)
    assert sorted(arcs) == list(dag.arcs)
    assert edges == {}
    check_boxes(picture, nodes)
    for (parent, child), group in arcs.items():
        assert touches(read_start(group), box_of(nodes[parent]))
        tip = group.find(f"{SVG}polygon").get("points").split()[0].split(",")
        assert touches([float(x) for x in tip], box_of(nodes[child]))
        assert box_of(nodes[parent])[1] < box_of(nodes[child])[1]  # parents are above children
        assert group.find(f"{SVG}title").text == f"{parent} → {child}"
    for node, group in nodes.items():
        assert group.find(f"{SVG}title").text == node
        assert "".join(text.text for text in group.iter(f"{SVG}text")) == node
    shuffled = list(dag.nodes)
    random.Random(name).shuffle(shuffled)
    assert DAG(shuffled, reversed(dag.arcs)).plot().svg == picture.svg


def test_a_class_has_edges_without_heads():
    cpdag = CPDAG(load_network("asia").dag)
    picture = cpdag.plot()
    nodes, arcs, edges = read(picture)
    assert len(nodes) == 8
    assert sorted(arcs) == list(cpdag.arcs)
    assert sorted(edges) == list(cpdag.edges)
    assert all(group.find(f"{SVG}polygon") is not None for group in arcs.values())
    assert all(group.find(f"{SVG}polygon") is None for group in edges.values())
    assert edges["asia", "tub"].find(f"{SVG}title").text == "asia — tub"
    assert repr(picture) == (
        f"<Picture: 8 variables, 5 arcs, 3 edges, {picture.width} x {picture.height}>"
    )


def test_the_layout_of_a_class_is_a_member_of_it(seed):
    for turn in range(20):
        dag = random_network(seed * 100 + turn, n_variables=9).dag
        cpdag = CPDAG(dag)
        links = [Link(*arc) for arc in cpdag.arcs]
        links += [Link(*edge, is_directed=False) for edge in cpdag.edges]
        place = {name: i for i, name in enumerate(_order_nodes(dag.nodes, links))}
        laid_out = [
            (a, b) if place[a] < place[b] else (b, a) for a, b in (*cpdag.arcs, *cpdag.edges)
        ]
        assert set(cpdag.arcs) <= set(laid_out)
        assert CPDAG(DAG(dag.nodes, laid_out)) == cpdag


def test_equal_classes_have_equal_pictures():
    one = CPDAG(DAG("abcd", [("a", "b"), ("b", "c"), ("c", "d")]))
    two = CPDAG(DAG("dcba", [("d", "c"), ("c", "b"), ("b", "a")]))
    assert one.plot().svg == two.plot().svg


def test_a_comparison():
    true = DAG("abcde", [("a", "b"), ("b", "c"), ("c", "d")])
    found = DAG("edcba", [("a", "b"), ("c", "b"), ("a", "d")])
    picture = compare(found, true).plot()
    nodes, arcs, _ = read(picture)
    assert sorted(nodes) == [*"abcde"]
    check_boxes(picture, nodes)
    looks = {
        arc: (group.find(f"{SVG}path").get("stroke"), group.find(f"{SVG}title").text)
        for arc, group in arcs.items()
    }
    assert looks == {
        ("a", "b"): (COLOURS["same"], "a → b: correct"),
        ("c", "b"): (COLOURS["reversed"], "c → b: reversed"),
        ("a", "d"): (COLOURS["added"], "a → d: added"),
        ("c", "d"): (COLOURS["missing"], "c → d: missing"),
    }
    dashed = {arc for arc, g in arcs.items() if g.find(f"{SVG}path").get("stroke-dasharray")}
    assert dashed == {("c", "b"), ("c", "d")}
    for text in ("1 correct", "1 reversed", "1 added", "1 missing"):
        assert f">{text}</text>" in picture.svg
    # The missing arcs b -> a and d -> c would close a cycle with the learned ones.
    turned = compare(DAG("abcd", [("a", "c")]), DAG("abcd", [("c", "b"), ("b", "a")]))
    assert sorted(read(turned.plot())[1]) == [("a", "c"), ("b", "a"), ("c", "b")]
    assert compare(DAG("ab"), DAG("ab")).plot().about == "2 variables, 0 arcs"


def test_line_widths_show_values():
    dag = DAG("abcd", [("a", "b"), ("b", "c"), ("c", "d")])
    values = {("a", "b"): 10, ("b", "c"): 5.0}
    _, arcs, _ = read(dag.plot(values))
    widths = {arc: float(g.find(f"{SVG}path").get("stroke-width")) for arc, g in arcs.items()}
    middle = (MIN_STROKE + MAX_STROKE) / 2
    assert widths == {("a", "b"): MAX_STROKE, ("b", "c"): middle, ("c", "d"): MIN_STROKE}
    titles = [group.find(f"{SVG}title").text for group in arcs.values()]
    assert titles == ["a → b: 10", "b → c: 5", "c → d"]
    assert dag.plot({}).svg == dag.plot({("a", "b"): -1.0}).svg.replace("a → b: -1", "a → b")
    _, _, edges = read(CPDAG(dag).plot({("b", "a"): 2.0, ("b", "c"): 1.0}))
    assert edges["a", "b"].find(f"{SVG}path").get("stroke-width") == f"{MAX_STROKE:g}"


def test_refused_values():
    dag = DAG("ab", [("a", "b")])
    assert refusal(ParameterError, dag.plot, {("b", "a"): 1.0}) == (
        "'arc_values' of plot has ('b', 'a'), which is not an arc."
    )
    assert refusal(ParameterError, dag.plot, {("a", "b"): float("nan")}) == (
        "'arc_values' of plot must have finite numbers; ('a', 'b') has nan."
    )
    assert refusal(ParameterError, dag.plot, [1.0]) == (
        "'arc_values' of plot must be a mapping of (parent, child) to number; got [1.0]."
    )


def test_names_that_could_break_the_file():
    dag = DAG(NASTY, [(NASTY[0], NASTY[1]), (NASTY[2], NASTY[3]), (NASTY[2], NASTY[4])])
    picture = dag.plot()
    nodes, arcs, _ = read(picture)
    assert sorted(nodes) == sorted(map(clean_text, NASTY))
    assert sorted(arcs) == sorted((clean_text(a), clean_text(b)) for a, b in dag.arcs)
    check_boxes(picture, nodes)
    assert "<script" not in picture.svg


@SETTINGS
@given(networks(), st.booleans())
def test_any_names(network, is_class):
    graph = CPDAG(network.dag) if is_class else network
    picture = graph.plot()
    nodes, arcs, edges = read(picture)
    assert set(nodes) == {clean_text(name) for name in network.dag.nodes}
    pairs = {tuple(sorted(map(clean_text, arc))) for arc in network.dag.arcs}
    assert {tuple(sorted(pair)) for pair in (*arcs, *edges)} == pairs
    check_boxes(picture, nodes)
    assert picture.svg.encode()
    picture._repr_html_().encode()


def test_no_variables():
    picture = DAG([]).plot()
    assert read(picture) == ({}, {}, {})
    assert repr(picture) == "<Picture: 0 variables, 0 arcs, 32 x 32>"


def test_the_picture_of_a_network_names_the_states():
    nodes, _, _ = read(load_network("alarm").plot())
    assert nodes["HR"].find(f"{SVG}title").text == "HR: LOW, NORMAL, HIGH"


def test_a_picture_does_not_depend_on_the_hash_seed():
    code = (
        "from coevo.bundled import load_network; from coevo.graph import CPDAG;"
        "print(CPDAG(load_network('sachs').dag).plot().svg)"
    )
    assert len(collect_outputs(code)) == 1


# -- files


def test_saving(tmp_path):
    picture = DAG("ab", [("a", "b")]).plot()
    picture.save(tmp_path / "a.SVG")
    assert (tmp_path / "a.SVG").read_text(encoding="utf-8") == picture.svg
    picture.save(str(tmp_path / "b"), "svg")
    assert (tmp_path / "b").read_bytes() == picture.to_bytes("svg")
    assert refusal(ParameterError, picture.save, "a.gif") == (
        "The extension of 'a.gif' names no format of pictures. Use one of .svg, .png, .pdf."
    )
    assert refusal(ParameterError, picture.save, "a.svg", "gif") == (
        "'format_name' of Picture must be one of 'pdf', 'png', 'svg'; got 'gif'."
    )
    assert refusal(FileError, picture.save, tmp_path / "no" / "a.svg") == (
        f"'{tmp_path}/no/a.svg' cannot be written: there is no folder '{tmp_path}/no'."
    )
    assert sorted(os.listdir(tmp_path)) == ["a.SVG", "b"]


def test_extensions():
    found = [find_picture_format(name) for name in ("a.svg", "b.PDF", "c/d.png", "svg", "a.svg.gz")]
    assert found == ["svg", "pdf", "png", None, None]


def test_a_link_of_each_kind():
    picture = draw_graph("ab", [Link("a", "b", share=7.0)], {"a": "root"}, {"added": "<new>"})
    assert ">&lt;new&gt;</text>" in picture.svg
    nodes, arcs, _ = read(picture)
    assert nodes["a"].find(f"{SVG}title").text == "a: root"
    assert arcs["a", "b"].find(f"{SVG}path").get("stroke-width") == f"{MAX_STROKE:g}"


def test_the_picture_of_the_guide_is_up_to_date():
    path = Path(__file__).resolve().parents[2] / "docs" / "figures" / "asia.svg"
    assert path.read_text(encoding="utf-8") == load_network("asia").plot().svg
