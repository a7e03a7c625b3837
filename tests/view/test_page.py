"""A page is one file that shows all given facts, for any names."""

import base64
import hashlib
import html as html_escaping
import json
import re

import pytest

import coevo
from coevo.bundled import load_network
from coevo.data import Variable
from coevo.errors import CoevoWarning, FileError, GraphError
from coevo.graph import DAG, compare
from coevo.io import read_run
from coevo.network import BayesianNetwork
from coevo.view.page import (
    ArcFacts,
    BootstrapArc,
    BootstrapSummary,
    Page,
    ScorePoint,
    make_network_page,
    make_run_page,
    render_page,
    write_page,
)
from coevo.view.page.charts import render_curve_svg, render_strength_svg
from coevo.view.page.model import list_drawn_edges
from helpers.errors import refusal
from helpers.page_reader import PageReader
from helpers.pages import NASTY, full_page, nasty_page

SVG_NAMESPACE = '"http://www.w3.org/2000/svg"'


class Reader(PageReader):
    """Reads the report page, and the data of its first script."""

    void = frozenset({"meta", "link", "input", "path", "rect"})

    @property
    def data(self):
        return json.loads(self.scripts[0])

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())

    def all(self, tag, **wanted):
        return [a for t, a in self.tags if t == tag and wanted.items() <= a.items()]


def headings(html):
    return re.findall(r"<h2>(.*?)</h2>", html)


def test_a_page_shows_all_facts():
    page = full_page()
    html = render_page(page)
    reader = Reader(html)
    assert headings(html) == [
        "Comparison with &lt;that&gt;",
        "Arcs",
        "Arc strength (bootstrap confidence)",
        "Score over time",
        "Audit of the data",
        "Columns",
        "Settings",
        "Reproduce this result",
    ]
    for text in (
        "Asia & <friends>",
        "score -2,200.50",
        "Column 'asia' is <rare>.",
        "asia kept",
        "method ccma",
        "coevo learn 'a b.csv'",
        "coevo 0.1.0 seed 7",
        "From -90.00 to -40.50 in 2 generations and 2.00 seconds",
        "SHD of the DAGs 3",
        "The best rejected arc is <this>.",
        "An arc is significant if its strength is above the threshold 0.250. Arcs of the network "
        "that are not significant: 3. Significant arcs that are not in the network: 1: lung — asia "
        "(0.800).",
        "7 decisive, 1 weak.",
        "Strengths come from 20 <quick> samples.",
        "Word: decisive if the gain is above 5 nats, strong from 3 to 5, weak below 3, against "
        "below 0.",
        "70.00 decisive 0.700 0.500 P(b=1) is 0.7 where a7=1, 0 elsewhere",
    ):
        assert text in reader.text
    data = reader.data
    names = sorted(page.dag.nodes)
    assert data["names"] == names
    arcs = [(names[a], names[b]) for a, b, *_ in data["arcs"]]
    difference = compare(page.dag, page.other)
    assert sorted(arcs) == sorted((*page.dag.arcs, *difference.missing))
    for arc, (_, _, _, kind, _, *known) in zip(arcs, data["arcs"], strict=True):
        facts = page.arcs.get(arc, ArcFacts())
        numbers = [facts.gain, facts.strength, facts.direction, facts.reverse]
        assert known == [*numbers, facts.word, facts.says]
        expected = {"same": difference.correct, "added": difference.added}
        expected |= {"missing": difference.missing, "reversed": difference.reversed}
        assert arc in expected[kind]
    for i, name in enumerate(names):
        table = data["tables"][i]
        assert data["states"][i] == list(page.network.variable(name).states)
        assert [names[p] for p in table["parents"]] == list(page.network.parents(name))
        assert table["n"] == len(table["rows"])
        assert table["rows"] == pytest.approx(page.network.table(name), abs=1e-6)
        assert reader.all("g", id=f"n{i}")[0]["aria-label"] == name
    assert len([1 for tag, a in reader.tags if re.fullmatch(r"a\d+", a.get("id") or "")]) == len(
        arcs
    )


