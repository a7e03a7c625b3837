"""``coevo score`` prints the scores of `FamilyScorer`, for tables of every form."""

from __future__ import annotations

import csv
import json
import math
import random
from functools import partial

import numpy as np
import pytest

import naive
from coevo.bundled import load_network
from coevo.data import read_data, write_data
from coevo.io import write_model
from coevo.network import sample
from coevo.score import FamilyScorer

SMALL = """network small { }
variable a { type discrete [ 3 ] { x, y, z }; }
variable b { type discrete [ 2 ] { no, yes }; }
probability ( a ) { table 0.5, 0.4, 0.1; }
probability ( b | a ) { (x) 0.5, 0.5; (y) 0.25, 0.75; (z) 0.5, 0.5; }
"""
ROWS = "a,b\nx,no\nx,yes\ny,yes\ny,yes\nx,no\n"
CODES = [(0, 0), (0, 1), (1, 1), (1, 1), (0, 0)]  # of these rows


@pytest.fixture
def asia(folder, seed):
    """Return a sample of Asia that stands in ``asia.csv``."""
    dataset = sample(load_network("asia"), 400, seed)
    write_data(dataset, "asia.csv")
    return dataset


@pytest.fixture
def small(folder):
    (folder / "small.bif").write_text(SMALL)
    (folder / "small.csv").write_text(ROWS)
    return folder


@pytest.fixture
def answer(as_json):
    """Return a function that gives the JSON answer of ``coevo score``."""
    return partial(as_json, "score")


def score_naively(name, network, dataset, ess=1.0):
    rows, arities = dataset.codes.T.tolist(), dataset.arities.tolist()
    position = dataset.find_position
    return {
        node: naive.local_score(
            name, rows, arities, position(node), sorted(map(position, network.parents(node))), ess
        )
        for node in dataset.names
    }


# -- the answer


@pytest.mark.parametrize("name", ["k2", "bdeu", "bde", "bds", "bic", "aic", "loglik"])
def test_json_has_the_numbers_of_the_scorer_and_of_naive(name, asia, answer):
    network = load_network("asia")
    found = answer("asia.csv", "--structure", "asia", "--score", name)
    scorer = FamilyScorer(asia, name)
    assert found["score"] == scorer.score(network.dag)
    assert found["per_variable"] == scorer.score_per_variable(network.dag)
    expected = score_naively({"bde": "bdeu"}.get(name, name), network, asia)
    assert found["per_variable"] == pytest.approx(expected, rel=1e-9)
    assert found["score"] == pytest.approx(math.fsum(expected.values()), rel=1e-9)
    assert (found["n_rows"], found["n_variables"], found["n_arcs"]) == (400, 8, 8)
    assert found["scoring"] == {"bde": "bdeu"}.get(name, name)
    assert found["ess"] == (1.0 if name in ("bde", "bdeu", "bds") else None)
    assert found["data_hash"] == asia.content_hash
    assert list(found["per_variable"]) == [v.name for v in asia.source_variables]


def test_text(asia, run, answer):
    numbers = answer("asia.csv", "--structure", "asia", "-s", "k2")
    short = (
        f"score       {numbers['score']:.6f}\n"
        "scoring     k2: marginal likelihood, every Dirichlet hyperparameter 1\n"
        "rows        400\n"
        "variables   8\n"
        "arcs        8\n"
    )
    assert run("score", "asia.csv", "--structure", "asia", "-s", "k2") == (0, short, "")
    code, out, err = run("score", "asia.csv", "--structure", "asia", "-s", "k2", "--per-variable")
    assert (code, err) == (0, "")
    rest = out.removeprefix(short + "\nlocal score     variable\n").splitlines()
    assert [line.split() for line in rest] == [
        [f"{value:.6f}", name] for name, value in numbers["per_variable"].items()
    ]


def test_bdeu_is_the_score_if_none_is_named(asia, answer):
    found = answer("asia.csv", "--structure", "asia")
    assert found == answer("asia.csv", "--structure", "asia", "-s", "bdeu", "--ess", 1)


