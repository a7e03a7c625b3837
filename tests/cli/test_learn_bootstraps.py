"""``coevo learn --bootstraps`` measures the strength of each arc, and stores every sample."""

from __future__ import annotations

import errno
import json
import os
import sys
import threading
from pathlib import Path

import pytest

import coevo
import coevo.progress.displays
from coevo import posteriors
from coevo.bundled import load_network
from coevo.data import read_data
from coevo.errors import FileError
from coevo.files import checkpoints
from coevo.files.run_folder import lock_run_folder
from coevo.learning import LearnResult
from coevo.posteriors import quick_bootstrap
from helpers.interrupts import ctrl_c_works, interrupted_command, press_ctrl_c, pressed_after

QUICK = (
    "asia.csv",
    "--states",
    "asia",
    "--bootstraps",
    12,
    "-m",
    "hill_climb",
    "--seed",
    5,
    "-j",
    1,
)
JOURNAL = {"experiment.json", "runs.jsonl", "times.jsonl"}


@pytest.fixture(autouse=True)
def asia(folder, run):
    """Work in a folder with the table ``asia.csv``."""
    assert run("sample", "asia", "--rows", 300, "--seed", 1, "-o", "asia.csv").code == 0


def expected():
    rows = read_data("asia.csv", states=load_network("asia").variables)
    return coevo.learn(rows, bootstraps=12, method="hill_climb", random_state=5)


def test_json_is_the_answer_of_the_library(run):
    code, out, err = run("learn", *QUICK, "--format", "json")
    assert (code, err.count("\n")) == (0, 1)
    assert err.startswith("13 of 13 networks: sample 12, score -")
    found = json.loads(out)
    plain = json.loads(json.dumps(expected().as_dict()))
    assert {**found, "seconds": 0} == {**plain, "seconds": 0}
    assert os.listdir() == ["asia.csv"]


def test_text(run):
    found = expected().as_dict()
    lines = run("learn", *QUICK).out.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("arcs  "))
    assert lines[at + 1].split() == ["gain", "strength", "->", "<-", "arc"]
    for line, arc in zip(lines[at + 2 :], found["arcs"], strict=False):
        way = "->" if arc["directed"] else "--"
        low, high = arc["interval"]
        strength = f"{arc['strength']:.2f} ({low:.2f} to {high:.2f})"
        shares = f"{arc['direction']:.2f} {arc['reverse']:.2f}"
        start = f"{arc['gain']:.2f} {arc['word']} {strength} {shares} {arc['from']} {way} "
        assert " ".join(line.split()).startswith(f"{start}{arc['to']} ")
        assert line.endswith(f"  {arc['says']}")
    facts = found["bootstraps"]
    assert (
        f"bootstraps  12 samples; consensus of {len(facts['consensus'])} arcs above the threshold "
        f"{facts['threshold']:.3f}" in lines
    )
    least = min(found["arcs"], key=lambda arc: (arc["strength"], arc["gain"]))
    (uncertain,) = (line for line in lines if line.startswith("uncertain   "))
    way = "->" if least["directed"] else "--"
    assert uncertain.startswith(
        f"uncertain   {least['from']} {way} {least['to']} ({least['strength']:.3f})"
    )
    missed = [f"{a['from']} -> {a['to']} ({a['strength']:.3f})" for a in facts["not_in_network"]]
    outside = "none: the network joins the variables of every arc above the threshold"
    if missed:
        outside = f"{', '.join(missed)}: above the threshold, but not in the network"
    assert f"outside     {outside}" in lines


def test_arcs_outside_the_network_and_arcs_in_every_sample():
    from coevo.cli.learn_output import _format_bootstrap

    arc = {"from": "a", "to": "b", "gain": 1.0, "directed": True, "strength": 1.0}
    missed = [{"from": "c", "to": f"d{i}", "strength": 0.75} for i in range(7)]
    facts = {"n_bootstraps": 1200, "threshold": 0.5, "consensus": [1], "not_in_network": missed}
    named = ", ".join(f"c -> d{i} (0.750)" for i in range(5))
    assert list(_format_bootstrap([arc], facts)) == [
        "bootstraps  1,200 samples; consensus of 1 arc above the threshold 0.500",
        "uncertain   none: every sample joins the variables of every arc",
        f"outside     {named} and 2 more: above the threshold, but not in the network",
    ]
    assert list(_format_bootstrap([arc], facts | {"not_in_network": []}))[-1] == (
        "outside     none: the network joins the variables of every arc above the threshold"
    )


