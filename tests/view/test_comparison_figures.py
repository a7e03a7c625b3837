"""Panels that compare methods show every given number."""

import pytest

from coevo.view.figures import (
    LINE_LOOKS,
    POINT_LOOKS,
    draw_box_panel,
    draw_time_panel,
    make_figure,
    set_gap_axis,
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
