"""The view Explore: its requests, and a person who clicks on evidence."""

import json
import re
from itertools import pairwise

import pytest

from coevo.bundled import load_network
from coevo.data import Variable
from coevo.graph import find_directions
from coevo.io import write_model
from coevo.io.run_folder import write_run
from coevo.network import BayesianNetwork
from helpers.studio_pages import expect, hold_answer

ASIA = "bundled:asia"
HOSTILE = "<img src=x onerror=alert(1)>"
NAMES = [HOSTILE, '"><script>alert(2)</script>', "__proto__", "constructor", "a' onload='b"]


def make_hostile():
    """Return a chain of variables whose names and states are markup or words of JavaScript."""
    variables = [Variable(name, ("</svg><b>", "toString", "&amp;")) for name in NAMES]
    row = [0.2, 0.3, 0.5]
    tables = {NAMES[0]: row, **{name: [row, row[::-1], [0.1, 0.1, 0.8]] for name in NAMES[1:]}}
    parents = {child: [parent] for parent, child in pairwise(NAMES)}
    return BayesianNetwork(variables, parents, tables)


# -- requests


def test_networks_are_listed(client, studio):
    write_model(load_network("asia"), studio.workspace.root / "networks" / "mine.bif")
    write_run(studio.workspace.root / "runs" / "done", load_network("asia"), {}, [])
    (studio.workspace.root / "runs" / "begun").mkdir()
    found = {each["id"]: each for each in client.get("/api/explore").json()["networks"]}
    assert {"run:done", "file:mine.bif", "bundled:munin"} < set(found)
    assert "run:begun" not in found
    assert found["bundled:munin"]["n_variables"] == 1041


def test_questions_are_answered(client):
    drawing = client.get(f"/api/explore/{ASIA}?bars=1").json()
    assert drawing["bars"]
    assert drawing["tiers"] is None
    assert "tables" not in drawing
    answer = client.post(f"/api/explore/{ASIA}/beliefs", json={"given": {"xray": "yes"}}).json()
    lung = answer["marginals"][drawing["names"].index("lung")]
    expected = load_network("asia").query("lung", {"xray": "yes"}).probabilities
    assert lung == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("address", "body", "status", "sentence"),
    [
        ("bundled:nothing/beliefs", {}, 404, "There is no bundled network 'nothing'."),
        (
            "asia/beliefs",
            {},
            400,
            "'asia' names no network: it begins with run:, file: or bundled:.",
        ),
        (
            f"{ASIA}/explanation",
            {"given": {"lung": "yes", "either": "no"}},
            400,
            "The evidence has probability 0 under the network: 'either' = 'no', 'lung' = 'yes'.",
        ),
    ],
)
def test_what_is_refused(client, address, body, status, sentence):
    answer = client.post(f"/api/explore/{address}", json=body)
    assert (answer.status_code, answer.json()) == (status, {"error": sentence})


def test_tiers_come_from_the_knowledge_of_the_table(client, studio):
    root = studio.workspace.root
    write_run(root / "runs" / "tiered", load_network("asia"), {}, [])
    (root / "runs" / "tiered" / "studio.json").write_text(json.dumps({"table": "t"}))
    (root / "tables" / "t").mkdir()
    knowledge = {"tiers": [["asia", "smoke"], ["lung"]]}
    (root / "tables" / "t" / "constraints.json").write_text(json.dumps(knowledge))
    drawing = client.get("/api/explore/run:tiered").json()
    tiers = dict(zip(drawing["names"], drawing["tiers"], strict=True))
    assert (tiers["asia"], tiers["smoke"], tiers["lung"], tiers["xray"]) == (0, 0, 1, None)


