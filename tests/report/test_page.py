"""A page is one file that says what it was given, whatever the names hold."""

import base64
import hashlib
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from importlib.resources import files

import pytest

from coevo.bundled import load_network
from coevo.errors import FileError, GraphError
from coevo.graph import DAG, compare
from coevo.report.page import (
    ArcFacts,
    FoundArc,
    Page,
    Progress,
    Sureness,
    network_page,
    page_html,
    run_page,
    write_page,
)
from coevo.report.page.curve_svg import curve_svg
from coevo.report.page.edges import lines_of
from coevo.report.page.strength_svg import dots_svg
from helpers.errors import refusal
from helpers.pages import NASTY, full_page, nasty_page

VOID = {"meta", "link", "input", "path", "rect"}


class Reader(HTMLParser):
    """Reads a page: its tags must be closed in order; keeps texts, attributes and scripts."""

    def __init__(self, text):
        super().__init__()
        self.open, self.texts, self.scripts, self.styles, self.tags = [], [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        place = {"script": self.scripts, "style": self.styles}
        place.get(self.open[-1] if self.open else "", self.texts).append(data)

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


def test_everything_that_is_known_is_there():
    page = full_page()
    html = page_html(page)
    reader = Reader(html)
    assert headings(html) == [
        "Compared with &lt;that&gt;",
        "How the score rose",
        "What was noticed in the data",
        "What was decided about the columns",
        "How sure",
        "Arcs",
        "Settings",
        "To repeat it",
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
        "The best of the arcs left out is <this>.",
        "if more than 0.250 of them join its two variables; 3 of the network's arcs are not.",
        "Significant and not in the network: 1: lung → asia (0.800).",
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
        assert known == [facts.gain, facts.strength, facts.direction, facts.support]
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
    html = page_html(Page(DAG("abc", [("a", "b")])))
    reader = Reader(html)
    assert headings(html) == ["Arcs"]
    assert set(reader.data) == {"names", "boxes", "arcs"}
    assert "variables 3 arcs 1 that data cannot direct 1" in reader.text
    empty = page_html(Page(DAG("ab")))
    assert "None." in Reader(empty).text
    assert Reader(page_html(Page(DAG([])))).data["names"] == []


def test_nothing_breaks_out_of_its_place():
    html = page_html(nasty_page())
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
def test_nothing_outside_is_asked_for(make):
    html = page_html(make())
    reader = Reader(html)
    for _, attributes in reader.tags:
        assert not {"src", "srcset", "action", "style"} & set(attributes)
        assert not any(name.startswith("on") for name in attributes)
        assert attributes.get("href", "data:,") == "data:,"
    assert "http:" not in html.replace("http-equiv", "")
    assert "https:" not in html
    assert "@import" not in html
    (policy,) = (a["content"] for a in reader.all("meta") if a.get("http-equiv"))
    for text in (reader.styles[0], reader.scripts[1]):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy


def test_the_same_page_however_the_network_was_written():
    dag = load_network("alarm").dag
    turned = DAG(dag.nodes[::-1], dag.arcs[::-1])
    assert page_html(Page(dag)) == page_html(Page(turned))


def test_large_tables_are_cut_and_said_to_be():
    data = Reader(page_html(network_page(load_network("barley")))).data
    cut = [t for t in data["tables"] if t["n"] > len(t["rows"])]
    assert cut
    assert all(len(t["rows"]) * len(t["rows"][0]) <= 600 for t in cut)
    whole = [t for t in data["tables"] if t not in cut]
    assert all(t["n"] * len(t["rows"][0]) <= 600 for t in whole)


def test_both_views_of_a_comparison():
    """Data cannot tell a -> b -> c from a <- b <- c; they can tell it from a -> b <- c."""
    chain = DAG("abc", [("a", "b"), ("b", "c")])
    lines = lines_of(Page(chain, other=DAG("abc", [("b", "a"), ("c", "b")])))
    assert [(line.kind, line.class_kind, line.is_directed) for line in lines] == [
        ("reversed", "same", False),
        ("reversed", "same", False),
    ]
    lines = lines_of(Page(chain, other=DAG("abc", [("a", "b"), ("c", "b")])))
    assert [(line.kind, line.class_kind) for line in lines] == [
        ("same", "reversed"),
        ("reversed", "reversed"),
    ]


@pytest.mark.parametrize(
    "history",
    [
        [Progress(0.0, 0, -5.0)],
        [Progress(0.0, 0, -5.0), Progress(0.0, 1, -4.0)],
        [Progress(0.5, 0, -5.0), Progress(0.9, 1, -5.0)],
        [Progress(0.001, 0, -1e6), Progress(900.0, 1, -2.5)],
    ],
)
def test_curves(history):
    svg = curve_svg(history)
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
    page = run_page(facts, [{"seconds": 0.1, "generation": 0, "score": -6.0, "n": 1}], None)
    assert page.dag == DAG("abc", [("a", "b")])
    assert page.arcs == {("a", "b"): ArcFacts(2.5, 0.5)}
    assert page.command == "coevo learn 'a b.csv'"
    assert page.audit == ["one", "column: a, problem: constant"]
    assert page.columns == {"a": "kind: integer"}
    assert page.settings["mutation"] == "0.25"
    assert (page.settings["elite"], page.settings["limit"]) == ("yes", "none")
    assert "--max-generations 7" in page.stamp["same again"]
    assert page.history == [Progress(0.1, 0, -6.0)]
    Reader(page_html(page))


def test_a_dot_an_arc():
    """The stronger, the higher and the further left; what is above the line is significant."""
    sureness = full_page().sureness
    reader = Reader(dots_svg(sureness))
    dots = reader.all("circle")
    arcs = sorted(sureness.arcs, key=lambda arc: -arc.strength)
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
            {"from": "a", "to": "b", "gain": 2.5, "support": 1.0, "strength": 0.9, "direction": 0.5}
        ],
        "best_rejected": {"from": "c", "to": "b", "gain": -1.25},
        "bootstraps": {"n_bootstraps": 20, "n_asked": 20, "threshold": 0.25, "arcs": found},
    }
    page = run_page(facts, [], None)
    assert page.title == "Learned from a <b>.csv"
    assert page.arcs == {("a", "b"): ArcFacts(2.5, 0.9, 0.5, 1.0)}
    assert page.sureness == Sureness(
        20, 0.25, [FoundArc("b", "a", 0.9, True), FoundArc("c", "a", 0.75, False)]
    )
    assert page.rejected == "The best of the arcs left out, c → b, would lower the score by 1.25."
    text = Reader(page_html(page)).text
    assert "from to data can direct it gain strength direction support a b no 2.50 0.900" in text
    early = facts | {"best_rejected": {"from": "c", "to": "b", "gain": 3}, "bootstraps": None}
    other = run_page(early, [], None)
    assert other.rejected == "c → b would raise the score by 3.00: the search ended early."
    assert "<h2>How sure</h2>" not in page_html(other)
    assert run_page(facts | {"best_rejected": None}, [], None).rejected == (
        "No further arc is allowed."
    )


def test_refusals(tmp_path):
    asia = load_network("asia")
    assert refusal(GraphError, Page, DAG("ab"), asia) == (
        "The network of the page must have the structure of the page."
    )
    page = Page(DAG("ab"), other=DAG("abc"))
    assert refusal(GraphError, page_html, page) == (
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
    assert path.read_text(encoding="utf-8") == page_html(full_page())
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")
def test_the_script_is_javascript():
    path = files("coevo.report.page").joinpath("assets", "page.js")
    assert subprocess.run(["node", "--check", str(path)], check=False).returncode == 0
