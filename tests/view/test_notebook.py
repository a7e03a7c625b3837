"""What objects show in a notebook: a graph or a table, escaped, without scripts and requests."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

import coevo
from coevo.bundled import load_network
from coevo.data import Variable
from coevo.errors import ParameterError
from coevo.graph import CPDAG, DAG, compare
from coevo.learning.result_picture import draw_result
from coevo.network import Distribution
from coevo.view.picture.notebook import MAX_DRAWN, Bar, Table, render_table
from helpers.errors import refusal
from helpers.page_reader import PageReader
from helpers.shown import list_arc_facts, list_shown, make_bootstrap, nasty_network

ASIA = load_network("asia")


class Reader(PageReader):
    void = frozenset()

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


def read(html):
    """Return a strict reader of what an object shows, after checking that it is harmless."""
    reader = Reader(html)
    allowed = "div svg g title rect path polygon text table thead tbody tr th td details summary"
    assert {tag for tag, _ in reader.tags} <= set(allowed.split())
    for _, attributes in reader.tags:
        assert not {"id", "class", "src", "href", "srcdoc"} & set(attributes)
        assert not [name for name in attributes if name.startswith("on")]
    assert "url(" not in html
    assert re.findall(r"https?://[^\"]*", html) in (
        [],
        ["http://www.w3.org/2000/svg"] * html.count("<svg"),
    )
    return reader


def test_graphs_are_drawn():
    for html in list_shown(ASIA):
        reader = read(html)
        assert html.count("<svg") == 1
        assert {*ASIA.dag.nodes} <= set(reader.texts)


def test_captions():
    scorer = coevo.FamilyScorer(coevo.sample(ASIA, 200, random_state=1), "bic")
    search = coevo.run_search("hill_climb", scorer, random_state=1)
    captions = [
        (ASIA, "BayesianNetwork 'asia': 8 variables, 8 arcs, 18 parameters"),
        (ASIA.dag, "DAG: 8 variables, 8 arcs"),
        (CPDAG(ASIA.dag), "CPDAG: 8 variables, 5 arcs, 3 edges (data cannot direct an edge)"),
        (
            compare(DAG(ASIA.dag.nodes, [("asia", "tub"), ("lung", "smoke")]), ASIA.dag),
            "Comparison: SHD 7, 6 between the CPDAGs; precision and recall of arcs 0.50 and 0.12, "
            "of edges 1.00 and 0.25",
        ),
        (
            make_bootstrap(ASIA.dag),
            "BootstrapResult: 8 of 8 arcs above 0.5, 20 bootstrap samples",
        ),
        (search, repr(search)[1:-1]),
    ]
    for item, caption in captions:
        assert read(item._repr_html_()).texts[0] == caption


def test_names_cannot_break_out():
    for html in list_shown(nasty_network()):
        reader = read(html)  # no script, no attribute, no reference
        assert "<script" not in html
        assert "<script>alert(1)</script>" in reader.text


def test_large_graphs_are_tables():
    names = [f"v{i:03}" for i in range(MAX_DRAWN + 1)]
    dag = DAG(names, [(names[0], name) for name in names[1:]])
    for item in (dag, CPDAG(dag), make_bootstrap(dag)):
        reader = read(item._repr_html_())
        assert (
            "A graph of more than 150 variables is not drawn here. plot() draws it." in reader.text
        )
        assert reader.text.count("and 120 more rows") == 1
        assert not [tag for tag, _ in reader.tags if tag == "svg"]
    smaller = DAG(names[1:], [(names[1], name) for name in names[2:]])
    assert "<svg" in smaller._repr_html_()


def test_a_table_is_cut():
    html = render_table(Table(["<a>", "b"], [(i, "x" * 500) for i in range(40)], numbers={0}))
    reader = read(html)
    assert reader.texts[:2] == ["<a>", "b"]
    assert reader.texts[-1] == "and 10 more rows"
    assert reader.texts[3] == "x" * 199 + "…"
    sides = [a["style"].rsplit(":", 1)[1] for tag, a in reader.tags if tag == "td"]
    assert sides == ["right", "left"] * 30
    assert "more" not in read(render_table(Table(["a"], [["b"]]))).text
    assert "width:60px" in render_table(Table(["a"], [[Bar(0.5)]]))


def test_a_distribution():
    found = ASIA.query(["lung", "bronc"])
    reader = read(found._repr_html_())
    assert reader.texts[:5] == [
        "Distribution of lung, bronc",
        "lung",
        "bronc",
        "probability",
        "yes",
    ]
    cells = reader.texts[4:]
    assert cells[:3] == ["yes", "yes", f"{found['yes', 'yes']:.6f}"]
    states = tuple(f"s{i}" for i in range(100))
    wide = Distribution((Variable("<v>", states),), np.full(100, 0.01))
    reader = read(wide._repr_html_())
    assert reader.texts[0] == "Distribution of <v>, the first 30 of 100 probabilities"
    assert [text for text in reader.texts if text.startswith("s")] == list(states[:30])


def test_a_learn_result():
    table = coevo.sample(ASIA, 500, random_state=1)
    result = coevo.learn(table, method="hill_climb", random_state=1)
    reader = read(result._repr_html_())
    legend = (
        "An arc with an arrowhead is directed by the data or by the constraints; a line without "
        "one has no known direction. Wider lines have higher gains."
    )
    assert reader.texts[:2] == [repr(result)[1:-1], legend]
    for arc in result.as_dict()["arcs"]:
        assert f"{arc['gain']:.2f}" in reader.texts
        assert arc["says"] in reader.texts
    assert result.plot(cpdag=False).about == f"8 variables, {len(result.dag.arcs)} arcs"
    assert result.search.plot().about == result.dag.plot().about
    n_edges = len(result.cpdag.edges)
    assert n_edges
    assert result.plot().about.endswith(f", {n_edges} edge{'s' * (n_edges > 1)}")
    assert "data-between" not in result.plot(cpdag=False).svg
    first = result.as_dict()["arcs"][0]
    assert (
        f">{first['from']} → {first['to']}: gain {first['gain']:.2f} ({first['word']})"
        in result.plot(cpdag=False).svg
    )


def read_widths(picture):
    return [
        float(width) for width in re.findall(r'fill="none".*?stroke-width="(.*?)"', picture.svg)
    ]


def test_what_line_widths_show():
    arcs = list_arc_facts(DAG("abc", [("a", "b"), ("b", "c")]))
    arcs[0] |= {"gain": 100.0, "strength": 0.5}
    arcs[1] |= {"gain": 25.0, "strength": 1.0}
    assert read_widths(draw_result("abc", arcs, "gain", False)) == [4.0, 2.5]  # 1 + 3 * sqrt(1/4)
    assert read_widths(draw_result("abc", arcs, "strength", False)) == [2.5, 4.0]
    assert read_widths(draw_result("abc", arcs, "none", False)) == [1.4, 1.4]
    assert draw_result("abc", arcs, "gain", True).about == "3 variables, 1 arc, 1 edge"
    assert refusal(ParameterError, draw_result, "abc", arcs, "gains", False) == (
        "'widths' of plot must be one of 'gain', 'none', 'strength'; got 'gains'. "
        "Did you mean 'gain'?"
    )
    del arcs[0]["strength"]
    assert refusal(ParameterError, draw_result, "abc", arcs, "strength", False) == (
        "'widths' of plot is 'strength', but this result has no bootstrap. Call learn with "
        "bootstraps=100, or use widths='gain'."
    )


def test_a_bootstrap():
    dag = DAG("abc", [("a", "b"), ("b", "c")])
    picture = make_bootstrap(dag).plot()
    assert ">a → b: strength 1.00, direction 0.75<" in picture.svg
    picture = replace(make_bootstrap(dag), arcs=()).plot()
    assert picture.about == "3 variables, 0 arcs, 2 edges"  # no sample directs them
    assert replace(make_bootstrap(dag), arcs=()).plot(cpdag=False).about == "3 variables, 2 arcs"
    picture = make_bootstrap(dag).plot()
    assert read_widths(picture) == [4.0, 3.7]