def test_a_layout_is_kept_and_a_damaged_one_is_made_again(client, studio, monkeypatch):
    import coevo.studio.workspace

    first = client.get("/api/explore/bundled:hepar2").json()
    (kept,) = (studio.workspace.root / "layouts").iterdir()
    studio.caches.clear()
    with monkeypatch.context() as patched:
        patched.setattr(coevo.studio.workspace, "lay_out", None)  # not called
        assert client.get("/api/explore/bundled:hepar2").json() == first
    kept.write_text('{"boxes": [["a"]]}')
    assert client.get("/api/explore/bundled:hepar2").json() == first
    assert json.loads(kept.read_text())["width"] > 0


def test_a_run_that_is_learned_again_is_read_again(client, studio):
    folder = studio.workspace.root / "runs" / "again"
    write_run(folder, load_network("asia"), {}, [])
    assert len(client.get("/api/explore/run:again").json()["names"]) == 8
    write_run(folder, load_network("cancer"), {}, [])
    assert len(client.get("/api/explore/run:again").json()["names"]) == 5


def test_two_networks_are_compared(client, studio):
    asia = load_network("asia")
    parents = {name: asia.parents(name) for name in asia.dag.nodes if name != "tub"}
    tables = {name: asia.table(name) for name in asia.dag.nodes} | {"tub": [0.1, 0.9]}
    pruned = BayesianNetwork(asia.variables, parents, tables)
    write_run(studio.workspace.root / "runs" / "pruned", pruned, {"score": -12.5}, [])
    answer = client.get(f"/api/compare/run:pruned/{ASIA}").json()
    assert answer["measures"]["shd"] == answer["measures"]["missing"] == 1
    assert answer["first"]["facts"]["score"] == "-12.50"
    assert [arc[3] for arc in answer["drawing"]["arcs"]].count("missing") == 1
    refused = client.get(f"/api/compare/bundled:cancer/{ASIA}")
    assert refused.status_code == 400
    assert refused.json()["error"] == (
        "The two networks have different variables; only one has 'Cancer'. Compare networks of "
        "the same variables."
    )


# -- in the browser


def click_state(tab, variable, state):
    """Click on the bar of a state, and wait for the answer."""
    row = tab.locator(f'.node[aria-label^="{variable}"] .state-row', has_text=state).first
    wait_for_answer(tab, row.click)


def wait_for_answer(tab, act):
    before = tab.get_attribute(".stage", "data-answered")
    act()
    tab.wait_for_function(
        "before => document.querySelector('.stage').dataset.answered !== before", arg=before
    )


def read_percent(tab, variable, row):
    return tab.locator(f'.node[aria-label^="{variable}"] .percent').nth(row).text_content()


@pytest.fixture
def asia(open_tab):
    tab = open_tab(f"/explore/{ASIA}")
    tab.wait_for_selector(".stage[data-answered]")
    return tab


def test_evidence_moves_all_bars(asia):
    network = load_network("asia")
    assert read_percent(asia, "lung", 0) == "5.5 %"
    click_state(asia, "xray", "yes")
    now = network.query("lung", {"xray": "yes"})["yes"]
    assert read_percent(asia, "lung", 0) == f"{100 * now:.0f} %"
    assert asia.locator(".node.observed").count() == 1
    probability = network.query("xray")["yes"]
    assert asia.inner_text(".p-evidence") == f"P(evidence) = {probability:.4g}"
    assert "lung" in asia.inner_text(".changes") or "either" in asia.inner_text(".changes")
    asia.get_by_role("button", name="Most probable explanation").click()
    asia.wait_for_selector(".state-row.best")
    assert asia.locator(".state-row.best").count() == 8
    click_state(asia, "xray", "yes")  # a second click retracts it
    assert asia.locator(".node.observed").count() == 0
    assert read_percent(asia, "lung", 0) == "5.5 %"


def test_a_click_before_the_first_answer_is_compared_with_no_evidence(open_tab):
    tab = open_tab()
    let_go = hold_answer(tab, "POST", "/beliefs")
    tab.evaluate(f"location.hash = '#/explore/{ASIA}'")
    tab.locator('.node[aria-label^="xray"] .state-row').first.click()
    expect(tab.locator(".node.observed")).to_have_count(1)  # the second answer comes first
    let_go()
    expect(tab.locator(".changes li").first).to_be_visible()
    expect(tab.locator(".node.observed")).to_have_count(1)


