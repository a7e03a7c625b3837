"""A picture of a tour: the cities at their coordinates, and the way through them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from coevo.errors import ParameterError, format_count
from coevo.picture import Picture
from coevo.picture.scene import Group, Line, RoundedBox, Scene, Text
from coevo.problems.problem import OrderingProblem, TourProblem

__all__ = ["check_coordinates", "draw_tour"]

SIZE, MARGIN, TITLE = 640.0, 24.0, 28.0  # of the longer side, CSS pixels
RADIUS = 3.5
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#555555"
FREE_SPACE = 14.0  # around a city with a number


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
    title = Text(MARGIN, 20, f"{about}, length {length:,.10g}", 13, GREY, SIZE, is_centred=False)
    cities = [
        _draw_city(city, float(x), float(y), city == order[0]) for city, (x, y) in enumerate(places)
    ]
    cities.append(Group(tuple(_draw_numbers(places))))
    line = Line(tuple(curve), BLUE, 1.6)
    groups = (Group((title,)), Group((line,)), *cities)
    return Picture(Scene(max(float(width), 380.0), float(height) + TITLE, groups, f"{about}."))


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


def _draw_numbers(places: NDArray[np.float64]) -> Iterator[Text]:
    """Yield the number of each city that has no other city close by."""
    for city, place in enumerate(places):
        distances = np.delete(np.abs(places - place).max(axis=1), city)
        if not (distances < FREE_SPACE).any():
            x, y = map(float, place)
            yield Text(x + 6, y - 5, str(city + 1), 9, GREY, 30, is_centred=False)


def _draw_city(city: int, x: float, y: float, is_first: bool) -> Group:
    radius = RADIUS + 1.5 * is_first
    colour = ORANGE if is_first else BLUE
    dot = RoundedBox(x - radius, y - radius, 2 * radius, 2 * radius, radius, colour, "#ffffff", 1.0)
    return Group((dot,), note=f"city {city + 1}")
