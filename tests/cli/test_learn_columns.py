"""``coevo learn``: types of columns, discretisation, the audit and constraints."""

from __future__ import annotations

import csv
import json
import random

import numpy as np
import pytest

import coevo.progress.displays
from coevo.data import CutPoints, audit, read_data
from coevo.io import read_bif
from coevo.score import FamilyScorer

QUICK = ("-m", "hill_climb", "--seed", 1)
N_ROWS = 400


def write_table(path, seed, n_rows=N_ROWS):
    rng = np.random.default_rng(seed)
    smoker = rng.random(n_rows) < 0.4
    age = rng.integers(18, 90, n_rows)
    crp = np.exp(rng.normal(size=n_rows) + smoker + age / 60)
    ill = crp + rng.normal(size=n_rows) > 9
    rows = zip(
        [f"p{i}" for i in range(n_rows)], rng.choice(["f", "m"], n_rows).tolist(), age.tolist(),
        np.where(smoker, "yes", "no").tolist(), rng.integers(1, 5, n_rows).tolist(),
        crp.round(3).tolist(), np.where(ill, "yes", "no").tolist(), strict=True,
    )  # fmt: skip
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("id", "sex", "age", "smoker", "ward", "crp", "ill"), *rows])


@pytest.fixture
def table(folder, seed):
    """Write ``t.csv``: text, codes, integer and decimal measurements, and an identifier."""
    write_table(folder / "t.csv", seed)
    return folder


@pytest.fixture
def answer(run):
    """Return a function that gives the JSON answer of ``coevo learn``."""

    def call(*arguments):
        code, out, err = run(
            "learn", "t.csv", "--drop", "id", *QUICK, *arguments, "--format", "json"
        )
        assert (code, err) == (0, "")
        return json.loads(out)

    return call


def arcs_of(found):
    return [(arc["from"], arc["to"]) for arc in found["arcs"]]


def test_the_columns_and_the_audit_of_the_library(table, answer):
    found = answer()
    dataset, info = read_data("t.csv", drop=["id"], discretise="mdl", return_info=True)
    assert found["columns"] == {note.name: note.as_dict() for note in info.columns}
    assert found["decisions"] == []
    assert found["audit"] == [finding.as_dict() for finding in audit(dataset)]
    assert found["data_hash"] == dataset.content_hash
    assert {name: column["type"] for name, column in found["columns"].items()} == {
        "sex": "categorical", "age": "continuous", "smoker": "categorical",
        "ward": "categorical", "crp": "continuous", "ill": "categorical", "id": "ignore",
    }  # fmt: skip


def test_the_text(table, run, answer):
    found = answer("-o", "run")
    code, out, err = run("learn", "t.csv", "--drop", "id", *QUICK)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    start = lines.index("columns     4 categorical, 2 continuous, 1 ignored")
    shown = {
        name: ", ".join(f"{cut:g}" for cut in found["columns"][name]["cuts"])
        for name in ("age", "crp")
    }
    assert lines[start - 1] == "table       400 rows, 6 variables"
    assert lines[start + 1 : start + 4] == [
        f"  age: cut points {shown['age']} (mdl)",
        "  ward: 4 whole numbers as states",
        f"  crp: cut points {shown['crp']} (mdl)",
    ]
    sentences = [f"  {finding['sentence']}" for finding in found["audit"]]
    title = f"audit       {len(sentences)} finding{'s' if len(sentences) > 1 else ''}"
    audited = [title, *sentences] if sentences else []
    assert lines[start + 4 : start + 4 + len(audited)] == audited
    assert lines[start + 4 + len(audited)].startswith("arcs ")


def test_long_lists_are_cut_short(folder, run):
    header = [f"c{i:02}" for i in range(14)]
    rng = np.random.default_rng(1)
    cells = rng.normal(size=(60, 14)).round(2).tolist()
    (folder / "t.csv").write_text("\n".join(",".join(map(str, row)) for row in [header, *cells]))
    lines = run("learn", "t.csv", "--bins", 2, *QUICK).out.splitlines()
    start = lines.index("columns     14 continuous")
    assert sum(": cut points " in line for line in lines) == 10
    assert lines[start + 11] == "  and 4 more, all in run.json and --format json"