def test_an_answer_keeps_weights_that_are_typed(asia):
    asia.locator('.node[aria-label^="smoke"] .label').click()
    let_go = hold_answer(asia, "POST", "/beliefs")
    asia.locator('.node[aria-label^="xray"] .state-row').first.click()
    asia.locator(".soft-evidence summary").click()
    first, second = asia.locator(".soft-evidence input").all()
    first.fill("3")
    second.select_text()
    let_go()
    expect(asia.locator(".node.observed")).to_have_count(1)
    expect(first).to_have_value("3")
    asia.keyboard.type("4")
    expect(second).to_have_value("4")
    wait_for_answer(asia, lambda: asia.locator(".soft-evidence button").click())
    expect(asia.locator(".findings li")).to_contain_text(["xray = yes", "smoke: yes 3, no 4"])
    expect(asia.locator(".node.soft-observed")).to_have_count(1)


def test_estimates_are_shown_with_their_errors(open_tab, monkeypatch):
    """The server runs in this process, so that its limit can be lowered."""
    monkeypatch.setattr("coevo.network.elimination.MAX_OPERATIONS", 0)
    tab = open_tab("/explore/bundled:earthquake")
    tab.wait_for_selector(".stage[data-answered]")
    assert tab.inner_text("aside .estimate").startswith(
        "These numbers are approximate: likelihood weighting, 100,000 samples"
    )
    click_state(tab, "JohnCalls", "True")
    assert re.fullmatch(
        r"P\(evidence\) = 0\.\d+ \u00b1 [\d.]+ % of it", tab.inner_text(".p-evidence")
    )
    tab.locator('.node[aria-label^="Alarm"] .label').click()
    shown = tab.locator(".states small").first.inner_text()
    assert re.fullmatch(r"[\d.]+ % \u00b1 [\d.]+ %", shown)
    tab.get_by_role("button", name="Rank the other variables").click()
    tab.wait_for_selector(".told li")
    assert "Estimated by likelihood weighting." in tab.inner_text("aside")
    tab.allowed.append("Failed to load resource: the server responded with a status of 400")
    tab.get_by_role("button", name="Most probable explanation").click()
    tab.wait_for_selector(".note.error")
    assert "is never estimated" in tab.inner_text(".note.error")


def test_impossible_evidence_is_taken_back(asia):
    click_state(asia, "lung", "yes")
    row = asia.locator('.node[aria-label^="either"] .state-row', has_text="no").first
    row.click()
    asia.wait_for_selector(".note.error")
    assert "has probability 0" in asia.inner_text(".note.error")
    expect(asia.locator(".node.observed")).to_have_count(1)
    expect(asia.locator(".findings li")).to_have_count(1)


def test_two_sets_of_evidence_are_compared(asia):
    click_state(asia, "smoke", "yes")
    asia.get_by_role("button", name="Keep to compare").click()
    wait_for_answer(asia, lambda: asia.get_by_role("button", name="Clear").click())
    panel = asia.inner_text("aside")
    assert "Compared with" in panel
    assert "smoke = yes" in panel
    network = load_network("asia")
    before, now = network.query("lung", {"smoke": "yes"})["yes"], network.query("lung")["yes"]
    assert f"yes: {100 * before:.0f} % \u2192 {100 * now:.1f} %" in asia.inner_text(".changes")


