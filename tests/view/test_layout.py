"""Layouts: parents above children, no overlaps, few crossings."""

import random
from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from coevo.bundled import load_network
from coevo.view.picture.labels import (
    clean_text,
    estimate_text_width,
    make_labels,
    shorten_name,
    wrap_name,
)
from coevo.view.picture.layering import LayeredGraph, assign_layers, count_crossings, order_layers
from coevo.view.picture.layout import lay_out
from coevo.view.picture.routing import (
    DUMMY_GAP,
    GAP,
    NODE_HEIGHT,
    TIGHT_LAYER_STEP,
    WEIGHTS,
    compute_layer_heights,
    place_nodes,
)
from helpers.hash_seeds import collect_outputs

NETWORKS = ["asia", "sachs", "alarm", "hailfinder", "hepar2", "win95pts", "andes"]


def random_arcs(seed, n, n_arcs):
    """Return a connected DAG of n nodes whose numbers are not in topological order."""
    chance = random.Random(f"{seed} {n} {n_arcs}")
    order = list(range(n))
    chance.shuffle(order)
    arcs = {(order[chance.randrange(i)], order[i]) for i in range(1, n)}
    pairs = [pair for pair in combinations(order, 2) if pair not in arcs]
    arcs.update(chance.sample(pairs, min(len(pairs), n_arcs)))
    return sorted(arcs)


def list_points(curve, n=30):
    """Return points of a curve of cubic Bezier segments."""
    t = np.linspace(0, 1, n)[:, None]
    weights = np.hstack([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3])
    return np.vstack([weights @ np.array(curve[i : i + 4]) for i in range(0, len(curve) - 1, 3)])


def find_touched(layout):
    """Return the arcs that touch a box of another variable, with that variable."""
    names = list(layout.boxes)
    boxes = np.array([(b.x, b.y, b.width, b.height) for b in layout.boxes.values()])
    touched = []
    for arc, curve in layout.curves.items():
        points = list_points(curve)[:, None]
        inside = (np.abs(points - boxes[:, :2]) < boxes[:, 2:] / 2 + 1).all(axis=2).any(axis=0)
        touched += [(*arc, name) for name, hit in zip(names, inside, strict=True) if hit]
    return [(one, two, name) for one, two, name in touched if name not in (one, two)]


def check(layout, nodes, arcs):
    """Check the properties of every layout."""
    assert sorted(layout.boxes) == sorted(nodes)
    assert sorted(layout.curves) == sorted(arcs)
    boxes = sorted(layout.boxes.values(), key=lambda box: (box.y, box.x))
    for one, two in combinations(boxes, 2):
        beside = two.x - two.width / 2 >= one.x + one.width / 2 or (
            one.x - one.width / 2 >= two.x + two.width / 2
        )
        assert beside or two.y - one.y >= (one.height + two.height) / 2
    for box in boxes:
        assert box.width / 2 - 1e-9 <= box.x <= layout.width - box.width / 2 + 1e-9
        assert box.height / 2 <= box.y <= layout.height - box.height / 2 + 1e-9
    for (parent, child), curve in layout.curves.items():
        upper, lower = layout.boxes[parent], layout.boxes[child]
        assert len(curve) % 3 == 1
        assert all(one[1] < two[1] for one, two in pairwise(curve))  # never upwards
        assert curve[0][1] == upper.y + upper.height / 2 < lower.y - lower.height / 2
        assert curve[-1][1] == lower.y - lower.height / 2
        assert abs(curve[0][0] - upper.x) <= upper.width / 2
        assert abs(curve[-1][0] - lower.x) <= lower.width / 2
    assert find_touched(layout) == []


@pytest.mark.parametrize("name", NETWORKS)
def test_published_networks(name):
    dag = load_network(name).dag
    layout = lay_out(dag.nodes, dag.arcs)
    check(layout, dag.nodes, dag.arcs)
    nodes, arcs = list(dag.nodes), list(dag.arcs)
    random.Random(name).shuffle(nodes)
    random.Random(name).shuffle(arcs)
    assert lay_out(nodes, arcs) == layout


