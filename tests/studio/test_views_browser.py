"""The views Data, Knowledge, Confidence, Predict and Export in a real browser."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from coevo.bundled import load_network
from coevo.data import Variable
from coevo.io import write_model
from coevo.io.run_folder import write_run
from coevo.network import BayesianNetwork
from coevo.studio.table_settings import read_settings
from helpers.studio_pages import (
    add_table,
    centre,
    drag,
    expect,
    hold_answer,
    knowledge_of,
    open_column,
    wait_for_put,
    wait_until_stored,
)

EXAMPLES = Path(__file__).parents[2] / "examples"
NASTY = '<img src=x onerror=alert(1)>,"b ""&\'",c d\n' + '<script>1</script>,x,1\n"<i>",y,2\n' * 30


def settings_of(server, name):
    """Return the stored settings of a table."""
    return read_settings(server.studio.workspace.open_table(name))


def test_cut_points_by_pointer_and_by_keyboard(open_tab, server):
    name = add_table(server, "cuts")
    tab = open_tab(f"/data/{name}")
    card = open_column(tab, "age")
    handle = card.locator(".cut").first
    expect(handle).to_have_attribute("aria-valuenow", "57")
    x, y = centre(tab, '[data-column="age"] .cut circle')
    frame = tab.locator('[data-column="age"] svg.cut-editor').bounding_box()
    per_year = frame["width"] / 75  # from 15 to 90
    with wait_for_put(tab):
        drag(tab, (x, y), (x - 17 * per_year, y))
    expect(handle).to_have_attribute("aria-valuenow", "40")
    assert settings_of(server, name).types == {"age": {"type": "continuous", "cuts": [40]}}
    expect(card.locator(".bars li").first).to_contain_text("below_40")
    with wait_for_put(tab):
        handle.press("Shift+ArrowRight")
    expect(handle).to_have_attribute("aria-valuenow", "45")
    expect(handle).to_be_focused()
    with wait_for_put(tab):
        card.get_by_role("button", name="Add a cut point").click()
    expect(card.locator(".cut")).to_have_count(2)
    with wait_for_put(tab):
        card.get_by_label("Cut point 2", exact=True).fill("70")
        card.get_by_label("Cut point 2", exact=True).press("Enter")
    assert settings_of(server, name).types["age"]["cuts"] == [45, 70]
    with wait_for_put(tab):
        card.locator(".cut").nth(1).press("Delete")
    expect(card.locator(".cut")).to_have_count(1)
    with wait_for_put(tab):
        tab.click("#undo")
    expect(card.locator(".cut")).to_have_count(2)
    with wait_for_put(tab):
        card.get_by_role("button", name="Restore what was detected").click()
    expect(card.locator(".cut")).to_have_count(1)
    expect(card.locator(".cut").first).to_have_attribute("aria-valuenow", "57")
    assert settings_of(server, name).types == {}


def test_an_answer_of_the_server_keeps_what_is_typed(open_tab, server):
    name = add_table(server, "typed")
    tab = open_tab(f"/data/{name}")
    card = open_column(tab, "age")
    let_go = hold_answer(tab, "PUT", "/settings")
    card.get_by_role("button", name="Add a cut point").click()
    field = card.get_by_label("Cut point 2", exact=True)
    field.fill("70")
    let_go()
    expect(field).to_have_value("70")
    with tab.expect_response(lambda answer: answer.request.method == "PUT"):
        field.press("Enter")
    wait_until_stored(tab)
    assert settings_of(server, name).types["age"]["cuts"][-1] == 70
    expect(tab.locator("#changes li")).to_contain_text(", 70")


def test_an_answer_of_the_server_keeps_what_is_selected(open_tab, server):
    """A new field had no selection: the 70 was added to the old number, 57, and made 5770."""
    name = add_table(server, "selected")
    tab = open_tab(f"/data/{name}")
    card = open_column(tab, "age")
    let_go = hold_answer(tab, "PUT", "/settings")
    card.get_by_role("button", name="Add a cut point").click()
    card.get_by_label("Cut point 2", exact=True).select_text()
    let_go()
    wait_until_stored(tab)
    tab.keyboard.type("70")
    with wait_for_put(tab):
        tab.keyboard.press("Enter")
    assert settings_of(server, name).types["age"]["cuts"][-1] == 70


def test_a_change_of_another_tab_keeps_what_is_selected(open_tab, server):
    name = add_table(server, "selected by one")
    one, two = open_tab(f"/data/{name}"), open_tab(f"/data/{name}")
    card = open_column(one, "age")
    card.get_by_label("Cut point 1", exact=True).select_text()
    with wait_for_put(two):
        open_column(two, "ward").get_by_label("Type").select_option("ignore")
    expect(one.locator("#changes li")).to_have_text("ward: left outRestore")
    one.keyboard.type("40")
    with wait_for_put(one):
        one.keyboard.press("Enter")
    assert settings_of(server, name).types == {
        "age": {"type": "continuous", "cuts": [40]},
        "ward": "ignore",
    }


def test_cut_points_are_changed_before_the_server_answers(open_tab, server):
    """Each change was made to the cut points of the last answer, so it undid the one before."""
    name = add_table(server, "impatient")
    tab = open_tab(f"/data/{name}")
    card = open_column(tab, "age")
    with wait_for_put(tab):
        card.get_by_role("button", name="Add a cut point").click()
    let_go = hold_answer(tab, "PUT", "/settings")
    for field, text in (("Cut point 1", "40"), ("Cut point 2", "70")):
        card.get_by_label(field, exact=True).fill(text)
        card.get_by_label(field, exact=True).press("Enter")
    card.get_by_role("button", name="Add a cut point").click()
    card.get_by_role("button", name="Remove the cut point 40").click()
    with tab.expect_response(lambda answer: answer.request.method == "PUT"):
        let_go()
    wait_until_stored(tab)
    assert settings_of(server, name).types["age"]["cuts"] == [55, 70]
    expect(card.locator(".cut")).to_have_count(2)


def test_the_search_for_columns_keeps_the_order_of_letters(open_tab, server):
    names = [f"ab{i}" for i in range(12)] + ["ward"]
    rows = [",".join("xy"[(i >> j) % 2] for j in range(13)) + "\n" for i in range(64)]
    name = add_table(server, "searched", ",".join(names) + "\n" + "".join(rows))
    tab = open_tab(f"/data/{name}")
    field = tab.get_by_label("Search the columns")
    field.press_sequentially("war")
    expect(field).to_have_value("war")
    expect(tab.locator("#columns strong")).to_have_text(["ward"])


def test_changes_in_quick_succession_are_all_kept(open_tab, server):
    name = add_table(server, "quick")
    tab = open_tab(f"/data/{name}")
    handle = open_column(tab, "age").locator(".cut").first
    handle.focus()
    for _ in range(9):
        tab.keyboard.press("ArrowLeft")
    open_column(tab, "ward").get_by_label("Type").select_option("ignore")
    expect(tab.locator("#changes li")).to_have_text(
        ["age: cut points 52.5Restore", "ward: left outRestore"]
    )
    expect(handle).to_have_attribute("aria-valuenow", "52.5")
    assert settings_of(server, name).types == {
        "age": {"type": "continuous", "cuts": [52.5]},
        "ward": "ignore",
    }


def test_a_decision_is_undone_and_a_column_is_left_out(open_tab, server):
    name = add_table(server, "decide")
    tab = open_tab(f"/data/{name}")
    expect(tab.locator("#decisions li")).to_have_count(1)
    tab.get_by_role("button", name="Undo this").click()
    expect(tab.locator("#decisions")).to_have_count(0)
    expect(tab.locator("#table-size")).to_contain_text("8 variables")
    expect(tab.locator("#findings")).to_contain_text("like an identifier")
    tab.locator("#findings").get_by_role("button", name="Leave out patient_id").click()
    expect(tab.locator("#table-size")).to_contain_text("7 variables")
    card = open_column(tab, "ward")
    with wait_for_put(tab):
        card.get_by_label("Type").select_option("ignore")
    expect(tab.locator("#changes li")).to_have_count(2)
    assert settings_of(server, name).types == {"patient_id": "ignore", "ward": "ignore"}
    with wait_for_put(tab):
        tab.locator("#changes").get_by_role("button", name="Restore").nth(1).click()
    expect(tab.locator("#changes li")).to_have_count(1)


def make_dates(first, last):
    """Return a table of dates whose months determine another column."""
    days = [f"{y}-{m:02}-{d:02}" for y in range(first, last) for m in range(1, 13) for d in (3, 9)]
    rows = [f"{day},{day[5:7] < '07'},{i % 7 < 3}\n" for i, day in enumerate(days * 4)]
    return "visit,half,other\n" + "".join(rows)


def test_a_part_of_a_date_is_left_out_through_its_column(open_tab, server):
    name = add_table(server, "dated", make_dates(2021, 2022))
    tab = open_tab(f"/data/{name}")
    card = open_column(tab, "visit_month")
    expect(card.locator(".note").first).to_have_text(
        "This is a part of the column visit. To leave it out, or to read other parts, change the "
        "type of visit."
    )
    assert card.get_by_label("Type").count() == 0
    card.get_by_role("button", name="Open visit").click()
    expect(tab.locator('[data-column="visit"]').get_by_label("Type")).to_be_visible()
    let_go = hold_answer(tab, "PUT", "/settings")  # else it may come between the two clicks
    leave_out = tab.locator("#findings").get_by_role("button", name="Leave out visit", exact=True)
    leave_out.dblclick()
    let_go()
    expect(tab.locator("#table-size")).to_contain_text("2 variables")
    assert settings_of(server, name).types == {"visit": "ignore"}
    with wait_for_put(tab):
        tab.click("#undo")  # the double click was one change
    expect(tab.locator("#table-size")).to_contain_text("3 variables")


def test_the_other_parts_of_a_date_are_kept(open_tab, server):
    name = add_table(server, "years", make_dates(1980, 2020))
    tab = open_tab(f"/data/{name}")
    card = open_column(tab, "visit_year")
    with wait_for_put(tab):
        card.get_by_role("button", name="Add a cut point").click()
    expect(tab.locator("#table-size")).to_contain_text("4 variables")
    types = settings_of(server, name).types
    assert types["visit"] == "year+month"
    assert types["visit_year"]["source"] == "visit"
    with wait_for_put(tab):
        card.get_by_role("button", name="Restore what was detected").click()
    with wait_for_put(tab):
        tab.get_by_role("button", name="Set the type of visit to year").click()
    expect(tab.locator("#table-size")).to_contain_text("3 variables")
    assert settings_of(server, name).types == {"visit": "year"}


def test_fields_of_the_reader_refuse_what_is_no_number_and_accept_a_tab(open_tab, server):
    rows = "".join(f"{x},{y}\t{z}\n" for x in "pq" for y in "rs" for z in "tu") * 20
    name = add_table(server, "tabbed", "a\tb\n" + rows)
    tab = open_tab(f"/data/{name}")
    tab.locator("#reading summary").click()
    bins, above, mark = (
        tab.locator(f'[data-key="option-{name}"]') for name in ("bins", "skiprows", "delimiter")
    )
    for title, field, text in [
        ("Number of bins", bins, "abc"),
        ("Lines above the table", above, "1.5"),
    ]:
        field.fill(text)
        field.press("Enter")
        expect(tab.locator("#notes .note").last).to_contain_text(
            f"{title}: give a whole number; got '{text}'."
        )
        expect(field).to_have_attribute("aria-invalid", "true")
    assert settings_of(server, name).options == {}
    with wait_for_put(tab):
        bins.fill("4")
        bins.press("Enter")
    with wait_for_put(tab):
        mark.fill("\\t")
        mark.press("Enter")
    assert settings_of(server, name).options == {"bins": 4, "delimiter": "\t"}
    expect(mark).to_have_value("\\t")
    expect(tab.locator("#preview th")).to_have_text(["a", "b"])


def test_a_double_click_adds_one_table(open_tab, server):
    tab = open_tab("/data")
    tab.locator(".others summary").click()
    tab.get_by_label("Rows").fill("37")
    posts = []
    tab.on("request", lambda request: posts.append(request.url) if is_post(request) else None)
    let_go = hold_answer(tab, "POST", "/api/tables/open")
    tab.get_by_role("button", name="Sample").dblclick()
    let_go()
    expect(tab.locator("#table-size")).to_contain_text("37 rows")
    assert len(posts) == 1


def is_post(request):
    """Return whether a request changes something."""
    return request.method == "POST"


def test_a_table_that_needs_an_option_to_be_read(open_tab, server):
    lines = ["a|b", *(f"{x}|{y}" for x in "pq" for y in "rs")]
    name = add_table(server, "piped", "\n".join([lines[0], *lines[1:] * 20]))
    server.studio.workspace.open_table(name).write_options({"skiprows": 500})
    tab = open_tab(f"/data/{name}")
    expect(tab.locator("#unreadable")).to_contain_text("is empty")
    tab.locator("#changes").get_by_role("button", name="Restore").click()
    expect(tab.locator("#table-size")).to_have_text("80 rows, 2 columns, 2 variables")


def test_two_tabs_see_the_same_table(open_tab, server):
    name = add_table(server, "shared")
    first, second = open_tab(f"/data/{name}"), open_tab(f"/data/{name}")
    expect(second.locator("#table-size")).to_contain_text("7 variables")
    first.get_by_role("button", name="Undo this").click()
    expect(second.locator("#table-size")).to_contain_text("8 variables")


def test_a_deleted_table_is_put_back(open_tab, server):
    name = add_table(server, "deleted")
    tab = open_tab(f"/data/{name}")
    tab.get_by_role("button", name="Delete the table").click()
    tab.get_by_role("button", name="Put it back").click()
    expect(tab.locator("#table-name")).to_have_text(name)


def test_names_from_data_are_never_markup(open_tab, server):
    name = add_table(server, "nasty", NASTY)
    tab = open_tab(f"/data/{name}")
    expect(tab.locator("#columns strong").first).to_have_text("<img src=x onerror=alert(1)>")
    open_column(tab, "b \\\"&'")
    tab.goto(f"{server.base}/#/knowledge/{name}")
    expect(tab.locator(".variable").first).to_have_text("<img src=x onerror=alert(1)>")
    assert tab.locator("#view img, #view script, #view i").count() == 0


def test_arcs_are_drawn_and_contradictions_shown_where_they_are_made(open_tab, server):
    name = add_table(server, "drawn")
    tab = open_tab(f"/knowledge/{name}")
    saved = tab.locator("#saved")
    tab.get_by_role("button", name="Forbid arcs").click()
    with wait_for_put(tab):
        drag(tab, centre(tab, '[data-name="ill"]'), centre(tab, '[data-name="age"]'))
    expect(saved).to_have_text("Saved.")
    assert knowledge_of(server, name) == {"forbidden": [["ill", "age"]]}
    assert measure_distance(tab, ".known-arc .head", '[data-name="age"]') < 12  # it ends there
    tab.get_by_role("button", name="Require arcs").click()
    tab.locator('[data-name="ill"]').press("Enter")  # by keyboard: one variable, then the other
    tab.locator('[data-name="age"]').press("Enter")
    expect(tab.locator("#contradictions li")).to_have_text(
        "'ill' -> 'age' is required and forbidden."
    )
    expect(saved).to_have_text("Not saved.")
    expect(tab.locator(".known-arc.bad")).to_have_count(2)
    expect(tab.locator('[data-name="ill"]')).to_have_class("variable bad")
    assert knowledge_of(server, name) == {"forbidden": [["ill", "age"]]}
    with wait_for_put(tab):
        tab.get_by_role("button", name="Undo the last change").click()
    expect(tab.locator("#contradictions li")).to_have_count(0)
    tab.click("#redo")
    expect(tab.locator("#contradictions li")).to_have_count(1)
    with wait_for_put(tab):
        tab.get_by_role("button", name="Remove: ill → age is forbidden").click()
    assert knowledge_of(server, name) == {"required": [["ill", "age"]]}


def measure_distance(tab, first, second):
    """Return the distance between the boxes of two elements, in pixels."""
    a, b = (tab.locator(one).bounding_box() for one in (first, second))
    gaps = [
        max(0, a[at] - b[at] - b[size], b[at] - a[at] - a[size])
        for at, size in (("x", "width"), ("y", "height"))
    ]
    return sum(gap * gap for gap in gaps) ** 0.5


def test_tiers_limits_and_files(open_tab, server, tmp_path):
    name = add_table(server, "tiers")
    tab = open_tab(f"/knowledge/{name}")
    with wait_for_put(tab):
        tab.click("#add-tier")
    expect(tab.locator(".band")).to_have_count(2)
    tab.get_by_role("button", name="Move into tiers").click()
    with wait_for_put(tab):
        drag(tab, centre(tab, '[data-name="age"]'), centre(tab, '.band[data-tier="0"]'))
    expect(tab.locator('.band[data-tier="0"] .variable')).to_have_text("age")
    tab.select_option("#tier-variable", "ill")
    tab.select_option("#tier-number", "new")
    with wait_for_put(tab):
        tab.locator("#move-tier").press("Enter")
    assert knowledge_of(server, name) == {"tiers": [["age"], ["ill"]]}
    expect(tab.locator("#statements span")).to_have_text(["tier 1: age", "tier 2: ill"])
    tab.select_option("#arc-kind", "required")
    tab.select_option("#arc-from", "ill")
    tab.select_option("#arc-to", "age")
    tab.locator("#add-arc").press("Enter")
    expect(tab.locator(".known-arc.bad")).to_have_count(1)
    assert measure_distance(tab, ".known-arc .head", '[data-name="age"]') < 12
    expect(tab.locator("#contradictions li")).to_have_text(
        "'ill' -> 'age' is required, but 'ill' is in a later tier than 'age'."
    )
    with wait_for_put(tab):
        tab.click("#undo")
    tab.locator("#max-parents").press_sequentially("2")
    tab.locator("#export").scroll_into_view_if_needed()
    with tab.expect_download() as saved:
        tab.mouse.move(*centre(tab, "#export"))
        tab.mouse.down()  # leaves the field, which changes what is known and draws all again
        tab.mouse.up()
    assert json.loads(Path(saved.value.path()).read_text()) == knowledge_of(server, name)
    assert knowledge_of(server, name) == {"max_parents": 2, "tiers": [["age"], ["ill"]]}
    with wait_for_put(tab):
        tab.get_by_role("button", name="Remove: tier 2: ill").click()
    expect(tab.locator("#statements span")).to_have_text(
        ["tier 1: age", "a variable has at most 2 parents"]
    )
    assert knowledge_of(server, name) == {"max_parents": 2, "tiers": [["age"]]}
    file = tmp_path / "known.csv"
    file.write_text("kind,from,to,weight\nforbidden,ward,crp\n")
    with wait_for_put(tab):
        tab.set_input_files("#knowledge-file", file)
    assert knowledge_of(server, name) == {"forbidden": [["ward", "crp"]]}


def test_an_answer_of_the_server_does_not_end_a_drag(open_tab, server):
    name = add_table(server, "held")
    tab = open_tab(f"/knowledge/{name}")
    with wait_for_put(tab):
        tab.locator("#add-arc").press("Enter")
        tab.mouse.move(*centre(tab, '[data-name="ill"]'))
        tab.mouse.down()
        held = tab.locator('[data-name="ill"]').element_handle()
    expect(tab.locator("#saved")).to_have_text("Saved.")
    tab.mouse.move(*centre(tab, '[data-name="crp"]'), steps=6)
    assert held.evaluate("node => node.isConnected")
    with wait_for_put(tab):
        tab.mouse.up()
    assert knowledge_of(server, name)["required"] == [["ill", "crp"]]
    expect(tab.locator("#saved")).to_have_text("Saved.")


def test_a_prediction_is_measured_and_saved(open_tab, server):
    server.studio.workspace.store_table(
        "asia rows",
        "asia.csv",
        lambda path: path.write_text(
            "smoke,lung,dysp\n" + "yes,no,yes\nno,no,no\nyes,yes,yes\n" * 20
        ),
    )
    tab = open_tab("/predict/bundled:asia")
    tab.select_option("#table", "asia rows")
    tab.select_option("#target", "dysp")
    tab.click("#predict")
    expect(tab.locator("#metrics")).to_contain_text("accuracy")
    assert tab.locator("#confusion td:not(:empty)").all_inner_texts() != []
    expect(tab.locator(".prediction-chart")).to_have_count(2)
    with tab.expect_download() as saved:
        tab.click("#download")
    assert (
        Path(saved.value.path()).read_text().splitlines()[0].startswith("smoke,lung,dysp,predicted")
    )


def add_many_states(server):
    """Add a network and a table of a variable with 40 states; the later ones are more frequent."""
    towns = [f"t{i:02}" for i in range(40)]
    variables = [Variable("side", ("left", "right")), Variable("town", towns)]
    tables = {"side": [0.5, 0.5], "town": [[1 / 40] * 40] * 2}
    network = BayesianNetwork(variables, {"town": ["side"]}, tables)
    write_model(network, server.studio.workspace.root / "networks" / "towns.json")
    rows = [f"left,{town}\n" * (i + 1) for i, town in enumerate(towns)]
    return add_table(server, "towns", "side,town\n" + "".join(rows))


def test_a_target_with_many_states_shows_the_most_frequent(open_tab, server):
    """A confusion matrix of 1,000 states froze the tab."""
    name = add_many_states(server)
    tab = open_tab("/predict/file:towns.json")
    tab.select_option("#table", name)
    tab.select_option("#target", "town")
    with tab.expect_response("**/rows?*") as answer:
        tab.click("#predict")
    expect(tab.locator("#left-out")).to_have_text(
        "The 30 most frequent of 40 states are shown below. The download has the probabilities of "
        "all states; coevo evaluate has all measures."
    )
    frequent = [f"t{i:02}" for i in range(10, 40)]
    assert tab.locator("#confusion tbody th").all_inner_texts() == frequent
    expect(tab.locator("#confusion tbody td")).to_have_count(30 * 30)
    expect(tab.locator(".prediction-chart path.roc-line")).to_have_count(30 + 1)  # calibration
    found = answer.value.json()
    assert found["states"] == list(found["metrics"]["per_state"]) == list(found["roc"]) == frequent
    assert found["metrics"]["per_state"]["t39"]["n_rows"] == 40
    assert found["metrics"]["n_rows"] == 820  # all rows are measured


def test_a_network_is_exported_with_its_texts(open_tab, server):
    tab = open_tab("/export/bundled:asia", permissions=["clipboard-read", "clipboard-write"])
    with tab.expect_download() as saved:
        tab.locator('[data-format="modelstring"]').click()
    assert Path(saved.value.path()).read_text().startswith("[asia]")
    tab.get_by_role("button", name="Copy").first.click()
    expect(tab.locator("#notes .note")).to_contain_text("Copied")
    assert tab.evaluate("navigator.clipboard.readText()") == "coevo report asia"
    box = tab.locator("img.picture").evaluate(
        "image => image.decode().then(() => image.naturalWidth)"
    )
    assert box > 100


def test_the_graph_is_saved_as_it_is_shown(open_tab, server):
    tab = open_tab("/explore/bundled:asia")
    tab.locator('.node[aria-label^="smoke"] .state-row').first.click()
    expect(tab.locator('.node[aria-label^="smoke"] .percent').first).to_have_text("100 %")
    with tab.expect_download() as saved:
        tab.get_by_role("button", name="Save as SVG").click()
    tree = ElementTree.fromstring(Path(saved.value.path()).read_text())
    texts = {(one.text or "").strip() for one in tree.iter("{http://www.w3.org/2000/svg}text")}
    assert {"asia", "smoke", "100 %"} <= texts
    assert not any("class" in one.attrib or "onload" in one.attrib for one in tree.iter())
    with tab.expect_download() as saved:
        tab.get_by_role("button", name="Save as PNG").click()
    content = Path(saved.value.path()).read_bytes()
    assert content.startswith(b"\x89PNG")
    assert int.from_bytes(content[16:20]) == 2 * round(
        tab.locator("svg.graph").bounding_box()["width"]
    )


@pytest.mark.parametrize("width", [360, 3840])
def test_no_view_scrolls_sideways(open_tab, server, width):
    names = {one.split(" ")[0] for one in server.studio.workspace.list_names("tables")}
    name = "narrow" if "narrow" in names else add_table(server, "narrow")
    run = add_run_with_strengths(server, "narrow run")
    tab = open_tab(f"/data/{name}", width=width, height=900)
    open_column(tab, "age")
    expect(tab.locator(".cut")).to_have_count(1)
    assert measure(tab) <= width
    for place, ready in [
        (f"/knowledge/{name}", ".variable"),
        ("/predict/bundled:asia", "#predict"),
        ("/export/bundled:alarm", ".copy-box"),
        (f"/confidence/{run}", "#arcs"),
        ("/explore/bundled:asia", ".node"),
        (f"/compare/run:{run}/bundled:asia", ".measures"),
        (f"/learn/new/{name}", ".learn-form"),
        ("/", ".view-home h1"),
    ]:
        tab.goto(f"{server.base}/#{place}")
        tab.wait_for_selector(ready)
        for picture in tab.locator("img.picture").all():
            picture.evaluate(LOAD_PICTURE)  # it has a width then
        assert measure(tab) <= width, place


def add_run_with_strengths(server, name):
    """Add a run whose strengths can be shown; return its name."""
    asia = load_network("asia")
    arcs = [{"from": a, "to": b, "strength": 0.9} for a, b in asia.dag.arcs]
    columns = {one.name: {"type": "categorical"} for one in asia.variables}
    facts = {"arcs": arcs, "columns": columns}
    folder = server.studio.workspace.root / "runs" / name
    if not folder.exists():
        write_run(folder, asia, facts, [])
    return name


LOAD_PICTURE = "image => { image.loading = 'eager'; return image.decode(); }"


def measure(tab):
    """Return the width of the document."""
    return tab.evaluate("document.documentElement.scrollWidth")


def test_every_field_has_a_name_and_the_keyboard_reaches_all(open_tab, server):
    """What a screen reader would say: no button, field or link without a name."""
    name = add_table(server, "labels")
    tab = open_tab(f"/data/{name}")
    open_column(tab, "age")
    for place, ready in [
        (None, ".cut"),
        (f"/knowledge/{name}", ".variable"),
        ("/predict/bundled:asia", "#predict"),
        ("/export/bundled:asia", ".copy-box"),
    ]:
        if place is not None:
            tab.goto(f"{server.base}/#{place}")
        tab.wait_for_selector(ready)
        assert tab.evaluate(FIND_UNNAMED) == []


FIND_UNNAMED = """() => [
  ...document.querySelectorAll("button, a[href], input, select, [role=slider]")]
  .filter(one => {
    const label = one.labels?.length ? [...one.labels].map(each => each.textContent).join("") : "";
    return !(one.getAttribute("aria-label") || one.textContent.trim() || label.trim());
  }).map(one => one.outerHTML)"""