def test_the_keyboard_is_enough(asia):
    """Search, move with arrows, observe by a digit, open the panel, press a state, give weights."""
    asia.focus(".find")
    asia.keyboard.type("smoke")
    asia.keyboard.press("Enter")
    assert asia.inner_text("aside h2 >> nth=0") == "smoke"
    asia.focus('.node[aria-label^="smoke"]')
    asia.keyboard.press("ArrowDown")
    focused = "document.activeElement.getAttribute('aria-label').split(/[:,]/)[0]"
    assert asia.evaluate(focused) in ("lung", "bronc")
    wait_for_answer(asia, lambda: asia.keyboard.press("1"))
    assert asia.locator(".node.observed").count() == 1
    assert "1 finding. P(evidence)" in asia.inner_text(".visually-hidden")
    wait_for_answer(asia, lambda: asia.keyboard.press("Delete"))
    asia.keyboard.press("Enter")
    state = asia.locator(".state-button").first
    state.focus()
    wait_for_answer(asia, lambda: asia.keyboard.press("Enter"))
    assert asia.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"
    asia.locator(".soft-evidence summary").click()
    asia.locator(".soft-evidence input").first.fill("3")
    wait_for_answer(asia, lambda: asia.locator(".soft-evidence button").click())
    assert asia.locator(".node.soft-observed").count() == 1


def test_paths_information_and_tables(asia):
    asia.locator('.node[aria-label^="tub"] .label').click()
    asia.select_option('[aria-label="The other variable"]', label="lung")
    asia.wait_for_selector("text=They are independent: no path connects them.")
    click_state(asia, "xray", "yes")
    asia.select_option('[aria-label="The other variable"]', label="lung")
    asia.wait_for_selector("text=tub -> either <- lung")
    assert asia.locator(".arc.path").count() == 2
    asia.get_by_role("button", name="Rank the other variables").click()
    asia.wait_for_selector(".told li")
    told = load_network("asia").explain("tub", {"xray": "yes"}, top=1).next_observations[0]
    assert asia.locator(".told .name").first.inner_text() == told.name
    asia.locator("details.table summary").click()
    asia.wait_for_selector(".cpt")
    assert asia.locator(".cpt tbody tr").count() == 2
    asia.get_by_role("button", name="All arrowheads").click()  # off: a published network has all
    assert asia.locator(".graph.cpdag").count() == 1


def test_a_variable_is_dragged_and_put_back(asia):
    node = asia.locator('.node[aria-label^="xray"]')
    place = node.get_attribute("transform")
    box = asia.locator('.node[aria-label^="xray"] .label').bounding_box()
    asia.mouse.move(box["x"] + 5, box["y"] + 5)
    asia.mouse.down()
    asia.mouse.move(box["x"] + 90, box["y"] + 40, steps=4)
    asia.mouse.up()
    assert node.get_attribute("transform") != place
    asia.get_by_role("button", name="Undo moves").click()
    assert node.get_attribute("transform") == place


def count_heads(tab, graph=".graph"):
    """Return the number of arcs with an arrowhead."""
    heads = "paths => paths.filter(one => getComputedStyle(one).markerEnd !== 'none').length"
    return tab.locator(f"{graph} .world .arc").evaluate_all(heads)


