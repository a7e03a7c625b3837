"""No command replaces a file that is not its own, and failures of the system are sentences."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import coevo
from coevo.bundled import load_network

LEARN = ("learn", "t.csv", "-m", "hill_climb", "--bootstraps", 0)
STRENGTH = ("strength", "t.csv", "--bootstraps", 2, "-m", "hill_climb")
BENCH = ("bench", "--networks", "asia", "--rows", 60, "--seeds", 1, "-m", "hill_climb",
         "--peers", "none", "-t", 5, "--no-figures")  # fmt: skip


@pytest.fixture(autouse=True)
def rows(folder):
    """Make a table in an empty working folder."""
    coevo.write_data(coevo.sample(load_network("asia"), 80, random_state=1), "t.csv")


@pytest.mark.parametrize(
    ("arguments", "file"),
    [
        ((*BENCH, "-o", "mine"), "README.md"),
        ((*LEARN, "-o", "mine"), "model.bif"),
        ((*STRENGTH, "-o", "mine"), "strength.csv"),
    ],
)
def test_a_folder_of_somebody_else_stays_as_it_is(run, arguments, file):
    Path("mine").mkdir()
    Path("mine", file).write_text("mine")
    sentence = (
        f"Error: 'mine' holds {file!r}, which coevo did not write and would replace. "
        "Give another folder.\n"
    )
    assert run(*arguments) == (2, "", sentence)
    assert [path.name for path in Path("mine").iterdir()] == [file]


def test_a_foreign_record_is_no_run(run):
    Path("mine").mkdir()
    Path("mine", "run.json").write_text('{"name": "my project"}')
    assert run(*LEARN, "-o", "mine")[0] == 2
    assert Path("mine", "run.json").read_text() == '{"name": "my project"}'


def test_a_run_replaces_a_run_and_other_files_do_not_matter(run):
    Path("mine").mkdir()
    Path("mine", "notes.txt").write_text("mine")
    for _ in range(2):
        assert run(*LEARN, "-o", "mine")[0] == 0
    Path("mine", "checkpoint.npz").unlink()
    assert run(*LEARN, "-o", "mine")[0] == 0
    assert Path("mine", "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("file", ["model.bif", "run.json"])
def test_a_report_does_not_replace_what_it_shows(run, file):
    assert run(*LEARN, "-o", "run")[0] == 0
    before = Path("run", file).read_bytes()
    code, _, err = run("report", "run", "-o", f"run/{file}")
    assert code == 2
    assert f"-o would overwrite 'run/{file}'. Give the name of a page." in err
    assert Path("run", file).read_bytes() == before
    assert run("report", "run/model.bif", "-o", "run/model.bif")[0] == 2
    assert run("report", "run", "-o", "run/report.html")[0] == 0


def test_predictions_do_not_replace_the_table(run):
    before = Path("t.csv").read_bytes()
    code, _, err = run("predict", "asia", "t.csv", "lung", "-o", "./t.csv")
    assert code == 2
    assert "-o would overwrite DATA, 't.csv'. Give another name." in err
    assert Path("t.csv").read_bytes() == before


def test_a_name_that_is_too_long(run):
    name = "x" * 300
    assert run("sample", "asia", "--rows", 3, "-o", f"{name}.csv") == (
        2, "", f"Error: '{name}.csv' cannot be read or written: File name too long.\n"
    )  # fmt: skip
    code, _, err = run("query", name, "lung")
    assert (code, "averaged" in err) == (2, False)


@pytest.mark.skipif(os.name == "nt", reason="needs a shell of Unix")
@pytest.mark.parametrize(
    ("command", "code", "err"),
    [
        ("inspect t.csv >&-", 0, ""),
        ("predict asia - lung <&-", 2, "Error: The standard input cannot be read as bytes."),
        ("networks >/dev/full", 1, "Error: The output cannot be written: No space left on device."),
    ],
)
def test_closed_and_full_streams(command, code, err):
    words = f"{sys.executable} -m coevo {command}"
    done = subprocess.run(words, shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert done.stderr.startswith(err)
    assert "Traceback" not in done.stderr
