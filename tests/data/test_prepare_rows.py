"""Rows that are no observations, rows that are copies, rows that count several times."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import coevo
from coevo.data import Dataset, IncompleteDataset, Variable, read_incomplete
from coevo.data.dataset import draw_clusters
from coevo.data.prepare.rows import prepare_rows
from coevo.data.read.sources import load_table
from coevo.data.read_options import ReadPlan
from coevo.errors import DataError, ParameterError
from coevo.learning import check_settings
from coevo.learning.folds import split_clusters
from helpers.values import as_values

# The decisions are what is tested; the warnings repeat them.
pytestmark = pytest.mark.filterwarnings("ignore::coevo.errors.CoevoWarning")


def prepare(table, **rows):
    """Return the rows of a table after their preparation, and the decisions about them."""
    options = ReadPlan.from_parameters(discretise="mdl").use_source("read_data", **rows)
    raw = load_table(table, options.allow_missing(), None)
    n_before = len(raw.decisions)
    found = prepare_rows(raw, options.allow_missing())
    cells = zip(
        *([column.labels[code] for code in column.codes] for column in found.columns), strict=True
    )
    return list(cells), found.decisions[n_before:]


def make_table(n_rows, seed, n_columns=6):
    """Return a table of independent columns: states, whole numbers and decimal numbers."""
    rng = np.random.default_rng(seed)
    columns = {f"s{i}": rng.integers(0, 3, n_rows).astype(str) for i in range(n_columns)}
    return pd.DataFrame(columns | {"x": rng.normal(size=n_rows).round(3)})


def error_of(function, *arguments, **options):
    """Return the message of the error of a call."""
    with pytest.raises((DataError, ParameterError)) as caught:
        function(*arguments, **options)
    return str(caught.value)


# -- copies


@pytest.mark.parametrize("make", [lambda t: t, pl.from_pandas, lambda t: pa.Table.from_pandas(t)])
def test_a_table_that_repeats_itself_is_read_once(make, seed):
    base = make_table(100, seed)
    rows, decisions = prepare(make(pd.concat([base] * 8, ignore_index=True)))
    assert sorted(rows) == sorted(prepare(make(base))[0])
    assert [str(decision) for decision in decisions] == [
        "Each row occurs 8 times, so the table repeats itself; 100 of 800 rows are kept. Undo: "
        "duplicates='keep', or --duplicates keep."
    ]


def test_rows_that_are_equal_by_chance_stay_in_a_table_that_repeats_itself(seed):
    base = make_table(300, seed, n_columns=4).drop(columns="x")
    assert len(base.drop_duplicates()) < 100
    rows, decisions = prepare(pd.concat([base] * 2).sample(frac=1, random_state=1))
    assert sorted(rows) == sorted(map(tuple, base.to_numpy().tolist()))
    assert decisions[0].sentence.startswith("Each row occurs a multiple of 2 times")


def test_records_that_were_exported_again_are_copies(seed):
    base = make_table(500, seed).assign(y=np.random.default_rng(seed).normal(size=500))
    again = pd.concat([base, base.sample(60, random_state=1)])
    rows, decisions = prepare(again)
    assert sorted(rows) == sorted(prepare(base)[0])
    assert decisions[0].sentence == (
        "60 rows of 560 repeat other rows in all columns, more than chance explains; one of equal "
        "rows is kept."
    )
    assert prepare(again, duplicates="keep") == (prepare(again, duplicates="keep")[0], [])
    assert len(prepare(again, duplicates="keep")[0]) == 560
    assert "60 rows of 560 repeat" in error_of(coevo.data.read_data, again, strict=True)


def test_equal_observations_are_kept(seed):
    few_cells = make_table(400, seed, n_columns=3).drop(columns="x")
    design = pd.DataFrame(
        [(a, b, c) for a in "abc" for b in "uvw" for c in "xyz" for _ in range(4)],
        columns=["a", "b", "c"],
    )
    for table in (few_cells, design, make_table(200, seed)):
        assert prepare(table) == (prepare(table, duplicates="keep")[0], [])
    assert len(prepare(design, duplicates="drop")[0]) == 27


def test_a_column_that_numbers_the_rows_hides_no_copies(seed):
    base = pd.concat([make_table(50, seed)] * 3, ignore_index=True)
    _, decisions = prepare(base.assign(number=np.arange(150)))
    assert [decision.kind for decision in decisions] == ["duplicates"]


# -- frequency tables


def test_a_frequency_table_is_the_table_of_all_its_rows(seed):
    rng = np.random.default_rng(seed)
    cells = [(a, b, c) for a in "uv" for b in "xyz" for c in "01"]
    table = pd.DataFrame(cells, columns=["a", "b", "c"]).assign(Freq=rng.integers(0, 30, 12))
    expanded = table.loc[table.index.repeat(table.Freq), ["a", "b", "c"]].sample(frac=1)
    options = {"method": "hill_climb", "bootstraps": 5, "random_state": 1}
    found, expected = (
        coevo.learn(table, **as_values(options)),
        coevo.learn(expanded, **as_values(options)),
    )
    assert [str(decision) for decision in found.decisions] == [
        f"'Freq' counts how often each row occurs, {table.Freq.sum():,} times in all; it is used "
        "as a weight and is no variable. Undo: types={'Freq': 'continuous'}, or --type "
        "Freq=continuous."
    ]
    assert found.dataset == expected.dataset
    assert found.score == expected.score
    assert found.bootstrap.arcs == expected.bootstrap.arcs
    named = coevo.learn(
        table.rename(columns={"Freq": "people"}), **as_values({"weights": "people", **options})
    )
    assert (named.dataset, named.decisions) == (expected.dataset, ())
    kept = coevo.learn(table, **as_values({"types": {"Freq": "continuous"}, **options}))
    assert kept.dataset.n_rows == 12


@pytest.mark.parametrize(
    ("counts", "wrong"),
    [
        (["1", "2.5"], "it holds '2.5' in row 2"),
        (["1", "-2"], "it holds '-2' in row 2"),
        (["", "2"], "row 1 has no value"),
        (["many", "2"], "it holds 'many' in row 1"),
    ],
)
def test_weights_must_be_whole_numbers(counts, wrong):
    table = pl.DataFrame({"a": ["x", "y"], "b": ["u", "v"], "n": counts})
    assert error_of(coevo.data.read_data, table, weights="n") == (
        f"Column 'n' cannot give weights: {wrong}. Weights are whole numbers from 0 on, the number "
        "of times that each row counts."
    )


def test_counts_that_are_measurements_stay(seed):
    rng = np.random.default_rng(seed)
    # Equal rows beside the counts: each row is an observation.
    plots = pd.DataFrame({"a": list("uv") * 20, "b": list("xxyy") * 10})
    table = plots.assign(count=rng.integers(0, 9, 40))
    assert prepare(table)[1] == []
    assert "'weights' names 'm', which is not a column of the table." in error_of(
        coevo.data.read_data, table, weights="m"
    )


# -- totals and notes


TABLE = "region,shop,sales,staff\nn,a,10,1\nn,b,20,2\ns,c,30,4\ns,d,41,5\n"


def write(tmp_path, text, name="t.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("extra", "row"),
    [
        ("Total,,101,12\n", "1 row holds totals and is left out (row 5: 'Total')."),
        ("Grand total,x,101,99\n", "1 row holds totals and is left out (row 5: 'Grand total')."),
        ("Mean,x,25.25,3\n", "1 row holds totals and is left out (row 5: 'Mean')."),
        ("Total,,,\n", "1 row below the table was skipped (row 5: 'Total')."),
        ("Source: a survey,,,\n", "1 row below the table was skipped (row 5: 'Source: a survey')."),
    ],
)
def test_rows_below_a_table(tmp_path, extra, row):
    plain = prepare(write(tmp_path, TABLE, "plain.csv"))[0]
    rows, decisions = prepare(write(tmp_path, TABLE + extra))
    assert (rows, [decision.sentence for decision in decisions]) == (plain, [row])
    is_total = decisions[0].kind == "totals"
    assert prepare(tmp_path / "t.csv", **({"totals": "keep"} if is_total else {"skipfooter": 0}))[
        1
    ] == ([] if is_total else prepare(tmp_path / "t.csv", skipfooter=0)[1])
    path = tmp_path / "t.xlsx"
    pd.read_csv(tmp_path / "t.csv").to_excel(path, index=False)
    assert [decision.kind for decision in prepare(path)[1]] == [decisions[0].kind]


def test_subtotals_after_each_group(tmp_path):
    lines = ["region,shop,sales"]
    for region in "nsew":
        lines += [f"{region},a,{ord(region)}", f"{region},b,7", f"{region},c,9"]
        lines.append(f"Subtotal {region},,{ord(region) + 16}")
    rows, decisions = prepare(write(tmp_path, "\n".join(lines) + "\n"))
    assert len(rows) == 12
    assert decisions[0].sentence == (
        "4 rows hold totals and are left out (the first is row 4: 'Subtotal n')."
    )


def test_a_state_called_total_is_no_total(seed):
    rng = np.random.default_rng(seed)
    table = make_table(100, seed).assign(
        hip=rng.choice(["total", "partial", "none"], 100, p=[0.2, 0.4, 0.4])
    )
    assert prepare(table)[1] == []
    assert len(prepare(table, totals="drop")[0]) == int((table.hip != "total").sum())


def test_a_table_of_words_has_no_totals(tmp_path):
    """Nothing can be the sum of words."""
    text = "region,shop,size\nn,a,big\nn,b,small\ns,c,big\ns,d,big\nTotal,e,small\nn,f,big\n"
    rows, decisions = prepare(write(tmp_path, text))
    assert (len(rows), decisions) == (6, [])


# -- clusters


def make_visits(n_patients, seed):
    """Return three visits of each patient; the sex is the same in all of them."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n_patients)
    return pd.DataFrame(
        {
            "patient_id": np.repeat(np.arange(n_patients), 3),
            "sex": np.repeat(sex, 3),
            "visit": np.tile([1, 2, 3], n_patients),
            "pain": rng.integers(0, 4, 3 * n_patients),
            "mood": rng.integers(0, 3, 3 * n_patients),
        }
    )


