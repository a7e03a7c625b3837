"""What is said of a search under way: how far it is, the best so far, and how fast it goes.

The clock is read whenever something is to be shown, so that the seconds go on in the middle
of a long generation; everything else is as the last generation left it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from coevo.score import Scorer
    from coevo.search import Budget, HistoryRow

__all__ = ["SearchProgress"]

BAR = 20  # characters, where there is room for them
SMALLEST_BAR = 5


class _Moment(NamedTuple):
    """The last generation, and what came before it."""

    row: HistoryRow
    began: float  # on the clock
    improved_at: float | None  # seconds of the search; None if that was before we looked
    rate: float | None  # families scored a second; a search that goes on counts from there


class SearchProgress:
    """How far a search has come, in words, and as a bar where its limits tell how far.

    Parameters
    ----------
    limits : Budget
        When the search ends.
    scorer : Scorer or None
        Whose families are counted, from now on; without one, none are.
    clock : function
        Returns seconds.

    Examples
    --------
    >>> import coevo
    >>> from coevo.search import HistoryRow
    >>> rows = coevo.sample(coevo.load_network("asia"), 500, random_state=1)
    >>> scorer = coevo.FamilyScorer(rows)
    >>> progress = SearchProgress(coevo.Budget(max_generations=250), scorer, clock=lambda: 2.0)
    >>> progress.take(HistoryRow(50, 0, 2.0, 40, -1234.5, 7, {}))
    >>> print(progress)
    generation 50 of 250, 2.0 s, best score -1,234.50, 7 arcs
    >>> progress.lines(width=50)[0]
    '━━━───────────── generation 50 of 250, 2.0 s'
    """

    def __init__(
        self,
        limits: Budget,
        scorer: Scorer | None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._limits, self._scorer, self._clock = limits, scorer, clock
        self._before, self._since = self._scored(), clock()
        self._moment: _Moment | None = None  # replaced as a whole: another thread may be reading

    def take(self, row: HistoryRow) -> None:
        """Note what a generation has brought."""
        last = self._moment
        if row.improved == row.generation:
            improved_at: float | None = row.seconds
        else:
            improved_at = None if last is None else last.improved_at
        now, scored = self._clock(), self._scored() - self._before
        counts = self._scorer is not None and now > self._since
        rate = scored / (now - self._since) if counts else None
        self._moment = _Moment(row, now - row.seconds, improved_at, rate)

    def _scored(self) -> int:
        return 0 if self._scorer is None else self._scorer.statistics().scored

    def told_by(self, say: Callable[[SearchProgress], None]) -> Callable[[HistoryRow], None]:
        """Return a callback for a search, which takes each row and has it told."""

        def tell(row: HistoryRow) -> None:
            self.take(row)
            say(self)

        return tell

    @property
    def fraction(self) -> float | None:
        """How much of its limits the search has used, 0 to 1; None if they do not tell."""
        if self._moment is None:
            return None
        row, limits = self._moment.row, self._limits
        used = [
            1.0 if most == 0 else min(1.0, value / most)
            for value, most in (
                (self._seconds(self._moment), limits.max_time),
                (row.generation, limits.max_generations),
                (row.evaluations, limits.max_evaluations),
            )
            if most is not None
        ]
        return max(used, default=None)

    def lines(self, width: int, ascii_only: bool = False) -> list[str]:
        """Return everything there is to say, on as many lines as it takes, none too long."""
        fraction, room = self.fraction, min(BAR, width // 3)
        bar = ""
        if fraction is not None and room >= SMALLEST_BAR:
            full, empty = "#-" if ascii_only else "━─"
            done = int(fraction * room)
            bar = full * done + empty * (room - done)
        return _flowed(bar, self._pieces(), width)

    def _pieces(self) -> list[str]:
        """Return what there is to say, piece by piece."""
        moment, limits = self._moment, self._limits
        if moment is None:
            return ["starting"]
        row, seconds = moment.row, self._seconds(moment)
        pieces = [
            f"generation {row.generation:,}{_of(limits.max_generations)}",
            f"{seconds:,.1f}{_of(limits.max_time)} s",
            f"best score {row.score:,.2f}",
        ]
        if moment.improved_at is not None:
            ago = max(0.0, seconds - moment.improved_at)
            pieces.append(f"found in generation {row.improved:,} ({ago:,.1f} s ago)")
        pieces.append("1 arc" if row.n_arcs == 1 else f"{row.n_arcs:,} arcs")
        if moment.rate is not None:
            pieces.append(f"{moment.rate:,.0f} families a second")
        if limits.max_evaluations is not None:
            pieces.append(f"evaluations: {row.evaluations:,}{_of(limits.max_evaluations)}")
        if limits.target is not None:
            pieces.append(f"stops at {limits.target:,.2f}")
        if limits.patience is not None:
            without = row.generation - row.improved
            pieces.append(
                f"stops after {limits.patience:,} generations without anything better: {without:,}"
            )
        return pieces

    def _seconds(self, moment: _Moment) -> float:
        return max(moment.row.seconds, self._clock() - moment.began)

    def __str__(self) -> str:
        return ", ".join(self._pieces())


def _of(limit: float | None) -> str:
    return "" if limit is None else f" of {limit:,.10g}"


def _flowed(bar: str, pieces: list[str], width: int) -> list[str]:
    """Return the bar and the pieces with commas; a line ends before a piece that does not fit.

    >>> _flowed("##", ["one", "two", "three"], 12)
    ['## one, two', 'three']
    """
    lines, joint = [bar], " " if bar else ""
    for piece in pieces:
        longer = f"{lines[-1]}{joint}{piece}"
        if len(longer) <= width or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(piece)
        joint = ", "
    return [line[:width] for line in lines]