def test_the_largest_network():
    dag = load_network("munin").dag
    layout = lay_out(dag.nodes, dag.arcs)
    assert len(layout.boxes) == 1041
    assert len(layout.curves) == 1397
    assert layout.width < 6 * layout.height  # wide layers are split
    assert all(one[1] < two[1] for curve in layout.curves.values() for one, two in pairwise(curve))


@pytest.mark.parametrize("n_arcs", [0, 3, 12])
@pytest.mark.parametrize("n", [2, 5, 9, 30])
def test_random_graphs(n, n_arcs, seed):
    arcs = [(f"v{a}", f"v{b}") for a, b in random_arcs(seed, n, n_arcs)]
    nodes = [f"v{i}" for i in range(n)]
    check(lay_out(nodes, arcs), nodes, arcs)


@pytest.mark.parametrize("n", [3, 12, 30])
def test_long_names_have_two_lines(n, seed):
    chance = random.Random(f"{seed} {n}")
    words = ["mean", "of_the", "worstCase", "radius", "error", "x" * 20]
    nodes = [f"{' '.join(chance.choices(words, k=chance.randrange(8)))} {i}" for i in range(n)]
    arcs = [(nodes[a], nodes[b]) for a, b in random_arcs(seed, n, n)]
    layout = lay_out(nodes, arcs, max_lines=2)
    check(layout, nodes, arcs)
    assert {len(box.lines) for box in layout.boxes.values()} <= {1, 2}
    alone = lay_out(nodes, [], max_lines=2)
    check(alone, nodes, [])


@pytest.mark.parametrize("n", [3, 12, 30])
def test_boxes_of_several_sizes(n, seed):
    chance = random.Random(f"{seed} {n}")
    nodes = [f"v{i}" for i in range(n)]
    arcs = [(nodes[a], nodes[b]) for a, b in random_arcs(seed, n, n)]
    sizes = {node: (chance.randrange(20, 200), chance.randrange(120)) for node in nodes[1:]}
    layout = lay_out(nodes, arcs, sizes=sizes)
    check(layout, nodes, arcs)
    for node, (width, extra) in sizes.items():
        assert layout.boxes[node].width >= width
        assert layout.boxes[node].height == NODE_HEIGHT + extra
    assert layout.boxes["v0"].height == NODE_HEIGHT


def test_components_and_variables_without_arcs():
    nodes = [*"abcdefgh", *(f"alone {i}" for i in range(40))]
    arcs = [("a", "b"), ("b", "c"), ("a", "c"), ("d", "e"), ("f", "g"), ("f", "h")]
    layout = lay_out(nodes, arcs)
    check(layout, nodes, arcs)
    joined = max(layout.boxes[name].y for name in "abcdefgh")
    alone = [layout.boxes[f"alone {i}"] for i in range(40)]
    assert min(box.y for box in alone) > joined
    assert len({box.y for box in alone}) < 12  # a block, not a line
    assert len({box.x for box in alone}) < 12
    assert layout.width < 3 * layout.height


def test_variables_without_arcs_stand_beside_a_high_drawing():
    names = [f"v{i:02d}" for i in range(14)]
    arcs = list(pairwise(names))
    layout = lay_out([*names, *"xyz"], arcs)
    check(layout, [*names, *"xyz"], arcs)
    assert layout.height == lay_out(names, arcs).height
    assert min(layout.boxes[name].x for name in "xyz") > layout.boxes["v00"].x


@pytest.mark.parametrize("name", ["insurance", "water", "mildew", "alarm", "barley", "hailfinder"])
def test_text_can_be_read_on_a_desktop(name):
    """At 1280 x 800 the canvas is 1240 x 610; text of 12 units must have 9 pixels or more."""
    dag = load_network(name).dag
    layout = lay_out(dag.nodes, dag.arcs)
    check(layout, dag.nodes, dag.arcs)
    assert 12 * min(1240 / (layout.width + 56), 608 / (layout.height + 56)) >= 9


