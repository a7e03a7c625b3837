"""The scripts in examples/ run, and print what they promise."""

import runpy
import shutil
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

# lines of the output, in this order; other lines may stand between them
EXPECTED = {
    "annealing": [
        "-4398.72  SHD 6  SID 21  Annealing(moves=100, temperature=20.0, cooling=0.9)",
        "-4397.24  SHD 1  SID 8  Annealing(moves=400, temperature=20.0, cooling=0.9)",
        "-4399.13  SHD 5  SID 14  hill_climb",
    ],
    "bootstrap_confidence": [
        "40 bootstrap samples, threshold 0.10",
        "    1.00       1.00  bronc -> dysp",
        "    0.95       0.29  lung -> smoke",
        "    0.10       0.75  xray -> smoke  (not in the true network)",
        "Consensus network: <DAG: 8 variables, 7 arcs>",
    ],
    "compare_methods": [
        "true network: score -27914.6, arcs 52",
        "hill_climb   -27534.1    42    38",
        "ccga         -28512.3    42    48",
        "ccma         -27409.6    42    19",
    ],
    "constraints": [
        "free   -3529.42  age -> crp, crp -> ill, crp -> smoker, crp -> temperature",
        "known  -3529.90  age -> crp, crp -> ill, crp -> temperature, smoker -> crp",
        "known costs 0.48 of the score.",
        "wrong costs 120.36 of the score.",
    ],
    "learn_from_csv": [
        "<LearnResult: 7 variables, 4 arcs, bdeu -3529.4171, by ccma>",
        "  crp -> ill: 223.75",
        "Data cannot direct: age -- crp, crp -- ill, crp -- smoker, crp -- temperature",
    ],
    "missing_values": [
        "evolve    age -> crp, crp -> ill, crp -> smoker, crp -> temperature",
        "drop      age -> crp, crp -> ill, crp -> temperature, ill -> smoker",
        "  row 381, ward: 1 (0.27)",
    ],
    "potter_de_jong": [
        "10,000 evaluations, mean of 5 runs; the minimum is 0",
        "function      plain GA      CCGA-1      CCGA-2",
        "Rastrigin: CCGA-1 is best",
        "Schwefel: CCGA-1 is best",
        "Griewangk: CCGA-1 is best",
        "Ackley: CCGA-1 is best",
        "Rosenbrock: CCGA-2 is best",
    ],
    "query_and_predict": [
        "P(lung cancer)                         0.0550",
        "P(lung cancer | smoker, positive xray) 0.6460",
        "Accuracy for bronchitis on 1,000 other rows: 0.842",
    ],
}


@pytest.fixture
def run_example(tmp_path, monkeypatch, capsys):
    """Return a function that runs a script in a copy of examples/ and returns its output."""

    def run(name):
        shutil.copytree(EXAMPLES, tmp_path / "examples")
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", [f"examples/{name}.py"])
        runpy.run_path(f"examples/{name}.py", run_name="__main__")
        return capsys.readouterr().out

    return run


@pytest.mark.parametrize("name", EXPECTED)
def test_the_example_prints_its_answer(run_example, name):
    lines = iter(run_example(name).splitlines())
    for expected in EXPECTED[name]:
        assert expected in lines, f"No line {expected!r} at its place in the output."


def test_the_report_is_written(run_example, tmp_path):
    output = run_example("learn_from_csv")
    report = output.splitlines()[-1].removeprefix("Open the report in a browser: ")
    assert "<html" in (tmp_path / report).read_text(encoding="utf-8")


def test_missing_values_can_be_an_error(run_example):
    assert run_example("missing_values").startswith("Error: Column 'sex' has 58 missing values,")


def test_every_example_is_tested():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(EXPECTED)
