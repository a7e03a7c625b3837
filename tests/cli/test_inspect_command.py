"""``coevo inspect``: its text, its JSON, its files and its errors."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from coevo.cli.inspect import format_inspection, format_sparkline
from coevo.data import read_data, read_incomplete, read_types
from coevo.view.inspection import inspect_table

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

PATIENTS = """\
table       patients.csv: 600 rows, 8 columns, no missing values
columns     4 categorical, 3 continuous, 1 left out
  name         type         holds            distinct  missing  values      becomes
  patient_id   left out                           600       0%              p000, p001, p002, p003, …
  sex          categorical  text                    2       0%  ██          2 states: f, m
  age          continuous   whole numbers          72       0%  ▄▇▇▅▆▆█▄    cut point 57
  smoker       categorical  text                    2       0%  █▆          2 states: no, yes
  ward         categorical  whole numbers           4       0%  █▇▇█        4 states: 1, 2, 3, 4
  crp          continuous   decimal numbers       458       0%  █▂▁▁▁ ▁     cut points 2.37, 7.85, …
  temperature  continuous   decimal numbers        38       0%  ▁▂▆█▆▂▁▁    cut points 36.5, 37, …
  ill          categorical  text                    2       0%  █▂          2 states: no, yes
decisions   1
  'patient_id' has a different value in each of its 600 rows, like an identifier; it is left out. \
Undo: types={'patient_id': 'categorical'}, or --type patient_id=categorical.
problems    none
next        coevo learn patients.csv -o run/
"""  # noqa: E501

INCOMPLETE = """\
table       incomplete.csv: 600 rows, 8 columns, 426 missing values (10.1%)
columns     4 categorical, 3 continuous, 1 left out
  name         type         distinct  missing  values      becomes
  patient_id   left out          600       0%              p000, p001, p002, p003, …
  sex          categorical         2     9.7%  ██          2 states: f, m
  age          continuous         72     9.7%  ▄█▇▅▆▆█▄    cut point 56
  smoker       categorical         2     9.7%  █▆          2 states: no, yes
  ward         categorical         4    10.5%  █▇██        4 states: 1, 2, 3, 4
  crp          continuous        419    11.3%  █▂▁▁▁ ▁     cut points 2.42, 8.06
  temperature  continuous         38     9.3%  ▁▂▆█▆▂▁▁    cut points 36.55, 37.25, …
  ill          categorical         2    10.8%  █▂          2 states: no, yes
decisions   2
  'patient_id' has a different value in each of its 600 rows, like an identifier; it is left out. \
Undo: types={'patient_id': 'categorical'}, or --type patient_id=categorical.
  426 missing values (10.1% of all values) are imputed by the policy 'evolve'. Undo: \
