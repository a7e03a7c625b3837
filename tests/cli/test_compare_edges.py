"""Edges of posteriors and bootstraps side by side."""

import json

import pytest

from coevo.cli.compare import EDGE_FILES
from coevo.posteriors.edge_files import KINDS, compare_edges, draw_comparison, read_edges


def store(folder, name, edges, **facts):
    listed, number, _ = KINDS[name]
    folder.mkdir(exist_ok=True)
    rows = [{"from": a, "to": b, number: p, "direction": d} for a, b, p, d in edges]
    (folder / name).write_text(json.dumps({listed: rows, **facts}))
    return str(folder)


@pytest.fixture
def both(folder):
    """Return the folders of a posterior and a bootstrap that differ in two edges."""
    one = [("a", "b", 0.9, 0.75), ("b", "c", 0.5, 1.0), ("c", "d", 0.05, 0.5)]
    other = [("b", "a", 0.4, 0.75), ("b", "c", 0.55, 1.0), ("a", "d", 0.2, 0.5)]
    return (
        store(folder / "post", "posterior.json", one, data_hash="x"),
        store(folder / "boot", "strength.json", other, data_hash="y"),
    )


def test_edges_are_compared_in_either_direction(both):
    found = compare_edges(*map(read_edges, both))
    rows = [(e.parent, e.child, e.first, e.second, round(e.difference, 9)) for e in found.edges]
    assert rows == [
        ("a", "b", pytest.approx(0.9), pytest.approx(0.4), -0.5),
        ("a", "d", 0.0, pytest.approx(0.2), 0.2),
        ("b", "c", 0.5, 0.55, 0.05),
        ("c", "d", 0.05, 0.0, -0.05),
    ]
    first = found.edges[0]
    assert (first.first_direction, first.second_direction) == pytest.approx((0.75, 0.25))
    assert found.edges[1].first_direction is None
    assert not found.is_same_table


def test_an_undirected_edge_of_a_bootstrap_counts_half(folder):
    path = store(folder / "boot", "strength.json", [("a", "b", 0.8, 0.5)])
    facts = json.loads((folder / "boot" / "strength.json").read_text())
    facts["arcs"][0]["reverse"] = 0.25
    (folder / "boot" / "strength.json").write_text(json.dumps(facts))
    assert read_edges(path).arcs == {("a", "b"): 0.8 * 0.625, ("b", "a"): pytest.approx(0.3)}


def test_the_command_lists_what_differs_and_draws_it(both, run, folder):
    text = (
        "first       posterior probability, post\n"
        "second      bootstrap strength, boot\n"
        "            The two belong to different tables.\n"
        "edges       4 in either; 2 differ by more than 0.1\n"
        "  first  second  difference\n"
        "  0.900   0.400      -0.500  a -> b\n"
        "  0.000   0.200      +0.200  a -> d\n"
        "wrote       both.svg\n"
    )
    assert run("compare", "post", "boot", "--figure", "both.svg") == (0, text, "")
    assert "differ by more than 0.1: 2" in (folder / "both.svg").read_text()
    answer = json.loads(run("compare", "post", "boot", "--format", "json").out)
    assert (answer["n_edges"], answer["n_notable"]) == (4, 2)
    assert answer["largest_difference"] == pytest.approx(0.5)
    assert answer["mean_difference"] == pytest.approx(0.2)
    draw_comparison(compare_edges(read_edges("post"), read_edges("post")))
    assert set(EDGE_FILES) == set(KINDS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("post", "asia"), "'post' has edges with probabilities or strengths, and 'asia' is a "
         "structure. Compare two of the same kind."),
        (("post", "boot", "--data", "x.csv"), "'--data' scores two structures. Leave it out for "
         "lists of edges."),
        (("asia", "asia", "--figure", "x.png"), "'--figure' shows two posteriors or bootstraps. "
         "Name their folders."),
        (("post", "boot", "--figure", "x.gif"), "The name of a figure must end in one of .png, "
         ".svg, .pdf; got 'x.gif'."),
    ],
)  # fmt: skip
def test_requests_that_do_not_fit_are_refused(both, run, arguments, message):
    assert run("compare", *arguments) == (2, "", f"Error: {message}\n")


@pytest.mark.parametrize("value", [None, "1", 1.5, -0.1])
def test_a_damaged_list_is_refused(both, run, folder, value):
    store(folder / "post", "posterior.json", [("a", "b", value, 0.5)])
    code, out, err = run("compare", "post", "boot")
    assert (code, out) == (2, "")
    assert err.endswith("posterior.json' does not list edges. Compute them again.\n")
