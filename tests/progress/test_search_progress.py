"""The text about a running search, and the used fraction of its limits."""

from __future__ import annotations

import pytest

from coevo.bundled import load_network
from coevo.learning import learn
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


def progress_after(limits, rows, clock, *history):
    """Return the progress after some generations, each recorded at its end."""
    progress = SearchProgress(limits, FamilyScorer(rows), clock)
    for row in history:
        clock.now = 100.0 + row.seconds
        progress.update(row)
    return progress


def test_before_the_first_generation(rows, clock):
    progress = progress_after(Budget(max_time=60), rows, clock)
    assert (str(progress), progress.fraction) == ("starting", None)


@pytest.mark.parametrize(
    ("limits", "expected", "fraction"),
    [
        (Budget(), "generation 31, 12.3 s, {best}", None),
        (Budget(max_time=60), "generation 31, 12.3 of 60 s, {best}, about 48 s left", 12.3 / 60),
        (Budget(max_time=0), "generation 31, 12.3 of 0 s, {best}", 1.0),
        (
            Budget(max_generations=2500),
            "generation 31 of 2,500, 12.3 s, {best}, about 1,446 s left",
            31 / 2500,
        ),
        (
            Budget(max_time=60, max_generations=40),
            "generation 31 of 40, 12.3 of 60 s, {best}, about 5 s left",
            31 / 40,
        ),
        (
            Budget(max_evaluations=500),
            "generation 31, 12.3 s, {best}, 900 of 500 evaluations",
            1.0,
        ),
        (
            Budget(patience=25),
            "generation 31, 12.3 s, {best}, 7 of 25 generations without improvement, "
            "about 11 s left unless it improves",
            None,
        ),
        (
            Budget(target=-1200),
            "generation 31, 12.3 s, {best}, target score -1,200.00",
            None,
        ),
    ],
)
def test_the_text_names_each_limit(limits, expected, fraction, rows, clock):
    progress = progress_after(
        limits, rows, clock, at(24, 8.2, 24), at(31, 12.3, 24, evaluations=900)
    )
    best = "best score -1,234.57, found in generation 24 (4.1 s ago), 7 arcs, 0 families per second"
    assert str(progress) == expected.format(best=best)
    assert progress.fraction == (None if fraction is None else pytest.approx(fraction))


@pytest.mark.parametrize(("limits", "least", "most"), [({}, 14, 24), ({"patience": 9}, 9, 9)])
def test_the_patience_that_is_shown_is_that_which_ends_the_search(
    limits, least, most, rows, monkeypatch
):
    """Without a limit of the user, ccma waits for 14 to 25 generations."""
    shown = []
    update = SearchProgress.update

    def update_and_keep(progress, row):
        update(progress, row)
        shown.append((progress.patience, str(progress)))

    monkeypatch.setattr(SearchProgress, "update", update_and_keep)
    found = learn(rows, random_state=0, bootstraps=0, budget=limits or None).search
    assert found.stop_reason == "patience"
    patience, text = shown[-1]
    assert least <= patience <= most
    assert found.history[-1].generation - found.history[-1].improved == patience
    assert f" {patience} of {patience} generations without improvement" in text


def test_the_seconds_advance_between_generations(rows, clock):
    progress = progress_after(Budget(max_time=20), rows, clock, at(3, 5.0, 3, n_arcs=1))
    clock.now += 10
    assert str(progress).startswith("generation 3, 15.0 of 20 s, best score")
    assert "found in generation 3 (10.0 s ago), 1 arc, " in str(progress)
    assert progress.fraction == 0.75
    clock.now += 10
    assert progress.fraction == 1.0


def test_an_improvement_of_an_earlier_session_is_not_shown(rows, clock):
    """A resumed search may have found its best structure before it was resumed."""
    progress = progress_after(Budget(), rows, clock, at(31, 1.0, 24), at(32, 2.0, 24))
    assert "found in" not in str(progress)
    progress.update(at(33, 3.0, 33))
    assert "found in generation 33 (0.0 s ago)" in str(progress)


def test_the_rate_counts_the_families_that_this_search_scored(rows, clock):
    scorer = FamilyScorer(rows)
    run_search("hill_climb", scorer)
    before = scorer.cache_statistics.scored
    progress = SearchProgress(Budget(), scorer, clock)
    found = run_search("ccma", scorer, random_state=7)
    clock.now += 2
    progress.update(at(9, 700.0, 9))  # of which two seconds are in this session
    assert scorer.cache_statistics.scored - before == found.cache.scored > 0
    assert f"{found.cache.scored / 2:,.0f} families per second" in str(progress)


def test_a_callback_records_and_shows_each_generation(rows):
    scorer = FamilyScorer(rows)
    progress, shown = SearchProgress(Budget(max_generations=3), scorer), []
    callback = progress.as_callback(lambda message: shown.append(str(message).split(",")[0]))
    found = run_search("ccga", scorer, budget=Budget(max_generations=3), callbacks=[callback])
    assert shown == [f"generation {i} of 3" for i in range(4)]
    assert found.stop_reason == "generations"