@pytest.mark.parametrize("max_height", [0, 300, 420, 1e9])
def test_layers_come_closer_in_a_drawing_that_is_too_high(max_height):
    graph = LayeredGraph([*range(6), 5], [*pairwise(range(6)), (4, 6)])
    centres = [0.0, 0.0, 500.0, 0.0, 0.0, 30.0, -30.0]
    boxes = [NODE_HEIGHT] * 7
    natural = compute_layer_heights(graph, centres, boxes)
    heights = compute_layer_heights(graph, centres, boxes, max_height)
    steps = [two - one for one, two in pairwise(heights)]
    assert min(steps) >= TIGHT_LAYER_STEP
    assert heights[0] == NODE_HEIGHT / 2
    if max_height == 0:
        assert steps == pytest.approx([TIGHT_LAYER_STEP] * 5)
    elif max_height < natural[-1]:
        assert heights[-1] + NODE_HEIGHT / 2 == pytest.approx(max_height)
    else:
        assert heights == natural


def test_an_empty_graph():
    assert lay_out([], []).boxes == {}
    layout = lay_out(["a"], [])
    check(layout, ["a"], [])


def test_a_star_has_several_layers():
    arcs = [("hub", f"leaf {i:02d}") for i in range(60)]
    nodes = ["hub", *(child for _, child in arcs)]
    layout = lay_out(nodes, arcs)
    check(layout, nodes, arcs)
    assert layout.width < 8 * layout.height


def test_a_layout_does_not_depend_on_the_hash_seed():
    code = (
        "from coevo.bundled import load_network; from coevo.view.picture.layout import lay_out;"
        "dag = load_network('sachs').dag; print(lay_out(dag.nodes, dag.arcs))"
    )
    assert len(collect_outputs(code)) == 1


# -- the steps


@pytest.mark.parametrize(("n", "n_arcs"), [(4, 2), (8, 6), (15, 10), (40, 40)])
def test_the_total_length_of_arcs_is_minimal(n, n_arcs, seed):
    """The minimum total length is a linear programme with integer vertices."""
    for turn in range(5):
        arcs = random_arcs(f"{seed} {turn}", n, n_arcs)
        layers = assign_layers([1.0] * n, arcs, 1e9)
        assert min(layers) == 0
        lengths = [layers[child] - layers[parent] for parent, child in arcs]
        assert min(lengths) >= 1
        cost, rows = np.zeros(n), np.zeros((len(arcs), n))
        for row, (parent, child) in zip(rows, arcs, strict=True):
            row[parent], row[child] = 1, -1
            cost -= row
        best = linprog(cost, A_ub=rows, b_ub=-np.ones(len(arcs)), bounds=(0, None))
        assert sum(lengths) == pytest.approx(best.fun)


@pytest.mark.parametrize(("n", "n_arcs"), [(6, 4), (12, 12), (25, 30)])
def test_crossings(n, n_arcs, seed):
    arcs = random_arcs(seed, n, n_arcs)
    graph = LayeredGraph(assign_layers([1.0] * n, arcs, 1e9), arcs)
    plain = [[i for i, at in enumerate(graph.layer) if at == k] for k in range(graph.n_layers)]
    rows = order_layers(graph)
    assert [sorted(row) for row in rows] == plain
    counts = []
    for each in (plain, rows):
        place = {node: i for row in each for i, node in enumerate(row)}
        segments = [
            (graph.layer[one], place[one], place[two])
            for one, downs in enumerate(graph.downs)
            for two in downs
        ]
        crossings = sum(
            a[0] == b[0] and (a[1] - b[1]) * (a[2] - b[2]) < 0 for a, b in combinations(segments, 2)
        )
        assert count_crossings(graph, each) == crossings
        counts.append(crossings)
    assert counts[1] <= counts[0]