def test_a_structure_is_enough():
    html = render_page(Page(DAG("abc", [("a", "b")])))
    reader = Reader(html)
    assert headings(html) == ["Arcs"]
    assert set(reader.data) == {"names", "boxes", "arcs"}
    assert "variables 3 arcs 1 direction unknown 1" in reader.text
    empty = render_page(Page(DAG("ab")))
    assert "None." in Reader(empty).text
    assert Reader(render_page(Page(DAG([])))).data["names"] == []


def test_names_cannot_break_the_markup():
    html = render_page(nasty_page())
    reader = Reader(html)
    assert len(reader.scripts) == 2  # the data and the program
    assert [a.get("type") for a in reader.all("script")] == ["application/json", None]
    assert sorted(reader.data["names"]) == sorted(NASTY)
    assert reader.data["states"][0] == ["</td>", "<b>"]
    labels = {a["aria-label"] for tag, a in reader.tags if a.get("class") == "node"}
    assert labels == set(NASTY)
    assert not reader.all("b")
    assert "{{data}}" in reader.text


@pytest.mark.parametrize("make", [full_page, nasty_page])
def test_a_page_loads_nothing(make):
    html = render_page(make())
    reader = Reader(html)
    for _, attributes in reader.tags:
        assert not {"src", "srcset", "action", "style"} & set(attributes)
        assert not any(name.startswith("on") for name in attributes)
        assert attributes.get("href", "data:,") == "data:,"
    assert "http:" not in html.replace(SVG_NAMESPACE, "")  # a name, which no browser loads
    assert "https:" not in html
    assert "@import" not in html
    (policy,) = (a["content"] for a in reader.all("meta") if a.get("http-equiv"))
    for text in (reader.styles[0], reader.scripts[1]):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy


def test_a_page_does_not_depend_on_the_order_of_nodes_and_arcs():
    dag = load_network("alarm").dag
    turned = DAG(dag.nodes[::-1], dag.arcs[::-1])
    assert render_page(Page(dag)) == render_page(Page(turned))


def test_large_tables_are_truncated():
    data = Reader(render_page(make_network_page(load_network("barley")))).data
    cut = [t for t in data["tables"] if t["n"] > len(t["rows"])]
    assert cut
    assert all(len(t["rows"]) * len(t["rows"][0]) <= 600 for t in cut)
    complete = [t for t in data["tables"] if t not in cut]
    assert all(t["n"] * len(t["rows"][0]) <= 600 for t in complete)


def test_the_counts_of_the_shown_rows_are_in_the_data():
    network = load_network("barley")
    counts = {name: [0] * len(network.table(name)) for name in network.dag.nodes[:20]}
    page = Page(network.dag, network, parent_counts=counts)
    data = Reader(render_page(page)).data
    assert not data["means"]
    for name, table in zip(data["names"], data["tables"], strict=True):
        if name in counts:
            assert table["counts"] == [0] * len(table["rows"])
            assert table["unseen"] == table["n"] == len(counts[name])
        else:
            assert not {"counts", "unseen"} & set(table)


def test_both_views_of_a_comparison():
    """The DAG a -> b -> c is equivalent to a <- b <- c, but not to a -> b <- c."""
    chain = DAG("abc", [("a", "b"), ("b", "c")])
    edges = list_drawn_edges(Page(chain, other=DAG("abc", [("b", "a"), ("c", "b")])))
    assert [(edge.kind, edge.class_kind, edge.is_directed) for edge in edges] == [
        ("reversed", "same", False),
        ("reversed", "same", False),
    ]
    edges = list_drawn_edges(Page(chain, other=DAG("abc", [("a", "b"), ("c", "b")])))
    assert [(edge.kind, edge.class_kind) for edge in edges] == [
        ("same", "reversed"),
        ("reversed", "reversed"),
    ]


