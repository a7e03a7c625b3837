"""A headless Chromium for the tests of pages, if there is one."""

from __future__ import annotations

import contextlib
import glob
import os
import shutil

import pytest

LONGEST = (
    60_000  # milliseconds, of all waits: a busy machine is slow (Playwright expects within 5,000)
)
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def find_browser():
    """Return the path of Chromium, or None."""
    named = os.environ.get("COEVO_BROWSER")
    if named:
        return named
    own = os.path.expanduser("~/.cache/ms-playwright/chromium*/chrome-*/*")
    programs = ("chrome", "headless_shell", "chrome-headless-shell")
    downloaded = [p for p in sorted(glob.glob(own)) if os.path.basename(p) in programs]
    found = [path for path in map(shutil.which, NAMES) if path]
    return next(iter([*found, *downloaded]), None)


@contextlib.contextmanager
def launch_browser():
    """Yield a browser; skip the test if there is none."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="Playwright is not installed (pip install playwright)"
    )
    path = find_browser()
    if path is None:
        pytest.skip("no Chromium was found: install one, or name it in COEVO_BROWSER")
    playwright.expect.set_options(timeout=LONGEST)
    with playwright.sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield launched
        launched.close()


def open_page(browser, *, width=1200, height=800, **options):
    """Return an empty page of a new context."""
    context = browser.new_context(viewport={"width": width, "height": height}, **options)
    context.set_default_timeout(LONGEST)
    return context.new_page()


@contextlib.contextmanager
def open_tabs(browser, path):
    """Yield a function that opens a file; at the end there must be no errors or requests."""
    seen, tabs = [], []

    def call(**options):
        tab = open_page(browser, **options)
        tabs.append(tab)
        tab.on("console", lambda message: seen.append(message.text))
        tab.on("pageerror", lambda error: seen.append(str(error)))
        tab.on("dialog", lambda dialog: seen.append(dialog.message))
        tab.on("request", lambda asked: seen.append(asked.url))
        tab.goto(path.as_uri())
        assert seen.pop(0) == path.as_uri()
        return tab

    yield call
    for tab in tabs:
        tab.context.close()
    assert seen == []


def find_variable(tab, name):
    """Choose a variable of a report page by the search field."""
    tab.fill("#search", name)
    tab.press("#search", "Enter")
