"""The state of a running search as text: used limits, best score so far, and speed.

The clock is read each time the text is shown, so the seconds also advance during a long
generation. All other numbers come from the last finished generation. The time left follows from
the speed of the last few generations, and from the limit that is reached first. With a limit on
generations without improvement it is a lower bound: every improvement adds time.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from coevo.score import Scorer
    from coevo.search import Budget, HistoryRow

__all__ = ["SearchProgress"]

RECENT = 10  # generations that determine the speed


class _Snapshot(NamedTuple):
    """The last finished generation, with the times that belong to it."""

    row: HistoryRow
    start: float  # when the search started, on the clock
    improved_at: float | None  # seconds of the search; None if it improved in an earlier session
    rate: float | None  # families scored per second in this session
    pace: float | None  # seconds of a generation, the mean of the last few


class SearchProgress:
    """The progress of a search: a text, and the used fraction of its limits.

    Parameters
    ----------
    limits : Budget
        The limits of the search.
    scorer : Scorer or None
        The scorer whose families are counted from now on. None counts no families.
    clock : function
        Returns seconds.
    least_patience : int, optional
        What the patience of the limits is shortened to, as the search does where the user gave no
        limit (`Budget.shorten_patience`). None keeps it.

    Examples
    --------
    >>> import coevo
    >>> from coevo.search import HistoryRow
    >>> rows = coevo.sample(coevo.load_network("asia"), 500, random_state=1)
    >>> scorer = coevo.FamilyScorer(rows)
    >>> progress = SearchProgress(coevo.Budget(max_generations=250), scorer, clock=lambda: 2.0)
    >>> progress.update(HistoryRow(50, 0, 2.0, 40, -1234.5, 7, {}))
    >>> print(progress)
    generation 50 of 250, 2.0 s, best score -1,234.50, 7 arcs
    >>> progress.fraction
    0.2
    """

    def __init__(
        self,
        limits: Budget,
        scorer: Scorer | None,
        clock: Callable[[], float] = time.perf_counter,
        least_patience: int | None = None,
    ) -> None:
        self._limits, self._scorer, self._clock = limits, scorer, clock
        self._least_patience = least_patience
        self._scored_before, self._since = self._count_scored(), clock()
        self._recent: deque[tuple[int, float]] = deque(maxlen=RECENT)  # generations and seconds
        # Replaced in one assignment, because another thread may read it.
        self._snapshot: _Snapshot | None = None

    def update(self, row: HistoryRow) -> None:
        """Record the end of a generation."""
        last = self._snapshot
        if row.improved == row.generation:
            improved_at: float | None = row.seconds
        else:
            improved_at = None if last is None else last.improved_at
        now, scored = self._clock(), self._count_scored() - self._scored_before
        has_rate = self._scorer is not None and now > self._since
        rate = scored / (now - self._since) if has_rate else None
        self._recent.append((row.generation, row.seconds))
        (first, began), (last_one, ended) = self._recent[0], self._recent[-1]
        pace = (ended - began) / (last_one - first) if last_one > first else None
        self._snapshot = _Snapshot(row, now - row.seconds, improved_at, rate, pace)

    def _count_scored(self) -> int:
        return 0 if self._scorer is None else self._scorer.cache_statistics.scored

    def as_callback(self, show: Callable[[SearchProgress], None]) -> Callable[[HistoryRow], None]:
        """Return a search callback that records each generation and then shows the progress."""

        def update_and_show(row: HistoryRow) -> None:
            self.update(row)
            show(self)

        return update_and_show

    @property
    def fraction(self) -> float | None:
        """The used fraction of the limits, 0 to 1. None if no limit can be measured."""
        if self._snapshot is None:
            return None
        row, limits = self._snapshot.row, self._limits
        used = [
            1.0 if limit == 0 else min(1.0, value / limit)
            for value, limit in (
                (self._measure_seconds(self._snapshot), limits.max_time),
                (row.generation, limits.max_generations),
                (row.evaluations, limits.max_evaluations),
            )
            if limit is not None
        ]
        return max(used, default=None)

    @property
    def seconds_left(self) -> float | None:
        """The estimated seconds until the first limit is reached, or None if there is no estimate.

        >>> from coevo.search import Budget, HistoryRow
        >>> progress = SearchProgress(Budget(patience=25), None, clock=lambda: 3.0)
        >>> progress.update(HistoryRow(30, 0, 2.0, 30, -1234.5, 7, {}))
        >>> progress.update(HistoryRow(40, 0, 3.0, 30, -1234.5, 7, {}))
        >>> progress.seconds_left
        1.5
        """
        if self._snapshot is None:
            return None
        row, pace = self._snapshot.row, self._snapshot.pace
        limits = self._find_limits(row)
        left = []
        if limits.max_time is not None:
            left.append(limits.max_time - self._measure_seconds(self._snapshot))
        if pace is not None and limits.max_generations is not None:
            left.append(pace * (limits.max_generations - row.generation))
        if pace is not None and limits.patience is not None:
            left.append(pace * (limits.patience - (row.generation - row.improved)))
        return max(0.0, min(left)) if left else None

    @property
    def patience(self) -> int | None:
        """The generations without improvement that end the search, as things stand; or None.

        >>> from coevo.search import Budget, HistoryRow
        >>> progress = SearchProgress(Budget(patience=25), None, least_patience=14)
        >>> progress.update(HistoryRow(10, 0, 2.0, 9, -1234.5, 7, {}))  # improved in generation 9
        >>> progress.patience
        18
        """
        snapshot = self._snapshot
        return None if snapshot is None else self._find_limits(snapshot.row).patience

    def _describe_time_left(self) -> str:
        """Return a phrase about the time left; empty if there is no estimate."""
        left, limits = self.seconds_left, self._limits
        if left is None or left < 1:
            return ""
        only_patience = limits.max_time is None and limits.max_generations is None
        return f"about {left:,.0f} s left" + " unless it improves" * only_patience

    def _list_phrases(self) -> list[str]:
        """Return the text in phrases, to be joined by commas."""
        snapshot = self._snapshot
        if snapshot is None:
            return ["starting"]
        row, seconds = snapshot.row, self._measure_seconds(snapshot)
        limits = self._find_limits(row)
        phrases = [
            f"generation {row.generation:,}{_format_limit(limits.max_generations)}",
            f"{seconds:,.1f}{_format_limit(limits.max_time)} s",
            f"best score {row.score:z,.2f}",
        ]
        if snapshot.improved_at is not None:
            ago = max(0.0, seconds - snapshot.improved_at)
            phrases.append(f"found in generation {row.improved:,} ({ago:,.1f} s ago)")
        phrases.append("1 arc" if row.n_arcs == 1 else f"{row.n_arcs:,} arcs")
        if snapshot.rate is not None:
            phrases.append(f"{snapshot.rate:,.0f} families per second")
        if limits.max_evaluations is not None:
            phrases.append(
                f"{row.evaluations:,}{_format_limit(limits.max_evaluations)} evaluations"
            )
        if limits.target is not None:
            phrases.append(f"target score {limits.target:z,.2f}")
        if limits.patience is not None:
            without = row.generation - row.improved
            phrases.append(
                f"{without:,}{_format_limit(limits.patience)} generations without improvement"
            )
        time_left = self._describe_time_left()
        return [*phrases, time_left] if time_left else phrases

    def _find_limits(self, row: HistoryRow) -> Budget:
        """Return the limits that end the search if it does not improve any more."""
        if self._least_patience is None:
            return self._limits
        return self._limits.shorten_patience(self._least_patience, row.improved)

    def _measure_seconds(self, snapshot: _Snapshot) -> float:
        return max(snapshot.row.seconds, self._clock() - snapshot.start)

    def __str__(self) -> str:
        return ", ".join(self._list_phrases())


def _format_limit(limit: float | None) -> str:
    return "" if limit is None else f" of {limit:,.10g}"
