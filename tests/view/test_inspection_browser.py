"""The page of an inspection in a real browser: it filters, sorts, copies, and loads nothing."""

from __future__ import annotations

import pytest

from helpers.browser import open_tabs
from helpers.inspections import inspect_nasty_table
from helpers.pages import NASTY


@pytest.fixture
def opened(browser, tmp_path):
    path = tmp_path / "page.html"
    inspect_nasty_table().save_page(path, command="coevo learn 'a b.csv' -o run/")
    with open_tabs(browser, path) as call:
        yield call


def shown_names(tab):
    return tab.locator("#columns tbody tr:visible .column-name").all_text_contents()


def test_filter_and_sort(opened):
    tab = opened()
    assert len(shown_names(tab)) == len(NASTY) + 5
    tab.keyboard.press("/")
    tab.keyboard.type("continuous")
    assert shown_names(tab) == ["huge", "incomplete", "age"]
    assert tab.inner_text("#shown") == "3 of 10 columns"
    tab.click("#columns th:nth-child(1) button")
    assert shown_names(tab) == ["age", "huge", "incomplete"]
    tab.click("#columns th:nth-child(4) button")
    assert shown_names(tab)[0] == "incomplete"  # most missing values first
    tab.focus("#filter")
    tab.keyboard.press("Escape")
    assert len(shown_names(tab)) == len(NASTY) + 5
    tab.fill("#filter", NASTY[0])
    assert shown_names(tab) == [NASTY[0]]


def test_copy_an_option(opened):
    tab = opened()
    button = tab.locator(".problems .copy").first
    button.click()
    tab.locator(".problems .copy", has_text="Copied").wait_for()
    tab.click("header .copy")
    tab.locator("header .copy", has_text="Copied").wait_for()


def test_a_column_leads_to_its_problem(opened):
    tab = opened()
    tab.locator("#columns tr", has_text="row 0").locator("a.problem").first.click()
    assert tab.url.endswith("#problem-0")


@pytest.mark.parametrize("width", [360, 800, 1200, 1800])
def test_no_width_needs_sideways_scrolling(opened, width):
    tab = opened(width=width, color_scheme="dark")
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.eval_on_selector("body", "body => getComputedStyle(body).backgroundColor") == (
        "rgb(20, 24, 31)"
    )
    assert tab.pdf().startswith(b"%PDF")