@pytest.mark.parametrize("option", ["--ess", "--iss", "--alpha"])
def test_the_sample_size_has_three_names(option, asia, answer):
    found = answer("asia.csv", "--structure", "asia", option, 12.5)
    expected = score_naively("bdeu", load_network("asia"), asia, 12.5)
    assert found["per_variable"] == pytest.approx(expected, rel=1e-9)
    assert found["ess"] == 12.5


# -- the same answer


def test_the_order_of_rows_and_columns_changes_nothing(asia, folder, answer, seed):
    with (folder / "asia.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    shuffle = random.Random(seed)
    shuffle.shuffle(rows)
    order = shuffle.sample(range(len(header)), len(header))
    with (folder / "moved.csv").open("w", newline="") as file:
        csv.writer(file, delimiter=";").writerows(
            [row[i] for i in order] for row in [header, *rows]
        )
    for name in ("k2", "bdeu", "bic"):
        found = answer("moved.csv", "--structure", "asia", "-s", name)
        assert found == answer("asia.csv", "--structure", "asia", "-s", name)


def test_a_process_and_its_hash_seed_change_nothing(asia, launch, answer):
    arguments = ["asia.csv", "--structure", "asia", "-s", "bds"]
    expected = answer(*arguments)
    for hash_seed in "01":
        code, out, err = launch(
            "score", *arguments, "--format", "json", "-j", 2, PYTHONHASHSEED=hash_seed
        )
        assert (code, err) == (0, "")
        assert json.loads(out) == expected


def test_threads_change_nothing(folder, answer, run, seed):
    network = load_network("andes")  # enough variables for two threads
    write_data(sample(network, 2000, seed), "andes.parquet")
    arguments = ["andes.parquet", "--structure", "andes", "--format", "json"]
    one, two = (run("score", *arguments, "-j", n) for n in (1, 2))
    assert one.code == 0
    assert one == two


def test_formats_change_nothing(asia, answer):
    expected = answer("asia.csv", "--structure", "asia")
    for name in ("asia.csv.gz", "asia.tsv", "asia.parquet"):
        write_data(asia, name)
        assert answer(name, "--structure", "asia") == expected


# -- states


def test_states_are_those_of_the_structure(small, answer):
    declared = [naive.local_score("k2", CODES, arities, 0, ()) for arities in ([3, 2], [2, 2])]
    assert declared[0] != declared[1]
    found = answer("small.csv", "--structure", "small.bif", "-s", "k2")["per_variable"]["a"]
    assert found == pytest.approx(declared[0], rel=1e-12)
    undeclared = FamilyScorer(read_data("small.csv"), "k2").local_score("a")
    assert undeclared == pytest.approx(declared[1], rel=1e-12)


def test_states_from_json_go_before_those_of_the_structure(small, answer):
    (small / "states.json").write_text('{"a": ["y", "x", "w", 1, "z"]}')
    found = answer("small.csv", "--structure", "small.bif", "-s", "k2", "--states", "states.json")
    expected = [
        naive.local_score("k2", CODES, [5, 2], 0, ()),
        naive.local_score("k2", CODES, [5, 2], 1, (0,)),
    ]
    assert list(found["per_variable"].values()) == pytest.approx(expected, rel=1e-12)


def test_states_from_a_network(small, answer):
    (small / "four.bif").write_text(
        SMALL.replace("[ 3 ] { x, y, z }", "[ 4 ] { w, x, y, z }")
        .replace("0.5, 0.4, 0.1", "0.1, 0.4, 0.4, 0.1")
        .replace("(x)", "default 0.5, 0.5; (x)")
    )
    found = answer("small.csv", "--structure", "small.bif", "-s", "k2", "--states", "four.bif")
    expected = naive.local_score("k2", CODES, [4, 2], 0, ())
    assert found["per_variable"]["a"] == pytest.approx(expected, rel=1e-12)
    # Variables of a network that the table does not have are passed over.
    extra = "variable c { type discrete [ 2 ] { no, yes }; } probability ( c ) { table 0.5, 0.5; }"
    (small / "more.bif").write_text(SMALL + extra)
    assert answer("small.csv", "--structure", "small.bif", "--states", "more.bif") == answer(
        "small.csv", "--structure", "small.bif"
    )


def test_drop(small, answer):
    text = "".join(
        f"{line},{other}\n"
        for line, other in zip(ROWS.splitlines(), ["id", "", "NA", 0.5, 7, 7], strict=True)
    )
    (small / "more.csv").write_text(text)
    (small / "states.json").write_text('{"id": ["7"]}')  # dropped, so it does not matter
    expected = answer("small.csv", "--structure", "small.bif")
    arguments = ["more.csv", "--structure", "small.bif", "--drop", "id"]
    assert answer(*arguments) == expected
    assert answer(*arguments, "--states", "states.json") == expected


# -- warnings and refusals


def test_warnings_are_plain_lines(small, run):
    (small / "rounded.bif").write_text(SMALL.replace("0.5, 0.4, 0.1", "0.5, 0.4, 0.0990"))
    (small / "constant.csv").write_text("a,b\nx,no\nx,yes\n")
    code, out, err = run("score", "constant.csv", "--structure", "rounded.bif")
    assert code == 0
    assert out.startswith("score ")
    assert err == (
        "Warning: rounded.bif, line 4, column 21: the table of 'a' sums to 0.999; it was "
        "normalised.\n"
        "Warning: Column 'a' is 'x' in every row, so it gives no information about the other "
        "columns.\n"
    )


def test_a_name_that_looks_like_markup(small, run):
    (small / "old[").mkdir()
    (small / "old[" / "b].csv").write_text(ROWS)
    assert run("score", "old[/b].csv", "--structure", "small.bif").code == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("smal.csv", "There is no file 'smal.csv'. Did you mean 'small.csv'?"),
        (".", "'.' is a folder. Name a file in it."),
        ("empty.csv", "'empty.csv' is empty. It needs a header and rows below it."),
        (
            "missing.csv",
            "Column 'b' has 1 missing value, in row 2. Drop or impute it, or learn with "
            "missing='evolve' (--missing evolve of coevo learn and strength).",
        ),
        (
            "strange.csv",
            "Column 'a' holds 'q', first in row 2, which is not one of its declared states "
            "'x', 'y', 'z'. Correct the value, or add it to states= (--states).",
        ),
        (
            "small.csv --drop q",
            "'drop' names 'q', which is not a column of the table.",
        ),
        (
            "small.csv --drop b",
            "The data have no column 'b' of the structure. Both must have the same variables.",
        ),
        (
            "small.csv --structure asia",
            "The table has none of the columns 'asia', 'tub', 'smoke', 'lung', 'bronc' and 3 more.",
        ),
        (
            "small.csv --structure small.bif --states asia",
            "'asia' declares states of 'asia', which is not a column of the table.",
        ),
        (
            "small.csv --structure asai",
            "There is no file and no bundled network 'asai'. Did you mean 'asia'?",
        ),
        (
            "small.csv --structure small.csv",
            "small.csv, line 2: the row 'x' is not a name of the header, so this is not an "
            "adjacency matrix.",
        ),
        (
            "small.csv --structure broken.bif",
            "broken.bif, line 2, column 30: 'a' lists 3 of 4 states.",
        ),
        (
            "small.csv -s bicc",
            "'score' of score must be one of 'aic', 'bde', 'bdeu', 'bds', 'bic', 'fnml', 'k2', "
            "'loglik', 'qnml'; "
            "got 'bicc'. Did you mean 'bic'?",
        ),
        ("small.csv -s k2 --ess 2", "'ess' goes with 'bdeu' and 'bds' only; the score is 'k2'."),
        ("small.csv --ess 0", "'ess' of bdeu must be a number > 0; got 0.0."),
        ("small.csv -s bds --ess -1", "'ess' of bds must be a number > 0; got -1.0."),
        ("small.csv --ess nan", "'ess' of bdeu must be a number > 0; got nan."),
        (
            "small.csv --states typo.json",
            "'typo.json' declares states of 'bb', which is not a column of the table. "
            "Did you mean 'b'?",
        ),
        ("small.csv --states none.json", "Variable 'a' has no states. Declare at least one."),
        (
            "small.csv --states half.json",
            "'half.json' is not JSON: Expecting value: line 1 column 7 (char 6).",
        ),
        (
            "small.csv --states list.json",
            "'list.json' must hold an object with a list of states for each column.",
        ),
        (
            "small.csv --states nested.json",
            "'nested.json' must hold an object with a list of states for each column.",
        ),
        (
            "small.csv --states few.json",
            "Column 'b' holds 'yes', first in row 2, which is not one of its declared states "
            "'no'. Correct the value, or add it to states= (--states).",
        ),
        ("small.csv --states no.json", "There is no file 'no.json'. Did you mean 'none.json'?"),
        (
            "small.csv --states smal",
            "There is no file and no bundled network 'smal'.",
        ),
    ],
)
def test_refusals(arguments, sentence, small, refused):
    files = {
        "empty.csv": "",
        "missing.csv": "a,b\nx,no\ny,\nx,yes\n",
        "strange.csv": "a,b\nx,no\nq,yes\n",
        "more.csv": "a,b,c d\nx,no,1\ny,yes,2\n",
        "broken.bif": SMALL.replace("[ 3 ]", "[ 4 ]"),
        "typo.json": '{"a": ["x", "y"], "bb": ["no", "yes"]}',
        "none.json": '{"a": []}',
        "half.json": '{"a": ',
        "list.json": '["a"]',
        "nested.json": '{"a": [["x", "y"]]}',
        "few.json": '{"b": ["no"]}',
    }
    for name, text in files.items():
        (small / name).write_text(text)
    given = arguments.split()
    structure = [] if "--structure" in given else ["--structure", "small.bif"]
    assert refused("score", *given, *structure) == sentence


