"""`measure_dependence`: the dependence of two columns of a table, given others.

The table is read as `learn` reads it, so that numbers have the same bins. Rows with a missing value
in one of the columns are left out. The answer has a test (`coevo.score.independence`) and sizes of
the effect, because with many rows every dependence is significant.

- The conditional mutual information is the mean number of nats that y tells about x beyond Z. In
  rows it is G2 / (2 n). Independent variables have df / (2 n) on average, and not 0.
- Cramér's V is sqrt(X2 / (n (m - 1))), m the smaller number of states: 0 without dependence, 1 if
  one variable determines the other. It is also too large in few rows; Bergsma's estimate [1]_
  corrects that. There is one for one stratum only.

.. [1] W. Bergsma, A bias-correction for Cramér's V and Tschuprow's T, Journal of the Korean
   Statistical Society 42, 2013.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from coevo.checks import is_number
from coevo.data import Dataset, Decision, IncompleteDataset, Rows, TableInfo
from coevo.errors import (
    DataError,
    ParameterError,
    bad_parameter,
    find_duplicate,
    format_list,
    suggest_match,
    warn_caller,
)
from coevo.graph.arguments import read_names
from coevo.learning.settings import check_settings
from coevo.options import DependenceOptions
from coevo.score import FamilyScorer, TripleBatch
from coevo.score.independence import check_test
from coevo.signatures import accept_options

__all__ = ["Dependence", "measure_dependence", "read_and_measure"]

FEW_ROWS = 5  # rows for each degree of freedom, below which p is rough
LEAST_P = 1e-4  # a smaller p is printed as "p < 0.0001"


@dataclass(frozen=True)
class Dependence:
    """The dependence of two variables, given others.

    Attributes
    ----------
    x, y : str
        The two variables.
    given : tuple of str
        The variables that are given.
    test : str
        ``'g2'`` or ``'x2'``.
    statistic : float
        The value of the test.
    degrees_of_freedom : int
        The degrees of freedom, over the states that each stratum shows.
    p_value : float
        The chance of so large a value if x and y are independent given the others.
    alpha : float
        The level of the test: x and y count as dependent if the p-value is at most this.
    n_rows, n_left_out : int
        The rows of the test, and the rows that lack one of the values.
    n_strata : int
        The configurations of the given variables that occur; 1 without them.
    information : float
        The conditional mutual information in these rows, in nats.
    expected_information : float
        Its mean for independent variables: the bias of the number above.
    cramers_v, corrected_v : float or None
        Cramér's V, and its estimate without bias; None if variables are given.
    cut_points : dict of str to tuple of float
        Where numbers were cut into bins.
    decisions : tuple of Decision
        What was decided about the table and about these columns.
    """

    x: str
    y: str
    given: tuple[str, ...]
    test: str
    statistic: float
    degrees_of_freedom: int
    p_value: float
    alpha: float
    n_rows: int
    n_left_out: int
    n_strata: int
    information: float
    expected_information: float
    cramers_v: float | None
    corrected_v: float | None
    cut_points: Mapping[str, tuple[float, ...]]
    decisions: tuple[Decision, ...] = ()

    @property
    def is_dependent(self) -> bool:
        """Whether the test rejects independence."""
        return self.p_value <= self.alpha

    @property
    def is_rough(self) -> bool:
        """Whether there are so few rows that the p-value is only a rough one."""
        return 0 < self.n_rows < FEW_ROWS * self.degrees_of_freedom

    def __str__(self) -> str:
        pair = f"{self.x} and {self.y}"
        given = f" given {format_list(list(self.given))}" if self.given else ""
        if self.degrees_of_freedom == 0:
            return f"The rows cannot show whether {pair} are dependent{given}."
        p = f"p < {LEAST_P:.4f}" if self.p_value < LEAST_P else f"p = {self.p_value:.4f}"
        if self.is_dependent:
            return f"{pair} are dependent{given}: {p}."
        return f"No dependence of {pair}{given} is found: {p}, above {self.alpha:g}."

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers as plain values."""
        return {
            "sentence": str(self),
            "x": self.x,
            "y": self.y,
            "given": list(self.given),
            "test": self.test,
            "statistic": self.statistic,
            "degrees_of_freedom": self.degrees_of_freedom,
            "p_value": self.p_value,
            "alpha": self.alpha,
            "is_dependent": self.is_dependent,
            "is_rough": self.is_rough,
            "n_rows": self.n_rows,
            "n_left_out": self.n_left_out,
            "n_strata": self.n_strata,
            "information": self.information,
            "expected_information": self.expected_information,
            "cramers_v": self.cramers_v,
            "corrected_v": self.corrected_v,
            "cut_points": {name: list(cuts) for name, cuts in self.cut_points.items()},
            "decisions": [decision.as_dict() for decision in self.decisions],
        }


