"""The way of a newcomer: drop a table, fix a column, forbid an arc, learn, click evidence, export.

It waits for what the page shows, never for a time. All of it must pass within a minute.
"""

import time
from pathlib import Path

import pytest

from coevo.io import parse_model, read_run
from helpers.studio_pages import centre, drag, drop_file, expect, open_column, wait_for_put

PATIENTS = Path(__file__).parents[2] / "examples" / "patients.csv"
LIMIT = 60.0  # seconds; the bar of the studio


def test_a_newcomer_learns_and_exports_a_network(open_tab, server):
    start = time.perf_counter()
    tab = open_tab("/data")
    drop_file(tab, "#drop", PATIENTS, "newcomer.csv")
    expect(tab.locator("#table-size")).to_have_text("600 rows, 8 columns, 7 variables")
    fix_a_column(tab)
    forbid_an_arc(tab)
    run = learn(tab)
    network = read_run(server.studio.workspace.locate("runs", run)).network
    assert network.variable("age").states == ("below_45", "from_45")
    assert ("ill", "crp") not in network.dag.arcs
    click_evidence(tab, network)
    export(tab, network, run)
    assert time.perf_counter() - start < LIMIT


def fix_a_column(tab):
    """Move the cut point of the age from 57 to 45."""
    card = open_column(tab, "age")
    field = card.get_by_label("Cut point 1", exact=True)
    expect(field).to_have_value("57")
    with wait_for_put(tab):
        field.fill("45")
        field.press("Enter")
    expect(card.locator(".bars li").first).to_contain_text("below_45")


def forbid_an_arc(tab):
    """Draw the forbidden arc from ill to crp."""
    tab.get_by_role("link", name="Add knowledge").click()
    tab.get_by_role("button", name="Forbid arcs").click()
    with wait_for_put(tab):
        drag(tab, centre(tab, '[data-name="ill"]'), centre(tab, '[data-name="crp"]'))
    expect(tab.locator("#saved")).to_have_text("Saved.")


def learn(tab):
    """Start the search with its defaults; return the name of the run."""
    tab.get_by_role("navigation").get_by_role("link", name="Data").click()
    tab.get_by_role("link", name="newcomer").click()
    tab.get_by_role("link", name="Learn a network").click()
    tab.get_by_role("button", name="Start the search").click()
    expect(tab.locator("#view h1")).to_have_text("newcomer ccma")
    expect(tab.locator(".state.done")).to_be_visible()
    return "newcomer ccma"


def click_evidence(tab, network):
    """Click that the patient is ill: the bars of all variables are those of exact inference."""
    tab.get_by_role("link", name="Explore the network").or_(
        tab.get_by_role("button", name="Explore the network")
    ).click()
    bars = tab.locator('.node[aria-label^="ill"] .percent')
    expect(bars.nth(1)).to_have_text("18 %")  # without evidence
    tab.locator('.node[aria-label^="ill"] .state-row').nth(1).click()
    expect(bars.nth(1)).to_have_text("100 %")
    shown = tab.locator('.node[aria-label^="crp"] .percent')
    percents = [float(text.removesuffix("%")) for text in shown.all_text_contents()]
    expected = network.query("crp", given={"ill": "yes"}).probabilities * 100
    assert percents == pytest.approx(expected.tolist(), abs=0.51)


def export(tab, network, run):
    """Save the network as BIF: it is the one of the run folder."""
    tab.get_by_role("navigation").get_by_role("link", name="Export").click()
    tab.select_option("#network", f"run:{run}")
    expect(tab.locator(".copy-text").first).to_contain_text(  # that of another network was before
        "coevo learn tables/newcomer/newcomer.csv"
    )
    with tab.expect_download() as saved:
        tab.locator('[data-format="bif"]').click()
    assert parse_model(Path(saved.value.path()).read_text(), "bif") == network
