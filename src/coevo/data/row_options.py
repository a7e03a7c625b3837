"""Options about the rows of a table: copies, totals, weights and clusters.

They have the same names in `read_data`, `read_incomplete`, `learn` and the commands that learn.
They do not belong to `coevo.data.source_options`, because predictions keep every row as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict, Unpack

from coevo.checks import is_choice
from coevo.data.source_options import SourceParameters
from coevo.errors import ParameterError, bad_choice, bad_parameter

__all__ = ["DEFAULT_ROWS", "ROW_DEFAULTS", "ReadParameters", "RowOptions", "RowParameters"]

KEEP_OR_DROP = ("keep", "drop")


class RowParameters(TypedDict, total=False):
    """The options as keyword arguments."""

    duplicates: str | None
    totals: str | None
    weights: str | None
    cluster_by: str | None


class ReadParameters(SourceParameters, RowParameters, total=False):
    """The options of a source, and those about its rows."""


ROW_DEFAULTS: RowParameters = {
    "duplicates": None,
    "totals": None,
    "weights": None,
    "cluster_by": None,
}


@dataclass(frozen=True, slots=True)
class RowOptions:
    """Validated options about rows. None lets coevo decide.

    Attributes
    ----------
    duplicates : str, optional
        ``'keep'`` keeps rows that repeat other rows, ``'drop'`` keeps one of equal rows.
    totals : str, optional
        ``'keep'`` keeps rows of totals and subtotals, ``'drop'`` leaves all of them out.
    weights : str, optional
        The column with the number of times that each row counts.
    cluster_by : str, optional
        The column that says which rows belong together.
    """

    duplicates: str | None = None
    totals: str | None = None
    weights: str | None = None
    cluster_by: str | None = None

    @classmethod
    def from_parameters(
        cls, owner: str = "read_data", **options: Unpack[RowParameters]
    ) -> RowOptions:
        """Validate the options; `owner` is the function that error messages name.

        >>> RowOptions.from_parameters(duplicates="kep")
        Traceback (most recent call last):
        coevo.errors.ParameterError: 'duplicates' of read_data must be one of 'drop', 'keep'; \
got 'kep'. Did you mean 'keep'?
        """
        chosen = cls(**options)
        for name in ("duplicates", "totals"):
            value = getattr(chosen, name)
            if value is not None and not is_choice(value, KEEP_OR_DROP):
                raise bad_choice(name, owner, KEEP_OR_DROP, value)
        for name in ("weights", "cluster_by"):
            value = getattr(chosen, name)
            if value is not None and not isinstance(value, str):
                raise bad_parameter(name, owner, "the name of a column or None", value)
        if chosen.weights is not None and chosen.weights == chosen.cluster_by:
            raise ParameterError(
                f"'weights' and 'cluster_by' of {owner} name the same column, {chosen.weights!r}. "
                "Give two columns."
            )
        return chosen

    def list_columns(self) -> list[tuple[str, str]]:
        """Return each option that names a column, and this column. It is no variable."""
        named = (("weights", self.weights), ("cluster_by", self.cluster_by))
        return [(option, column) for option, column in named if column is not None]


DEFAULT_ROWS = RowOptions()