@pytest.mark.parametrize(
    "history",
    [
        [ScorePoint(0.0, 0, -5.0)],
        [ScorePoint(0.0, 0, -5.0), ScorePoint(0.0, 1, -4.0)],
        [ScorePoint(0.5, 0, -5.0), ScorePoint(0.9, 1, -5.0)],
        [ScorePoint(0.001, 0, -1e6), ScorePoint(900.0, 1, -2.5)],
    ],
)
def test_curves(history):
    svg = render_curve_svg(history)
    path = re.search(r"class='line' d='M([^']*)'", svg)[1]
    points = [tuple(map(float, point.split())) for point in path.split("L")]
    assert [x for x, _ in points] == sorted(x for x, _ in points)
    assert [y for _, y in points] == sorted((y for _, y in points), reverse=True)  # upwards
    assert all(64 <= x <= 704 and 12 <= y <= 210 for x, y in points)


def test_a_run_without_a_model():
    facts = {
        "arcs": [{"from": "a", "to": "b", "gain": 2.5, "strength": 0.5}],
        "per_variable": {"a": -1.0, "b": -2.0, "c": -3.0},
        "command": ["learn", "a b.csv"],
        "audit": ["one", {"column": "a", "problem": "constant"}],
        "columns": [{"name": "a", "kind": "integer"}],
        "settings": {"orders": 20, "mutation": 0.25, "elite": True, "limit": None},
        "stop_reason": "time",
        "generations": 7,
    }
    page = make_run_page(facts, [{"seconds": 0.1, "generation": 0, "score": -6.0, "n": 1}], None)
    assert page.dag == DAG("abc", [("a", "b")])
    assert page.arcs == {("a", "b"): ArcFacts(2.5, 0.5)}
    assert page.command == "coevo learn 'a b.csv'"
    assert page.audit == ["one", "column: a, problem: constant"]
    assert page.columns == {"a": "kind: integer"}
    assert page.settings["mutation"] == "0.25"
    assert (page.settings["elite"], page.settings["limit"]) == ("yes", "none")
    assert "--max-generations 7" in page.stamp["reproducibility"]
    assert page.history == [ScorePoint(0.1, 0, -6.0)]
    Reader(render_page(page))


def test_the_audit_and_the_columns_are_sentences(tmp_path):
    lines = ["a,c,n,when", *(f"{i % 2},{i % 6},{i * i / 7:.3f},same" for i in range(40))]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    with pytest.warns(CoevoWarning, match="'when' is 'same' in every row"):
        result = coevo.learn(tmp_path / "t.csv", method="hill_climb", output=tmp_path / "run")
    sentences = [finding.sentence for finding in result.audit]
    assert {finding.kind for finding in result.audit} >= {"deterministic", "small_table"}
    run = read_run(tmp_path / "run")
    page = make_run_page(run.facts, run.history, run.network)
    assert page.audit == sentences
    assert page.columns["a"] == "categorical, whole numbers, 2 states: 0, 1"
    assert page.columns["when"] == "'when' is 'same' in every row; it is left out."
    (cut,) = run.facts["columns"]["n"]["cuts"]
    assert page.columns["n"] == (
        f"continuous, decimal numbers, 2 bins with the cut point {cut:g} (mdl)"
    )
    html = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "kind:" not in Reader(html).text
    assert f"<li>{html_escaping.escape(sentences[0])}</li>" in html


