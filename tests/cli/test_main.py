"""What holds for every command: help, exit codes, stdout and stderr."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import coevo
import coevo.bundled
import coevo.network
from coevo.cli import COMMANDS

HEAVY = ("numpy", "scipy", "rich", "narwhals", "pandas", "pyarrow")
LOOK = f"""
import sys
from coevo.cli import main
try:
    main()
except SystemExit as stop:
    assert not stop.code
found = [name for name in {HEAVY!r} if name in sys.modules]
sys.exit(f"imported: {{found}}" if found else 0)
"""


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["score", "--help"], ["-V"]])
def test_help_imports_nothing_heavy(arguments):
    command = [sys.executable, "-c", LOOK, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


@pytest.mark.parametrize("arguments", [["networks"], ["convert", "asia", "asia.net"]])
def test_commands_about_networks_import_no_search(arguments, tmp_path):
    look = LOOK.replace(repr(HEAVY), "('coevo.search.base', 'coevo.score.base')")
    command = [sys.executable, "-c", look, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="other systems list no threads")
def test_a_command_starts_no_threads_of_blas():
    """Each of them waits in a loop for work, when NumPy is imported."""
    look = (
        "import os; from coevo.cli import main\n"
        "try: main()\n"
        "finally: print(len(os.listdir('/proc/self/task')), os.environ['OPENBLAS_NUM_THREADS'])"
    )
    command = [sys.executable, "-c", look, "query", "asia", "lung"]
    own = {key: value for key, value in os.environ.items() if key != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=own)
    assert done.stdout.splitlines()[-1] == "1 1"
    own["OPENBLAS_NUM_THREADS"] = "2"  # what the user has set stays
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=own)
    assert done.stdout.splitlines()[-1].endswith(" 2")


def test_help_lists_the_commands(launch):
    code, out, err = launch("--help")
    assert (code, err) == (0, "")
    listed = out.partition("Commands:\n")[2].splitlines()
    assert listed == [f"  {name:<9}  {about}" for name, about in sorted(COMMANDS.items())]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_has_the_summary_of_each_command(name, run):
    code, out, err = run(name, "--help")
    assert (code, err) == (0, "")
    assert out.startswith(f"Usage: coevo {name} [OPTIONS]")
    about = out.splitlines()[2].strip()
    assert about.rstrip(".").startswith(COMMANDS[name].rstrip("."))


def test_scripts_may_still_call_warmup(run):
    sentence = "Nothing has to be done: coevo no longer compiles on your machine.\n"
    assert run("warmup") == (0, sentence, "")


def test_version(launch):
    assert launch("--version") == (0, f"coevo {coevo.__version__}\n", "")


def test_the_installed_script():
    script = Path(sys.executable).with_name("coevo")
    done = subprocess.run([script, "-V"], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == (f"coevo {coevo.__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["sampling"], "Error: There is no command 'sampling'. Did you mean 'sample'?"),
        (["importance"], "Error: There is no command 'importance'. Did you mean 'explain'?"),
        (["xyz"], "Error: There is no command 'xyz'."),
        (["-x"], "Error: No such option '-x'."),
        (["networks", "--format", "xml"], "Error: Invalid value for '--format': 'xml' is not"),
        (["networks", "asia"], "Error: Got unexpected extra argument (asia)"),
        (["sample", "asia", "--rows", "5"], "Error: Missing option '-o' / '--output'."),
        (
            ["sample", "asia", "--rows", "0", "-o", "x.csv"],
            "Error: Invalid value for '--rows': 0 is not in the range x>=1.",
        ),
        (
            ["sample", "asia", "--rows", "5", "--seed", "-1", "-o", "x.csv"],
            "Error: Invalid value for '--seed': -1 is not in the range x>=0.",
        ),
        (["score", "asia.csv"], "Error: Missing option '--structure'."),
        (
            ["score", "asia.csv", "--structure", "asia", "-j", "0"],
            "Error: Invalid value for '-j' / '--n-jobs': 0 is not in the range 1<=x<=1024.",
        ),
        (
            ["score", "asia.csv", "--structure", "asia", "--ess", "ten"],
            "Error: Invalid value for '--ess' / '--iss' / '--alpha': 'ten' is not a valid float.",
        ),
    ],
)
def test_usage_errors(arguments, sentence, run):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("Usage: coevo ")
    assert err.splitlines()[-1].startswith(sentence)


def test_no_command_is_a_usage_error_and_shows_the_help(run):
    code, out, err = run()
    assert (code, out) == (2, "")
    assert err == run("--help").out


def failing(error):
    def fail(*arguments, **parameters):
        raise error

    return fail


def test_an_interrupt(run, folder, monkeypatch):
    monkeypatch.setattr(coevo.network, "sample", failing(KeyboardInterrupt))
    code, out, err = run("sample", "asia", "--rows", 5, "-o", "x.csv")
    assert (code, out, err.strip()) == (130, "", "Interrupted.")
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (
            MemoryError(),
            "Error: There is not enough memory. Free some, or use a machine with more.\n",
        ),
        (
            MemoryError("4 TiB"),
            "Error: There is not enough memory (4 TiB). Free some, or use a machine with more.\n",
        ),
        (
            OSError(28, "No space left on device"),
            "Error: The output cannot be written: No space left on device.\n",
        ),
    ],
)
def test_failures_that_are_not_the_users_fault(run, monkeypatch, error, line):
    monkeypatch.setattr(coevo.bundled, "read_network_index", failing(error))
    assert run("networks") == (1, "", line)


@pytest.mark.parametrize("arguments", [["networks"], ["networks", "--format", "json"], ["-h"]])
def test_a_closed_pipe(arguments):
    command = [sys.executable, "-m", "coevo", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()  # long before the first line is written
        assert process.stderr.read() == b""
        assert process.wait() == 1


@pytest.mark.skipif(os.name == "nt", reason="needs a shell of Unix")
def test_no_stdout_at_all():
    command = f"'{sys.executable}' -m coevo networks >&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


# -- names that are not read as written


@pytest.mark.parametrize(
    ("given", "meant"), [("netwrks", "networks"), ("Networks", "networks"), ("ntworks", "networks")]
)
def test_a_slip_in_a_command(given, meant, run):
    code, out, err = run(given)
    assert (code, err) == (0, f"Reading {given!r} as {meant!r}.\n")
    assert out == run(meant).out


def test_a_slip_that_could_mean_two_commands(run, monkeypatch):
    monkeypatch.setitem(COMMANDS, "lean", "Another command.")
    code, out, err = run("leann")  # one letter from learn and from lean
    assert (code, out) == (2, "")
    assert err.splitlines()[-1] == "Error: There is no command 'leann'. Did you mean 'lean'?"
    code, _, err = run("learnn", "--help")  # two letters from lean
    assert (code, err) == (0, "Reading 'learnn' as 'learn'.\n")


def test_names_are_read_in_any_case_and_said_once(run, folder):
    expected = run("score", "--help").out
    assert run("SCORE", "--help") == (0, expected, "Reading 'SCORE' as 'score'.\n")
    assert run("sample", "ASIA", "--rows", 50, "-o", "rows.csv").code == 0
    options = ("rows.csv", "--max-generations", 2, "--bootstraps", 0, "--format", "json")
    code, out, err = run("learn", *options, "-s", "BDeu", "-m", "Hill-Climb", "--missing", "EM")
    assert code == 0
    assert err.splitlines() == [
        "Reading 'EM' as 'em'.",
        "Reading 'BDeu' as 'bdeu'.",
        "Reading 'Hill-Climb' as 'hill_climb'.",
    ]
    plain = run("learn", *options, "-s", "bdeu", "-m", "hill_climb", "--missing", "em")
    assert plain.err == ""
    del (one := json.loads(out))["seconds"], (two := json.loads(plain.out))["seconds"]
    assert one == two
