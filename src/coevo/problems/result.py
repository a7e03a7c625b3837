"""The result of a run, and the files of its folder.

solution.tour   the tour, in the format of TSPLIB; or
solution.txt    the ordering: the numbers of the items in a line
tour.svg        the picture of the tour, if the cities have coordinates
run.json        version, command, instance, settings, value, solution, times
history.jsonl   one line a generation: the best value so far and its cost
checkpoint.npz  the last state, to resume from (`coevo.problems.checkpoints`)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coevo import __version__
from coevo.files import write_text
from coevo.problems.problem import Problem, TourProblem
from coevo.problems.solver import SolveRow
from coevo.problems.tour_picture import draw_tour
from coevo.problems.tsplib import format_tour_file
from coevo.run_files import make_run_folder, write_json, write_json_lines
from coevo.search import StopReason
from coevo.view.picture import Picture

__all__ = ["SolveResult"]

RUN, HISTORY, PICTURE = "run.json", "history.jsonl", "tour.svg"


@dataclass(frozen=True, slots=True, eq=False)
class SolveResult:
    """The best solution of a run.

    Attributes
    ----------
    problem : TourProblem or OrderingProblem
        What was solved; its ``optimum`` is the best value that exists, where it is known.
    form : str
        ``'champion'`` or ``'literal'``.
    order : tuple of int
        The tour or the ordering, as numbers from 0. A tour starts with city 0.
    value : float
        The length of the tour (lower is better), or the weight of the ordering (higher is
        better).
    history : tuple of SolveRow
        The best value after each generation.
    stop_reason : str
        Why the run ended, as in `coevo.search.SearchResult`.
    seed : int
        The seed of the run.
    files : mapping of str to str
        The files that were written, by content; empty without a run folder.
    """

    problem: Problem
    form: str
    order: tuple[int, ...]
    value: float
    history: tuple[SolveRow, ...]
    stop_reason: StopReason
    seed: int
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """The time of the run, with that before it was resumed."""
        return self.history[-1].seconds

    @property
    def generations(self) -> int:
        """The number of generations."""
        return self.history[-1].generation

    @property
    def is_optimal(self) -> bool | None:
        """Whether the value is the known optimum; None if no optimum is known."""
        return None if self.problem.optimum is None else self.value == self.problem.optimum

    def plot(self) -> Picture:
        """Draw the tour; an ordering, or a tour without coordinates, has no picture."""
        return draw_tour(self.problem, self.order, self.value)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain numbers and strings. Places are numbered from 1."""
        is_tour = isinstance(self.problem, TourProblem)
        return {
            "problem": self.problem.kind,
            "instance": self.problem.name,
            "places": self.problem.n_places,
            "form": self.form,
            "length" if is_tour else "weight": _shorten(self.value),
            "optimum": _shorten(self.problem.optimum),
            "tour" if is_tour else "ordering": [place + 1 for place in self.order],
            "generations": self.generations,
            "evaluations": self.history[-1].evaluations,
            "improved": self.history[-1].improved,
            "seconds": round(self.seconds, 3),
            "stop_reason": self.stop_reason,
            "seed": self.seed,
        }

    def write(self, folder: Path, facts: Mapping[str, Any]) -> dict[str, str]:
        """Write the files of the run folder, with more facts in run.json; return their paths."""
        make_run_folder(folder)
        names = {"solution": "solution.txt", "run": RUN, "history": HISTORY}
        for name in (RUN, PICTURE, "solution.tour", "solution.txt"):  # of an older run
            (folder / name).unlink(missing_ok=True)
        places = [place + 1 for place in self.order]
        text = " ".join(map(str, places)) + "\n"
        if isinstance(self.problem, TourProblem):
            names["solution"] = "solution.tour"
            text = format_tour_file(self.problem.name, places)
            if self.problem.coordinates is not None:
                names["picture"] = PICTURE
                self.plot().save(folder / PICTURE)
        write_text(folder / names["solution"], text)
        write_json_lines(folder / HISTORY, [row.as_dict() for row in self.history])
        # The last file shows that the run is complete.
        write_json(folder / RUN, {"version": __version__, **facts, **self.as_dict()})
        return {content: str(folder / name) for content, name in names.items()}

    def __repr__(self) -> str:
        what = "tour of length" if isinstance(self.problem, TourProblem) else "ordering of weight"
        return f"<SolveResult: {self.problem.name}, {what} {_shorten(self.value):,}>"


def _shorten(value: float | None) -> Any:
    """Return a whole number as an int."""
    return int(value) if value is not None and value == int(value) else value