def test_a_repeated_identifier_is_proposed_and_used(seed):
    visits = make_visits(60, seed)
    options = {"method": "hill_climb", "bootstraps": 3, "random_state": 1}
    found = coevo.learn(visits, **as_values(options))
    assert [finding.sentence for finding in found.audit if finding.kind == "clusters"] == [
        "'patient_id' seems to number 60 groups of rows: 'sex' is the same within a group. Rows of "
        "a group are not independent, so strengths are too high. Draw groups with "
        "cluster_by='patient_id' (--cluster-by patient_id)."
    ]
    assert "clusters" not in found.as_dict()
    clustered = coevo.learn(visits, **as_values({"cluster_by": "patient_id", **options}))
    assert clustered.as_dict()["clusters"] == {"column": "patient_id", "n_clusters": 60}
    assert "patient_id" not in clustered.dag.nodes
    assert [f for f in clustered.audit if f.kind == "clusters"] == []


def test_a_sample_draws_clusters(seed):
    visits = make_visits(30, seed)
    table = read_incomplete(visits, cluster_by="patient_id").dataset
    sample = table.resample(np.random.default_rng(seed))
    # Each cluster that is drawn brings all of its rows.
    drawn = draw_clusters(np.arange(90, dtype=np.uint64), table.clusters, np.random.default_rng(1))
    whole = np.bincount(drawn, minlength=90).reshape(30, 3)
    assert (whole == whole[:, :1]).all()
    assert len(drawn) == 90
    assert sample.n_rows == 90
    assert sample.clusters is None


