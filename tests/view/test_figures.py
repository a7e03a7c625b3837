"""Figures are complete files, identical for the same numbers, and change no settings."""

import os
import struct
import sys
import xml.etree.ElementTree as ET
import zlib

import matplotlib
import numpy as np
import pytest

from coevo.errors import DependencyError, FileError
from coevo.view.figures import draw_band_panel, make_figure, require_matplotlib, write_figure

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
