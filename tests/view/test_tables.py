"""A table in three formats, each of which keeps the content of its cells."""

import csv
import io
import os

import pytest

from coevo.errors import FileError
from coevo.view.figures import ReportTable

TABLE = ReportTable(
    ["data set", "algorithm", "mean (sd) & max"],
    [["Alarm 1000", "CCGA", "-12,166.21"], ["Alarm 1000", "K2", ""]],
    caption="Scores of 100 % of the runs.",
    n_labels=2,
)
MARKDOWN = """\
Scores of 100 % of the runs.

| data set | algorithm | mean (sd) & max |
|---|---|---:|
| Alarm 1000 | CCGA | -12,166.21 |
| Alarm 1000 | K2 |  |
"""
LATEX = r"""\begin{table}
\centering
\caption{Scores of 100 \% of the runs.}
\begin{tabular}{llr}
\hline
data set & algorithm & mean (sd) \& max \\
\hline
Alarm 1000 & CCGA & -12,166.21 \\
Alarm 1000 & K2 &  \\
\hline
\end{tabular}
\end{table}
"""
CSV = """\
data set,algorithm,mean (sd) & max
Alarm 1000,CCGA,-12166.21
Alarm 1000,K2,
"""


def one_cell(text):
    return ReportTable(["h"], [[text]])


def test_the_three_formats():
    assert TABLE.to_markdown() == MARKDOWN
    assert TABLE.to_latex() == LATEX
    assert TABLE.to_csv() == CSV


def test_without_a_caption_markdown_is_the_table_alone():
    assert one_cell("x").to_markdown() == "| h |\n|---|\n| x |\n"


def test_without_rows():
    empty = ReportTable(["a", "b"], [])
    assert empty.to_markdown() == "| a | b |\n|---|---:|\n"
    assert empty.to_csv() == "a,b\n"
    assert "a & b \\\\\n\\hline\n\\hline\n" in empty.to_latex()


@pytest.mark.parametrize(("cell", "written"), [("a|b", r"a\|b"), ("||", r"\|\|"), ("a_b", "a_b")])
def test_markdown_cells(cell, written):
    assert one_cell(cell).to_markdown().splitlines()[-1] == f"| {written} |"


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("<0.0001", "$<$0.0001"),
        ("a > b", "a $>$ b"),
        (r"\x", r"\textbackslash{}x"),
        ("~^", r"\textasciitilde{}\textasciicircum{}"),
        ("&%$#_{}", r"\&\%\$\#\_\{\}"),
        (r"\{", r"\textbackslash{}\{"),  # nothing is escaped twice
        ("-1,234.5 (0.1)", "-1,234.5 (0.1)"),
        ("é", "é"),
    ],
)
def test_latex_cells_headers_and_captions(cell, written):
    text = ReportTable([cell], [[cell]], caption=cell).to_latex()
    assert text.count(f"{written} \\\\\n") == 2
    assert f"\\caption{{{written}}}\n" in text


@pytest.mark.parametrize(
    ("cell", "read"),
    [
        ("-12,166.21", "-12166.21"),
        ("1,234,567", "1234567"),
        ("+1,000", "+1000"),
        ("-0.5", "-0.5"),
        ("<0.0001", "<0.0001"),
        ("1,23", "1,23"),  # a list, not a number
        ("1234,567", "1234,567"),
        ("1,234 (5)", "1,234 (5)"),
        ("a,b", "a,b"),
        ('say "x"', 'say "x"'),
        ("two\nlines", "two\nlines"),
        ("", ""),
    ],
)
def test_csv_cells(cell, read):
    table = ReportTable(["name, or label", "value"], [["x", cell]])
    found = list(csv.reader(io.StringIO(table.to_csv(), newline="")))
    assert found == [["name, or label", "value"], ["x", read]]


def test_written_files_are_the_same_bytes_each_time(tmp_path):
    names = ["table.v1.md", "table.v1.tex", "table.v1.csv"]
    for _ in range(2):
        written = TABLE.write(tmp_path / "table.v1")
        assert written == [tmp_path / name for name in names]
        assert [path.read_bytes().decode() for path in written] == [MARKDOWN, LATEX, CSV]
    assert sorted(os.listdir(tmp_path)) == sorted(names)


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(FileError) as raised:
        TABLE.write(tmp_path / "no" / "table")
    folder = str(tmp_path / "no")
    assert str(raised.value) == (
        f"'{folder}/table.md' cannot be written: there is no folder '{folder}'."
    )
