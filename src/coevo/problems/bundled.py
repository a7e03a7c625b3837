"""The bundled instances: known problems with their proved optima.

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
