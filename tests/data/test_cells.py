"""Values of single columns: labels of missing values, codes, odd cells, spellings, units, order."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from coevo import DAG, learn
from coevo.data import audit, read_data, read_incomplete
from coevo.data.known_rows import read_known_rows
from coevo.data.labels import sort_naturally
from coevo.data.prepare.missing_labels import find_missing_codes
from coevo.data.read_options import ReadPlan
from coevo.data.source_options import CellOptions
from coevo.data.write_imputed import ImputedColumn, impute_frame, write_imputed_file
from coevo.errors import DataError
from coevo.network import fit_network
from coevo.parallel import read_shards
from coevo.view.inspection import inspect_table
from helpers.advice_tables import N, make_dirty, make_frame, measure, spread, write_sources
from helpers.errors import refusal


def states_of(info, name="s"):
    return next(column for column in info.columns if column.name == name).states


def read(table, **options):
    """Return the rows as `learn` reads them, and what is known about the table."""
    return read_incomplete(table, discretise="mdl", return_info=True, **options)


def kinds(table, **options):
    return [decision.kind for decision in read(table, **options)[1].decisions]


# -- labels of missing values


def test_given_labels_are_added_and_compared_as_numbers(tmp_path):
    """-999 left "-999.0" as a number, and "n/a" became a state."""
    frame = make_frame(age=[float(v) for v in measure(-99, -99)], s=["n/a", *"pq" * 119, "p"])
    for source in write_sources(frame, tmp_path):
        for given in (["-99"], ["age=-99"], {"age": -99}, {"age": ["-99.0"]}, [" -99 "]):
            table, info = read(source, missing_labels=given)
            assert table.missing_counts == {"age": 2, "s": 1, "x": 0, "y": 0}
            assert info.decisions == ()
    table, _ = read(frame, missing_labels={"x": "a"}, keep_labels={"s": "n/a", "age": -99})
    assert table.missing_counts == {"age": 0, "s": 0, "x": 80, "y": 0}


def test_stata_and_a_text_with_a_sign_of_equality(tmp_path):
    frame = make_frame(age=measure(-99.0))
    frame.to_stata(tmp_path / "t.dta", write_index=False)
    assert read(tmp_path / "t.dta", missing_labels=["age=-99"])[0].n_missing == 1
    odd = make_frame(**{"a=b": ["p=q", *"pq" * 119, "p"]})
    for given in (["a=b=p=q"], ["=p=q"], {"a=b": "p=q"}):
        assert read(odd, missing_labels=given)[0].n_missing == 1
    assert refusal(DataError, read, frame, missing_labels=["agee=-99"]) == (
        "'missing_labels' names 'agee', which is not a column of the table. Did you mean 'age'? A "
        "label of all columns that holds '=' is given as '=agee=-99'."
    )


def test_a_category_of_a_data_frame_can_be_missing():
    frame = make_frame(s=pd.Categorical(["unknown", *"pq" * 119, "p"]))
    table, info = read(frame, missing_labels={"s": "unknown"})
    assert table.missing_counts["s"] == 1
    assert states_of(info) == ("p", "q")
    declared = read(frame, missing_labels={"s": "unknown"}, states={"s": ["unknown", "p", "q"]})
    assert declared[0].n_missing == 0  # the caller declares it


def test_codes_with_zeros_are_no_numbers():
    options = CellOptions.from_parameters("learn", ["1"], None, None)
    frame = make_frame(zip=["01", "1", "02"] * 80)
    assert read(frame, missing_labels=["1"])[0].missing_counts["zip"] == 80
    assert options.is_missing("zip", "1.0")
    assert not options.is_missing("zip", "01")


# -- codes of missing values


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("code", [-999, -99, -9999, 999, 9999])
def test_far_codes_are_missing(code, seed):
    rng = np.random.default_rng(seed)
    values = np.concatenate([[code] * rng.integers(1, 20), rng.integers(20, 81, 200)])
    found = find_missing_codes(*np.unique(values.astype(float), return_counts=True))
    assert (found.far, found.near) == ((code,), ())


@pytest.mark.parametrize(
    ("values", "near"),
    [
        ([1, 2, 3, 4, 5, 9], (9,)),
        ([1, 2, 3, 4, 5, 8, 9], (8, 9)),
        ([0, 1, 9], (9,)),
        ([-1, 1, 2, 3], (-1,)),
        ([-9, *range(40)], (-9,)),
        ([*range(1, 10)], ()),  # a scale
        ([-1, 0, 1], ()),
        ([-1, 0, 1, 2], ()),
        ([-3, -2, -1, 0, 1], ()),
        ([*range(85), 99], ()),
        ([*range(0, 2000, 7), 999], ()),
        ([4, 6, 8], ()),
        ([1, 2, 3, 4, 5, 6, 7, 8, 10], ()),
    ],
)
def test_near_codes_are_proposed(values, near):
    numbers = np.array(sorted(values), dtype=float)
    found = find_missing_codes(numbers, np.full(len(numbers), 9))
    assert (found.far, found.near) == ((), near)


def test_a_far_code_is_one_decision_with_its_undo():
    frame = make_frame(age=measure(-999, 31, -999))
    table, info = read(frame)
    assert table.missing_counts["age"] == 2
    assert str(info.decisions[0]) == (
        "-999 in 'age' stands for a missing value (2 rows, the first is 1): far from the other "
        "numbers, and written like a code. Undo: keep_labels={'age': ['-999']}, or --keep-label "
        "age=-999."
    )
    undone, other = read(frame, keep_labels={"age": ["-999"]})
    assert (undone.n_missing, other.decisions, other.findings) == (0, (), ())
    assert refusal(DataError, read, frame, strict=True).startswith(
        "The table cannot be read strictly, because coevo would decide: -999 in 'age' stands"
    )
    most = make_frame(days=measure(*[999] * 200))  # most rows: the code says something
    assert read(most)[0].n_missing == 0
    assert read(most)[1].findings[0].kind == "sentinel"


def test_the_bins_of_a_network_leave_out_far_codes():
    frame = make_frame(age=measure())
    network = fit_network(DAG(["age", "x", "y"]), read_data(frame, discretise="mdl"))
    later = read_known_rows(make_frame(age=measure(-999)), network.variables)
    assert later.unknown.missing == {"age": 1}


# -- odd cells and rows of units


@pytest.mark.parametrize("odd", ["see note", "ca. 60", "error", "k. A.", "too high", "60 kg"])
def test_odd_cells_are_missing(odd, tmp_path):
    frame = make_frame(age=[str(v) for v in measure()])
    frame.loc[7, "age"] = odd
    clean, _ = read(make_frame(age=measure()))
    for source in write_sources(frame, tmp_path):
        table, info = read(source)
        assert table.missing_counts["age"] == 1
        assert [decision.sentence for decision in info.decisions] == [
            f"{odd!r} in 'age' stands for a missing value (row 8): the other values are numbers."
        ]
        assert info.columns[2].cuts is not None
    assert "age" in clean.names


def test_text_that_is_no_odd_cell():
    codes = [str(v) for v in measure()]
    for odd in ("V57", "12a", "3-4"):  # codes among codes
        assert kinds(make_frame(code=[odd, *codes[1:]])) == []
    few = ["4", "6", "8", "5"] * 59 + ["4", "6", "8", "rotary"]
    _, info = read(make_frame(cylinders=few))
    assert info.decisions == ()
    assert info.findings[0].options == {"missing_labels": {"cylinders": ["rotary"]}}
    many = [*["high"] * 20, *codes[20:]]
    assert kinds(make_frame(level=many)) == []  # one in twelve is a second kind of value


def test_many_numbers_with_odd_cells(tmp_path):
    values = np.random.default_rng(0).permutation(70_000) / 8
    lines = [f"{v:.3f},{'uv'[i % 2]}" for i, v in enumerate(values)]
    (tmp_path / "t.csv").write_text("\n".join(["x,y", "kg,", "see note,u", *lines, "see note,v"]))
    table, info = read(tmp_path / "t.csv", types={"x": [4000]})
    assert (table.dataset.n_rows, table.missing_counts["x"]) == (70_002, 2)
    assert [decision.kind for decision in info.decisions] == ["units_row", "missing_word"]
    assert info.decisions[1].sentence == (
        "'see note' in 'x' stands for a missing value (2 rows, the first is 2): the other values "
        "are numbers."
    )


def test_a_row_of_units_is_skipped(tmp_path):
    body = make_frame(kg=[str(v) for v in measure()], crp=[str(v / 4) for v in spread(range(30))])
    units = pd.DataFrame([{"x": "", "y": "", "kg": "kg", "crp": "mg/dl"}])
    frame = pd.concat([units, body], ignore_index=True)
    clean, _ = read(body)
    for source in write_sources(frame, tmp_path):
        table, info = read(source)
        assert table == clean
        assert str(info.decisions[0]) == (
            "The first row holds units, as 'kg', 'mg/dl'; it was skipped. Undo: units_row=False, "
            "or --no-units-row."
        )
        kept, _ = read(source, units_row=False)
        assert kept.dataset.n_rows == N + 1
    assert read(frame, units_row=True)[1].decisions == ()


@pytest.mark.parametrize(
    "first",
    [
        {"x": "a", "y": "", "kg": "kg", "crp": "mg/dl"},  # a value that recurs
        {"x": "", "y": "", "kg": "see", "crp": "note"},
        {"x": "", "y": "", "kg": "kg", "crp": "4"},
    ],
)
def test_rows_that_are_no_units(first):
    body = make_frame(kg=[str(v) for v in measure()], crp=[str(v / 4) for v in measure()])
    frame = pd.concat([pd.DataFrame([first]), body], ignore_index=True)
    assert "units_row" not in kinds(frame)


def test_copies_keep_the_row_of_units(tmp_path):
    frame = pd.DataFrame({"kg": ["kg", "60.5", "", "71.5", "80"], "s": ["", "a", "b", "a", "b"]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    column = ImputedColumn("kg", ("below_70", "from_70"), np.array([0, 1, 1, 1]), np.arange(4) == 1)
    write_imputed_file(tmp_path / "t.csv", tmp_path / "copy.csv", [column])
    expected = "kg,s\nkg,\n60.5,a\n71.5,b\n71.5,a\n80,b\n"
    assert (tmp_path / "copy.csv").read_text() == expected
    assert impute_frame(frame, [column])["kg"].tolist() == ["kg", "60.5", "71.5", "71.5", "80"]


# -- spellings


def test_blanks_and_case(tmp_path):
    cells = spread(["Yes"] * 9 + ["yes", "YES", " Yes", "no", "No "] + ["no"] * 6)
    clean, _ = read(make_frame(s=[cell.strip().lower() for cell in cells]))
    for source in write_sources(make_frame(s=cells), tmp_path):
        table, info = read(source)
        assert states_of(info) == ("Yes", "no")
        assert [decision.kind for decision in info.decisions] == ["spelling", "blanks"]
        assert (table.state_counts[0] == clean.state_counts[0][::-1]).all()
        assert "categorical" in info.decisions[0].undo
        _, undone = read(source, types={"s": "categorical"})
        assert undone.decisions == ()
        assert len(states_of(undone)) == 6
    assert "Spellings in 's' that differ in case only were merged (36 rows)" in str(
        read(make_frame(s=cells))[1].decisions[0]
    )


@pytest.mark.parametrize(
    ("cells", "n_states"),
    [
        (["AA", "Aa", "aa"], 3),  # the case is all that the column tells
        (["A", "a", "B", "b"], 4),  # letters that mean nothing in particular
        (["M", "m", "F", "f"], 2),
        (["New  York", "New York", "Rome"], 2),
    ],
)
def test_case_that_tells_something(cells, n_states):
    _, info = read(make_frame(s=spread(cells)))
    assert len(states_of(info)) == n_states


def test_words_of_one_meaning_are_proposed():
    cells = spread(["yes", "no", "y", "Ja", "n", "no"])
    frame = make_frame(s=cells)
    _, info = read(frame)
    (finding,) = info.findings
    assert finding.kind == "synonyms"
    _, after = read(frame, **finding.options)
    assert states_of(after) == ("no", "yes")
    assert after.findings == ()
    assert kinds(make_frame(s=spread(["0", "1", "t"]))) == []


def test_merge():
    frame = make_frame(s=spread(["p,q", "p=1", "<=5", "7"]))
    for merge in (
        {"s": {"p,q": "z", "p=1": "z"}},
        ["s:p,q=z", "s:p=1=z"],
        ["s:p=1=z", "s:p,q=z"],
    ):
        assert states_of(read(frame, merge=merge)[1]) == ("7", "<=5", "z")
    assert states_of(read(frame, merge=["s:<=5,7=7"])[1]) == ("7", "p,q", "p=1")
    numbers = make_frame(dose=spread([1.0, 2.0, 3.0]))
    assert states_of(read(numbers, merge=["dose:3=2"])[1], "dose") == ("1", "2")
    assert refusal(DataError, read, frame, merge={"s": {"P=1": "z"}}) == (
        "'merge' names the state 'P=1' of 's', which does not occur. Did you mean 'p=1'?"
    )
    assert "'merge' names 'q', which is not a column" in refusal(
        DataError, read, frame, merge=["q:a=b"]
    )


def test_later_rows_match_states_in_any_spelling():
    network = fit_network(DAG(["s", "x"]), read_data(make_frame(s=["yes", "no"] * 120)[["s", "x"]]))
    later = pd.DataFrame({"s": ["YES ", "No", "maybe"], "x": ["a", "b", "c"]})
    rows = read_known_rows(later, network.variables)
    assert rows.codes["s"].tolist() == [1, 0, -1]
    with pytest.warns(Warning, match="Values of 's' were read as the declared states"):
        read_data(later[:2], states=network.variables)


# -- states of their own


def test_categorical_keeps_texts_apart(tmp_path):
    frame = make_frame(code=spread(["01", "1", "1.0"]), part=spread(["1", "1.0", "2", "2"]))
    frame.to_csv(tmp_path / "t.csv", index=False)
    types = {"code": "categorical", "part": "categorical"}
    for source in (tmp_path / "t.csv", frame, pl.from_pandas(frame)):
        _, info = read(source, types=types)
        states = {column.name: set(column.states) for column in info.columns}
        assert states["code"] == {"01", "1", "1.0"}
        assert states["part"] == {"1", "1.0", "2"}
    assert states_of(read(tmp_path / "t.csv", drop=["code"])[1], "part") == ("1", "2")


ORDERED = [
    ("<20k", "20k-40k", "40k-100k", ">100k"),
    ("0-39g", "40-79", "80-119", "120+"),
    ("under 18", "18 to 64", "65 and over"),
    ("Strongly agree", "Agree", "Neutral", "Disagree", "Strongly disagree"),
    ("low", "medium", "high"),
    ("none", "mild", "moderate", "severe", "unknown"),
    ("January", "February", "December"),
    ("Mon", "Tue", "Sun"),
    ("stage I", "stage IIA", "stage IIB", "stage III", "stage IV"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("week 2", "week 10"),
    ("[0,5)", "[5,10)", "[10,20]"),
    ("no", "yes"),
    ("F", "M"),
]


@pytest.mark.parametrize("states", ORDERED)
def test_states_are_sorted_as_people_do(states, seed):
    shuffled = np.random.default_rng(seed).permutation(states).tolist()
    assert sort_naturally(shuffled) == states
    _, info = read(make_frame(s=spread(states)))
    assert states_of(info) == states


def test_long_labels_are_sorted_in_time():
    sort_naturally(["1 " * 20_000 + "a", "9" * 5_000, "x"])


# -- the advice, followed


def test_types_of_an_inspection_give_the_same_table(tmp_path):
    make_dirty().to_csv(tmp_path / "t.csv", index=False)
    found = inspect_table(tmp_path / "t.csv")
    table, info = read(tmp_path / "t.csv", types=found.types())
    assert table.content_hash == found.data_hash
    assert info.decisions == ()


def test_no_order_changes_a_decision(seed):
    frame = make_dirty()
    moved = frame.sample(frac=1, random_state=seed)[frame.columns[::-1]]
    assert read(frame)[0] == read(moved)[0]
    assert sorted(kinds(frame)) == sorted(kinds(moved))


def test_out_of_core_refuses_what_memory_corrects(tmp_path):
    frame = make_frame(s=spread(["Yes", "yes", "no", "no"]))
    frame.to_parquet(tmp_path / "t.parquet")
    message = refusal(
        DataError, learn, str(tmp_path / "t.parquet"), read={"shards": str(tmp_path / "s")}
    )
    assert message == (
        "In memory coevo would correct the table, and out of core it cannot: Spellings in 's' that "
        "differ in case only were merged (60 rows): 'yes' with 'Yes'. Correct the table, or keep "
        "the values as they are (types={'s': 'categorical'}, or --type s=categorical)."
    )
    options = ReadPlan.from_parameters(types={"s": "categorical"})
    with read_shards(tmp_path / "t.parquet", options, None, tmp_path / "s") as shards:
        assert shards.n_rows == N


def test_rare_states_are_merged_by_the_advice():
    frame = make_frame(place=[*"tuvw", *["Bern", "Rome"] * 118])
    (finding,) = [one for one in audit(read(frame)[0], read(frame)[1].columns) if one.options]
    assert finding.sentence == (
        "'place' has 4 states with fewer than 5 rows: 't', 'u', 'v' and 1 more. Merge them "
        "(merge={'place': {'t': 'other', 'u': 'other', 'v': 'other', 'w': 'other'}}, or --merge "
        "place:t,u,v,w=other)."
    )
    assert states_of(read(frame, **finding.options)[1], "place") == ("Bern", "Rome", "other")