def test_the_names_of_clusters_and_the_order_of_rows_do_not_matter(seed):
    visits = make_visits(30, seed)
    shuffled = visits.sample(frac=1, random_state=seed)
    shuffled["patient_id"] = shuffled["patient_id"].map(lambda number: f"P{97 * number % 101}")
    missing = visits.astype(str).mask(np.random.default_rng(seed).random(visits.shape) < 0.1)
    missing["patient_id"] = visits["patient_id"]
    for one, two in ((visits, shuffled), (missing, missing.iloc[::-1])):
        first, second = (read_incomplete(table, cluster_by="patient_id") for table in (one, two))
        assert first.content_hash == second.content_hash
        samples = [table.resample(np.random.default_rng(3)) for table in (first, second)]
        assert samples[0] == samples[1]
        complete = [table.dataset.resample(np.random.default_rng(3)) for table in (first, second)]
        assert one is missing or complete[0] == complete[1]
    assert read_incomplete(visits, drop=["patient_id"]) != first


def test_clusters_survive_what_makes_other_tables():
    wet = Variable("wet", ("no", "yes"))
    table = Dataset([wet], [[0, 1, 1, 0]], clusters=np.array([7, 7, 9, 9]))
    assert repr(table) == "<Dataset: 4 rows in 2 clusters, 1 variables>"
    assert pickle.loads(pickle.dumps(table)).clusters.tolist() == [0, 0, 1, 1]
    incomplete = IncompleteDataset(table, [[False, True, False, False]])
    assert incomplete.drop_incomplete_rows().clusters.tolist() == [0, 1, 1]
    assert incomplete.add_missing_state().clusters.tolist() == [0, 0, 1, 1]
    assert incomplete.make_dataset(table.codes).clusters.tolist() == [0, 0, 1, 1]
    assert error_of(table.split, np.random.default_rng(1), 2).startswith("A dataset with clusters")


