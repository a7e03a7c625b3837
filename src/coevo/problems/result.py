"""The result of a run, and the files of its folder.

solution.tour   the tour, in the format of TSPLIB; or
solution.txt    the ordering: the numbers of the items in a line
tour.svg        the picture of the tour, if the cities have coordinates
run.json        version, command, instance, settings, value, solution, times
history.jsonl   one line a generation: the best value so far and its cost
checkpoint.npz  the last state, to resume from (`coevo.problems.solver`)
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo import __version__
from coevo.errors import ParameterError, format_count
from coevo.files.files import write_text
from coevo.files.run_folder import make_run_folder, write_json, write_json_lines
from coevo.problems.instance_files import format_tour_file
from coevo.problems.problem import OrderingProblem, Problem, TourProblem
from coevo.problems.solver import SolveRow
from coevo.search import StopReason
from coevo.view.picture import Picture
from coevo.view.picture.scene import Group, Line, RoundedBox, Scene, Text

__all__ = ["SolveResult", "check_coordinates", "draw_tour"]


# A picture of a tour: the cities at their coordinates, and the way through them.


SIZE, MARGIN, TITLE = 640.0, 24.0, 28.0  # of the longer side, CSS pixels
RADIUS = 3.5
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#555555"
NUMBER_SIZE, NUMBER_DISTANCE = 9.0, 11.0  # the distance of its centre from the city
FREE_SPACE = 11.0  # between the centres of a number and another one or a city
STRAIGHT = 0.3  # where the two roads of a city are nearly opposite


def draw_tour(
    problem: TourProblem | OrderingProblem, order: Sequence[int], length: float
) -> Picture:
    """Draw a tour; raise `ParameterError` if the cities have no coordinates."""
    points = check_coordinates(problem)
    low, high = points.min(axis=0), points.max(axis=0)
    extent = float(max((high - low).max(), 1e-12))
    scale = (SIZE - 2 * MARGIN) / extent
    width, height = (high - low) * scale + 2 * MARGIN
    places = (points - low) * scale + MARGIN
    places[:, 1] = height - places[:, 1]  # north is up
    places[:, 1] += TITLE
    corners = [(float(x), float(y)) for x, y in places[np.array([*order, order[0]])]]
    curve = [corners[0]]
    for before, after in itertools.pairwise(corners):
        curve += [before, after, after]  # a straight line
    about = f"{problem.name}: a tour through {format_count(len(order), 'city', 'cities')}"
    full_width = max(float(width), 380.0)
    space = full_width - 2 * MARGIN
    title = Text(MARGIN, 20, f"{about}, length {length:,.10g}", 13, GREY, space, is_centred=False)
    cities = [
        _draw_city(city, float(x), float(y), city == order[0]) for city, (x, y) in enumerate(places)
    ]
    cities.append(Group(tuple(_draw_numbers(places, np.array(order)))))
    line = Line(tuple(curve), BLUE, 1.6)
    groups = (Group((title,)), Group((line,)), *cities)
    return Picture(Scene(full_width, float(height) + TITLE, groups, f"{about}."))


def check_coordinates(problem: TourProblem | OrderingProblem) -> NDArray[np.float64]:
    """Return the coordinates; raise `ParameterError` if there are none."""
    if isinstance(problem, OrderingProblem):
        raise ParameterError("An ordering has no picture. Write it to a file instead.")
    if problem.coordinates is None:
        raise ParameterError(
            f"{problem.name!r} has no coordinates, so its tour cannot be drawn. Write it to a "
            "file instead."
        )
    return problem.coordinates


def _draw_numbers(places: NDArray[np.float64], order: NDArray[np.int64]) -> Iterator[Text]:
    """Yield the number of each city that has space for it, away from its two roads."""
    before, after = np.empty_like(order), np.empty_like(order)
    before[order], after[order] = np.roll(order, 1), np.roll(order, -1)
    taken: list[NDArray[np.float64]] = []  # where numbers are
    for city, place in enumerate(places):
        near = places[[before[city], after[city]]] - place
        roads = near / np.maximum(np.linalg.norm(near, axis=1, keepdims=True), 1e-9)
        away = -roads.sum(axis=0)
        if np.linalg.norm(away) < STRAIGHT:  # beside the road, and rather above it
            away = np.array([roads[0, 1], -roads[0, 0]]) * (1 if roads[0, 0] > 0 else -1)
        away /= max(float(np.linalg.norm(away)), 1e-9)
        centre = place + NUMBER_DISTANCE * away
        others = np.concatenate([np.delete(places, city, axis=0), *taken])
        if not (np.linalg.norm(others - centre, axis=1) < FREE_SPACE).any():
            taken.append(centre[None])
            x, y = map(float, centre)
            yield Text(x, y + NUMBER_SIZE / 3, str(city + 1), NUMBER_SIZE, GREY, 30)


def _draw_city(city: int, x: float, y: float, is_first: bool) -> Group:
    radius = RADIUS + 1.5 * is_first
    colour = ORANGE if is_first else BLUE
    dot = RoundedBox(x - radius, y - radius, 2 * radius, 2 * radius, radius, colour, "#ffffff", 1.0)
    return Group((dot,), note=f"city {city + 1}")


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
