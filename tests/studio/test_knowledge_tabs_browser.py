"""Two tabs, or a tab and another program, change the same knowledge: nothing is lost."""

import json

import pytest

from helpers.studio_pages import (
    add_table,
    expect,
    hold_answer,
    knowledge_of,
    wait_for_put,
    wait_until_live,
)

REFUSED = "Failed to load resource: the server responded with a status of 409"
MERGE = """async versions => {
  const { mergeKnowledge } = await import("/assets/parts/knowledge_merge.js");
  const lists = ["required", "forbidden", "tiers", "roots", "leaves", "weights"];
  const empty = { ...Object.fromEntries(lists.map(key => [key, []])), max_parents: null };
  const { known, conflicts } = mergeKnowledge(...versions.map(one => ({ ...empty, ...one })));
  const found = Object.entries(known).filter(([, value]) => value !== null && value.length !== 0);
  return [Object.fromEntries(found), conflicts.map(one => one.sentence)];
}"""


def add_arc(tab, kind, parent, child):
    """Add an arc by the form; return when nothing waits to be stored."""
    for field, value in (("kind", kind), ("from", parent), ("to", child)):
        tab.select_option(f"#arc-{field}", value)
    tab.locator("#add-arc").press("Enter")


@pytest.fixture
def _no_notices(server, monkeypatch):
    """Let no tab hear of changes, also not of its own: it would ask for what is stored now."""
    monkeypatch.setattr(server.studio, "notify", lambda kind: None)


def store_elsewhere(server, name, content):
    """Change the file as another program does: no tab hears of it."""
    path = server.studio.workspace.open_table(name).constraints_path
    path.write_text(json.dumps(content))


def test_two_tabs_keep_what_both_have_said(open_tab, server):
    name = add_table(server, "two tabs")
    one, two = open_tab(f"/knowledge/{name}"), open_tab(f"/knowledge/{name}")
    with wait_for_put(one):
        add_arc(one, "required", "age", "crp")
    expect(two.locator("#statements span")).to_have_text(["age → crp is required"])
    with wait_for_put(two):
        add_arc(two, "forbidden", "ill", "age")
    both = ["age → crp is required", "ill → age is forbidden"]
    expect(one.locator("#statements span")).to_have_text(both)
    expect(one.locator("#saved")).to_have_text("Saved.")
    with wait_for_put(one):
        one.click("#undo")  # takes back what this tab did, not what the other one did
    expect(two.locator("#statements span")).to_have_text(["ill → age is forbidden"])
    assert knowledge_of(server, name) == {"forbidden": [["ill", "age"]]}


def test_a_change_of_another_program_keeps_what_is_selected(open_tab, server):
    name = add_table(server, "selected limit")
    store_elsewhere(server, name, {"max_parents": 2})
    tab = open_tab(f"/knowledge/{name}")
    expect(tab.locator("#max-parents")).to_have_value("2")
    tab.locator("#max-parents").select_text()
    store_elsewhere(server, name, {"max_parents": 2, "forbidden": [["ill", "age"]]})
    server.studio.notify("tables")
    expect(tab.locator("#statements li")).to_have_count(2)
    tab.keyboard.type("3")
    with wait_for_put(tab):
        tab.keyboard.press("Enter")
    assert knowledge_of(server, name) == {"max_parents": 3, "forbidden": [["ill", "age"]]}