@accept_options(DependenceOptions)
def measure_dependence(
    table: Any,
    x: str,
    y: str,
    given: str | Iterable[str] = (),
    *,
    test: str = "g2",
    alpha: float = 0.05,
    **options: Unpack[DependenceOptions],
) -> Dependence:
    """Test whether two columns of a table are dependent, given others, and how strongly.

    Parameters
    ----------
    table : path, data frame, PyArrow table, array, SQL query, Dataset or IncompleteDataset
        The observations, read as `learn` reads them. Rows with a missing value in one of the
        columns are left out.
    x, y : str
        The two columns.
    given : str or iterable of str
        The columns that are given (default: none). The null hypothesis is that x and y are
        independent in each stratum, that is in each group of rows that agree in these columns.
    test : str
        ``'g2'``, the likelihood ratio, or ``'x2'``, Pearson's statistic.
    alpha : float
        The columns count as dependent if the p-value is at most this (default: 0.05).
    **options
        How the table is read, as for `learn`.

    Returns
    -------
    Dependence

    Examples
    --------
    >>> import coevo
    >>> rows = coevo.sample(coevo.load_network("asia"), 2000, random_state=1)
    >>> found = measure_dependence(rows, "bronc", "lung")
    >>> print(found)
    bronc and lung are dependent: p = 0.0423.
    >>> print(measure_dependence(rows, "bronc", "lung", given="smoke"))
    No dependence of bronc and lung given smoke is found: p = 0.7687, above 0.05.
    >>> round(found.information, 4), found.degrees_of_freedom
    (0.001, 1)
    """
    for name, value in (("x", x), ("y", y)):
        if not isinstance(value, str):
            raise bad_parameter(name, "measure_dependence", "the name of a column", value)
    expected = "the name of a column, or a list of names"
    columns_given = (given,) if isinstance(given, str) else given
    triple = (x, y, read_names(columns_given, "given", "measure_dependence", expected))
    found = read_and_measure("measure_dependence", table, triple, test, alpha, **options)
    for decision in found.decisions:
        warn_caller(str(decision))
    return found


def read_and_measure(
    owner: str,
    table: Any,
    triple: tuple[str, str, Sequence[str]],
    test: str,
    alpha: float,
    **reading: Any,
) -> Dependence:
    """Do what `measure_dependence` does, without warnings; error messages name `owner`."""
    check_test(test, owner)
    if not (is_number(alpha) and 0 < alpha < 1):
        raise bad_parameter("alpha", owner, "a number between 0 and 1", alpha)
    settings = check_settings(owner, missing="state", **reading)  # any policy: none is used
    rows, info = settings.read_table(table)
    x, y, *given = names = _find_columns(triple, rows, info)
    decisions = tuple(d for d in info.decisions if not d.columns or {*names} & {*d.columns})
    dataset = _select_complete_rows(rows, names)
    numbers = _compute_numbers(dataset, names, test)
    cuts = ((column.name, column.cuts) for column in info.columns if column.name in names)
    points = {name: found.points for name, found in cuts if found is not None}
    return Dependence(
        x=x,
        y=y,
        given=tuple(given),
        test=test,
        alpha=float(alpha),
        n_left_out=rows.n_rows - dataset.n_rows,
        cut_points=points,
        decisions=decisions,
        **numbers,
    )


def _find_columns(triple: tuple[str, str, Sequence[str]], rows: Rows, info: TableInfo) -> list[str]:
    """Return the variables of a test; raise an error unless they are in the table and differ."""
    x, y, given = triple
    names = [x, y]
    for text in given:  # one name, or several with commas between them
        names += [text] if text in rows.names else text.split(",")
    twice = find_duplicate(names)
    if twice is not None:
        raise ParameterError(f"{twice!r} is named twice. The variables of a test must differ.")
    for name in names:
        if name not in rows.names:
            for decision in info.decisions:
                if name in decision.columns:
                    raise DataError(f"{name!r} is not a variable of the table. {decision}")
            raise DataError(f"The table has no variable {name!r}.{suggest_match(name, rows.names)}")
    return names


def _select_complete_rows(rows: Rows, names: Sequence[str]) -> Dataset:
    """Return these columns, without the rows that lack one of their values."""
    dataset = rows.dataset if isinstance(rows, IncompleteDataset) else rows
    places = [dataset.find_position(name) for name in names]
    codes, weights = dataset.codes[places], dataset.weights
    if isinstance(rows, IncompleteDataset):
        codes = codes[:, ~rows.missing[places].any(axis=0)]
    if codes.shape[1] == 0:
        raise DataError(
            f"No row has a value in each of the columns {format_list(list(names))}. Impute the "
            "missing values first."
        )
    return Dataset([dataset.variables[place] for place in places], list(codes), weights)


def _compute_numbers(dataset: Dataset, names: Sequence[str], test: str) -> dict[str, Any]:
    """Return the numbers of a test and the sizes of the effect, by field."""
    x, y, *given = map(dataset.find_position, names)
    scorer, triple = FamilyScorer(dataset), TripleBatch.from_triples([(x, y, given)])
    results = {name: scorer.test_triples(triple, name) for name in ("g2", "x2")}
    found, n = results[test], dataset.n_rows
    freedom = int(found.degrees_of_freedom[0])
    seen = [int((counts > 0).sum()) for counts in dataset.state_counts]
    v, corrected = None, None
    if not given:
        v, corrected = _compute_v(float(results["x2"].statistics[0]), n, seen[x], seen[y])
    return {
        "statistic": float(found.statistics[0]),
        "degrees_of_freedom": freedom,
        "p_value": float(found.p_values[0]),
        "n_rows": n,
        "n_strata": int(np.unique(dataset.codes[given], axis=1).shape[1]) if given else 1,
        "information": float(results["g2"].statistics[0]) / (2 * n),
        "expected_information": freedom / (2 * n),
        "cramers_v": v,
        "corrected_v": corrected,
    }


def _compute_v(x2: float, n: int, r_x: int, r_y: int) -> tuple[float | None, float | None]:
    """Return Cramér's V and Bergsma's estimate; None if a variable has one state or n is 1."""
    if min(r_x, r_y) < 2:
        return None, None
    v = math.sqrt(x2 / n / (min(r_x, r_y) - 1))
    freedom = (r_x - 1) * (r_y - 1)
    squared = max(0.0, x2 / n - freedom / (n - 1))
    small_x, small_y = (r - (r - 1) ** 2 / (n - 1) for r in (r_x, r_y))
    room = min(small_x, small_y) - 1
    return min(v, 1.0), min(1.0, math.sqrt(squared / room)) if room > 0 else None