def test_the_same_command_resumes(folder, run):
    code, out, _ = run("learn", *QUICK, "-o", "run")
    assert code == 0
    assert out.endswith("wrote       run/strength\n")
    held = set(os.listdir("run/strength"))
    assert {"strength.csv", "strength.json", "strength.svg", "consensus.json"} | JOURNAL <= held
    page = (folder / "run/report.html").read_text()
    assert "<title>Learned from asia.csv</title>" in page
    assert "<h2>Arc strength (bootstrap confidence)</h2>" in page
    stored = (folder / "run/strength/runs.jsonl").read_bytes()
    again = run("learn", *QUICK, "-o", "run")
    assert (again.code, again.err) == (0, "")  # no sample was run again
    assert (folder / "run/strength/runs.jsonl").read_bytes() == stored
    os.remove("run/report.html")
    assert run("report", "run").code == 0
    assert (folder / "run/report.html").read_text().count("<circle") == page.count("<circle")


def test_a_full_disk_does_not_end_the_samples(folder, run, monkeypatch):
    """A sample that cannot be saved is saved with the next one; the answer is the same."""
    right = run("learn", *QUICK, "-o", "right")
    real, calls, full = Path.open, [], []

    def open_or_fail(path, mode="r", *arguments, **options):
        if mode == "a":
            calls.append(path)
            if len(calls) == 8:  # the second file of a sample
                full.append(True)
                with real(path, "a") as stream:
                    stream.write('{"bootstrap": 3, "sc')
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(path, mode, *arguments, **options)

    def sync_or_fail(descriptor):
        if full and full.pop():  # the next sample tries to save both
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "open", open_or_fail)
    monkeypatch.setattr(os, "fsync", sync_or_fail)
    code, out, err = run("learn", *QUICK, "-o", "run")
    assert code == 0
    assert [line for line in err.splitlines() if line.startswith("Warning")] == [
        "Warning: 'runs.jsonl' cannot be written: No space left on device. The runs continue, and "
        "the next one tries again to save all."
    ]
    assert out.partition("seed")[0] == right.out.partition("seed")[0]
    names = sorted(os.listdir("right/strength"))
    assert sorted(os.listdir("run/strength")) == names
    for name in ("runs.jsonl", "experiment.json"):
        found, wanted = (Path(run, "strength", name).read_bytes() for run in ("run", "right"))
        assert found == wanted


def test_a_disk_that_stays_full_prints_the_answer(folder, run, monkeypatch):
    right = run("learn", *QUICK[:3], "-m", "hill_climb", "--bootstraps", 0)

    def fail(*_, **__):
        raise FileError("'run/model.bif' cannot be written: No space left on device.")

    monkeypatch.setattr(checkpoints, "PAUSES", ())
    monkeypatch.setattr(LearnResult, "write", fail)
    found = run("learn", *QUICK[:3], "-m", "hill_climb", "--bootstraps", 0, "-o", "run")
    assert found.code == 2
    assert found.err == "Error: 'run/model.bif' cannot be written: No space left on device.\n"
    lines = [line for line in found.out.splitlines() if not line.startswith("method")]
    assert lines == [line for line in right.out.splitlines() if not line.startswith("method")]


def test_a_folder_of_another_seed_is_refused_before_the_search(folder, run, refused):
    run("learn", *QUICK, "-o", "run")
    before = (folder / "run/run.json").read_bytes()
    assert refused("learn", *QUICK, "--seed", 6, "-o", "run") == (
        "'run/strength' holds runs with seed 5; this is 6. Give another folder."
    )
    assert (folder / "run/run.json").read_bytes() == before


