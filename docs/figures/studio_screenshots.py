"""Take the pictures of the studio: start one, walk through its views, and save each as a PNG.

Run ``python docs/figures/studio_screenshots.py`` after a view has changed, and look at the
pictures. It needs Chromium; ``COEVO_BROWSER`` may name it. The walk is that of
``docs/tutorials/studio.md``.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from coevo.studio import Studio, Workspace
from coevo.studio.server import make_address, make_server, open_socket

__all__ = ["PICTURES", "main"]

HERE = Path(__file__).resolve().parent
TABLE = HERE.parents[1] / "examples" / "patients.csv"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
WIDTH, HEIGHT = 1120, 760
COLOURS = 64  # of a picture, so that it stays small
RUN = "patients ccma"
# Scroll to the top, and show another folder than the temporary one.
HIDE_FOLDER = """folder => {
  window.scrollTo(0, 0);
  for (const code of document.querySelectorAll("pre code")) {
    code.textContent = code.textContent.replaceAll(folder, "/home/ada");
  }
}"""
SAMPLE = """body => fetch("/api/tables/open", {
  method: "POST", headers: {"content-type": "application/json"}, body: JSON.stringify(body),
}).then(answer => answer.json())"""
Tab = Any  # a page of Playwright


def show_data(tab: Tab) -> None:
    """Drop the table, and move the cut point of the age."""
    tab.set_input_files("#table-file", str(TABLE))
    tab.click('details[data-column="age"] > summary')
    field = tab.locator('[data-column="age"]').get_by_label("Cut point 1", exact=True)
    with tab.expect_response(lambda answer: answer.request.method == "PUT"):
        field.fill("45")
        field.press("Enter")
    tab.locator(".changed").wait_for()


def show_knowledge(tab: Tab) -> None:
    """Make two tiers, forbid an arc, and require another one."""
    tab.get_by_role("link", name="Add knowledge").click()
    _move_into_tier(tab, "age", "new")
    _move_into_tier(tab, "sex", "0")
    _move_into_tier(tab, "ill", "new")
    _add_arc(tab, "forbidden", "ill", "crp")
    _add_arc(tab, "required", "smoker", "crp")
    tab.locator("#saved", has_text="Saved.").wait_for()


def show_contradiction(tab: Tab) -> None:
    """Require an arc into an earlier tier."""
    tab.get_by_role("button", name="Require arcs").click()
    tab.click('[data-name="ill"]')
    tab.click('[data-name="age"]')
    tab.locator(".contradiction").wait_for()


def show_learn(tab: Tab) -> None:
    """Undo the contradiction, and learn."""
    with tab.expect_response(lambda answer: answer.request.method == "PUT"):
        tab.get_by_role("button", name="Undo the last change").click()
    _learn(tab, "ccma")


def show_explore(tab: Tab) -> None:
    """Click that the patient is ill."""
    _go(tab, f"/explore/run:{RUN}")
    tab.locator(".stage[data-answered]").wait_for()
    tab.locator('.node[aria-label^="ill"] .state-row').nth(1).click()
    tab.get_by_text("P(evidence)").first.wait_for()


def show_compare(tab: Tab) -> None:
    """Compare the run with one by another method."""
    _learn(tab, "k2")
    _go(tab, f"/compare/run:{RUN}/run:patients k2")
    tab.locator(".measures").wait_for()


def show_confidence(tab: Tab) -> None:
    """Run a bootstrap of 50 samples."""
    _go(tab, f"/confidence/{RUN}")
    tab.click("#start")
    tab.locator("#source", has_text="From 50 bootstrap samples").wait_for(timeout=240_000)
    tab.locator("img.picture").evaluate("image => image.decode()")


def show_predict(tab: Tab) -> None:
    """Predict the illness."""
    _go(tab, f"/predict/run:{RUN}")
    tab.select_option("#target", "ill")
    tab.click("#predict")
    tab.locator("#metrics").wait_for()


def show_export(tab: Tab) -> None:
    """Show the formats and the texts."""
    _go(tab, f"/export/run:{RUN}")
    tab.locator(".copy-box").first.wait_for()
    tab.locator("img.picture").evaluate("image => image.decode()")


def show_search(tab: Tab) -> None:
    """Watch a search that takes longer: on rows of the network alarm."""
    tab.evaluate(SAMPLE, {"network": "alarm", "rows": 1000})
    _learn(tab, "ccma", "alarm 1000")
    tab.locator(".live-graph .node").first.wait_for()


PICTURES: dict[str, Callable[[Tab], None]] = {
    "data": show_data,
    "knowledge": show_knowledge,
    "contradiction": show_contradiction,
    "learn": show_learn,
    "explore": show_explore,
    "compare": show_compare,
    "confidence": show_confidence,
    "predict": show_predict,
    "export": show_export,
    "search": show_search,
}


def _go(tab: Tab, place: str) -> None:
    """Open another view of the same page."""
    tab.evaluate("place => { location.hash = place; }", f"#{place}")


def _learn(tab: Tab, method: str, table: str = "patients") -> None:
    """Learn by a method, and wait for the end."""
    _go(tab, f"/learn/new/{table}")
    tab.get_by_label("Method").select_option(method)
    tab.get_by_role("button", name="Start the search").click()
    tab.get_by_role("heading", name=f"{table} {method}").wait_for()
    tab.locator(".state.done").wait_for(timeout=180_000)


def _add_arc(tab: Tab, kind: str, parent: str, child: str) -> None:
    for field, value in (("kind", kind), ("from", parent), ("to", child)):
        tab.select_option(f"#arc-{field}", value)
    with tab.expect_response(lambda answer: answer.request.method == "PUT"):
        tab.click("#add-arc")


def _move_into_tier(tab: Tab, name: str, tier: str) -> None:
    tab.select_option("#tier-variable", name)
    tab.select_option("#tier-number", tier)
    with tab.expect_response(lambda answer: answer.request.method == "PUT"):
        tab.click("#move-tier")


@contextlib.contextmanager
def _run_studio(folder: Path) -> Iterator[str]:
    """Yield the address of a studio that runs in a thread."""
    studio = Studio(Workspace(folder))
    listener = open_socket("127.0.0.1", 0)
    studio.rules.port = listener.getsockname()[1]
    server = make_server(studio)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield make_address(studio, "127.0.0.1")
    finally:
        server.should_exit = True
        thread.join()
        studio.end()
        listener.close()


@contextlib.contextmanager
def _open_tab(address: str) -> Iterator[Tab]:
    """Yield the page of the studio in a headless browser."""
    playwright = import_module("playwright.sync_api")
    named = os.environ.get("COEVO_BROWSER")
    path = named or next(filter(None, map(shutil.which, BROWSERS)), None)
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        tab.goto(f"{address}#/data")
        yield tab
        browser.close()


def _save(content: bytes, path: Path) -> None:
    """Write a picture with few colours."""
    image = import_module("PIL.Image")
    image.open(io.BytesIO(content)).convert("RGB").quantize(COLOURS).save(path, optimize=True)


def main(names: list[str]) -> None:
    """Take the named pictures, or all. The walk is always complete."""
    with (
        tempfile.TemporaryDirectory() as folder,
        _run_studio(Path(folder) / "work") as address,
        _open_tab(address) as tab,
    ):
        for name, show in PICTURES.items():
            show(tab)
            tab.evaluate(HIDE_FOLDER, str(Path(folder).resolve()))
            if not names or name in names:
                _save(tab.screenshot(full_page=True), HERE / f"studio-{name}.png")


if __name__ == "__main__":
    main(sys.argv[1:])