@pytest.mark.parametrize(
    ("column", "text"),
    [
        ({"type": "ignore"}, "left out"),
        ({"type": "year+month", "holds": "dates"}, "dates, replaced by year, month"),
        ({"type": "continuous", "cuts": []}, "continuous, no cut point"),
        ({"type": "continuous", "cuts": [-0.0]}, "continuous, 2 bins with the cut point 0"),
        ({"type": "continuous", "cuts": [1, 2.5]}, "continuous, 3 bins with the cut points 1, 2.5"),
        (
            {"type": "categorical", "states": ["1", "2"], "source": "day"},
            "categorical, 2 states: 1, 2, part of day",
        ),
        (
            {"type": "categorical", "holds": "text", "states": list(map(str, range(25)))},
            f"categorical, text, 25 states: {', '.join(map(str, range(20)))} and 5 more",
        ),
    ],
)
def test_a_column_in_words(column, text):
    assert make_run_page({"columns": {"c": column}}, [], None).columns == {"c": text}


SIGNED_ZERO = re.compile(r"(?<![\w.,])-0(\.0*)?(?![\d.])")


def test_a_zero_has_no_sign():
    """Numbers that are rounded to zero come without a minus."""
    assert SIGNED_ZERO.search("gain -0.00, decisive")
    assert not SIGNED_ZERO.search("-0.01 and 3-0.00 and 0.00")
    facts = {
        "score": -0.001,
        "settings": {"limit": -0.0},
        "columns": {"a": {"type": "continuous", "cuts": [-0.0]}},
        "per_variable": {"a": -0.0, "b": -0.0},
        "arcs": [
            {
                "from": "a",
                "to": "b",
                "gain": -0.0004,
                "strength": -0.0,
                "direction": -0.0,
                "reverse": 0.0,
            },
        ],
        "best_rejected": {"from": "b", "to": "a", "gain": 0.0},
    }
    history = [
        {"seconds": 0.0, "generation": 0, "score": -0.001},
        {"seconds": 0.1, "generation": 1, "score": -0.00001},
    ]
    page = make_run_page(facts, history, None)
    html = render_page(page)
    assert "0.00 against 0.000 0.000" in Reader(html).text
    assert not SIGNED_ZERO.search(Reader(html).text)
    assert not any(SIGNED_ZERO.search(a.get("aria-label") or "") for _, a in Reader(html).tags)
    assert (
        page.rejected == "The best rejected arc, b → a, would change the score by less than 0.01."
    )


def test_one_dot_per_arc():
    """Stronger arcs are higher and further left; those above the line are significant."""
    summary = full_page().bootstrap
    reader = Reader(render_strength_svg(summary))
    dots = reader.all("circle")
    arcs = sorted(summary.arcs, key=lambda arc: -arc.strength)
    assert [dot["class"] == "inside" for dot in dots] == [arc.in_network for arc in arcs]
    across, down = ([float(dot[name]) for dot in dots] for name in ("cx", "cy"))
    assert across == sorted(set(across))
    assert down == sorted(down)
    (limit,) = reader.all("path", **{"class": "limit"})
    height = float(re.fullmatch(r"M64 (.*)H704", limit["d"])[1])
    assert [y < height for y in down] == [arc.strength > 0.25 for arc in arcs]


