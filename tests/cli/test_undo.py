"""Every decision about a table can be undone, in Python and on the command line.

`CASES` has a table for each kind of decision. A new kind without a table fails here, and a decision
without an undo cannot be made at all (`coevo.data.decisions.Decision`).
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

import coevo
from coevo.data.decisions import KINDS, Decision
from coevo.errors import DataError, FileError
from coevo.learning import check_settings
from coevo.view.inspection.result import split_undo

N = 60
pytestmark = pytest.mark.filterwarnings("ignore::coevo.errors.CoevoWarning")


def write_csv(name: str = "t.csv", **columns) -> str:
    """Write a table with two usual columns and others; return its name."""
    usual = {"x": [i * i % 7 % 2 for i in range(N)], "y": ["u", "v", "u"] * (N // 3)}
    pd.DataFrame(usual | columns).to_csv(name, index=False)
    return name


def write_text(text: str, name: str = "t.csv", encoding: str = "utf-8") -> str:
    """Write a text table; return its name."""
    Path(name).write_bytes(text.encode(encoding))
    return name


def write_rows(header: str = "a,b,c", before: str = "", after: str = "", **encoding) -> str:
    """Write a text table of three columns with other lines around it; return its name."""
    rows = "".join(f"{i % 2},{'uv'[i * i % 5 % 2]},{'pqr'[i % 3]}\n" for i in range(N))
    return write_text(f"{before}{header}\n{rows}{after}", **encoding)


def write_sheets(*sheets: list[list[object]]) -> str:
    """Write a spreadsheet; return its name."""
    with pd.ExcelWriter("t.xlsx") as writer:
        for i, rows in enumerate(sheets):
            frame = pd.DataFrame(rows)
            frame.to_excel(writer, sheet_name=f"s{i}", index=False, header=False)
    return "t.xlsx"


def write_stata() -> str:
    """Write a Stata file with value labels."""
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pd.DataFrame({"q": [1.0, 2.0] * 30, "r": [1.0, 2.0, 3.0] * 20})
    pyreadstat.write_dta(frame, "t.dta", variable_value_labels={"q": {1: "no", 2: "yes"}})
    return "t.dta"


def write_lists(name: str) -> str:
    """Write a table with a column of lists, in which some are equal."""
    lists = [[i % 3, i % 2] for i in range(N)]
    if name.endswith("parquet"):
        table = pa.table({"a": list("uv") * 30, "b": list("pqr") * 20, "c": lists})
        pyarrow.parquet.write_table(table, name)
    else:
        rows = [{"a": "uv"[i % 2], "b": "pqr"[i % 3], "c": lists[i]} for i in range(N)]
        Path(name).write_text("\n".join(map(json.dumps, rows)))
    return name


def write_copies() -> str:
    """Write a table that stands in its file three times."""
    frame = pd.DataFrame({"a": [i * i % 11 for i in range(20)], "b": list("uvvwu") * 4})
    pd.concat([frame.assign(c=[i * 7 % 20 for i in range(20)])] * 3).to_csv("t.csv", index=False)
    return "t.csv"


def write_counts() -> str:
    """Write a frequency table of three columns."""
    rows = [
        f"{a},{b},{c},{3 + i * 5 % 7}" for i, (a, b, c) in enumerate(product("uv", "xy", "pqr"))
    ]
    return write_text("\n".join(["a,b,c,Freq", *rows, ""]))


def make_words(i: int) -> str:
    """Return a sentence that no other row has."""
    return f"the patient of bed {i} is asleep now"


AMOUNTS = [f"$ {1000 + 37 * i:,}.50" for i in range(N)]
GROUPS = [f"{1 + i % 9},{100 + 7 * i}" for i in range(N)]
DATES = [f"{1 + i % 12:02}/{1 + i * 7 % 12:02}/{2020 + i // 30}" for i in range(N)]
MEASURED = [10 + i * 7 % 61 for i in range(N)]
SUMS = [*range(200, 200 + N - 1), sum(range(200, 200 + N - 1))]
STARTS = pd.date_range("2020-01-20", periods=N, freq="W")
LENGTHS = [3 + i * 5 % 17 for i in range(N)]
UNITS = "".join(f"{50 + i * 7 % 31},{'uv'[i % 2]},{20 + i * 11 % 47}\n" for i in range(N))
SHEET = [["a", "b"], *[[i % 2, "uvw"[i % 3]] for i in range(N)]]
# Each kind of decision, and functions that write a table which leads to it.
CASES: dict[str, list[Callable[[], str]]] = {
    "format": [lambda: write_rows(name="t.xls")],
    "encoding": [
        lambda: write_rows("a,b,ü", encoding="cp1252"),
        lambda: write_rows(encoding="utf-16-le"),
    ],
    "delimiter": [lambda: write_text("a b c\n" + "1  2 3\n4 5  6\n1 2 6\n" * 9)],
    "comments": [lambda: write_rows(before="# by me\n"), lambda: write_rows(after="# by me\n")],
    "titles": [
        lambda: write_rows(before="A title\n"),
        lambda: write_sheets([["A title", None], *SHEET]),
    ],
    "footers": [lambda: write_rows(after="\nTotal: 60\n")],
    "header": [
        lambda: write_text("5,7\n" + "5,8\n6,7\n6,8\n" * 9),
        lambda: write_text("# p q\n" + "5.5 8\n6.5 7\n" * 9),
        lambda: write_sheets([[5, 7], *[[5 + i % 2, 8 + i % 3] for i in range(9)]]),
    ],
    "short": [lambda: write_rows(after="1,u\n")],
    "long": [lambda: write_rows(after="1,u,p,,\n")],
    "skipped_rows": [lambda: write_rows(after="1,u\n1,u,p,q\n")],
    "empty_rows": [
        lambda: write_rows(after=",,\n0,u,p\n"),
        lambda: write_sheets([*SHEET[:9], [None, None], *SHEET[9:]]),
    ],
    "totals": [lambda: write_csv(c=MEASURED, d=[*"pq" * 29, "p", "Total"], e=SUMS)],
    "duplicates": [lambda: write_copies()],
    "weights": [lambda: write_counts()],
    "sheet": [lambda: write_sheets(SHEET, SHEET[:40])],
    "names": [
        lambda: write_rows(" a,b ,c"),
        lambda: write_rows("a,b,a"),
        lambda: write_rows("a,a,a"),
        lambda: write_rows("x=1 ,b,c"),
    ],
    "unnamed": [
        lambda: write_rows("a,,c"),
        lambda: write_text("a,b,,\n" + "1,u,p,r\n2,v,p,s\n1,v,q,r\n" * 9),
    ],
    "index": [
        lambda: write_text(",a,b\n" + "".join(f"{i},{i % 2},{'uvw'[i % 3]}\n" for i in range(N)))
    ],
    "value_labels": [write_stata],
    "unsupported": [lambda: write_lists("t.jsonl"), lambda: write_lists("t.parquet")],
    "empty": [
        lambda: write_csv(c=[None] * N),
        lambda: write_text("a,b,,\n" + "1,u,,\n2,v,,\n1,v,,\n" * 9),
    ],
    "nearly_empty": [lambda: write_csv(c=["u", "v"] * 5 + [None] * (N - 10))],
    "constant": [lambda: write_csv(c=["u"] * N)],
    "identifier": [
        lambda: write_csv(c=[f"p{i}" for i in range(N)]),
        lambda: write_csv(c=range(N)),
    ],
    "free_text": [lambda: write_csv(c=map(make_words, range(N)))],
    "mixed": [lambda: write_csv(c=[*range(1000, 1000 + N - 20), *map(make_words, range(20))])],
    "too_many_states": [
        lambda: write_text("a,b,c\n" + "".join(f"p{i},{i % 2},{i % 3}\n" for i in range(66_000)))
    ],
    "copy": [lambda: write_csv(c=["U", "V", "U"] * (N // 3))],
    "choices": [lambda: write_csv(c=["run", "run;swim", "swim;ski", "ski", "run;ski"] * (N // 5))],
    "date": [lambda: write_csv(c=pd.date_range("2020-01-20", periods=N, freq="W"))],
    "duration": [lambda: write_csv(c=STARTS, d=STARTS + pd.to_timedelta(LENGTHS, "D"))],
    "date_order": [lambda: write_csv(c=DATES)],
    "number_format": [lambda: write_csv(c=AMOUNTS), lambda: write_csv(c=AMOUNTS, d=AMOUNTS[::-1])],
    "decimal_mark": [lambda: write_csv(c=GROUPS)],
    "missing_word": [lambda: write_csv(c=[*[i * i % 59 + i for i in range(N - 1)], "unknown"])],
    "missing_code": [lambda: write_csv(c=[-999, -999, *MEASURED[2:]])],
    "units_row": [lambda: write_text("a,b,c\nkg,,years\n" + UNITS)],
    "blanks": [lambda: write_csv(c=["yes", "no", "yes "] * (N // 3))],
    "spelling": [lambda: write_csv(c=["yes", "no", "Yes"] * (N // 3))],
    "missing": [lambda: write_csv(c=["u", "v", None] * (N // 3))],
}
# Options without which there is no such decision.
NEEDED = {"skipped_rows": ({"bad_rows": "skip"}, ["--bad-rows", "skip"])}
EVERY = [(kind, i) for kind, makers in CASES.items() for i in range(len(makers))]


def list_kind(source: str, kind: str, **options) -> list[Decision]:
    """Return the decisions of a kind that `learn` takes when it reads a table."""
    _, info = check_settings("learn", **options).read_table(source)
    return [decision for decision in info.decisions if decision.kind == kind]


def test_every_kind_has_a_case():
    assert list(CASES) == list(KINDS)


def test_the_kinds_are_those_of_the_source():
    """Each kind that a module makes is a literal in it, and none is left over."""
    folder = Path(coevo.__file__).parent
    texts = [
        path.read_text(encoding="utf-8")
        for path in [*folder.glob("data/**/*.py"), *folder.glob("learning/*.py")]
        if path.name != "decisions.py"
    ]
    for kind in KINDS:
        assert any(re.search(rf'"{kind}"', text) for text in texts), kind


def test_a_decision_needs_a_kind_and_an_undo():
    with pytest.raises(ValueError, match="There is no kind of decision 'guess'"):
        Decision("guess", (), "It was a guess.", "strict=True")
    with pytest.raises(ValueError, match="A decision of the kind 'date' needs an undo"):
        Decision("date", (), "It was a date.", "")


@pytest.mark.parametrize(("kind", "case"), EVERY)
def test_the_undo_in_python(kind, case, folder):
    source, needed = CASES[kind][case](), NEEDED.get(kind, ({}, []))[0]
    found = list_kind(source, kind, **needed)
    assert found, "the table does not lead to this kind of decision"
    for decision in found:
        options = needed | eval(f"dict({split_undo(decision)[0]})")
        try:
            left = list_kind(source, kind, **options)
        except (DataError, FileError):
            assert is_refusal(options)
        else:
            assert not is_refusal(options)
            assert decision not in left
            assert len(left) < len(found)


def is_refusal(options: dict[str, object]) -> bool:
    """Return whether options refuse the table instead of reading it in another way."""
    return (
        "strict" in options
        or "refuse" in options.values()
        or options.get("encoding") == "utf-8"
        or options.get("delimiter") == ","  # there is one column then
    )


@pytest.mark.parametrize(("kind", "case"), EVERY)
def test_the_undo_of_a_command(kind, case, folder, run):
    source, needed = CASES[kind][case](), NEEDED.get(kind, ({}, []))[1]
    command = ("learn", source, "-m", "hill_climb", "--max-generations", 1, "--bootstraps", 0)
    command = (*command, "--format", "json") if kind == "missing" else ("inspect", source)
    code, out, err = run(*command, "--format", "json", *needed)
    assert (code, err) == (0, "")
    found = [one for one in json.loads(out)["decisions"] if one["kind"] == kind]
    assert found
    for decision in found:
        words = split_undo(Decision(**decision | {"columns": tuple(decision["columns"])}))
        if len(words) == 1:  # a new name with an equals sign has no form on the command line
            assert "=1 " in words[0]
            continue
        options = shlex.split(words[1])
        code, out, err = run(*command, "--format", "json", *needed, *options)
        if code:
            assert (code, err.count("\n")) == (2, 1)
            assert err.startswith("Error: ")
        else:
            assert decision not in json.loads(out)["decisions"]


# -- the same options in commands that read rows for a network


@pytest.fixture
def visits(folder, run):
    """Write rows with dates and decimal commas, and ``run/model.bif``, learned from them."""
    rows = [
        f"{1 + i * 7 % 12:02}/{1 + i % 12:02}/{2020 + i // 120};{1 + i % 2},{100 + i};{'uv'[i % 2]}"
        for i in range(240)
    ]
    write_text("\n".join(["visit;dose;ward", *rows]))
    options = ("--type", "visit=dmy", "--decimal", ",", "-m", "hill_climb", "--bootstraps", 0)
    code, _, _ = run("learn", "t.csv", *options, "-o", "run")
    assert code == 0
    return options[:4]


GUESSED = (
    "Warning: 'visit' holds dates from 2020-01-01 to 2021-12-06; it is replaced by 'visit_year' "
    "and 'visit_month'. The month is read before the day. Undo: types={'visit': 'dmy'}, or --type "
    "visit=dmy.\n"
    "Warning: 'dose' holds numbers like '2,339'; they are read as numbers, and the comma separates "
    "thousands, which is a guess. Undo: decimal=',', or --decimal ,.\n"
)


def test_evaluate_and_predict_undo_guesses(visits, run, as_json):
    code, out, err = run("evaluate", "run/model.bif", "t.csv", "--format", "json")
    assert (code, err) == (0, GUESSED)
    assert as_json("evaluate", "run/model.bif", "t.csv", *visits)["mean"] > json.loads(out)["mean"]
    dataset, _ = check_settings(
        "learn", types={"visit": "dmy"}, decimal=",", discretise="mdl"
    ).read_table("t.csv")
    right = as_json("predict", "run/model.bif", "t.csv", "ward", *visits)
    assert right["n_rows"] == dataset.n_rows
    assert right["metrics"]["accuracy"] == 1
    message = (
        "Error: 'types' of read_rows names 'ward', a variable of the network, whose states are "
        "known. Give types only of columns of dates, as 'dmy' or 'date+dmy'.\n"
    )
    code, _, err = run("evaluate", "run/model.bif", "t.csv", "--type", "ward=categorical")
    assert (code, err) == (2, message)


def test_dates_in_bins_keep_the_bins_of_the_network(visits, run, as_json):
    options = ("--type", "visit=date+dmy", *visits[2:])
    code, _, _ = run("learn", "t.csv", *options, "-m", "hill_climb", "--bins", 3, "-o", "dates")
    assert code == 0
    _, _, err = run("evaluate", "dates/model.bif", "t.csv", *visits[2:])
    assert "it is read as numbers. The month is read before the day." in err
    assert err.endswith("Undo: types={'visit': 'date+dmy'}, or --type visit=date+dmy.\n")
    found = as_json("evaluate", "dates/model.bif", "t.csv", *options)
    assert found["impossible_rows"] == 0


def test_score_names_the_undo_and_takes_it(visits, run, as_json):
    _, _, err = run("score", "t.csv", "--structure", "run/model.bif", *visits[:2])
    assert err.endswith(
        "Warning: 'dose' holds numbers like '2,339'; they are read as numbers, and the comma "
        "separates thousands, which is a guess. Undo: --decimal ,\n"
    )
    as_json("score", "t.csv", "--structure", "run/model.bif", *visits)
    code, _, err = run("score", "t.csv", "--structure", "run/model.bif", "--strict")
    assert code == 2
    assert err.startswith("Error: The table cannot be read strictly, because coevo would decide:")


def test_new_names_reach_every_command(folder, run, as_json):
    write_rows("a ,a,b")
    new = ("--rename", "a.1=b=1", "--rename", "b=c")
    assert run("inspect", "t.csv", *new).err.endswith(
        "Error: 'rename' names 'a.1=b', which is not a column of the table. Did you mean 'a.1'?\n"
    )
    new = ("--rename", "a.1=d", "--rename", "b=the c", "--rename", "a=a ")
    found = as_json("inspect", "t.csv", *new)
    assert found["decisions"] == []
    assert found["next"] == (
        "coevo learn t.csv --rename a.1=d --rename 'b=the c' --rename 'a=a ' -o run/"
    )
    quick = ("-m", "hill_climb", "--bootstraps", 0, "-o", "run")
    assert set(as_json("learn", "t.csv", *new, *quick)["columns"]) == {"a ", "d", "the c"}
    for command in (
        ("evaluate", "run/model.bif", "t.csv"),
        ("predict", "run/model.bif", "t.csv", "d", "-o", "p.csv"),
        ("score", "t.csv", "--structure", "run/model.bif"),
        ("strength", "t.csv", "-m", "hill_climb", "--bootstraps", 2),
        ("compare", "run/model.bif", "run/model.bif", "--data", "t.csv"),
    ):
        code, _, err = run(*command, *new, "--format", "json")
        assert (code, "Warning" in err) == (0, False)
        code, _, err = run(*command)
        assert code == 2 or command[0] == "strength"
    _, _, err = run("learn", "--example", "asia", "--rename", "a=b")
    assert err.endswith("Error: --rename needs DATA; it cannot be combined with --example.\n")
    for text, message in (
        ("ab", "--rename must be OLD=NEW; got 'ab'."),
        ("=b", "--rename must be OLD=NEW; got '=b'."),
        ("a.1=d", "--rename gives 'a.1' two names. Give one of them."),
    ):
        code, _, err = run("learn", "t.csv", "--rename", "a.1=e", "--rename", text)
        assert (code, err.splitlines()[-1]) == (2, f"Error: {message}")


def test_inspect_repeats_the_options(folder, as_json):
    source = write_rows(after=",,\n1,u\n")
    options = ("--bad-rows", "skip", "--keep-empty-rows", "--no-value-labels")
    assert as_json("inspect", source, *options)["next"] == (
        "coevo learn t.csv --bad-rows skip --keep-empty-rows --no-value-labels -o run/"
    )


def test_the_guide_lists_every_kind():
    page = Path(__file__).parents[2] / "docs" / "how-to" / "dirty-tables.md"
    table = page.read_text(encoding="utf-8").split("| kind of decision | undo |")[1]
    listed = [kind for row in table.split("\n\n")[0].splitlines()[2:] for kind in _list_words(row)]
    assert sorted(listed) == sorted(KINDS)


def _list_words(row: str) -> list[str]:
    return re.findall("`([a-z_]+)`", row.split("|")[1])
