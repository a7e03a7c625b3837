"""Instances of problems: the bundled ones, and files of TSPLIB and LOLIB.

The bundled instances: known problems with their proved optima.

The coordinates and matrices are those of TSPLIB and LOLIB. All orderings, and the tours berlin52,
burma14 and st70, were compared with public copies of the files. Each value is the published
optimum; the tests reach it from several seeds, and prove it for the orderings.

The orderings are the input-output matrices of LOLIB in their normalised form, as the edition of
2010 distributes them: of each pair of weights the smaller one is subtracted from both. The best
orders are those of the original matrices. The weights are lower, by the same number for all
orders: be75eec has the optimum 236464 here, and 264940 as an original matrix.

References
----------
G. Reinelt (1991). TSPLIB, a traveling salesman problem library. ORSA Journal on Computing 3,
376-384.

R. Marti, G. Reinelt, A. Duarte (2012). A benchmark library and a comparison of heuristic methods
for the linear ordering problem. Computational Optimization and Applications 51, 1297-1317.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.errors import DataError, FileError, FormatError, suggest_match
from coevo.files.files import MAX_TEXT_BYTES, open_source
from coevo.problems.problem import OrderingProblem, TourProblem
from coevo.runtime.memory import check_memory

__all__ = [
    "ORDERINGS",
    "TOURS",
    "Line",
    "format_tour_file",
    "make_error",
    "open_ordering",
    "open_tour",
    "parse_numbers",
    "parse_size",
    "read_lines",
    "read_lolib",
    "read_tsplib",
]


# Read the text of an instance file: its lines, and its numbers with their lines.


_NUMBER = re.compile(r"[-+]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][-+]?[0-9]++)?")
_MAX_SHOWN = 40  # characters of a word in a message
BYTES_PER_PAIR = 48  # of places: the matrix, its copies and the neighbours


class Line(NamedTuple):
    """A line that is not empty, without spaces around it."""

    number: int
    text: str


def read_lines(path: Path) -> list[Line]:
    """Return the lines of a text file that are not empty. It may be compressed."""
    with open_source(path) as source:
        content = source.read_all(MAX_TEXT_BYTES)
    text = content.decode("utf-8-sig", errors="replace")
    lines = enumerate(text.splitlines(), start=1)
    return [Line(number, line.strip()) for number, line in lines if line.strip()]


def make_error(source: str, line: int | None, problem: str) -> FormatError:
    """Return the exception for a malformed file, with the line."""
    place = source if line is None else f"{source}, line {line}"
    return FormatError(f"{place}: {problem}")


def parse_numbers(lines: Iterable[Line], source: str) -> list[float]:
    """Return all numbers of some lines; raise `FormatError` for the first other word."""
    numbers = []
    for line in lines:
        for word in line.text.split():
            number = float(word) if _NUMBER.fullmatch(word) else math.inf
            if not math.isfinite(number):
                raise make_error(source, line.number, f"{word[:_MAX_SHOWN]!r} is not a number.")
            numbers.append(number)
    return numbers


def parse_size(word: str, source: str, line: int, what: str) -> int:
    """Return the number of places of an instance; raise if it is no number, or too large."""
    if not re.fullmatch(r"[0-9]{1,9}", word) or int(word) < 1:
        raise make_error(source, line, f"{what} must be a whole number >= 1; got {word[:40]!r}.")
    size = int(word)
    check_memory(BYTES_PER_PAIR * size**2, f"{source} with {size:,} places", "Solve a smaller one.")
    return size


# Read instances of the linear ordering problem in the format of LOLIB.
#
# A file holds the number of items and then the matrix, row by row. Older files have a title before
# the number, some repeat it after the matrix, and some copies have the matrix alone. The diagonal
# is not used.
#
# References
# ----------
# G. Reinelt (1985). The linear ordering problem: algorithms and applications. Heldermann, Berlin.


def read_lolib(path: str | Path) -> OrderingProblem:
    """Read an instance; raise `FormatError` with the line if the file is malformed."""
    source = Path(path).name
    lines = _drop_title(read_lines(Path(path)))
    if not lines:
        raise make_error(source, None, "the file holds no numbers.")
    numbers = parse_numbers(lines, source)
    first = lines[0]
    n = math.isqrt(len(numbers))
    if len(first.text.split()) == 1:
        n = parse_size(first.text, source, first.number, "The number of items")
        numbers = numbers[1:]
    elif n * n == len(numbers):
        parse_size(str(n), source, first.number, "The number of items")
    if len(numbers) != n * n:
        raise make_error(
            source,
            None,
            f"the matrix has {len(numbers):,} numbers; {n} items need {n * n:,}.",
        )
    try:
        return OrderingProblem.from_matrix(np.array(numbers).reshape(n, n), Path(path).stem)
    except DataError as error:
        raise make_error(source, None, str(error)) from None


def _drop_title(lines: list[Line]) -> list[Line]:
    """Return the lines without a title, also at the end."""
    if not lines:
        return lines
    title, rest = lines[0].text, lines[1:]
    is_title = not title.lstrip("-+.")[:1].isdigit()
    if not is_title and rest and rest[0].text.isdecimal():  # as "44 sectors", before the number
        is_title = not all(word.lstrip("-+.")[:1].isdigit() for word in title.split())
    if not is_title:
        return lines
    return rest[:-1] if rest and rest[-1].text == title else rest


# Read instances of the symmetric travelling salesman problem in the format of TSPLIB.
#
# Distances are given as coordinates (EUC_2D, CEIL_2D, MAN_2D, MAX_2D, ATT, GEO) or as a matrix
# (EXPLICIT, in all row and column forms). A file is never trusted: every number is counted.
#
# References
# ----------
# G. Reinelt (1991). TSPLIB, a traveling salesman problem library. ORSA Journal on Computing 3,
# 376-384.


Points = NDArray[np.float64]  # (n, 2)
Matrix = NDArray[np.float64]

PI = 3.141592  # as TSPLIB defines it
EARTH_RADIUS = 6378.388
SECTIONS = ("NODE_COORD_SECTION", "DISPLAY_DATA_SECTION", "EDGE_WEIGHT_SECTION")
KEYS = (
    *("NAME", "TYPE", "COMMENT", "DIMENSION", "EDGE_WEIGHT_TYPE", "EDGE_WEIGHT_FORMAT"),
    *("EDGE_DATA_FORMAT", "NODE_COORD_TYPE", "DISPLAY_DATA_TYPE", "CAPACITY"),
)


def _measure_euclidean(points: Points) -> Matrix:
    difference = points[:, None] - points[None]
    return np.asarray(np.sqrt((difference**2).sum(axis=2)))


def _measure_att(points: Points) -> Matrix:
    """Return pseudo-Euclidean distances: sqrt(d^2 / 10), never rounded down."""
    difference = points[:, None] - points[None]
    exact = np.sqrt((difference**2).sum(axis=2) / 10)
    rounded = np.floor(exact + 0.5)
    return np.asarray(np.where(rounded < exact, rounded + 1, rounded))


def _measure_geo(points: Points) -> Matrix:
    """Return distances on the earth. A coordinate is in degrees and minutes, as in 48.30."""
    degrees = np.trunc(points)
    latitude, longitude = (PI * (degrees + 5 * (points - degrees) / 3) / 180).T
    q1 = np.cos(longitude[:, None] - longitude)
    q2 = np.cos(latitude[:, None] - latitude)
    q3 = np.cos(latitude[:, None] + latitude)
    cosine = 0.5 * ((1 + q1) * q2 - (1 - q1) * q3)
    return np.asarray(np.trunc(EARTH_RADIUS * np.arccos(np.clip(cosine, -1, 1)) + 1))


MEASURES: dict[str, Callable[[Points], Matrix]] = {
    "EUC_2D": lambda points: np.floor(_measure_euclidean(points) + 0.5),
    "CEIL_2D": lambda points: np.ceil(_measure_euclidean(points)),
    "MAN_2D": lambda points: np.floor(np.abs(points[:, None] - points).sum(axis=2) + 0.5),
    "MAX_2D": lambda points: np.floor(np.abs(points[:, None] - points) + 0.5).max(axis=2),
    "ATT": _measure_att,
    "GEO": _measure_geo,
}
# A matrix by columns is the other triangle by rows.
FORMATS = {
    "FULL_MATRIX": "full",
    "UPPER_ROW": "upper",
    "LOWER_COL": "upper",
    "LOWER_ROW": "lower",
    "UPPER_COL": "lower",
    "UPPER_DIAG_ROW": "upper diagonal",
    "LOWER_DIAG_COL": "upper diagonal",
    "LOWER_DIAG_ROW": "lower diagonal",
    "UPPER_DIAG_COL": "lower diagonal",
}


@dataclass
class _File:
    """The parts of a file: values by key, and the lines of each section."""

    source: str
    values: dict[str, Line] = field(default_factory=dict)
    sections: dict[str, list[Line]] = field(default_factory=dict)

    def choose(self, key: str, choices: tuple[str, ...]) -> str:
        """Return the value of a key; raise `FormatError` unless it is one of the choices."""
        if key not in self.values:
            raise make_error(self.source, None, f"there is no {key}. Add it.")
        line = self.values[key]
        if line.text.upper() not in choices:
            raise make_error(
                self.source,
                line.number,
                f"{key} must be one of {', '.join(choices)}; got {line.text[:40]!r}."
                f"{suggest_match(line.text, choices)}",
            )
        return line.text.upper()


def read_tsplib(path: str | Path) -> TourProblem:
    """Read an instance; raise `FormatError` with the line if the file is malformed."""
    source = Path(path).name
    file = _split_file(read_lines(Path(path)), source)
    file.choose("TYPE", ("TSP",))
    kind = file.choose("EDGE_WEIGHT_TYPE", (*MEASURES, "EXPLICIT"))
    if "DIMENSION" not in file.values:
        raise make_error(source, None, "there is no DIMENSION. Add it.")
    line = file.values["DIMENSION"]
    n = parse_size(line.text, source, line.number, "DIMENSION")
    name = file.values["NAME"].text if "NAME" in file.values else Path(path).stem
    points = _read_points(file, "NODE_COORD_SECTION", n)
    shown = _read_points(file, "DISPLAY_DATA_SECTION", n)
    if kind == "EXPLICIT":
        matrix = _read_matrix(file, n)
        shown = points if shown is None else shown
    elif points is None:
        raise make_error(source, None, f"{kind} needs a NODE_COORD_SECTION. Add it.")
    else:
        matrix = _measure(points, kind, source)
        # GEO gives the latitude first; a picture has the longitude to the right.
        shown = (points[:, ::-1] if kind == "GEO" else points) if shown is None else shown
    try:
        return TourProblem.from_matrix(matrix, name, shown)
    except DataError as error:
        raise make_error(source, None, str(error)) from None


def _measure(points: Points, kind: str, source: str) -> Matrix:
    """Return the distances; raise `FormatError` if they are no finite numbers."""
    with np.errstate(over="ignore", invalid="ignore"):
        matrix = MEASURES[kind](points)
    if not np.isfinite(matrix).all():
        raise make_error(source, None, "the coordinates are too large. Scale them.")
    return matrix


def _split_file(lines: list[Line], source: str) -> _File:
    """Sort the lines of a file into values and sections."""
    file = _File(source)
    section: list[Line] | None = None
    for line in lines:
        key, _, value = (part.strip() for part in line.text.partition(":"))
        word = key.upper()
        if word == "EOF":
            break
        if word in SECTIONS or word in KEYS:
            is_given = word in file.sections or word in file.values
            if is_given and word != "COMMENT":  # there may be several comments
                raise make_error(source, line.number, f"{word} is given a second time.")
            if word in SECTIONS:
                section = file.sections.setdefault(word, [])
            else:
                file.values[word] = Line(line.number, value)
                section = None
        elif section is not None and not word[:1].isalpha():
            section.append(line)
        else:
            is_section = word.endswith("_SECTION")
            hint = "" if is_section else suggest_match(word, KEYS)
            raise make_error(source, line.number, f"{key[:40]!r} is not supported.{hint}")
    if not file.values:
        raise make_error(source, None, "this is not a TSPLIB file.")
    return file


def _read_points(file: _File, section: str, n: int) -> Points | None:
    """Return the coordinates of a section, or None if the file has no such section."""
    if section not in file.sections:
        return None
    points = np.full((n, 2), np.nan)
    for line in file.sections[section]:
        numbers = parse_numbers([line], file.source)
        if len(numbers) != 3:
            raise make_error(
                file.source,
                line.number,
                f"a city needs its number and two coordinates in {section}.",
            )
        city = numbers[0]
        if city != int(city) or not 1 <= city <= n:
            raise make_error(file.source, line.number, f"the cities are 1 to {n}; got {city:g}.")
        if not np.isnan(points[int(city) - 1, 0]):
            raise make_error(file.source, line.number, f"city {city:g} is given a second time.")
        points[int(city) - 1] = numbers[1:]
    missing = np.flatnonzero(np.isnan(points[:, 0]))
    if len(missing):
        raise make_error(
            file.source, None, f"{section} has no city {missing[0] + 1} of {n}. Add it."
        )
    return points


def _read_matrix(file: _File, n: int) -> Matrix:
    """Return the matrix of an explicit instance."""
    form = FORMATS[file.choose("EDGE_WEIGHT_FORMAT", tuple(FORMATS))]
    if "EDGE_WEIGHT_SECTION" not in file.sections:
        raise make_error(file.source, None, "EXPLICIT needs an EDGE_WEIGHT_SECTION. Add it.")
    numbers = parse_numbers(file.sections["EDGE_WEIGHT_SECTION"], file.source)
    diagonal = 0 if "diagonal" in form else 1
    expected = n * n if form == "full" else n * (n - 1) // 2 + (n if diagonal == 0 else 0)
    if len(numbers) != expected:
        raise make_error(
            file.source,
            None,
            f"EDGE_WEIGHT_SECTION has {len(numbers):,} numbers; {n} cities need {expected:,}.",
        )
    if form == "full":
        return np.array(numbers).reshape(n, n)
    matrix = np.zeros((n, n))
    if form.startswith("upper"):
        matrix[np.triu_indices(n, diagonal)] = numbers
    else:
        matrix[np.tril_indices(n, -diagonal)] = numbers
    return np.where(matrix != 0, matrix, matrix.T)


def format_tour_file(name: str, cities: list[int]) -> str:
    """Return a TSPLIB tour file; cities are numbered from 1."""
    header = f"NAME : {name}\nTYPE : TOUR\nDIMENSION : {len(cities)}\nTOUR_SECTION\n"
    return header + "".join(f"{city}\n" for city in cities) + "-1\nEOF\n"


FOLDER = Path(__file__).parent / "instances"
TOURS = {
    "burma14": 3323,
    "bays29": 2020,
    "att48": 10628,
    "eil51": 426,
    "berlin52": 7542,
    "st70": 675,
    "kroA100": 21282,
}
ORDERINGS = {
    "t59d11xx": 147354,
    "t59n11xx": 20928,
    "t65b11xx": 356758,
    "t65l11xx": 16719,
    "t65n11xx": 32157,
    "t69r11xx": 771149,
    "t70l11xx": 25253,
    "t75k11xx": 108844,
    "t75n11xx": 93777,
    "be75eec": 236464,
    "be75oi": 111171,
    "be75tot": 980516,
    "tiw56n54": 91554,
    "tiw56n58": 125224,
    "tiw56r54": 102948,
    "usa79": 1813986,
}


def open_tour(source: str | os.PathLike[str]) -> TourProblem:
    """Return a bundled instance by its name, or read a TSPLIB file.

    >>> open_tour("berlin52").optimum
    7542
    """
    if source in TOURS:
        optimum = TOURS[str(source)]
        return replace(read_tsplib(FOLDER / f"{source}.tsp"), optimum=optimum)
    _check_file(source, TOURS)
    return read_tsplib(Path(source))


def open_ordering(source: str | os.PathLike[str]) -> OrderingProblem:
    """Return a bundled instance by its name, or read a LOLIB file.

    >>> open_ordering("t59n11xx").n_places
    44
    """
    if source in ORDERINGS:
        optimum = ORDERINGS[str(source)]
        return replace(read_lolib(FOLDER / f"{source}.lop"), optimum=optimum)
    _check_file(source, ORDERINGS)
    return read_lolib(Path(source))


def _check_file(source: str | os.PathLike[str], names: dict[str, int]) -> None:
    """Raise `FileError` with the bundled names if there is no such file."""
    if not os.path.exists(source):
        raise FileError(
            f"There is no file and no bundled instance {str(source)!r}. The bundled ones are "
            f"{', '.join(names)}.{suggest_match(source, names)}"
        )
