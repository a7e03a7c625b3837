"""The view Learn in a browser: start, watch in two tabs, stop, resume; names are never markup."""

import re
import shutil
from urllib.parse import urlsplit

import numpy as np
import pytest

import coevo
from coevo.data import write_data
from helpers.studio_pages import expect, wait_until_live
from helpers.waiting import wait_for

NASTY = ["<img src=x onerror=alert(1)>", '"><script>alert(2)</script>', "a&b", "${7*7}", "{{x}}"]


COUNT_ARCS = "n => document.querySelectorAll('.live-graph .world path.arc').length === n"


def add_table(server, name, network="asia", n_rows=300):
    rows = coevo.sample(coevo.load_network(network), n_rows, random_state=1)
    space = server.studio.workspace
    return space.store_table(name, f"{name}.csv", lambda path: write_data(rows, path))


def add_nasty_table(server, name):
    """Add a table whose names and states are markup."""
    rng = np.random.default_rng(1)
    first = rng.integers(0, 2, 200)
    columns = [np.where(rng.random(200) < 0.1, 1 - first, first) for _ in NASTY]
    text = ",".join('"' + each.replace('"', '""') + '"' for each in NASTY) + "\n"
    rows = zip(*columns, strict=True)
    text += "".join(",".join(f"<b>{cell}</b>" for cell in row) + "\n" for row in rows)
    server.studio.workspace.store_table(name, f"{name}.csv", lambda path: path.write_text(text))


def shown(tab):
    """Return what a tab shows of a run, without what depends on the time."""
    return {
        "facts": tab.inner_text(".progress-text"),
        "arcs": tab.locator(".live-graph .world path.arc").count(),
        "orders": tab.locator(".orders .best").count(),
        "masks": tab.locator(".masks .pair").count(),
        "work": tab.locator(".bars .bar").count(),
        "credit": tab.locator(".bars .shade").count(),
        "line": tab.locator(".line-score").get_attribute("d"),
    }


def test_names_are_never_markup_in_two_tabs(open_tab, server):
    add_nasty_table(server, "watched")
    first = open_tab("/learn/new/watched")
    first.click("summary")
    first.fill("#field-name-of-the-run", "in two tabs")
    first.fill("#field-seed", "7")
    first.click("text=Start the search")
    first.wait_for_selector("h1 >> text=in two tabs")
    second = open_tab("/learn/in two tabs")
    for tab in (first, second):
        tab.wait_for_selector("text=Explore the network")
        tab.wait_for_selector(".orders")
        tab.wait_for_selector(".live-graph .node")
    third = open_tab("/learn/in two tabs")  # it opens after the end
    third.wait_for_selector(".orders")
    third.wait_for_selector("text=Explore the network")
    path = server.studio.workspace.open_table("watched").path
    same = coevo.learn(path, random_state=7, bootstraps=0)
    for tab in (first, second, third):
        expect(tab.locator(".progress-text")).to_contain_text(re.compile("stopped|finished"))
        expect(tab.locator("progress")).to_be_hidden()  # all events are drawn; the graph later:
        tab.wait_for_selector(f'.best-network[aria-label="{len(same.search.dag.arcs)} arcs"]')
        tab.wait_for_function(COUNT_ARCS, arg=len(same.search.dag.arcs))
    assert shown(first) == shown(second) == shown(third)
    titles = first.locator(".orders title").all_text_contents()
    assert sorted(title.partition(": position")[0] for title in titles) == sorted(NASTY)
    assert shown(first)["credit"] > 0
    assert first.locator("#view img, #view script, #view b").count() == 0
    assert f"best score {same.search.score:,.2f}" in shown(first)["facts"]
    assert f"{len(same.search.dag.arcs)} arcs" in shown(first)["facts"]
    assert "learn tables/watched/watched.csv" in first.inner_text(".command")


def list_posts(tab):
    """Return a list that grows by the path of each request that changes something."""
    posted = []

    def note(request):
        if request.method != "GET":
            posted.append(urlsplit(request.url).path)

    tab.on("request", note)
    return posted


@pytest.fixture
def add_running(server):
    """Return a function that adds a run that is running for ever, as far as the page knows.

    A test names this before `open_tab`: the runs are removed when no tab asks for them any more.
    """
    folders = []

    def call(name):
        folder = server.studio.workspace.root / "runs" / name
        folder.mkdir(parents=True)
        folders.append(folder)
        (folder / "job.json").write_text('{"state": "running", "kind": "learn"}')
        return folder

    yield call
    for folder in folders:
        shutil.rmtree(folder)


def answer_stop(tab):
    """Let all requests to stop succeed and do nothing."""
    tab.route("**/stop", lambda route: route.fulfill(json={}))


