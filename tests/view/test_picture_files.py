"""PNG and PDF files show the shapes of the SVG, and have the same bytes each time."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.image import imread
from matplotlib.patches import FancyBboxPatch, PathPatch

from coevo.bundled import load_network
from coevo.errors import CoevoWarning, DependencyError
from coevo.graph import DAG
from coevo.view.picture import picture as picture_module
from coevo.view.picture.picture import MAX_PIXELS, draw_file
from coevo.view.picture.scene import (
    NODE_FILL,
    Line,
    Link,
    Polygon,
    RoundedBox,
    Scene,
    Text,
    make_scene,
)
from helpers.errors import refusal

ASIA = load_network("asia")


def scene_of(dag):
    return make_scene(dag.nodes, [Link(*arc) for arc in dag.arcs])


def shapes_of(scene, kind):
    return [s for group in scene.groups for s in group.shapes if isinstance(s, kind)]


def test_a_figure_has_the_shapes_of_the_scene():
    scene = scene_of(load_network("alarm").dag)
    (axes,) = picture_module._draw_figure(scene, 1.0).axes
    boxes = [p for p in axes.patches if isinstance(p, FancyBboxPatch)]
    expected = shapes_of(scene, RoundedBox)
    assert [(p.get_x(), p.get_y(), p.get_width(), p.get_height()) for p in boxes] == [
        (box.x, box.y, box.width, box.height) for box in expected
    ]
    lines = [p for p in axes.patches if isinstance(p, PathPatch)]
    assert len(lines) == 46
    for drawn, line in zip(lines, shapes_of(scene, Line), strict=True):
        assert drawn.get_path().vertices.tolist() == [list(point) for point in line.curve]
        assert drawn.get_linewidth() == pytest.approx(line.width * 0.75)  # 96 units are 72 points
        assert to_hex(drawn.get_edgecolor()) == line.colour
    assert len(axes.patches) == 46 + 37 + len(shapes_of(scene, Polygon))
    texts = shapes_of(scene, Text)
    assert [text.get_text() for text in axes.texts] == [text.text for text in texts]
    for drawn, text in zip(axes.texts, texts, strict=True):
        assert drawn.get_position() == (text.x, text.y)


def test_png_pixels(tmp_path):
    picture = ASIA.plot()
    picture.save(tmp_path / "a.png")
    image = imread(tmp_path / "a.png")
    assert image.shape[:2] == (2 * picture.height, 2 * picture.width)
    assert (image[0] == 1).all()  # a white background
    for box in shapes_of(scene_of(ASIA.dag), RoundedBox):
        x, y = round(2 * (box.x + 4)), round(2 * (box.y + box.height / 2))
        assert to_hex(image[y, x]) == NODE_FILL


def test_labels_fit_into_their_boxes():
    names = ["W" * 26, "MMMMMMMM", "a" * 26, "", "iiii"]
    scene = scene_of(DAG(names))
    figure = picture_module._draw_figure(scene, 1.0)
    figure.set_dpi(192)  # two dots for each unit
    (axes,) = figure.axes
    boxes = {text.text: text.max_width for text in shapes_of(scene, Text)}
    for text in axes.texts:
        assert text.get_window_extent().width / 2 <= boxes[text.get_text()] + 4  # rounded glyphs


def test_the_same_bytes(tmp_path):
    code = (
        "import sys; from coevo.bundled import load_network;"
        "p = load_network('asia').plot(); [p.save(name) for name in sys.argv[1:]]"
    )
    seen = []
    for number, date in enumerate(("0", "1000000000")):
        names = [str(tmp_path / f"{number}.{kind}") for kind in ("png", "pdf")]
        settings = {"PYTHONHASHSEED": str(number), "SOURCE_DATE_EPOCH": date}
        subprocess.run([sys.executable, "-c", code, *names], env=os.environ | settings, check=True)
        seen.append([Path(name).read_bytes() for name in names])
    assert seen[0] == seen[1]
    for _ in range(2):
        assert [ASIA.plot().to_bytes(kind) for kind in ("png", "pdf")] == seen[0]
    png, pdf = seen[0]
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert not re.search(rb"tEXt|tIME|iTXt", png)
    assert pdf[:5] == b"%PDF-"
    assert b"Date" not in pdf


def test_a_pdf_has_one_page_with_its_size_and_text():
    picture = DAG(["rain", "wet"], [("rain", "wet")]).plot()
    pdf = picture.to_bytes("pdf")
    box = re.search(rb"/MediaBox \[ ?0 0 ([0-9.]+) ([0-9.]+) ?\]", pdf)
    assert [float(size) for size in box.groups()] == pytest.approx(
        [picture.width * 0.75, picture.height * 0.75]
    )
    parts = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)
    content = b"".join(zlib.decompress(part) for part in parts if part[:1] == b"x")
    texts = re.findall(rb"BT\n(.*?)\nET", content, re.DOTALL)
    assert [b"".join(re.findall(rb"\((.*?)\)", text)) for text in texts] == [b"rain", b"wet"]


def test_no_setting_changes():
    before = dict(dict.items(matplotlib.rcParams))
    draw_file(scene_of(ASIA.dag), "png")
    assert dict(dict.items(matplotlib.rcParams)) == before


def test_math_signs_are_plain_text():
    names = ["$x_1$", r"\frac", "a$b", "100%"]
    (axes,) = picture_module._draw_figure(scene_of(DAG(names)), 1.0).axes
    assert sorted(text.get_text() for text in axes.texts) == sorted(names)
    assert not any(text.get_parse_math() for text in axes.texts)
    assert DAG(names).plot().to_bytes("png")


def test_characters_that_no_font_has(monkeypatch):
    dag = DAG(["\U000e0041\U000e0042", "a"])
    with pytest.warns(CoevoWarning) as caught:
        dag.plot().to_bytes("png")
    assert [str(warning.message) for warning in caught] == [
        "No installed font has a shape for 2 characters of the names, such as '\\U000e0041'. "
        "The picture shows a box instead. An SVG file does not have this limit."
    ]


def test_a_character_of_another_font():
    """DejaVu Sans lacks an italic dotless i. STIX, which comes with matplotlib, has it."""
    assert picture_module._choose_fonts(scene_of(DAG(["ab"]))) == ["DejaVu Sans"]
    fonts = picture_module._choose_fonts(scene_of(DAG(["\U0001d6a4"])))
    assert fonts[0] == "DejaVu Sans"
    assert len(fonts) == 2
    assert DAG(["\U0001d6a4"]).plot().to_bytes("pdf")


@pytest.mark.parametrize("size", [(40_000, 2000), (2000, 40_000)])
def test_a_large_picture_is_limited(size):
    scene = Scene(*size, (), "Nothing")
    width, height = struct.unpack(">II", draw_file(scene, "png")[16:24])
    assert max(width, height) == pytest.approx(MAX_PIXELS, abs=1)
    assert width / height == pytest.approx(size[0] / size[1], rel=0.01)
    page = re.search(rb"/MediaBox \[ ?0 0 ([0-9.]+) ([0-9.]+) ?\]", draw_file(scene, "pdf"))
    assert max(float(side) for side in page.groups()) == pytest.approx(200 * 72)


def test_without_matplotlib(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    picture = ASIA.plot()
    picture.save(tmp_path / "a.svg")
    for kind in ("png", "pdf"):
        assert refusal(DependencyError, picture.save, tmp_path / f"a.{kind}") == (
            "matplotlib is not installed. Install it with: pip install 'coevo[plot]'"
        )
    assert os.listdir(tmp_path) == ["a.svg"]


def test_dashes_and_legends_are_drawn():
    scene = make_scene("ab", [Link("a", "b", kind="missing")], None, {"missing": "1 missing"})
    (axes,) = picture_module._draw_figure(scene, 1.0).axes
    lines = [p for p in axes.patches if isinstance(p, PathPatch)]
    assert [line.get_linestyle() for line in lines] != ["-", "-"]
    assert axes.texts[-1].get_text() == "1 missing"
    assert axes.texts[-1].get_horizontalalignment() == "left"
    assert np.isfinite(axes.texts[-1].get_position()).all()