SHOW = """state => {
  Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def test_hidden_tabs_show_what_changed_when_they_are_shown_again(open_tab, server):
    name = add_table(server, "hidden")
    known, home = open_tab(f"/knowledge/{name}"), open_tab("/home")
    expect(known.locator("#statements li")).to_have_count(0)
    for tab in (known, home):
        tab.evaluate(SHOW, "hidden")
        tab.wait_for_function(
            "() => document.getElementById('state').dataset.stream == 'connecting'"
        )
    added = add_table(server, "added")
    store_elsewhere(server, name, {"forbidden": [["ill", "age"]]})
    server.studio.notify("tables")  # a hidden tab hears nothing
    for tab in (known, home):
        tab.evaluate(SHOW, "visible")
    expect(known.locator("#statements li")).to_have_count(1)
    expect(home.get_by_role("link", name=added)).to_be_visible()


def test_a_tab_that_was_opened_hidden_shows_what_changed_before_its_first_stream(open_tab, server):
    """As a link that is opened in the background: it reads its lists, and hears nothing yet."""
    tab = open_tab("/home").context.new_page()
    tab.add_init_script("""
        Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
    """)
    tab.goto(f"{server.address}#/home")
    tab.wait_for_selector("#view > div")
    added = add_table(server, "before-the-stream")
    server.studio.notify("tables")
    tab.evaluate(SHOW, "visible")
    wait_until_live(tab)
    expect(tab.get_by_role("link", name=added)).to_be_visible()


def test_a_tab_reads_again_what_changed_and_nothing_else(open_tab, server):
    tab = open_tab("/home")
    asked = []
    tab.on("request", lambda request: asked.append(request.url.removeprefix(server.base)))

    def hide_and_show():
        tab.evaluate(SHOW, "hidden")
        for kind in changed:
            server.studio.notify(kind)
        tab.evaluate(SHOW, "visible")
        wait_until_live(tab)

    changed = ()
    hide_and_show()
    changed = ("tables", "tables")
    with tab.expect_response(lambda answer: answer.url.endswith("/api/workspace")):
        hide_and_show()
    changed = ("runs",)
    with tab.expect_response(lambda answer: answer.url.endswith("/api/workspace")):
        hide_and_show()
    assert [path for path in asked if "/api/events" not in path] == ["/api/workspace"] * 2


def test_news_that_come_while_a_button_is_pressed_are_kept(open_tab, server):
    name = add_table(server, "pressed")
    store_elsewhere(server, name, {"tiers": [["age"], ["crp"]]})
    tab = open_tab(f"/knowledge/{name}")
    tab.get_by_role("button", name="Remove: tier 2: crp").hover()
    tab.mouse.down()
    let_go = hold_answer(tab, "GET", "/knowledge")
    store_elsewhere(server, name, {"tiers": [["age"], ["crp"]], "forbidden": [["ill", "age"]]})
    server.studio.notify("tables")
    tab.wait_for_function("() => 'letGo' in globalThis")  # the page asks for the news
    let_go()
    with wait_for_put(tab):
        tab.mouse.up()
    assert knowledge_of(server, name) == {"tiers": [["age"]], "forbidden": [["ill", "age"]]}


@pytest.mark.usefixtures("_no_notices")
def test_a_late_change_is_applied_to_what_is_there(open_tab, server):
    name = add_table(server, "late")
    tab = open_tab(f"/knowledge/{name}")
    tab.allowed.append(REFUSED)
    with wait_for_put(tab):
        add_arc(tab, "required", "age", "crp")
    expect(tab.locator("#saved")).to_have_text("Saved.")
    store_elsewhere(server, name, {"forbidden": [["ill", "age"]], "tiers": [["age"], ["ill"]]})
    add_arc(tab, "forbidden", "crp", "ward")
    expect(tab.get_by_text("Both changes are shown here.")).to_be_visible()
    expect(tab.locator("#saved")).to_have_text("Saved.")
    assert knowledge_of(server, name) == {
        "forbidden": [["crp", "ward"], ["ill", "age"]],
        "tiers": [["age"], ["ill"]],
    }
    expect(tab.locator("#statements li")).to_have_count(4)


@pytest.mark.usefixtures("_no_notices")
def test_a_conflict_is_a_sentence_and_both_sides_stay_visible(open_tab, server):
    name = add_table(server, "conflict")
    tab = open_tab(f"/knowledge/{name}")
    tab.allowed.append(REFUSED)
    store_elsewhere(server, name, {"forbidden": [["age", "crp"]], "max_parents": 3})
    add_arc(tab, "required", "age", "crp")
    alert = tab.locator("#contradictions")
    expect(alert.locator("li")).to_have_text("'age' -> 'crp' is required and forbidden.")
    expect(alert).to_contain_text("A part of it was saved elsewhere")
    expect(tab.locator(".known-arc.bad")).to_have_count(2)
    assert knowledge_of(server, name) == {"forbidden": [["age", "crp"]], "max_parents": 3}
    with wait_for_put(tab):
        tab.get_by_role("button", name="Remove: age → crp is forbidden").click()
    expect(tab.locator("#saved")).to_have_text("Saved.")
    assert knowledge_of(server, name) == {"required": [["age", "crp"]], "max_parents": 3}

    store_elsewhere(server, name, {"required": [["age", "crp"]], "max_parents": 4})
    tab.fill("#max-parents", "2")
    tab.locator("#max-parents").press("Tab")
    expect(alert.locator("li")).to_contain_text(
        "A variable has at most 2 parents here, and at most 4 parents in what was saved elsewhere."
    )
    expect(tab.locator("#saved")).to_have_text("Not saved.")
    with wait_for_put(tab):
        alert.get_by_role("button", name="Take 4 parents").click()
    expect(tab.locator("#saved")).to_have_text("Saved.")
    expect(tab.locator("#max-parents")).to_have_value("4")
    assert knowledge_of(server, name)["max_parents"] == 4


@pytest.mark.parametrize(
    ("base", "mine", "theirs", "merged", "sentences"),
    [
        (  # a removal here, an addition there, and the same addition in both
            {"required": [["a", "b"], ["c", "d"]], "roots": ["a"]},
            {"required": [["c", "d"], ["a", "d"]], "roots": ["a", "b"]},
            {"required": [["a", "b"], ["c", "d"], ["a", "d"]]},
            {"required": [["c", "d"], ["a", "d"]], "roots": ["b"]},
            [],
        ),
        (  # variables that go into tiers in both; an empty tier of this tab stays
            {"tiers": [["a"], ["b"]]},
            {"tiers": [["a", "c"], ["b"], []]},
            {"tiers": [["a"], ["b", "d"]]},
            {"tiers": [["a", "c"], ["b", "d"], []]},
            [],
        ),
        (  # a new first tier here, and a move there
            {"tiers": [["a"], ["b"]]},
            {"tiers": [["c"], ["a"], ["b"]]},
            {"tiers": [["a"], ["b"], ["d"]]},
            {"tiers": [["c"], ["a"], ["b"], ["d"]]},
            [],
        ),
        (  # a tier is removed here, and another variable moves there
            {"tiers": [["a"], ["b"], ["c"]]},
            {"tiers": [["a"], ["c"]]},
            {"tiers": [["a"], ["b"], ["c", "d"]]},
            {"tiers": [["a"], ["c", "d"]]},
            [],
        ),
        (  # the same variable goes into two tiers: it is in both, which is a contradiction
            {"tiers": [["a"], ["b"], ["c"]]},
            {"tiers": [["a", "c"], ["b"]]},
            {"tiers": [["a"], ["b", "c"]]},
            {"tiers": [["a", "c"], ["b", "c"]]},
            [],
        ),
        (
            {"weights": [["a", "b", 1], ["b", "c", 1]]},
            {"weights": [["a", "b", 2]]},
            {"weights": [["a", "b", 3], ["b", "c", 4]], "max_parents": 2},
            {"weights": [["a", "b", 2]], "max_parents": 2},
            [
                "a → b has the weight 2 here, and the weight 3 in what was saved elsewhere.",
                "b → c has no weight here, and the weight 4 in what was saved elsewhere.",
            ],
        ),
    ],
)
def test_changes_are_merged(open_tab, base, mine, theirs, merged, sentences):
    assert open_tab().evaluate(MERGE, [base, mine, theirs]) == [merged, sentences]
