"""A table in three formats: Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from coevo.files import write_text

__all__ = ["ReportTable"]

_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{character: f"\\{character}" for character in "&%$#_{}"},
        "<": "$<$",
        ">": "$>$",
    }
)


_GROUPED = re.compile(r"[-+]?\d{1,3}(,\d{3})+(\.\d+)?")


def _strip_commas(cell: str) -> str:
    """Return a cell; a number without its thousands separators."""
    return cell.replace(",", "") if _GROUPED.fullmatch(cell) else cell


@dataclass(frozen=True)
class ReportTable:
    """A table of text cells with headers. The first `n_labels` columns are labels.

    Examples
    --------
    >>> table = ReportTable(["name", "score"], [["a_b", "-1.50"]], caption="Scores.")
    >>> print(table.to_markdown())
    Scores.
    <BLANKLINE>
    | name | score |
    |---|---:|
    | a_b | -1.50 |
    <BLANKLINE>
    """

    headers: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    n_labels: int = 1

    def to_markdown(self) -> str:
        """Return a Markdown table with its caption above it."""
        ruler = "|" + "---|" * self.n_labels + "---:|" * (len(self.headers) - self.n_labels)
        lines = [f"| {' | '.join(self.headers)} |", ruler]
        lines += [
            f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
            for row in self.rows
        ]
        return f"{self.caption}\n\n" * bool(self.caption) + "\n".join(lines) + "\n"

    def to_latex(self) -> str:
        r"""Return a LaTeX table that needs no packages, only tabular and \hline."""
        columns = "l" * self.n_labels + "r" * (len(self.headers) - self.n_labels)
        head, *body = (
            " & ".join(cell.translate(_LATEX) for cell in row) + r" \\"
            for row in [self.headers, *self.rows]
        )
        return "\n".join(
            [
                r"\begin{table}",
                r"\centering",
                rf"\caption{{{self.caption.translate(_LATEX)}}}",
                rf"\begin{{tabular}}{{{columns}}}",
                r"\hline",
                head,
                r"\hline",
                *body,
                r"\hline",
                r"\end{tabular}",
                r"\end{table}",
                "",
            ]
        )

    def to_csv(self) -> str:
        """Return comma-separated values with a header. Numbers have no thousands separators."""
        stream = io.StringIO()
        rows = [[_strip_commas(cell) for cell in row] for row in self.rows]
        csv.writer(stream, lineterminator="\n").writerows([self.headers, *rows])
        return stream.getvalue()

    def write(self, stem: Path) -> list[Path]:
        """Write ``stem.md``, ``stem.tex`` and ``stem.csv``."""
        written = []
        for suffix, text in (
            (".md", self.to_markdown()),
            (".tex", self.to_latex()),
            (".csv", self.to_csv()),
        ):
            path = stem.with_name(stem.name + suffix)
            write_text(path, text)
            written.append(path)
        return written