def test_a_tree_has_no_crossings(seed):
    arcs = random_arcs(seed, 60, 0)
    graph = LayeredGraph(assign_layers([1.0] * 60, arcs, 1e9), arcs)
    assert count_crossings(graph, order_layers(graph)) == 0


def test_positions_are_optimal(seed):
    arcs = random_arcs(seed, 12, 6)
    graph = LayeredGraph(assign_layers([1.0] * 12, arcs, 1e9), arcs)
    rows = order_layers(graph)
    widths = [40.0 + 5 * i for i in range(12)] + [0.0] * (len(graph.layer) - 12)
    segments = [
        (one, two, WEIGHTS[(one >= 12) + (two >= 12)])
        for one, downs in enumerate(graph.downs)
        for two in downs
    ]
    steps = [
        (one, two, (widths[one] + widths[two]) / 2 + (GAP if max(one, two) < 12 else DUMMY_GAP))
        for row in rows
        for one, two in pairwise(row)
    ]

    def cost(places):
        return sum(weight * (places[one] - places[two]) ** 2 for one, two, weight in segments)

    found = np.array(place_nodes(graph, rows, widths))
    assert all(found[two] - found[one] >= least - 1e-6 for one, two, least in steps)
    limits = [
        {"type": "ineq", "fun": lambda x, a=a, b=b, least=least: x[b] - x[a] - least}
        for a, b, least in steps
    ]
    best = minimize(cost, found, constraints=limits, method="SLSQP", options={"maxiter": 500})
    assert cost(found) <= 1.02 * best.fun + 1


# -- labels


def test_labels():
    assert shorten_name("x" * 26, 26) == "x" * 26
    assert shorten_name("a" * 20 + "b" * 20, 11) == "aaaaa…bbbbb"
    assert len(shorten_name("long" * 30, 26)) == 26
    assert (
        estimate_text_width("漢字", 10)
        == 2 * estimate_text_width("漢", 10)
        > estimate_text_width("ab", 10)
    )
    assert estimate_text_width("e\u0301", 10) == estimate_text_width("e", 10)
    layout = lay_out(["x" * 500, "y"], [("y", "x" * 500)])
    assert layout.boxes["x" * 500].width < 250
    assert layout.boxes["y"].width == 44


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("", ("",)),
        ("worst symmetry", ("worst symmetry",)),
        ("worst fractal dimension", ("worst fractal", "dimension")),
        ("worst_fractal_dimension", ("worst_fractal_", "dimension")),
        ("WorstFractalDimension", ("WorstFractal", "Dimension")),
        ("x" * 26, ("x" * 26,)),
        ("x" * 30, ("x" * 15, "x" * 15)),
        ("x" * 60, ("x" * 26, "…" + "x" * 25)),
        (f"{'x' * 40} y {'z' * 40}", ("x" * 26, "…" + "z" * 25)),
        ("one two " * 12, ("one two one two one two", "…one two one two one two")),
    ],
)
def test_lines(name, lines):
    assert wrap_name(name, 26, 2) == lines
    assert all(len(line) <= 30 for line in lines)


def test_names_that_differ_in_the_middle():
    text = "In the last thirty days, how often did you feel {} during your work?"
    names = [text.format(word) for word in ("ill", "well", "very, very, very much ill")]
    labels = make_labels([*names, "short"], 26, 2)
    assert [lines[1] for lines in labels.values() if len(lines) == 2] == [
        "…ill during your work?",
        "…well during your work?",
        "…very, very, very much il…",
    ]
    (first, second, _) = make_labels(names, 26, 1).values()
    assert first != second
    assert make_labels(["\x00", "\x01"], 26, 2) == {"\x00": ("\ufffd",), "\x01": ("\ufffd",)}


def test_text_that_xml_cannot_hold():
    assert clean_text("a\tb\r\nc\u2028d") == "a b c d"
    assert clean_text("\x00\x1f\ud800\uffff") == "\ufffd" * 4
    assert clean_text("漢字 e\u0301 😀") == "漢字 e\u0301 😀"