def test_a_model_carries_its_cut_points(table, answer, run, seed):
    found = answer("-o", "run", "--discretise", "kmeans", "--bins", 3, "-s", "bdeu")
    network = read_bif("run/model.bif")
    crp = next(v for v in network.variables if v.name == "crp")
    assert list(CutPoints.from_states(crp.states).points) == found["columns"]["crp"]["cuts"]
    scored = run(
        "score", "t.csv", "--structure", "run/model.bif", "--drop", "id", "--format", "json"
    )
    assert json.loads(scored.out)["score"] == found["score"]
    write_table(table / "t.csv", seed + 1, 50)  # other rows, the same columns
    facts = json.loads((table / "run/run.json").read_text())
    again = answer("--types", "run/run.json")
    assert {n: c.get("cuts") for n, c in again["columns"].items()} == {
        n: c.get("cuts") for n, c in facts["columns"].items()
    }
    states = {n: c.get("states") for n, c in again["columns"].items()}
    assert states == {n: c.get("states") for n, c in facts["columns"].items()}


def test_the_order_of_rows_and_columns_changes_nothing(table, answer, seed):
    expected = answer()
    with (table / "t.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    random.Random(seed).shuffle(rows)
    with (table / "t.csv").open("w", newline="") as file:
        csv.writer(file).writerows(row[::-1] for row in [header, *rows])
    found = answer()
    del found["seconds"], expected["seconds"]
    assert found == expected


def test_types_and_bins(table, answer):
    (table / "types.json").write_text('{"crp": [3, 10], "ward": "continuous", "sex": "ignore"}')
    found = answer("--types", "types.json", "--bins", 4)
    columns = found["columns"]
    assert columns["crp"]["cuts"] == [3, 10]
    assert "method" not in columns["crp"]
    assert columns["sex"] == {"type": "ignore"}
    assert (columns["age"]["method"], len(columns["age"]["states"])) == ("quantile", 4)
    assert columns["ward"]["cuts"] == [2, 3, 4]


KNOWN = {
    "groups": {"facts": ["age", "sex", "ward"]},
    "roots": ["facts"],
    "required": [["sex", "ill"]],
    "forbidden": [["smoker", "ill"]],
    "max_parents": 2,
}


def test_constraints_hold(table, answer):
    (table / "known.json").write_text(json.dumps(KNOWN))
    found = answer("--constraints", "known.json", "-s", "bdeu")
    arcs = arcs_of(found)
    assert ("sex", "ill") in arcs
    assert ("smoker", "ill") not in arcs
    assert not {child for _, child in arcs} & {"age", "sex", "ward"}
    assert max(sum(c == child for _, c in arcs) for _, child in arcs) <= 2
    assert "log_prior" not in found
    limited = answer("--constraints", "known.json", "-s", "bdeu", "-p", 2)
    assert limited["arcs"] == found["arcs"]


def test_weights_count_in_the_score(table, answer, run):
    (table / "known.csv").write_text(
        "kind,from,to,weight\nweight,ward,sex,500\nweight,sex,ward,1\n"
    )
    found = answer("--constraints", "known.csv", "-s", "bdeu")
    assert ("ward", "sex") in arcs_of(found)
    assert found["log_prior"] == 500
    dataset = read_data("t.csv", drop=["id"], discretise="mdl")
    plain = FamilyScorer(dataset).score(coevo.DAG(dataset.names, arcs_of(found)))
    assert found["score"] == pytest.approx(plain + 500)
    named = ("--drop", "id", "-s", "bdeu", "--constraints", "known.csv")
    text = run("learn", "t.csv", *QUICK, *named).out
    assert text.splitlines()[0].endswith(
        "  (bdeu, ess 1, log prior of arcs +500; higher is better)"
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("--discretise quantil", "'discretise' of learn must be one of 'kmeans', 'mdl', 'none', "
         "'quantile', 'uniform'; got 'quantil'. Did you mean 'quantile'?"),
        ("--discretise none --bins 3", "'bins' of learn needs a method; 'discretise' is 'none'."),
        ("--types nothing", "There is no file 'nothing'."),
        ("--types bad.json", "The type of column 'crp' must be one of 'categorical', "
         "'continuous', 'ignore', 'choices', 'days', 'date', 'year', 'month', 'weekday', 'hour', "
         "'dmy', 'mdy', or a list of cut points; got 'number'."),
        ("--type crp=number", "The type of column 'crp' must be one of 'categorical', "
         "'continuous', 'ignore', 'choices', 'days', 'date', 'year', 'month', 'weekday', 'hour', "
         "'dmy', 'mdy', or a list of cut points; got 'number'."),
        ("--types typo.csv", "'types' names 'cpr', which is not a column of the table. "
         "Did you mean 'crp'?"),
        ("--constraints both.json", "'age' -> 'ill' is required and forbidden."),
        ("--constraints cycle.csv", "The required arcs contain a cycle: 'age' -> 'crp' -> 'ill' -> "
         "'age'."),
        ("--constraints typo2.csv", "'typo2.csv', line 3: there is no variable 'cpr'. "
         "Did you mean 'crp'?"),
        ("--constraints limit.json -p 2", "'max_parents' is 3 in 'limit.json' and 2 in "
         "--max-parents. Give it once."),
    ],
)  # fmt: skip
def test_refusals(arguments, sentence, table, refused):
    (table / "bad.json").write_text('{"crp": "number"}')
    (table / "typo.csv").write_text("column,type\ncpr,ignore\n")
    both = {"required": [["age", "ill"]], "forbidden": [["age", "ill"]]}
    (table / "both.json").write_text(json.dumps(both))
    cycle = "kind,from,to\nrequired,age,crp\nrequired,crp,ill\nrequired,ill,age\n"
    (table / "cycle.csv").write_text(cycle)
    (table / "typo2.csv").write_text("kind,from,to\nrequired,age,crp\nrequired,cpr,ill\n")
    (table / "limit.json").write_text('{"max_parents": 3}')
    before = sorted(table.iterdir())
    given = ("--drop", "id", *arguments.split(), "-o", "new")
    assert refused("learn", "t.csv", *given) == sentence
    assert sorted(table.iterdir()) == before


