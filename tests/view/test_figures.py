"""Tables keep the content of their cells in three formats; figures are complete files.

The same numbers give the same figures, which change no settings. Panels that compare methods show
every given number.
"""

import csv
import io
import os
import struct
import sys
import xml.etree.ElementTree as ET
import zlib

import matplotlib
import numpy as np
import pytest

from coevo.errors import DependencyError, FileError
from coevo.view.figures import (
    LINE_LOOKS,
    POINT_LOOKS,
    ReportTable,
    draw_band_panel,
    draw_box_panel,
    draw_time_panel,
    make_figure,
    require_matplotlib,
    set_gap_axis,
    write_figure,
)

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


CURVE = np.array([-5000.0, -4200.0, -4100.0, -4100.0])
LINES = {"K2, mean": -4150.0, "original <DAG>": -4000.0}
SVG = "{http://www.w3.org/2000/svg}"


def drawn(n_panels=2):
    figure, panels = make_figure(n_panels)
    for panel in panels:
        draw_band_panel(panel, CURVE, (CURVE - 50, CURVE + 50), LINES, "CCGA")
    return figure, panels


def settings():
    """Return matplotlib's settings without the backend, because reading it would select one."""
    return dict(dict.items(matplotlib.rcParams))


def png_chunks(data):
    """Return the (kind, content) parts of a PNG file, whose checksums must be right."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, []
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, content = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length]) == (
            zlib.crc32(kind + content),
        )
        chunks.append((kind, content))
        at += 12 + length
    return chunks


def test_a_panel_shows_the_numbers():
    figure, panels = drawn(3)
    assert len(panels) == len(figure.axes) == 3
    assert figure.get_size_inches().tolist() == pytest.approx([9.9, 2.9])
    for panel in panels:
        curve, *others = panel.get_lines()
        assert curve.get_xdata().tolist() == [0, 1, 2, 3]
        assert curve.get_ydata().tolist() == CURVE.tolist()
        assert [line.get_label() for line in panel.get_lines()] == ["CCGA", *LINES]
        assert [line.get_ydata() for line in others] == [[value] * 2 for value in LINES.values()]
        assert len({line.get_linestyle() for line in panel.get_lines()}) == 3  # without colour too
        (band,) = panel.collections
        corners = band.get_paths()[0].vertices
        for x, y in enumerate(CURVE):
            at_x = corners[corners[:, 0] == x][:, 1]
            assert (at_x.min(), at_x.max()) == (y - 50, y + 50)
        assert panel.get_xlabel() == "generation"
        assert panel.yaxis.get_major_formatter()(-12345.6) == "\N{MINUS SIGN}12,346"


def test_both_files_are_valid_and_the_same_each_time(tmp_path):
    contents = []
    for _ in range(2):
        figure, panels = drawn()
        panels[0].set_title("a & b")
        written = write_figure(figure, tmp_path / "figure.1")
        assert written == [tmp_path / "figure.1.png", tmp_path / "figure.1.svg"]
        contents.append([path.read_bytes() for path in written])
    assert contents[0] == contents[1]
    assert sorted(os.listdir(tmp_path)) == ["figure.1.png", "figure.1.svg"]
    png, svg = contents[0]
    chunks = png_chunks(png)
    assert struct.unpack(">II", chunks[0][1][:8]) == (1320, 580)  # 200 dots an inch
    assert chunks[-1] == (b"IEND", b"")
    pixels = zlib.decompress(b"".join(content for kind, content in chunks if kind == b"IDAT"))
    assert len(set(pixels)) > 2  # not blank
    assert {kind for kind, _ in chunks} <= {b"IHDR", b"IDAT", b"IEND", b"pHYs"}  # no dates
    root = ET.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    assert "a & b" in {element.text for element in root.iter(f"{SVG}text")}


def test_no_setting_changes(tmp_path):
    before = settings()
    figure, _ = drawn(1)
    write_figure(figure, tmp_path / "x")
    assert settings() == before


def test_a_failure_restores_the_callers_settings(tmp_path):
    before = settings()
    with pytest.raises(FileError) as raised:
        write_figure(drawn(1)[0], tmp_path / "no" / "x")
    folder = str(tmp_path / "no")
    assert str(raised.value) == (
        f"'{folder}/x.png' cannot be written: there is no folder '{folder}'."
    )
    assert settings() == before


def test_a_failure_leaves_no_partial_figure(tmp_path, monkeypatch):
    figure, _ = drawn(1)
    write_figure(figure, tmp_path / "x")
    before = (tmp_path / "x.png").read_bytes()

    def fail(stream, **options):
        stream.write(b"half")
        raise MemoryError

    monkeypatch.setattr(figure, "savefig", fail)
    with pytest.raises(MemoryError):
        write_figure(figure, tmp_path / "x")
    assert (tmp_path / "x.png").read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["x.png", "x.svg"]


@pytest.mark.parametrize("call", [require_matplotlib, lambda: make_figure(1)])
def test_without_matplotlib(call, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(DependencyError) as raised:
        call()
    assert str(raised.value) == (
        "matplotlib is not installed. Install it with: pip install 'coevo[plot]'"
    )


CURVES = {"one": [[(0.0, 9.0), (2.0, 5.0)], [(1.0, 7.0), (3.0, 6.0)], [(1.0, 1.0), (9.0, 1.0)]]}
POINTS = {"other": [(0.5, 3.0), (4.0, 2.0)]}
LOOKS = {"one": LINE_LOOKS[0], "other": POINT_LOOKS[0]}


@pytest.fixture
def panel():
    return make_figure(1)[1][0]


def test_values_over_time(panel):
    draw_time_panel(panel, CURVES, POINTS, LOOKS)
    *runs, median = panel.get_lines()
    shown = [[list(map(float, row)) for row in zip(*r.get_data(), strict=True)] for r in runs]
    assert shown == [[[1e-4, 9], [2, 5]], [[1, 7], [3, 6]], [[1, 1], [9, 1]]]  # no logarithm of 0
    assert list(zip(*median.get_data(), strict=True)) == [(1, 7), (2, 5), (3, 5), (9, 5)]
    assert {line.get_drawstyle() for line in (*runs, median)} == {"steps-post"}
    (points,) = panel.collections
    assert points.get_offsets().tolist() == [[0.5, 3.0], [4.0, 2.0]]
    assert panel.get_legend_handles_labels()[1] == ["one", "other"]
    assert (panel.get_xscale(), panel.get_xlabel()) == ("log", "seconds")


def test_no_two_methods_differ_by_colour_alone():
    for looks in (LINE_LOOKS, POINT_LOOKS):
        assert len({look.colour for look in looks}) == len({look.shape for look in looks})
        assert len(set(looks)) == len(looks)


def test_boxes(panel):
    values = {"a": [1.0, 2.0, 3.0, 4.0, 9.0], "b": [], "c": [5.0]}
    draw_box_panel(panel, values, {"a": "#0072B2", "c": "#D55E00"}, {"b": "timed out"})
    box, single = panel.patches
    assert (box.get_x(), box.get_width()) == (2.0, 2.0)  # from quartile to quartile
    assert (single.get_x(), single.get_width()) == (5.0, 0.0)
    whiskers, median = panel.collections[:2]
    assert whiskers.get_segments()[0].tolist() == [[1.0, 0.0], [9.0, 0.0]]
    assert median.get_segments()[0][:, 0].tolist() == [3.0, 3.0]
    assert [list(line.get_xdata()) for line in panel.get_lines()] == [values["a"], values["c"]]
    assert [label.get_text() for label in panel.get_yticklabels()] == ["a", "b", "c"]
    (note,) = panel.texts
    assert (note.get_text(), note.xy[1]) == ("timed out", 1)
    low, high = panel.get_ylim()
    assert low > high  # the first is at the top


@pytest.mark.parametrize(
    ("largest", "ticks"),
    [(0.0, ["0", "1"]), (3.0, ["0", "1"]), (70.0, ["0", "1", "10", "100"]),
     (2e4, ["0", "1", "10", "100", "1,000", "10,000"])],
)  # fmt: skip
def test_the_axis_of_gaps(largest, ticks, panel):
    set_gap_axis(panel, "x", largest)
    set_gap_axis(panel, "y", largest)
    for labels in (panel.get_xticklabels(), panel.get_yticklabels()):
        assert [label.get_text() for label in labels] == ticks
    (left, right), (bottom, top) = panel.get_xlim(), panel.get_ylim()
    assert left < 0 <= largest < right
    assert bottom > largest >= 0 > top  # the best is at the top