def test_a_run_with_bootstraps():
    found = [
        {"from": "b", "to": "a", "strength": 0.9, "direction": 0.5, "gain": 2.5},
        {"from": "c", "to": "a", "strength": 0.75, "direction": 1.0, "gain": None},
    ]
    facts = {
        "source": "a <b>.csv",
        "per_variable": {"a": -1.0, "b": -2.0, "c": -3.0},
        "arcs": [
            {
                "from": "a",
                "to": "b",
                "gain": 2.5,
                "support": 1.0,
                "strength": 0.9,
                "direction": 0.5,
                "reverse": 0.25,
                "says": "P(b=1) is 1 where a=1, 0 elsewhere",
            }
        ],
        "best_rejected": {"from": "c", "to": "b", "gain": -1.25},
        "bootstraps": {"n_bootstraps": 20, "n_asked": 20, "threshold": 0.25, "arcs": found},
    }
    page = make_run_page(facts, [], None)
    assert page.title == "Learned from a <b>.csv"
    says = "P(b=1) is 1 where a=1, 0 elsewhere"
    assert page.arcs == {("a", "b"): ArcFacts(2.5, 0.9, 0.5, says, reverse=0.25)}
    assert page.bootstrap == BootstrapSummary(
        20, 0.25, [BootstrapArc("b", "a", 0.9, True), BootstrapArc("c", "a", 0.75, False)]
    )
    assert page.rejected == "The best rejected arc, c → b, would lower the score by 1.25."
    text = Reader(render_page(page)).text
    columns = "from to directed by gain word strength direction reverse what the arc says"
    assert f"{columns} a b unknown 2.50 weak 0.900 0.500 0.250 {says}" in text
    assert "upport" not in text
    near = [
        {"from": "c", "to": "b", "gain": -0.5, "probability": 0.548},
        {"from": "c", "to": "a", "gain": -5.0, "probability": 0.01},
    ]
    page = make_run_page(facts | {"near_misses": near, "no_arcs_reason": "Few rows."}, [], None)
    assert [tuple(miss) for miss in page.near_misses] == [("c", "b", -0.5, 0.548)]
    assert page.reason == "Few rows."
    text = render_page(page)
    assert "c — b" in text
    assert "0.55" in text
    del facts["arcs"][0]["reverse"]  # of an older version, whose direction had another meaning
    assert make_run_page(facts, [], None).arcs == {("a", "b"): ArcFacts(2.5, 0.9, None, says)}
    early = facts | {"best_rejected": {"from": "c", "to": "b", "gain": 3}, "bootstraps": None}
    other = make_run_page(early, [], None)
    assert (
        other.rejected == "The arc c → b would raise the score by 3.00: the search stopped early."
    )
    assert "<h2>Arc strength (bootstrap confidence)</h2>" not in render_page(other)
    assert make_run_page(facts | {"best_rejected": None}, [], None).rejected == (
        "No further arc is allowed."
    )


def make_directed_page(**options):
    """Return the page of a run whose arcs are directed by the data, the constraints, nothing."""
    arcs = [("a", "c"), ("b", "c"), ("d", "e"), ("f", "g")]
    by = ["data", "data", "knowledge", None]
    facts = {
        "n_rows": 1200,
        "per_variable": dict.fromkeys("abcdefg", -1.0),
        "arcs": [
            {"from": a, "to": b, "gain": 9.0 - i, "directed_by": by[i], "says": f"P({b}=1) is <1>"}
            for i, (a, b) in enumerate(arcs)
        ],
    }
    return make_run_page(facts | options, [], None)


def test_a_run_opens_on_the_known_directions():
    html = render_page(make_directed_page())
    reader = Reader(html)
    (graph,) = reader.all("svg", id="graph")
    assert graph["class"] == "graph cpdag"
    assert [arc[2] for arc in reader.data["arcs"]] == [1, 1, 2, 0]
    kinds = [re.search(f'id="a{i}" class="([^"]*)"', html)[1] for i in range(4)]
    same = "arc same class-same"
    assert kinds == [same, same, f"{same} known", f"{same} undirected"]
    assert re.search('id="view-cpdag" aria-pressed="true"', html)
    assert re.search('id="view-dag" aria-pressed="false"', html)
    for text in (
        "directed by the data directed by the constraints direction unknown: both directions fit",
        "d e constraints 7.00",
        "f g unknown 6.00",
    ):
        assert text in reader.text
    old = make_directed_page(arcs=[{"from": "d", "to": "e", "gain": 7.0}])  # before 0.3.0
    assert [arc[2] for arc in Reader(render_page(old)).data["arcs"]] == [0]


def test_a_network_of_a_file_opens_on_its_arrows():
    html = render_page(make_network_page(load_network("asia")))
    (graph,) = Reader(html).all("svg", id="graph")
    assert graph["class"] == "graph"
    assert re.search('id="view-dag" aria-pressed="true"', html)
    assert (
        "This network has 8 variables and 8 arcs. The arrows are those of the file; data alone "
        "could not direct 3."
    ) in Reader(html).text


