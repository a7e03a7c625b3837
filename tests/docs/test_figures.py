"""Every table of measured figures in README, benchmarks and docs names its date and its version."""

import runpy
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "stale_figures.py"


def test_every_measured_table_has_a_date():
    script = runpy.run_path(str(SCRIPT))
    figures = [one for page in script["list_pages"]() for one in script["find_figures"](page)]
    assert len(figures) > 50
    assert [one.place for one in figures if one.measured is None] == []


def test_a_block_that_nobody_has_measured_yet_has_no_figures(tmp_path):
    script = runpy.run_path(str(SCRIPT))
    page = tmp_path / "page.md"
    begin, end = "<!-- a: made by the command below it -->\n", "<!-- end of a -->\n"
    for text, n_figures in (("", 0), ("\n", 0), ("Seconds: 3\n", 1)):
        page.write_text(f"# A\n\n{begin}{text}{end}")
        assert len(list(script["find_figures"](page))) == n_figures


def test_a_table_without_a_date_is_found(tmp_path):
    script = runpy.run_path(str(SCRIPT))
    page = tmp_path / "page.md"
    table = "| n | s |\n|---|---:|\n| 1 | 2 |\n"
    dated = "*Measured 2026-11-18, coevo 0.2.0, commit 3cbff0f.*\n"
    page.write_text(f"# A\n\n{table}\n{dated}\n    python benchmarks/ges.py\n\n# B\n\n{table}")
    first, second = script["find_figures"](page)
    assert (first.command, first.measured["commit"]) == ("ges.py", "3cbff0f")
    assert second.measured is None
