"""Addresses of the studio in a browser: damaged ones, and those of what does not exist."""

import shutil

import pytest

from coevo.studio.workspace import JOB_FILE
from helpers.studio_pages import expect

ROWS = "a,b\n" + "x,y\nx,z\nw,y\n" * 20


@pytest.fixture(scope="module")
def table(server):
    """Return the name of a table; there is a run, too."""
    space = server.studio.workspace
    folder = space.root / "runs" / "addressed run"
    folder.mkdir(parents=True)
    (folder / JOB_FILE).write_text('{"state": "stopped", "kind": "learn"}')
    yield space.store_table("addressed", "addressed.csv", lambda path: path.write_text(ROWS))
    shutil.rmtree(folder)


@pytest.mark.parametrize("place", ["/explore/%E0%A4%A", "/data/100%", "/nowhere"])
def test_a_damaged_address_leads_home(open_tab, place):
    tab = open_tab(place)
    expect(tab.locator("#notes .note")).to_contain_text(f"The studio has no view #{place}.")
    expect(tab.locator("h1")).to_have_text("Workspace")


@pytest.mark.parametrize(
    ("place", "sentence", "chooser"),
    [
        ("/data/none", "There is no table 'none' in the workspace.", "#drop"),
        ("/knowledge/none", "There is no table 'none' in the workspace.", "#view select"),
        ("/learn/new/none", "There is no table 'none' in the workspace.", "#field-table"),
        ("/export/none", "There is no network 'none' in the workspace.", "#network"),
        ("/predict/none", "There is no network 'none' in the workspace.", "#network"),
        ("/confidence/none", "There is no run 'none' in the workspace.", "#run"),
    ],
)
def test_what_does_not_exist_is_not_replaced_by_something_else(
    open_tab, table, place, sentence, chooser
):
    tab = open_tab(place)
    expect(tab.locator("#view [role=alert]")).to_have_text(sentence)
    expect(tab.locator(chooser)).to_be_visible()
    if not chooser.startswith("#drop"):
        expect(tab.locator(chooser)).to_have_value("")  # nothing else is chosen


def test_a_network_is_chosen_instead_of_one_that_does_not_exist(open_tab, table):
    tab = open_tab("/predict/none")
    expect(tab.locator("#predict")).to_be_disabled()
    tab.select_option("#network", "bundled:asia")
    expect(tab.locator("#target")).to_have_value("dysp")
    expect(tab.locator("#view [role=alert]")).to_have_count(0)
    tab.goto(tab.url.replace("predict", "explore"))
    expect(tab.locator("#view [role=alert]")).to_contain_text("none")
    tab.select_option('[aria-label="Choose a network"]', "bundled:asia")
    expect(tab.locator(".node").first).to_be_visible()
    tab.allowed.append("Failed to load resource: the server responded with a status of 400")


def test_the_link_to_the_content_stays_in_the_view(open_tab, table):
    tab = open_tab("/predict/bundled:asia")
    expect(tab.locator("#predict")).to_be_enabled()
    before = tab.url
    tab.keyboard.press("Tab")
    expect(tab.locator(".skip")).to_be_focused()
    tab.keyboard.press("Enter")
    expect(tab.locator("#view")).to_be_focused()
    assert tab.url == before
    expect(tab.locator("#predict")).to_be_visible()
