"""What the browser tests of the studio do on its pages."""

from __future__ import annotations

import base64
import contextlib
import json
from pathlib import Path

_PATIENTS = Path(__file__).parents[2] / "examples" / "patients.csv"


def expect(*args):
    """Return an assertion of Playwright, which waits for its condition."""
    from playwright.sync_api import expect as wait_for

    return wait_for(*args)


def drag(tab, start, end):
    """Drag the pointer from one point to another."""
    tab.mouse.move(*start)
    tab.mouse.down()
    tab.mouse.move(*end, steps=6)
    tab.mouse.up()


def centre(tab, selector):
    """Return the centre of an element on the screen."""
    box = tab.locator(selector).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@contextlib.contextmanager
def wait_for_put(tab):
    """Wait for the change that is made inside: it is stored, and the page shows the answer.

    Nothing else is under way before and after it. So the answer is that to this change, and no
    late answer draws again what the next line of the test uses.
    """
    wait_until_stored(tab)
    with tab.expect_response(lambda answer: answer.request.method == "PUT" and answer.ok):
        yield
    wait_until_stored(tab)


def wait_until_stored(tab):
    """Wait until the Data view, or the Knowledge view, has stored and shown all changes."""
    expect(tab.locator('#view [aria-busy="true"]')).to_have_count(0)
    expect(tab.locator("#saved", has_text="Saving")).to_have_count(0)


def wait_until_live(tab):
    """Wait until the stream of events is open: the tab hears of what is changed from now on."""
    expect(tab.locator("#state")).to_have_attribute("data-stream", "online")


HOLD = """([method, end]) => {
  const ask = globalThis.fetch;
  globalThis.fetch = async (address, options) => {
    if (options?.method !== method || !address.endsWith(end)) return ask(address, options);
    globalThis.fetch = ask;
    const held = new Promise(done => { globalThis.letGo = done; });
    const answer = await ask(address, options), text = await answer.text();
    await held;
    return new Response(text, answer);
  };
}"""


def hold_answer(tab, method, end):
    """Hold back the answer to the next request with this method and this end of its address.

    Return a function that lets the page have it. What a test does before that call happens while
    the page waits for the server, however fast the machine is.
    """
    tab.evaluate(HOLD, [method, end])
    return lambda: tab.evaluate("letGo(); new Promise(done => setTimeout(done))")


def open_column(tab, name):
    """Open the card of a column of the Data view."""
    tab.click(f'details[data-column="{name}"] > summary')
    return tab.locator(f'details[data-column="{name}"]')


MAKE_TRANSFER = """([text, name]) => {
  const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  const transfer = new DataTransfer();
  transfer.items.add(new File([bytes], name));
  return transfer;
}"""


def drop_file(tab, selector, path, name):
    """Drop a file on an element, as a user does from a folder."""
    text = base64.b64encode(Path(path).read_bytes()).decode()
    transfer = tab.evaluate_handle(MAKE_TRANSFER, [text, name])
    tab.dispatch_event(selector, "dragover", {"dataTransfer": transfer})
    tab.dispatch_event(selector, "drop", {"dataTransfer": transfer})


def add_table(server, name, content=None):
    """Put a table into the workspace of the server; return its name."""
    text = _PATIENTS.read_bytes() if content is None else content.encode()
    return server.studio.workspace.store_table(
        name, f"{name}.csv", lambda path: path.write_bytes(text)
    )


def knowledge_of(server, name):
    """Return the stored knowledge about a table."""
    path = server.studio.workspace.open_table(name).constraints_path
    return json.loads(path.read_text()) if path.exists() else {}