def test_a_refusal_in_a_process(small, launch):
    assert launch("score", "small.csv", "--structure", "smal.bif") == (
        2,
        "",
        "Error: There is no file 'smal.bif'. Did you mean 'small.bif'?\n",
    )


def test_scores_are_checked_before_a_file_is_opened(refused, folder):
    assert refused("score", "no.csv", "--structure", "no.bif", "-s", "k2", "--ess", 1) == (
        "'ess' goes with 'bdeu' and 'bds' only; the score is 'k2'."
    )


def test_numbers_are_finite(asia, answer):
    found = answer("asia.csv", "--structure", "asia")
    assert np.isfinite(list(found["per_variable"].values())).all()
    assert math.fsum(found["per_variable"].values()) == found["score"]


@pytest.mark.parametrize("ending", ["dot", "edges.csv", "txt", "json", "net"])
def test_structures_of_every_format(asia, answer, ending):
    """A file without states leaves them to --states."""
    expected = answer("asia.csv", "--structure", "asia", "--states", "asia")
    write_model(load_network("asia"), f"a.{ending}")
    assert answer("asia.csv", "--structure", f"a.{ending}", "--states", "asia") == expected


def test_states_from_a_network_in_json(asia, answer, refused):
    expected = answer("asia.csv", "--structure", "asia")
    write_model(load_network("asia"), "a.json")
    write_model(load_network("asia").dag, "a.dot")
    assert answer("asia.csv", "--structure", "a.dot", "--states", "a.json") == expected
    arguments = ["asia.csv", "--structure", "asia", "--drop", "xray"]
    assert refused("score", *arguments, "--states", "a.dot") == (
        "'a.dot' holds a structure without tables, but a network is needed. Name a file with "
        "tables, such as BIF, or fit tables to the structure first."
    )


def test_columns_that_the_structure_does_not_have_are_ignored(asia, answer, folder):
    (folder / "a.txt").write_text("[asia][tub|asia]\n")
    found = answer("asia.csv", "--structure", "a.txt")
    others = ("bronc", "dysp", "either", "lung", "smoke", "xray")
    drops = [word for name in others for word in ("--drop", name)]
    assert found == answer("asia.csv", "--structure", "a.txt", *drops)
    assert list(found["per_variable"]) == ["asia", "tub"]


def test_a_column_of_the_structure_is_never_left_out(folder, answer):
    rows = "\n".join(f"{i % 3},{i % 3 + 5},{i % 2}" for i in range(60))
    (folder / "copies.csv").write_text(f"a,b,c\n{rows}\n")
    (folder / "a.txt").write_text("[a][b|a][c]\n")
    assert list(answer("copies.csv", "--structure", "a.txt")["per_variable"]) == ["a", "b", "c"]