def test_stop_at_once_is_offered_late(add_running, open_tab, server):
    folder = add_running("endless")
    tab = open_tab("/learn/endless")
    answer_stop(tab)
    posted = list_posts(tab)
    stop = tab.locator(".stop button")
    expect(stop).to_have_text("Stop")
    wait_until_live(tab)
    tab.clock.install(time=0)
    tab.clock.pause_at(1000)  # seconds; only the test moves the clock, however slow the machine is
    stop.press("Enter")
    expect(stop).to_have_text("Stopping …")
    expect(stop).to_be_focused()
    stop.press("Enter")
    tab.clock.fast_forward(9_000)
    expect(stop).to_have_attribute("aria-disabled", "true")
    assert len(posted) == 1
    tab.clock.fast_forward(2_000)
    expect(stop).to_have_text("Stop at once")
    expect(tab.locator(".stop small")).to_have_text(
        "It has not stopped yet. If you stop it at once, what is not saved is lost."
    )
    with tab.expect_request("**/stop") as asked:
        stop.press("Enter")
    assert asked.value.post_data_json == {"at_once": True}
    expect(stop).to_have_text("Stopping …")
    assert len(posted) == 2
    (folder / "job.json").write_text('{"state": "stopped", "kind": "learn"}')
    server.studio.notify("runs")
    expect(stop).to_have_count(0)


def test_stop_and_extend(open_tab, server):
    add_table(server, "stopped")
    tab = open_tab("/learn/new/stopped")
    tab.select_option("#field-method", "ccga")
    tab.select_option("#field-budget", "max_generations")
    tab.fill('[aria-label="Amount of the budget"]', "1000000")
    posted = list_posts(tab)
    tab.dblclick("text=Start the search")  # impatient, and still one search
    tab.wait_for_selector(".orders")
    assert tab.is_visible("progress")
    tab.dblclick("button >> text=Stop")  # impatient again
    tab.wait_for_selector("text=stopped by the user")
    tab.wait_for_selector("text=Explore the network")
    assert [place for place in posted if "drawing" not in place] == [
        "/api/runs",
        "/api/runs/stopped%20ccga/stop",
    ]
    tab.wait_for_selector("button >> text=Extend")
    tab.click("button >> text=Extend")
    tab.select_option("dialog select", "max_generations")
    tab.fill("dialog input", "1")
    tab.click("dialog button.main")
    tab.wait_for_selector("text=stopped by the limit on generations")


def test_a_failed_run_can_be_started_again_or_removed(open_tab, server):
    text = "a,b\n" + "1,2\n" * 5
    server.studio.workspace.store_table("same", "same.csv", lambda path: path.write_text(text))
    tab = open_tab("/learn/new/same")
    tab.click("text=Start the search")
    expect(tab.locator(".state.failed")).to_be_visible()
    expect(tab.get_by_text("No generation yet.")).to_have_count(2)  # of the score and the species
    assert tab.get_by_text("This method has no species.").count() == 0
    expect(tab.get_by_role("button", name="Resume")).to_be_visible()
    text += "2,1\n" * 5
    server.studio.workspace.open_table("same").path.write_text(text)
    tab.get_by_role("button", name="Start again").click()
    expect(tab.locator("h1")).to_have_text("same ccma 2")
    expect(tab.locator(".state.done")).to_be_visible()
    tab.goto(f"{server.base}/#/learn/same%20ccma")
    expect(tab.locator("h1")).to_have_text("same ccma")
    tab.get_by_role("button", name="Remove").click()
    expect(tab.locator("h1")).to_have_text("Workspace")
    expect(tab.locator(".cards a", has_text="same ccma")).to_have_text("same ccma 2")
    tab.get_by_role("button", name="Put it back").click()
    expect(tab.locator(".cards a", has_text="same ccma")).to_have_count(2)


def test_why_no_species_are_drawn(add_running, open_tab, server):
    folder = add_running("starting")
    tab = open_tab("/learn/starting")
    species = tab.locator("section", has_text="Both species at work").locator("p")
    expect(species).to_have_text("No generation yet.")
    wait_until_live(tab)  # it follows the run
    (folder / "studio.json").write_text(
        '{"table": "t", "options": {"method": "tabu"}, "command": ["coevo"]}'
    )
    server.studio.notify("runs")
    expect(species).to_have_text("This method has no species.")


def test_a_mistake_is_said(open_tab, server):
    add_table(server, "mistaken")
    tab = open_tab("/learn/new/mistaken")
    tab.click("summary")
    tab.fill("#field-name-of-the-run", "../../x")
    tab.click("text=Start the search")
    tab.wait_for_selector(".note.error >> text=cannot be a name")
    tab.click('.note [aria-label="Close"]')
    assert tab.locator(".note").count() == 0
    # the browser itself says on its console that the request was refused
    tab.allowed.append("Failed to load resource: the server responded with a status of 400")


def test_eight_tabs_of_one_browser_share_a_stream(open_tab, server):
    """A browser allows six connections to a server: the seventh tab with a stream would freeze."""
    add_nasty_table(server, "shared")
    feed = server.studio.feed
    wait_for(lambda: feed.n_streams == 0)  # those of tabs of other tests, which are closed
    first = open_tab("/learn/new/shared")
    tabs = [first]
    for _ in range(7):
        tab = first.context.new_page()
        tab.goto(f"{server.base}/#/learn/new/shared")
        tab.wait_for_selector("text=Start the search")
        tabs.append(tab)
    tabs[-1].click("summary")
    tabs[-1].fill("#field-name-of-the-run", "of the last tab")
    tabs[-1].click("text=Start the search")
    tabs[-1].wait_for_selector("text=Explore the network")
    # The worker has opened a new stream for the run; the server may not have seen the old one end.
    wait_for(lambda: feed.n_streams == 1)
