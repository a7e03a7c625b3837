"""The bundled instances: known problems with their proved optima.

The coordinates and matrices are those of TSPLIB and LOLIB. Each value is the published optimum;
the tests reach it from several seeds.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from coevo.errors import FileError, suggest_match
from coevo.problems.lolib import read_lolib
from coevo.problems.problem import OrderingProblem, TourProblem
from coevo.problems.tsplib import read_tsplib

__all__ = ["ORDERINGS", "TOURS", "open_ordering", "open_tour"]

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
ORDERINGS = {"t59n11xx": 20928}


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
