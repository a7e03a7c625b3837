"""``coevo prove`` prints a bound, writes a certificate that checks, and resumes."""

from __future__ import annotations

import gzip
import json

import pytest

import coevo
from coevo.data import read_data

QUICK = ("asia.csv", "-s", "bdeu")


@pytest.fixture(autouse=True)
def asia(folder, run):
    """Work in a folder with the table ``asia.csv``."""
    assert run("sample", "asia", "--rows", 500, "--seed", 1, "-o", "asia.csv").code == 0


def without_times(facts):
    return {name: value for name, value in facts.items() if name not in ("seconds", "files")}


def test_json_is_the_answer_of_the_library(run):
    code, out, err = run("prove", *QUICK, "--within", 0.5, "--format", "json")
    assert (code, err) == (0, "")
    answer = json.loads(out)
    found = coevo.prove(read_data("asia.csv"), score="bdeu", within=0.5)
    timeless = without_times(found.as_dict())
    assert {name: answer[name] for name in timeless} == timeless
    assert found.is_proved
    assert repr(found) == f"<Proof: 8 variables, score {found.score:.4f}, optimal>"
    assert found.good.classes[0][1] == pytest.approx(found.score)


def test_text_and_check(run, folder):
    code, out, err = run("prove", *QUICK, "-p", 2, "-o", "run")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "table       500 rows, 8 variables"
    found = coevo.prove(read_data("asia.csv"), score="bdeu", max_parents=2)
    n_arcs = len(found.network.arcs)
    assert lines[1] == f"network     {n_arcs} arcs, bdeu (ess 1) {found.score:.6f}"
    assert lines[2].startswith(f"families    {found.n_families} families of ")
    assert lines[3].startswith(f"bound       {found.bound:.6f}, gap ")
    assert lines[4] == f"proof       {found.verdict}"
    assert lines[-1] == f"wrote       {'run/proof'}"
    assert found.verdict.startswith("The network is optimal with at most 2 parents; ")
    path = folder / "run" / "proof" / "certificate.json.gz"
    code, out, err = run("prove", "--check", path, "asia.csv")
    assert (code, err) == (0, "")
    assert out.startswith("certificate holds: no network scores more than ")
    code, out, _ = run("prove", "--check", "run", "asia.csv", "--format", "json")
    assert code == 0
    assert json.loads(out)["holds"] is True
    assert {tuple(arc) for arc in json.loads(out)["certain_arcs"]} == set(found.arcs)
    facts = json.loads((folder / "run" / "run.json").read_text())
    assert facts["proof"]["verdict"] == found.verdict
    assert found.verdict.split(";")[0] in (folder / "run" / "report.html").read_text()


def test_a_changed_certificate_is_refused(run, folder):
    assert run("prove", *QUICK, "-o", "run").code == 0
    path = folder / "run" / "proof" / "certificate.json.gz"
    values = json.loads(gzip.decompress(path.read_bytes()))
    values["gap"] -= 1
    path.write_bytes(gzip.compress(json.dumps(values).encode()))
    code, out, err = run("prove", "--check", path, "asia.csv")
    assert (code, out) == (2, "")
    assert "The certificate does not hold: it claims a gap of " in err
    assert run("sample", "asia", "--rows", 400, "--seed", 1, "-o", "other.csv").code == 0
    code, _, err = run("prove", "--check", path, "other.csv")
    assert code == 2
    assert "The certificate is for another table: hash " in err


def test_a_given_structure_that_is_not_the_best(run, folder):
    (folder / "empty.txt").write_text("[asia][bronc][dysp][either][lung][smoke][tub][xray]")
    code, out, err = run("prove", *QUICK, "--structure", "empty.txt")
    assert (code, err) == (0, "")
    assert "The network is optimal; " in out
    assert "nats better than the network given." in out


def test_a_time_limit_leaves_a_bound_and_resume_closes_it(run, folder):
    code, out, _ = run("prove", *QUICK, "-o", "whole", "--format", "json")
    assert code == 0
    whole = json.loads(out)
    code, out, _ = run("prove", *QUICK, "-o", "part", "-t", 0.02, "--format", "json")
    assert code == 0
    assert json.loads(out)["gap"] >= whole["gap"]
    code, out, _ = run("prove", *QUICK, "-o", "part", "--resume", "--format", "json")
    assert code == 0
    assert without_times(json.loads(out)) == without_times(whole)
    one, other = (folder / name / "proof" / "certificate.json.gz" for name in ("whole", "part"))
    assert one.read_bytes() == other.read_bytes()


def test_learn_with_a_proof(run, folder):
    code, out, err = run("learn", *QUICK, "--prove", 20, "--bootstraps", 0, "-o", "run")
    assert (code, err) == (0, "")
    assert "proof       The network is optimal; " in out
    assert (folder / "run" / "proof" / "certificate.json.gz").is_file()
    learned = coevo.learn(read_data("asia.csv"), score="bdeu", prove=20, bootstraps=0)
    assert learned.proof.is_proved
    code, out, err = run("learn", *QUICK, "--prove", 0, "--bootstraps", 0)
    assert code == 0
    assert "proof       A network can be at most " in out
    assert err == (
        "Warning: Only the families of at most 0 parents were listed, so the bound is far from "
        "tight. Give more time, or a smaller limit on parents.\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--resume",), "Error: --resume needs -o, the run folder to resume."),
        (("--run", "a", "--check", "b"), "Error: --run and --check cannot be combined."),
        (
            ("-s", "k2", "--within", 1),
            "Error: 'within' needs a score that is equal for all networks of an equivalence class; "
            "'k2' is not. Use 'bdeu' or 'bic'.",
        ),
        (("--run", "none"), "Error: There is no run in 'none': it has no file run.json."),
    ],
)
def test_bad_input(run, arguments, message):
    code, out, err = run("prove", "asia.csv", *arguments)
    assert (code, out) == (2, "")
    assert err.splitlines()[-1] == message


def test_missing_values_and_a_missing_solver(run, folder, monkeypatch):
    text = (folder / "asia.csv").read_text().splitlines()
    text[1] = "," + text[1].split(",", 1)[1]
    (folder / "missing.csv").write_text("\n".join(text) + "\n")
    code, _, err = run("prove", "missing.csv", "-s", "bdeu")
    assert code == 2
    assert err.splitlines()[-1] == (
        "Error: The table has 1 missing value, and a proof holds for complete rows. Drop or impute "
        "them first; coevo learn --imputed FILE writes an imputed table."
    )
    monkeypatch.setitem(__import__("sys").modules, "highspy", None)
    code, _, err = run("prove", *QUICK)
    assert code == 2
    assert err.splitlines()[-1] == (
        "Error: HiGHS is not installed. Install it with: pip install 'coevo[prove]'"
    )
