"""The page of an inspection is one file that shows every column, for any names."""

from __future__ import annotations

import base64
import hashlib
import re

from coevo.errors import FileError
from coevo.view.inspection import TableInspection
from coevo.view.inspection.page import render_inspection
from helpers.errors import refusal
from helpers.inspections import inspect_nasty_table
from helpers.page_reader import PageReader


class Reader(PageReader):
    """Reads the page of an inspection."""

    void = frozenset({"meta", "link", "input", "wbr"})


def test_a_page_is_closed_and_shows_everything(seed):
    found = inspect_nasty_table(seed)
    reader = Reader(render_inspection(found, "coevo learn '<x>.csv' -o run/"))
    text = "".join(reader.texts)
    assert "Inspection of </title>.csv" in text
    for part in (
        "coevo learn '<x>.csv' -o run/",
        "encoding='utf-8'",
        "--encoding utf-8",
        *(column.name for column in found.columns),
        *(finding.sentence for finding in found.findings),
        *(decision.sentence for decision in found.decisions),
    ):
        assert part in text
    rows = [tag for tag, attributes in reader.tags if tag == "tr"]
    assert len(rows) == 1 + len(found.columns)
    assert not any("style" in attributes for _, attributes in reader.tags)


def test_only_the_own_style_and_script_may_be_used():
    html = render_inspection(inspect_nasty_table())
    reader = Reader(html)
    (policy,) = re.findall(r'Content-Security-Policy" content="(.*?)"', html)
    for parts in (reader.styles, reader.scripts):
        digest = hashlib.sha256("".join(parts).encode()).digest()
        assert base64.b64encode(digest).decode() in policy
    assert [a for t, a in reader.tags if t == "link"] == [{"rel": "icon", "href": "data:,"}]
    assert not re.search(r"https?://", html)


def test_a_histogram_is_described_in_words(seed):
    found = inspect_nasty_table(seed)
    html = render_inspection(found)
    numbers = found.by_name["age"].summary.numbers
    assert f"Histogram of age: from {numbers.minimum:.0f} to {numbers.maximum:.0f}, median" in html
    assert html.count('role="img"') == 3  # huge, incomplete, age
    assert 'aria-label="States of many"' in html


def test_an_empty_table():
    Reader(render_inspection(TableInspection("nothing", 0, (), (), (), None)))


def test_the_page_is_written(tmp_path):
    found = inspect_nasty_table()
    found.save_page(tmp_path / "page.html", command="coevo learn")
    assert (tmp_path / "page.html").read_text("utf-8") == render_inspection(found, "coevo learn")
    target = tmp_path / "no" / "page.html"
    assert refusal(FileError, found.save_page, target) == (
        f"'{target}' cannot be written: there is no folder '{target.parent}'."
    )