def test_a_learned_network_opens_on_what_the_data_say(open_tab, server):
    asia = load_network("asia")
    shares = {"gain": 9.0, "strength": 0.9, "direction": 0.25, "reverse": 0.125}
    arcs = [{"from": a, "to": b, **shares, "says": f"P({b}) depends"} for a, b in asia.dag.arcs]
    arcs[0]["directed_by"] = "knowledge"
    assert (arcs[0]["from"], arcs[0]["to"]) == ("asia", "tub")
    write_run(server.studio.workspace.root / "runs" / "class", asia, {"arcs": arcs}, [])
    unknown = [arc for arc, by in find_directions(asia.dag).items() if by is None]
    assert len(unknown) == 3  # asia - tub, smoke - bronc and smoke - lung

    tab = open_tab("/explore/run:class")
    tab.wait_for_selector(".stage[data-answered]")
    assert count_heads(tab) == 6  # the constraints direct asia -> tub
    assert tab.locator(".world .arc.known").count() == 1
    legend = tab.locator("figcaption.legend")
    assert "direction unknown: both directions fit equally well" in legend.inner_text()
    assert "directed by the constraints" in legend.inner_text()
    number = tab.locator(".world .arc.undirected").first.get_attribute("data-a")
    tab.locator(f'.wide-arc[data-a="{number}"]').dispatch_event("click")
    tip = tab.inner_text("#tip")
    assert tip.splitlines() == [
        "smoke — bronc, gain 9.00 (decisive), strength 0.900, direction 0.250, reverse 0.125, "
        "direction unknown",
        "P(bronc) depends",
    ]
    click_state(tab, "smoke", "yes")  # inference works on the DAG
    assert "yes 10 %" in tab.locator('.node[aria-label^="lung"]').get_attribute("aria-label")
    tab.locator('.node[aria-label^="bronc"] .label').click()
    tab.select_option('[aria-label="The other variable"]', label="dysp")
    tab.wait_for_selector("text=bronc -> dysp")
    tab.get_by_role("button", name="All arrowheads").click()
    assert count_heads(tab) == 8
    assert "2 of 8 directions are not known" in legend.inner_text()
    tab.get_by_role("button", name="Bars").click()  # a new drawing keeps what was chosen
    tab.wait_for_selector(".graph:not(.with-bars)")
    assert count_heads(tab) == 8

    tab.goto(f"{server.base}/#/compare/run:class/{ASIA}")
    tab.wait_for_selector(".measures")
    assert count_heads(tab) == 6
    tab.goto(f"{server.base}/#/explore/{ASIA}")
    tab.wait_for_selector(".stage[data-answered]")
    assert count_heads(tab) == 8  # of a published network all directions are given
    tab.locator(f'.wide-arc[data-a="{number}"]').dispatch_event("click")
    assert tab.inner_text("#tip") == "smoke → bronc"


def test_weak_arcs_are_hidden(open_tab, server):
    asia = load_network("asia")
    arcs = [
        {"from": a, "to": b, "gain": 10.0 + i, "strength": i / 10}
        for i, (a, b) in enumerate(asia.dag.arcs)
    ]
    write_run(server.studio.workspace.root / "runs" / "strong", asia, {"arcs": arcs}, [])
    tab = open_tab("/explore/run:strong")
    tab.wait_for_selector(".stage[data-answered]")
    tab.locator(".weak").fill("3")
    assert tab.locator(".arc.away").count() == 3
    assert "3 of 8 arcs are hidden (strength below 0.3)" in tab.inner_text(".tools")


def test_names_and_states_are_never_markup(open_tab, server):
    write_model(make_hostile(), server.studio.workspace.root / "networks" / "hostile.json")
    tab = open_tab("/explore/file:hostile.json")
    tab.wait_for_selector(".stage[data-answered]")
    for n in range(len(NAMES)):
        node = tab.locator(f'.node[data-n="{n}"]')
        wait_for_answer(tab, node.locator(".state-row").nth(1).click)
        node.locator(".label").click()
    assert tab.locator(".node.observed").count() == len(NAMES)
    assert tab.locator(".findings li").count() == len(NAMES)
    assert sorted(
        tab.locator(".findings li").nth(i).evaluate("item => item.firstChild.textContent")
        for i in range(len(NAMES))
    ) == sorted(f"{name} = toString" for name in NAMES)
    assert tab.locator("img, #view b, #view script").count() == 0


def test_differences_are_shown(open_tab, server):
    asia = load_network("asia")
    parents = {name: asia.parents(name) for name in asia.dag.nodes if name != "tub"}
    tables = {name: asia.table(name) for name in asia.dag.nodes} | {"tub": [0.1, 0.9]}
    pruned = BayesianNetwork(asia.variables, parents, tables)
    write_run(server.studio.workspace.root / "runs" / "cut", pruned, {}, [])
    tab = open_tab(f"/compare/run:cut/{ASIA}")
    tab.wait_for_selector(".measures")
    assert "1 only in the second" in tab.inner_text("p.legend")
    assert tab.locator(".arc.missing").count() == 1
    assert "SHD" in tab.inner_text(".measures")