def test_folds_keep_clusters_together(seed):
    rng = np.random.default_rng(seed)
    clusters, strata = rng.integers(0, 25, 200), rng.integers(0, 2, 200)
    hashes = rng.integers(0, 2**60, 200, dtype=np.uint64)
    folds = split_clusters(strata, clusters, 5, np.random.default_rng(1), hashes)
    assert sorted(np.concatenate(folds).tolist()) == list(range(200))
    members = [set(clusters[fold].tolist()) for fold in folds]
    assert sum(map(len, members)) == len(set.union(*members))
    assert max(map(len, folds)) - min(map(len, folds)) <= 20
    visits = make_visits(30, seed)
    options = {"method": "hill_climb", "cv": 3, "random_state": 1}
    found = coevo.cross_validate(visits, **as_values({"cluster_by": "patient_id", **options}))
    other = coevo.cross_validate(
        visits.iloc[::-1], **as_values({"cluster_by": "patient_id", **options})
    )
    assert found.log_likelihood == other.log_likelihood
    assert (
        error_of(
            coevo.cross_validate,
            visits,
            method="hill_climb",
            cv=31,
            read={"cluster_by": "patient_id"},
        )
        == "'cv' of cross_validate must be an int from 2 to 30, the number of clusters; got 31."
    )


def test_wrong_clusters(seed):
    visits = make_visits(10, seed).astype({"patient_id": object})
    visits.loc[3, "patient_id"] = None
    assert error_of(read_incomplete, visits, cluster_by="patient_id") == (
        "Column 'patient_id' cannot give clusters: it has no value in 1 row, first in row 4. Fill "
        "it in, or leave these rows out."
    )
    assert error_of(check_settings, "posterior", cluster_by="patient_id") == (
        "'cluster_by' of posterior would have no effect, because posterior draws no rows. Leave it "
        "out, and the column too (drop=['patient_id'], or --drop patient_id)."
    )
    assert error_of(read_incomplete, visits, cluster_by="visit", drop=["visit"]) == (
        "'cluster_by' names 'visit', which is left out. Keep it."
    )
