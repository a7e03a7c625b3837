"""The notebook widget: evidence goes both ways, and questions are answered."""

import base64
import json

import coevo
from coevo.bundled import load_network
from coevo.errors import NetworkError, ParameterError
from coevo.view.explorer import Explorer, answer_message, make_style
from helpers.errors import refusal

HOST = """<!doctype html><meta charset="utf-8"><div id="host"></div><script type="module">
const listeners = {}, sent = [];
const values = VALUES;
globalThis.model = {
  get: (name) => values[name],
  set: (name, value) => { values[name] = value; },
  save_changes: () => { globalThis.saved = values.evidence; },
  on: (name, run) => { listeners[name] = run; },
  off: () => {},
  send: async (message) => listeners["msg:custom"](await globalThis.answer(message)),
};
globalThis.change = (evidence) => { values.evidence = evidence; listeners["change:evidence"](); };
const { default: widget } = await import("data:text/javascript;base64,SCRIPT");
globalThis.end = widget.render({ model: globalThis.model, el: document.getElementById("host") });
</script>"""


def test_the_evidence_is_validated_and_shared():
    asia = load_network("asia")
    view = coevo.explore(asia, {"xray": "yes"})
    assert view.evidence == {"xray": "yes"}
    assert view.drawing["names"] == sorted(v.name for v in asia.variables)
    assert coevo.explore("asia").drawing == coevo.explore(asia).drawing
    assert refusal(NetworkError, coevo.explore, asia, {"xray": "maybe"}) == (
        "'xray' has no state 'maybe'; its states are 'yes', 'no'."
    )
    assert refusal(ParameterError, coevo.explore, 7) == (
        "'network' of explore must be a BayesianNetwork, a LearnResult, a name or a path; got 7."
    )


def test_messages_are_answered():
    explorer = Explorer(load_network("asia"))
    answer = answer_message(explorer, {"number": 3, "question": "beliefs", "body": {}})
    assert answer == {"number": 3, "answer": explorer.answer("beliefs", {})}
    assert answer_message(explorer, {"number": 4, "question": "drawing", "body": {"bars": True}})[
        "answer"
    ]["bars"]
    assert answer_message(explorer, {"number": 5, "question": "paths", "body": None}) == {
        "number": 5,
        "error": "The question must name a variable as its source.",
    }
    assert answer_message(explorer, [1]) == {"error": "A message must be an object."}


def test_the_style_stays_inside_the_widget():
    style = make_style()
    assert ":root" not in style
    assert ":host" in style


def test_clicks_reach_python(browser, tmp_path):
    view = coevo.explore(load_network("asia"), {"xray": "yes"})
    explorer = Explorer(load_network("asia"))
    values = {"style": view.style, "drawing": view.drawing, "evidence": view.evidence}
    script = base64.b64encode(view._esm.encode()).decode()
    path = tmp_path / "host.html"
    path.write_text(HOST.replace("VALUES", json.dumps(values)).replace("SCRIPT", script))
    tab = browser.new_page(viewport={"width": 1200, "height": 800})
    seen = []
    tab.on("pageerror", lambda error: seen.append(str(error)))
    tab.expose_function("answer", lambda message: answer_message(explorer, message))
    tab.goto(path.as_uri())
    tab.wait_for_selector('.node.observed[aria-label^="xray"]')
    tab.locator('.node[aria-label^="smoke"] .state-row').first.click()
    tab.wait_for_function("() => globalThis.saved?.smoke === 'yes'")
    assert tab.evaluate("globalThis.saved") == {"xray": "yes", "smoke": "yes"}
    tab.evaluate("globalThis.change({bronc: 'no'})")
    tab.wait_for_selector('.node.observed[aria-label^="bronc"]')
    assert tab.locator(".node.observed").count() == 1
    assert seen == []
    tab.close()
