"""``coevo compare`` prints how two structures differ, and their scores on a table."""

from __future__ import annotations

from functools import partial

import pytest

from coevo.bundled import load_network
from coevo.data import write_data
from coevo.graph import DAG, compare
from coevo.io import write_bif
from coevo.network import fit_network, sample
from coevo.score import FamilyScorer

TRUE = load_network("cancer")
ARCS = [
    ("Cancer", "Dyspnoea"),
    ("Cancer", "Pollution"),
    ("Dyspnoea", "Xray"),
    ("Smoker", "Cancer"),
]


@pytest.fixture
def rows(folder, seed):
    """Return a sample of Cancer in ``rows.csv``, with another structure in ``found.bif``."""
    dataset = sample(TRUE, 2000, seed)  # so many that all states are seen
    write_data(dataset, "rows.csv")
    write_bif(fit_network(DAG([v.name for v in TRUE.variables], ARCS), dataset), "found.bif")
    return dataset


@pytest.fixture
def answer(as_json):
    """Return a function that gives the JSON answer of ``coevo compare``."""
    return partial(as_json, "compare")


def test_text(rows, run):
    scorer = FamilyScorer(rows, "k2")
    short = (
        "SHD         3 (DAG), 5 (CPDAG)\n"
        "SID         8 (DAG), 8 to 18 (CPDAG)\n"
        "arcs        precision 0.5000, recall 0.5000, f1 0.5000\n"
        "skeleton    precision 0.7500, recall 0.7500, f1 0.7500\n"
        "correct     2\n"
        "reversed    1\n"
        "  Cancer -> Pollution\n"
        "added       1\n"
        "  Dyspnoea -> Xray\n"
        "missing     1\n"
        "  Cancer -> Xray\n"
    )
    assert run("compare", "found.bif", "cancer") == (0, short, "")
    scores = (
        "scores      k2, 2,000 rows\n"
        f"  {scorer.score(DAG(rows.names, ARCS)):.6f} found\n"
        f"  {scorer.score(TRUE.dag):.6f} true\n"
    )
    arguments = ["compare", "found.bif", "cancer", "--data", "rows.csv", "--score", "k2"]
    assert run(*arguments) == (0, short + scores, "")
    assert "scores      bdeu, ess 5, 2,000 rows\n" in run(*arguments[:5], "--ess", 5).out


def test_json(rows, answer):
    found = answer("found.bif", "cancer", "--data", "rows.csv", "-j", 2)
    expected = compare(DAG(rows.names, ARCS), TRUE.dag)
    for name in ("correct", "reversed", "added", "missing"):
        assert [tuple(arc) for arc in found[name]] == list(getattr(expected, name))
    for name in (
        "shd",
        "shd_cpdag",
        "sid",
        "sid_lower",
        "sid_upper",
        "arc_precision",
        "arc_recall",
        "arc_f1",
        "skeleton_precision",
        "skeleton_recall",
        "skeleton_f1",
    ):
        assert found[name] == getattr(expected, name)
    scorer = FamilyScorer(rows, "bdeu")
    assert found["scores"] == {
        "scoring": "bdeu",
        "ess": 1.0,
        "n_rows": 2000,
        "data_hash": rows.content_hash,
        "found": scorer.score(DAG(rows.names, ARCS)),
        "true": scorer.score(TRUE.dag),
    }
    assert "scores" not in answer("found.bif", "cancer")


def test_a_network_and_itself(answer):
    found = answer("alarm", "alarm")
    assert (found["shd"], found["shd_cpdag"], found["arc_f1"]) == (0, 0, 1.0)
    assert len(found["correct"]) == 46


def test_states_of_both_count(folder, answer):
    """Only the second network knows a state that the table shows."""
    text = (
        "variable a {{ type discrete [ {} ] {{ {} }}; }} "
        "variable b {{ type discrete [ 2 ] {{ n, y }}; }}"
    )
    tables = "probability ( a ) {{ table {}; }} probability ( b ) {{ table 0.5, 0.5; }}"
    (folder / "one.bif").write_text(text.format(2, "x, y") + tables.format("0.5, 0.5"))
    (folder / "two.bif").write_text(text.format(3, "y, x, z") + tables.format("0.5, 0.3, 0.2"))
    (folder / "rows.csv").write_text("a,b\nx,n\nz,y\n")
    there = answer("one.bif", "two.bif", "--data", "rows.csv")["scores"]
    back = answer("two.bif", "one.bif", "--data", "rows.csv")["scores"]
    assert there["found"] == there["true"] == back["found"]
    assert there["data_hash"] == back["data_hash"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            "asia cancer",
            "The found structure has no variable 'Cancer' of the true one; both must have the "
            "same variables.",
        ),
        ("asia asai", "There is no file and no bundled network 'asai'. Did you mean 'asia'?"),
        ("asia asia --score k2", "'--score' needs --data, the table to score on."),
        ("asia asia --ess 2", "'--ess' needs --data, the table to score on."),
        ("asia asia --drop x", "'--drop' needs --data, the table to score on."),
        ("asia asia --states alarm", "'--states' needs --data, the table to score on."),
        ("asia asia -j 2", "'-j' needs --data, the table to score on."),
        ("asia asia --data few", "There is no file 'few'. Did you mean 'few.csv'?"),
        (
            "asia asia --data no.csv --score bicc",
            "'score' of compare must be one of 'aic', 'bde', 'bdeu', 'bds', 'bic', 'fnml', "
            "'k2', 'loglik', 'qnml'; got 'bicc'. Did you mean 'bic'?",
        ),
        (
            "cancer cancer --data few.csv",
            "The data have no column 'Dyspnoea' (and 2 more) of the structure. "
            "Both must have the same variables.",
        ),
    ],
)
def test_refusals(arguments, sentence, refused, folder):
    (folder / "few.csv").write_text("Cancer,Smoker\nTrue,False\nFalse,True\n")
    assert refused("compare", *arguments.split()) == sentence


@pytest.mark.parametrize("ending", ["graphml", "adjacency.csv", "xmlbif"])
def test_structures_of_every_format(rows, answer, run, ending):
    assert run("convert", "found.bif", f"found.{ending}").code == 0
    assert run("convert", "cancer", "true.txt").code == 0
    assert answer(f"found.{ending}", "cancer") == answer("found.bif", "cancer")
    data = ["--data", "rows.csv", "--score", "bic"]
    expected = answer("found.bif", "cancer", *data)
    assert answer(f"found.{ending}", "cancer", *data) == expected
    assert answer(f"found.{ending}", "true.txt", *data) == expected
