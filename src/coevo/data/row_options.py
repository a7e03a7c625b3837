"""Options about the rows of a table: copies, totals, weights and clusters.

They have the same names in `read_data`, `read_incomplete`, `learn` and the commands that learn.
They do not belong to `coevo.data.source_options`, because predictions keep every row as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

from coevo.errors import ParameterError
from coevo.options import RowParameters, check_options

__all__ = ["DEFAULT_ROWS", "RowOptions"]


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
        check_options(RowParameters, owner, options)
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
