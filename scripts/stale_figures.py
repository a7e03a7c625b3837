"""List the measured figures of the documentation that are older than the code they measure.

    python scripts/stale_figures.py          the stale ones
    python scripts/stale_figures.py --all    all of them

A table of measured figures has a line below it that names its date, its version and its commit:

    *Measured 2026-11-18, coevo 0.2.0, commit 3cbff0f.*

The command stands near it. `replace_block` of the benchmarks writes the line. A figure is stale if
a later commit changed the rooms that its benchmark measures (`MEASURES`) or the benchmark itself.
That is no error: most commits do not change most figures. It tells which ones to measure again
before a release. Needs the git history. The lines of tables that were measured before this script
existed name the last commit that changed the table, so these figures may be older than they say.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
LINE = re.compile(
    r"\*Measured (?P<date>\d{4}-\d\d-\d\d), coevo (?P<version>\S+), commit (?P<commit>[0-9a-f]{7,})"
)
COMMAND = re.compile(r"benchmarks/(\w+\.py)|(coevo paper|fuzz\.run|\bmutants\b)")
RULE = re.compile(r"^\|[-:| ]*--:[-:| ]*\|$")  # below the header of a table of numbers
BEGIN = re.compile(r"^<!-- (.+): made by the command below it -->$")
NOT_MEASURED = re.compile(r"\| (code|option|value|default) \|")  # headers of tables without figures
NEAR = 14  # lines around a table in which its command stands

# The rooms of src/coevo whose change can change the figures of a benchmark. A benchmark that is not
# here measures all of them.
SEARCH = ("search", "score")
POSTERIOR = ("posteriors", *SEARCH)
MEASURES = {
    "ablation.py": SEARCH,
    "many_variables.py": SEARCH,
    "calibration.py": POSTERIOR,
    "ccga.py": SEARCH,
    "champion.py": SEARCH,
    "classifiers.py": ("estimators", "network", *SEARCH),
    "coevo paper": ("experiments", *SEARCH),
    "defaults.py": ("data", "network", *SEARCH),
    "exact_posterior.py": POSTERIOR,
    "ges.py": SEARCH,
    "growth.py": ("score",),
    "independence.py": ("score",),
    "junction_tree.py": ("network",),
    "local_scores.py": ("score",),
    "missing.py": ("missing", *SEARCH),
    "missing_growth.py": ("missing", *SEARCH),
    "outside_arcs.py": POSTERIOR,
    "parser_growth.py": ("io", "data"),
    "pc.py": SEARCH,
    "penalty.py": SEARCH,
    "population_proposal.py": POSTERIOR,
    "posterior.py": POSTERIOR,
    "posterior_auc.py": POSTERIOR,
    "posterior_error.py": POSTERIOR,
    "posterior_sumu.py": POSTERIOR,
    "predictions.py": ("network", "data"),
    "prove.py": ("exact", *SEARCH),
    "prove_gobnilp.py": ("exact", *SEARCH),
    "prove_growth.py": ("exact", *SEARCH),
    "published.py": SEARCH,
    "quick_bootstrap.py": ("posteriors", *SEARCH),
    "read_back.py": ("io",),
    "scale_out.py": ("parallel", *SEARCH),
    "solve.py": ("problems",),
    "studio.py": ("studio",),
    "studio_browser.py": ("studio", "view"),
    "tempering.py": POSTERIOR,
    "versions.py": SEARCH,
}


@dataclass(frozen=True)
class Figure:
    """A block of tables that a benchmark writes, or one table beside such blocks."""

    path: Path
    first: int  # line, from 0
    last: int
    title: str
    command: str | None
    measured: re.Match[str] | None

    @property
    def place(self) -> str:
        """The file and the line."""
        return f"{self.path.relative_to(ROOT)}:{self.first + 1}"


def list_pages() -> list[Path]:
    """Return the pages that hold figures; those of docs/paper name the version that made them."""
    pages = [path for path in (ROOT / "docs").rglob("*.md") if "paper" not in path.parts]
    return [ROOT / "README.md", ROOT / "benchmarks" / "README.md", *sorted(pages)]


def find_figures(path: Path) -> Iterator[Figure]:
    """Yield the figures of a page: blocks, then tables; a table in a code block is output.

    A block that nobody has measured yet is empty, and has no figures.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    title, is_code, end = "", False, -1
    for number, line in enumerate(lines):
        is_code ^= line.lstrip().startswith("```")
        if is_code or number <= end:
            continue
        if line.startswith("#"):
            title = line.lstrip("# ")
        if BEGIN.match(line):
            end = next(n for n in range(number, len(lines)) if lines[n].startswith("<!-- end of"))
            last = end
            if not "".join(lines[number + 1 : end]).strip():
                continue
        elif RULE.match(line) and not NOT_MEASURED.search(lines[number - 1]):
            end = number
            while end + 1 < len(lines) and lines[end + 1].startswith("|"):
                end += 1
            last = next(
                (n for n in range(end + 1, len(lines)) if lines[n].startswith(("#", "|"))),
                len(lines) - 1,
            )
        else:
            continue
        dates = (LINE.search(lines[n]) for n in range(number, last + 1))
        below, above = lines[end : end + NEAR], lines[max(0, number - NEAR) : number]
        command = COMMAND.search("\n".join(below)) or COMMAND.search("\n".join(above))
        name = None if command is None else command[1] or command[2]
        yield Figure(path, number, end, title, name, next(filter(None, dates), None))


@cache
def _run_git(*arguments: str) -> str:
    run = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True)
    return run.stdout.strip() if run.returncode == 0 else ""


def count_later_commits(figure: Figure) -> int:
    """Return the number of later commits that changed the measured code or the benchmark."""
    assert figure.measured is not None
    rooms = MEASURES.get(figure.command or "", ("",))
    paths = [f"src/coevo/{room}" for room in rooms]
    if figure.command is not None and figure.command.endswith(".py"):
        paths.append(f"benchmarks/{figure.command}")
    found = _run_git("rev-list", "--count", f"{figure.measured['commit']}..HEAD", "--", *paths)
    return int(found or 0)


def main() -> None:
    """Print the figures, the stalest first."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--all", action="store_true", help="also those that are not stale")
    options = parser.parse_args()
    figures = [figure for path in list_pages() for figure in find_figures(path)]
    rows = []
    for figure in figures:
        if figure.measured is None:
            rows.append((10**6, f"{figure.place}: {figure.title}: no date"))
            continue
        later = count_later_commits(figure)
        if later or options.all:
            date, version = figure.measured["date"], figure.measured["version"]
            text = f"{figure.place}: {figure.title}: {date}, coevo {version}, {figure.command}"
            rows.append((later, f"{text}: {later} later commits"))
    for _, text in sorted(rows, reverse=True):
        print(text)
    print(f"{len(rows)} of {len(figures)} tables" + ("" if options.all else " are stale"))


if __name__ == "__main__":
    main()
