"""What is said of a search: the words, the bar, and that no line is ever too long."""

from __future__ import annotations

import pytest

from coevo.bundled import load_network
from coevo.network import sample
from coevo.progress import SearchProgress
from coevo.score import FamilyScorer
from coevo.search import Budget, HistoryRow, run_search


class Clock:
    """A clock that is set by hand."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(scope="module")
def rows():
    return sample(load_network("asia"), 200, 1)


def at(generation, seconds, improved, score=-1234.567, n_arcs=7, evaluations=0):
    return HistoryRow(generation, evaluations, seconds, improved, score, n_arcs, {})


def told(limits, rows, clock, *history):
    """Return the progress after some generations, each told as soon as it is over."""
    progress = SearchProgress(limits, FamilyScorer(rows), clock)
    for row in history:
        clock.now = 100.0 + row.seconds
        progress.take(row)
    return progress


def test_before_the_first_generation(rows, clock):
    progress = told(Budget(max_time=60), rows, clock)
    assert (str(progress), progress.fraction, progress.lines(80)) == (
        "starting",
        None,
        ["starting"],
    )


@pytest.mark.parametrize(
    ("limits", "expected", "fraction"),
    [
        (Budget(), "generation 31, 12.3 s, {best}", None),
        (Budget(max_time=60), "generation 31, 12.3 of 60 s, {best}", 12.3 / 60),
        (Budget(max_time=0), "generation 31, 12.3 of 0 s, {best}", 1.0),
        (Budget(max_generations=2500), "generation 31 of 2,500, 12.3 s, {best}", 31 / 2500),
        (
            Budget(max_time=60, max_generations=40),
            "generation 31 of 40, 12.3 of 60 s, {best}",
            31 / 40,
        ),
        (
            Budget(max_evaluations=500),
            "generation 31, 12.3 s, {best}, evaluations: 900 of 500",
            1.0,
        ),
        (
            Budget(patience=25),
            "generation 31, 12.3 s, {best}, stops after 25 generations without anything better: 7",
            None,
        ),
        (
            Budget(target=-1200),
            "generation 31, 12.3 s, {best}, stops at -1,200.00",
            None,
        ),
    ],
)
def test_the_words(limits, expected, fraction, rows, clock):
    progress = told(limits, rows, clock, at(24, 8.2, 24), at(31, 12.3, 24, evaluations=900))
    best = "best score -1,234.57, found in generation 24 (4.1 s ago), 7 arcs, 0 families a second"
    assert str(progress) == expected.format(best=best)
    assert progress.fraction == (None if fraction is None else pytest.approx(fraction))


def test_the_clock_goes_on_between_generations(rows, clock):
    progress = told(Budget(max_time=20), rows, clock, at(3, 5.0, 3, n_arcs=1))
    clock.now += 10
    assert str(progress).startswith("generation 3, 15.0 of 20 s, best score")
    assert "found in generation 3 (10.0 s ago), 1 arc, " in str(progress)
    assert progress.fraction == 0.75
    clock.now += 10
    assert progress.fraction == 1.0


def test_when_it_improved_is_not_said_if_nobody_saw_it(rows, clock):
    """A search that goes on has found its best in an earlier session."""
    progress = told(Budget(), rows, clock, at(31, 1.0, 24), at(32, 2.0, 24))
    assert "found in" not in str(progress)
    progress.take(at(33, 3.0, 33))
    assert "found in generation 33 (0.0 s ago)" in str(progress)


def test_the_families_are_those_that_this_search_had_to_score(rows, clock):
    scorer = FamilyScorer(rows)
    run_search("hill_climb", scorer)
    before = scorer.statistics().scored
    progress = SearchProgress(Budget(), scorer, clock)
    found = run_search("ccma", scorer, random_state=7)
    clock.now += 2
    progress.take(at(9, 700.0, 9))  # of which two seconds are in this session
    assert scorer.statistics().scored - before == found.cache.scored > 0
    assert f"{found.cache.scored / 2:,.0f} families a second" in str(progress)


@pytest.mark.parametrize("width", [*range(1, 130)])
@pytest.mark.parametrize("limits", [Budget(patience=25), Budget(3600, 10**6, None, 25, -1e9)])
def test_no_line_is_too_long_and_nothing_is_lost(limits, width, rows, clock):
    progress = told(limits, rows, clock, at(1000, 500.0, 1000), at(2000, 1800.0, 1000))
    lines = progress.lines(width)
    assert all(len(line) <= width for line in lines)
    pieces = str(progress).split(", ")
    if width >= max(map(len, pieces)):
        has_bar = limits.max_time is not None
        words = ", ".join(lines).removeprefix("━" * 10 + "─" * 10)
        assert words.lstrip("━─, ") == str(progress)
        assert lines[0].startswith("━") == has_bar


@pytest.mark.parametrize(("seconds", "done"), [(0.0, 0), (2.99, 0), (3.0, 1), (59.9, 19), (60, 20)])
def test_the_bar_is_full_at_the_end_and_not_before(seconds, done, rows, clock):
    progress = told(Budget(max_time=60), rows, clock, at(1, seconds, 1))
    assert progress.lines(80)[0].split()[0] == "━" * done + "─" * (20 - done)
    assert progress.lines(80, ascii_only=True)[0].split()[0] == "#" * done + "-" * (20 - done)


def test_a_callback_takes_and_tells(rows):
    scorer = FamilyScorer(rows)
    progress, heard = SearchProgress(Budget(max_generations=3), scorer), []
    callback = progress.told_by(lambda news: heard.append(str(news).split(",")[0]))
    found = run_search("ccga", scorer, budget=Budget(max_generations=3), callbacks=[callback])
    assert heard == [f"generation {i} of 3" for i in range(4)]
    assert found.stop_reason == "generations"
