"""A picture of a tour: the cities at their coordinates, and the way through them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from coevo.errors import ParameterError, format_count
from coevo.problems.problem import OrderingProblem, TourProblem
from coevo.view.picture import Picture
from coevo.view.picture.scene import Group, Line, RoundedBox, Scene, Text

__all__ = ["check_coordinates", "draw_tour"]

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