IDENTIFIER = (
    "'id' has a different value in each of its 400 rows, like an identifier; it is left out."
)


def test_an_identifier_is_left_out_and_said(table, run, refused):
    code, out, err = run("learn", "t.csv", *QUICK, "-o", "run")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    start = lines.index("decisions   1")
    assert lines[start + 1] == f"  {IDENTIFIER} Undo: --type id=categorical"
    assert lines.index("columns     4 categorical, 2 continuous, 1 ignored") < start
    facts = json.loads((table / "run/run.json").read_text())
    assert facts["columns"]["id"] == {"type": "ignore", "reason": IDENTIFIER}
    assert facts["decisions"] == [
        {
            "kind": "identifier",
            "columns": ["id"],
            "sentence": IDENTIFIER,
            "undo": "types={'id': 'categorical'}, or --type id=categorical",
        }
    ]
    page = (table / "run/report.html").read_text(encoding="utf-8")
    assert "Decisions about the table" in page
    assert "like an identifier; it is left out." in page
    undone = run("learn", "t.csv", *QUICK, "--type", "id=categorical").out
    assert "table       400 rows, 7 variables\n" in undone
    assert "decisions" not in undone
    assert refused("learn", "t.csv", *QUICK, "--strict") == (
        f"The table cannot be read strictly, because coevo would decide: {IDENTIFIER} Correct the "
        "table, or leave out strict=True (--strict)."
    )


def test_a_type_of_one_column(table, answer, run):
    (table / "types.json").write_text('{"crp": [3, 10], "ward": "ignore"}')
    found = answer("--types", "types.json", "--type", "ward=continuous", "--type", "sex=ignore")
    assert found["columns"]["crp"]["cuts"] == [3, 10]
    assert found["columns"]["ward"]["type"] == "continuous"
    assert found["columns"]["sex"] == {"type": "ignore"}
    code, _, err = run("learn", "t.csv", "--type", "ward")
    assert code == 2
    assert err.endswith("Error: --type must be COLUMN=TYPE; got 'ward'.\n")


def test_without_bins_decimal_numbers_are_refused(table, refused):
    sentence = refused("learn", "t.csv", "--drop", "id", "--discretise", "none")
    assert sentence.startswith("Column 'crp' holds decimal numbers, the first is ")


def test_files_are_checked_before_the_table_is_opened(folder, refused):
    (folder / "known.json").write_text('{"require": []}')
    for option, start in (
        (
            ("--constraints", "known.json"),
            "'known.json' has an unknown key 'require'. The keys are required, forbidden, weights, "
            "roots, leaves, groups, tiers, max_parents. Did you mean 'required'?",
        ),
        (("--types", "nothing.csv"), "There is no file 'nothing.csv'."),
        (("--discretise", "x"), "'discretise' of learn "),
    ):
        assert refused("learn", "no.csv", *option).startswith(start)