def test_a_run_is_summarised_in_words():
    text = Reader(render_page(make_directed_page(suggested_roots=["c", "age at visit"]))).text
    assert (
        "This network was learned from 1,200 rows. It has 7 variables and 4 arcs (4 decisive). The "
        "data direct 2 of them, the constraints direct 1, 1 has no arrowhead: both directions fit "
        "equally well. The strongest arcs, by gain: a → c : P(c=1) is <1> b → c : P(c=1) is <1> "
        "d → e : P(e=1) is <1> c and age at visit have parents here; if they cannot, "
        "--root 'c,age at visit'."
    ) in text
    chain = make_directed_page(arcs=[{"from": "f", "to": "g", "gain": 1.0, "says": "<x>"}])
    text = Reader(render_page(chain)).text
    assert "The data direct none of them, 1 has no arrowhead" in text
    assert "The strongest arc, by gain: f — g : <x>" in text
    empty = Reader(render_page(make_directed_page(arcs=[]))).text
    assert "It has 7 variables and 0 arcs." in empty


def test_scroll_areas_are_reached_by_the_keyboard():
    areas = Reader(render_page(full_page())).all("div", **{"class": "scroll"})
    assert len(areas) == 5
    assert all(area["tabindex"] == "0" and area["role"] == "region" for area in areas)
    assert len({area["aria-label"] for area in areas}) == len(areas)


def test_long_numbers_are_short_on_a_page():
    states = ("-0.044641636506989144", "0.05068011873981862")
    network = BayesianNetwork([Variable("sex", states)], {}, {"sex": [0.5, 0.5]})
    columns = {"sex": {"type": "categorical", "states": list(states)}}
    page = make_run_page({"columns": columns, "n_rows": 5}, [], network)
    html = render_page(page)
    assert Reader(html).data["states"] == [["-0.04464", "0.05068"]]
    assert "categorical, 2 states: -0.04464, 0.05068" in html
    assert states[0] not in html


def test_the_sentence_about_samples():
    facts = {"per_variable": {"a": -1.0}, "arcs": []}
    new = facts | {"quick_bootstrap": {"n_bootstraps": 40}}
    assert make_run_page(new, [], None).samples == (
        "Strengths come from 40 samples of the rows, each learned by a short search. The option "
        "--bootstraps 100 gives the full bootstrap."
    )
    old = facts | {"quick_bootstrap": {"method": "hill_climb", "n_bootstraps": 12}}
    assert make_run_page(old, [], None).samples == (
        "Strengths come from 12 samples, learned by hill climbing. Many are too high. Learn again, "
        "or use the option --bootstraps 100."
    )
    none = facts | {"no_strengths": "samples would take long; use --bootstraps 100"}
    assert make_run_page(none, [], None).samples == (
        "No strengths: samples would take long; use --bootstraps 100."
    )


def test_errors(tmp_path):
    asia = load_network("asia")
    assert refusal(GraphError, Page, DAG("ab"), asia) == (
        "The network of the page must have the structure of the page."
    )
    assert refusal(GraphError, Page, asia.dag, asia, parent_counts={"dysp": [1, 2, 3]}) == (
        "'parent_counts' of Page has 3 numbers for 'dysp'; its table has 4 rows."
    )
    page = Page(DAG("ab"), other=DAG("abc"))
    assert refusal(GraphError, render_page, page) == (
        "The found structure has no variable 'c' of the true one; both must have the same "
        "variables."
    )
    target = tmp_path / "no" / "page.html"
    assert refusal(FileError, write_page, target, Page(DAG("a"))) == (
        f"'{target}' cannot be written: there is no folder '{target.parent}'."
    )


def test_a_page_is_written(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("old")
    write_page(path, full_page())
    assert path.read_text(encoding="utf-8") == render_page(full_page())
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]