def test_without_matplotlib(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, _, err = run("learn", *QUICK, "-o", "run")
    assert code == 0
    assert err.splitlines()[1:] == [
        "Warning: The figure of arc strengths is not written. matplotlib is not installed. Install "
        "it with: pip install 'coevo[plot]'"
    ]
    assert not {"strength.png", "strength.svg"} & set(os.listdir("run/strength"))


# -- Ctrl-C


@ctrl_c_works()
def test_ctrl_c_keeps_the_network_and_the_samples(folder, run, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(posteriors, "run_bootstraps", pressed_after(7, posteriors.run_bootstraps))
        code, out, err = run("learn", *QUICK, "-o", "run", "--format", "json")
    assert (code, err) == (
        130,
        "Stopping after the current runs ...\n"
        "Interrupted. The network is complete; arc strengths are based on 6 of 12 "
        "bootstrap samples. Repeat the command to resume.\n",
    )
    facts = json.loads(out)["bootstraps"]
    assert (facts["n_bootstraps"], facts["n_asked"]) == (6, 12)
    assert json.loads((folder / "run/run.json").read_text())["bootstraps"] == facts
    assert (
        json.loads(run("learn", *QUICK, "-o", "run", "--format", "json").out)["bootstraps"]
        == (json.loads(json.dumps(expected().as_dict()))["bootstraps"])
    )


@ctrl_c_works()
def test_ctrl_c_before_the_first_sample(run, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(posteriors, "run_bootstraps", interrupt)
    code, out, err = run("learn", *QUICK, "-o", "run")
    assert (code, err) == (130, "Interrupted. This is the network, without bootstrap samples.\n")
    assert "strength" not in os.listdir("run")
    assert "wrote       run/model.bif" in out


def test_ctrl_c_in_a_terminal_with_processes(folder):
    many = [*QUICK, "--bootstraps", 5000, "-j", 2, "-o", "run"]
    ended = interrupted_command("learn", *many, cwd=folder, at="20 of ")
    assert ended.code == 130
    n_done = len((folder / "run/strength/runs.jsonl").read_bytes().splitlines()) - 1
    assert 19 <= n_done < 5000
    assert [line for line in ended.err if " networks: " not in line] == [
        "Stopping after the current runs ...\n",
        f"Interrupted. The network is complete; arc strengths are based on {n_done:,} of "
        "5,000 bootstrap samples. Repeat the command to resume.\n",
    ]
    assert f"bootstraps  {n_done:,} samples; consensus of " in ended.out


# -- the quick bootstrap


def test_the_quick_bootstrap_is_the_default(run):
    code, out, err = run("learn", "asia.csv", "--seed", 3)
    found = coevo.learn("asia.csv", random_state=3)
    n_arcs = len(found.dag.arcs)
    n_found = sum(arc["strength"] > 0.5 for arc in found.as_dict()["arcs"])
    assert (code, err) == (0, "")
    assert (
        f"\nbootstrap   {found.quick_bootstrap.n_bootstraps} samples by short searches: "
        f"{n_found} of {n_arcs} arcs in more than half; --bootstraps 100 for the full one\n" in out
    )
    off = run("learn", "asia.csv", "--seed", 3, "--bootstraps", 0)
    assert (off.code, "bootstrap" in off.out, "strength" in off.out) == (0, False, False)


@ctrl_c_works()
def test_ctrl_c_in_the_quick_bootstrap(run, monkeypatch):
    monkeypatch.setattr(quick_bootstrap, "run_bootstrap", lambda *arguments: press_ctrl_c(2))
    code, out, err = run("learn", "asia.csv", "--seed", 3, "-o", "run")
    assert (code, err) == (130, "Interrupted. This is the network, without the quick bootstrap.\n")
    assert "wrote       run/model.bif" in out
    assert sorted(os.listdir("run")) == [
        "checkpoint.npz", "history.jsonl", "model.bif", "report.html", "run.json",
    ]  # fmt: skip


def test_no_other_command_writes_into_the_folder_while_samples_run(run, monkeypatch):
    original, refusals = posteriors.run_bootstraps, []

    def lock_from_another_thread():
        try:
            with lock_run_folder(Path("learned")):
                pass
        except FileError as error:
            refusals.append(str(error))

    def run_samples(*arguments, **options):
        thread = threading.Thread(target=lock_from_another_thread)
        thread.start()
        thread.join()
        return original(*arguments, **options)

    monkeypatch.setattr(posteriors, "run_bootstraps", run_samples)
    assert run("learn", *QUICK, "-o", "learned").code == 0
    assert len(refusals) == 1
    assert "another" in refusals[0]
