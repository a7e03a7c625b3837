"""The section "Both species at work" of a report: it says what the search did."""

import html as html_escaping
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

import coevo
from coevo.errors import CoevoError
from coevo.files.run_folder import refuse_damaged_facts
from coevo.io import read_run
from coevo.view.page import make_run_page, render_page
from helpers.pages import NASTY, nasty_page


@pytest.fixture(scope="module")
def rows():
    return coevo.sample(coevo.load_network("asia"), 300, random_state=1)


@pytest.fixture
def learned(rows, tmp_path):
    """Return a function that learns by a method: the result, and the report in its folder."""

    def call(method):
        result = coevo.learn(
            rows, method=method, random_state=1, bootstraps=0, budget={"max_generations": 8}
        )
        files = result.save(tmp_path / "run")
        return result, Path(files["report"]).read_text(encoding="utf-8")

    return call


def read_section(html):
    """Return the text of the section without markup; empty if there is none."""
    found = re.search(r"<section><h2>(?:Both species|The orders) at work</h2>.*?</section>", html)
    text = re.sub(r"<[^>]+>", " ", found[0]) if found else ""
    return html_escaping.unescape(" ".join(text.split()))


def read_data(html):
    """Return the data of the script."""
    return json.loads(re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', html, re.DOTALL)[1])


def list_figures(html):
    return re.findall(r'<figure id="species-(\w+)">', html)


def test_ccma_shows_what_masks_did_for_orders(learned, tmp_path):
    result, html = learned("ccma")
    text, state = read_section(html), result.search.state
    assert list_figures(html) == ["individuals", "work", "children", "paid", "orders"]
    assert text.startswith("Both species at work An order is a sequence of all variables.")
    assert "A mask is scored by its credit" in text
    assert f"The masks scored {state.spent.sum():,} families" in text
    assert f"gained {state.earned.sum():,.1f} nats" in text
    for mask, name in ((0, "best order"), (7, "unions")):
        row = rf"{name} [a-z ]+ {state.spent[mask].sum():,} {state.earned[mask].sum():,.2f}"
        assert re.search(row, text)
    earned = state.earned.sum(axis=0)
    child = int(earned.argmax())
    names = list(result.search.dag.nodes)
    assert f"{names[child]} {state.spent.sum(axis=0)[child]:,} {earned[child]:,.2f}" in text

    data = read_data(html)["species"]
    assert data["variables"] == names
    arcs = {(names[a], names[b]) for a, b in data["arcs"]}
    assert arcs == set(result.dag.arcs)
    assert data["credit"][-1][0] == result.search.generations
    assert data["credit"][-1][1:] == pytest.approx(state.credit.tolist(), rel=1e-4)
    run = read_run(tmp_path / "run")
    assert run.facts["species"]["work"] == data["work"]  # the report can be made again
    assert render_page(make_run_page(run.facts, run.history, run.network)) == html


def test_ccga_shows_its_populations(learned):
    result, html = learned("ccga")
    text, state = read_section(html), result.search.state
    assert list_figures(html) == ["individuals", "orders", "masks"]
    assert "with the best mask, or with a random one if that is higher" in text
    assert f"The agreement of {len(state.masks)} masks is" in text
    assert "one row of the best mask" in text
    assert "credit" not in text
    species = read_data(html)["species"]
    parent, child, share = species["masks"]["pairs"][0]
    names = species["variables"]
    assert f"parent child share of masks {names[parent]} {names[child]} {share:.2f}" in text


def test_k2ga_shows_its_orders(learned):
    _, html = learned("k2ga")
    assert list_figures(html) == ["orders"]
    assert read_section(html).startswith("The orders at work")


@pytest.mark.parametrize("method", ["hill_climb", "chow_liu"])
def test_a_method_without_species_has_no_section(learned, method):
    _, html = learned(method)
    assert read_section(html) == ""
    assert "species" not in read_data(html)


def test_a_search_that_never_evolved_and_an_older_run_have_no_section(rows, learned, tmp_path):
    result = coevo.learn(rows, random_state=1, bootstraps=0, budget={"max_generations": 0})
    unbegun = replace(result, search=replace(result.search, state=None, history=()))
    for early in (result, unbegun):
        report = early.save(tmp_path / "early")["report"]
        assert read_section(Path(report).read_text(encoding="utf-8")) == ""
    learned("ccma")
    run = read_run(tmp_path / "run")
    facts = {key: value for key, value in run.facts.items() if key != "species"}
    history = [
        {key: value for key, value in row.items() if not key.startswith("credit")}
        for row in run.history
    ]
    assert read_section(render_page(make_run_page(facts, history, run.network))) == ""


def test_a_run_without_credit_in_its_history_is_shown(learned, tmp_path):
    learned("ccma")
    run = read_run(tmp_path / "run")
    page = make_run_page(run.facts, (), run.network)
    assert read_data(render_page(page))["species"]["credit"] == []
    assert "Masks: budget and credit." in read_section(render_page(page))


def test_a_long_history_is_thinned_and_keeps_its_end(learned, tmp_path):
    learned("ccma")
    run = read_run(tmp_path / "run")
    history = [{**run.history[-1], "generation": i, "credit_0": 1.0 + i} for i in range(1000)]
    credit = read_data(render_page(make_run_page(run.facts, history, run.network)))["species"][
        "credit"
    ]
    assert len(credit) <= 300
    assert credit[-1][:2] == [999, 1000.0]


def test_damaged_species_are_refused(learned, tmp_path):
    learned("ccma")
    run = read_run(tmp_path / "run")
    facts = {**run.facts, "species": {"orders": 5}}
    with pytest.raises(CoevoError, match="is damaged"), refuse_damaged_facts(tmp_path / "run"):
        make_run_page(facts, run.history, run.network)


def make_nasty_page():
    """Return a page with species whose names try to break out of the markup."""
    places = list(range(len(NASTY)))
    masks = [{"name": "</b>", "meaning": "<i>", "credit": 0.5, "families": 9, "nats": 1.5}]
    work = {
        "families": 9, "nats": 1.5, "n_children": 1, "n_earning": 1, "families_of_earning": 9,
        "masks": masks, "children": [[0, 9, 1.5]], "busiest": [[0, 9, 1.5]],
        "paid": [[1, 0, 2.5, 1], [2, 0, 1.0, 0]],
    }  # fmt: skip
    orders = {"n": 2, "agreement": 0.5} | dict.fromkeys(("best", "low", "high", "mean"), places)
    pairs = {"n": 1, "agreement": 1.0, "n_pairs": 1, "n_common": 1, "pairs": [[1, 0, 1.0]]}
    row = {"mask": "the mask “<u>”", "child": 2, "candidates": [0, 1, 3], "values": [3, 1, 2]}
    species = {"variables": NASTY, "orders": orders, "masks": pairs, "work": work, "row": row}
    return replace(nasty_page(), species=species, credit=[[i, 1.0 / (i + 1)] for i in range(90)])


def test_names_are_never_markup():
    html = render_page(make_nasty_page())
    for piece in ("<i>", "<u>", "</b>", "<script>alert"):
        assert piece not in html
    assert NASTY[1] in read_section(html)


@pytest.mark.parametrize("width", [390, 1280])
def test_the_pictures_in_a_browser(opened, width):
    tab = opened(make_nasty_page(), width=width)
    assert tab.locator("#species svg").count() == 5
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    titles = tab.locator("#species-orders title").all_text_contents()
    assert [title.partition(": position")[0] for title in titles] == NASTY
    assert tab.locator("#species-work .shade").count() > 30
    assert tab.locator("#species-paid .unused").count() == 1
    assert tab.locator("#species-individuals .after").count() == 1
    for label in tab.locator("#species svg").all():
        assert label.get_attribute("aria-label")