missing='refuse', or --missing refuse.
problems    none
next        coevo learn incomplete.csv -o run/
"""


@pytest.fixture
def tables(folder):
    """Work in a folder with both tables of patients."""
    for name in ("patients.csv", "incomplete.csv"):
        shutil.copy(EXAMPLES / name, folder)
    return folder


def test_the_answer_as_text(tables, run):
    assert run("inspect", "patients.csv") == (0, PATIENTS, "")


def test_a_narrow_terminal(tables, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "84")
    assert run("inspect", "incomplete.csv") == (0, INCOMPLETE, "")


def test_plain_characters(launch, tables):
    outcome = launch("inspect", "patients.csv", PYTHONIOENCODING="ascii", COLUMNS="100")
    assert outcome.code == 0
    assert "  ward         categorical  whole numbers           4       0%  @##@" in outcome.out
    assert outcome.out.isascii()


def test_the_answer_as_json(tables, as_json):
    answer = as_json("inspect", "patients.csv")
    found = inspect_table("patients.csv")
    assert answer == found.as_dict() | {"next": "coevo learn patients.csv -o run/"}
    assert answer["summaries"]["ward"]["states"][0] == {"state": "1", "count": 164}


@pytest.mark.parametrize("name", ["types.json", "types.csv"])
def test_the_types_file(tables, run, as_json, name):
    code, out, _ = run("inspect", "incomplete.csv", "--write-types", name)
    assert code == 0
    lines = out.splitlines()
    assert lines[-2:] == [
        f"wrote       {name}",
        f"next        coevo learn incomplete.csv --types {name} -o run/",
    ]
    rows = read_incomplete("incomplete.csv", types=read_types(name))
    assert rows.content_hash == inspect_table("incomplete.csv").data_hash
    learned = as_json(*lines[-1].removesuffix(" -o run/").split()[2:], "-m", "k2")
    assert learned["data_hash"] == rows.content_hash


def test_an_edited_types_file(tables, run):
    run("inspect", "patients.csv", "--write-types", "types.json")
    types = json.loads(Path("types.json").read_text())
    Path("types.json").write_text(json.dumps(types | {"age": [40, 65], "ward": "ignore"}))
    code, out, _ = run("inspect", "patients.csv", "--types", "types.json")
    assert code == 0
    assert "cut points 40, 65" in out
    dataset = read_data("patients.csv", types=read_types("types.json"))
    assert "ward" not in dataset.names


def test_files_are_not_lost(tables, run, refused):
    Path("types.json").write_text("edited")
    assert refused("inspect", "patients.csv", "--write-types", "types.json") == (
        "'types.json' exists already. Give another name, or replace it with force=True (--force)."
    )
    assert Path("types.json").read_text() == "edited"
    assert run("inspect", "patients.csv", "--write-types", "types.json", "--force").code == 0
    assert json.loads(Path("types.json").read_text())["patient_id"] == "ignore"


def test_the_page(tables, run, as_json):
    assert run("inspect", "patients.csv", "-o", "patients.html").code == 0
    assert "<title>Inspection of patients.csv</title>" in Path("patients.html").read_text("utf-8")
    answer = as_json("inspect", "patients.csv", "-o", "new/folder")
    assert answer["files"] == {"page": str(Path("new/folder/inspect.html"))}
    assert Path("new/folder/inspect.html").read_text("utf-8") == Path("patients.html").read_text(
        "utf-8"
    )


def test_options_are_repeated_in_the_next_command(tables, run):
    options = ("--drop", "patient_id", "--bins", "3", "--missing-label", "4")
    code, out, _ = run("inspect", "patients.csv", *options)
    assert code == 0
    assert out.splitlines()[-1] == (
        "next        coevo learn patients.csv --drop patient_id --missing-label 4 --bins 3 -o run/"
    )
    assert "  patient_id   left out" in out
    assert "not read" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no.csv"], "There is no file 'no.csv'."),
        (["patients.csv", "--drop", "agee"], "'drop' names 'agee', which is not a column of the"),
        (["patients.csv", "--write-types", "t.txt"], "The types of columns are written as JSON or"),
        (["patients.csv", "-o", "no/page.html"], "'no/page.html' cannot be written: there is no"),
        (["patients.csv", "--discretise", "x"], "'discretise' of inspect_table must be one of"),
    ],
)
def test_errors(tables, refused, arguments, message):
    assert refused("inspect", *arguments).startswith(message)


def test_wrong_usage(tables, run):
    assert run("inspect").code == 2
    outcome = run("inspect", "patients.csv", "--force")
    assert (outcome.code, outcome.err.splitlines()[-1]) == (
        2,
        "Error: --force needs --write-types.",
    )
    outcome = run("inspect", "patients.csv", "--write-types", "patients.csv", "--force")
    assert outcome.err.splitlines()[-1] == (
        "Error: --write-types would overwrite DATA, 'patients.csv'. Give another name."
    )


def test_three_hundred_columns_with_long_names(folder, run):
    names = [f"sensor_{i:03d}_{'of_the_left_valve_' * 3}{i}" for i in range(300)]
    rows = [",".join(str((i * j) % 3) for j in range(300)) for i in range(40)]
    Path("wide.csv").write_text("\n".join([",".join(names), *rows]))
    code, out, _ = run("inspect", "wide.csv")
    assert code == 0
    lines = out.splitlines()[3:303]
    assert max(map(len, lines)) <= 100
    assert len({line.split()[0] for line in lines}) == 300  # all are shown, all are different


def test_lines_align_for_wide_characters():
    found = inspect_table(
        _make_frame({"漢字": ["はい", "いいえ", "はい"], "a\nb": ["x", "y", "y"]})
    )
    lines = list(format_inspection(found, 100))
    assert lines[3].startswith("  漢字  categorical")
    assert lines[4].startswith("  a b   categorical")


def _make_frame(columns):
    import pandas as pd

    return pd.DataFrame(columns)


def test_sparklines():
    assert format_sparkline([], 10) == ""
    assert format_sparkline([0, 0], 10) == "  "
    assert format_sparkline([1] * 25, 10) == "████████▃"
    assert format_sparkline([1, 10**9], 10) == "▁█"


def test_long_numbers_are_short_for_people_and_exact_in_files(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = ["-0.044641636506989144,a", "0.05068011873981862,b"] * 10
    Path("t.csv").write_text("\n".join(["sex,group", *rows]) + "\n", encoding="utf-8")
    _, out, _ = run("inspect", "t.csv")
    assert "2 states: -0.04464, 0.05068\n" in out
    _, out, _ = run("inspect", "t.csv", "--format", "json")
    assert "-0.044641636506989144" in out
    run("inspect", "t.csv", "-o", "page")
    page = next(Path("page").glob("*.html")).read_text(encoding="utf-8")
    assert ">-0.04464<" in page
    assert ">-0.044641636506989144<" not in page
