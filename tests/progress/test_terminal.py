"""Where progress is shown: terminals of any width, dumb ones, files, and notebooks."""

from __future__ import annotations

import io
import math
import re
import sys
from types import SimpleNamespace

import pytest
from rich.console import Console

import coevo
from coevo.errors import ParameterError
from coevo.progress import notebook as notebook_module
from coevo.progress import terminal
from coevo.progress.terminal import OccasionalLines, on_console
from coevo.search import Budget, HistoryRow

ROW = HistoryRow(31, 0, 12.3, 12, -53131.714, 45, {})


@pytest.fixture(scope="module")
def rows():
    return coevo.sample(coevo.load_network("asia"), 200, random_state=1)


@pytest.fixture
def progress(rows):
    return coevo.progress.SearchProgress(Budget(max_time=60), coevo.FamilyScorer(rows))


@pytest.fixture
def told(progress):
    progress.take(ROW)
    return progress


def a_terminal(width, term="xterm"):
    return Console(file=io.StringIO(), force_terminal=True, width=width, _environ={"TERM": term})


def lines_of(text):
    """Return the lines on a terminal without what moves and colours them."""
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    return [line.rstrip() for line in re.split(r"[\r\n]+", plain) if line.strip()]


# -- a terminal


@pytest.mark.parametrize("width", [24, 50, 80, 200])
def test_a_terminal_shows_what_is_new(width, told):
    console = a_terminal(width)
    with on_console(console, "Reading ...") as say:
        say(told)
    lines = lines_of(console.file.getvalue())
    assert all(len(line) <= width for line in lines)
    words = " ".join(line[2:] for line in lines)
    assert "generation 31" in words
    assert "45 arcs" in words


def test_a_long_name_is_cut():
    console = a_terminal(50)
    with on_console(console, f"Reading {'x' * 100}.csv ..."):
        pass
    assert {line[2:] for line in lines_of(console.file.getvalue())} == {f"Reading {'x' * 39}…"}


def test_markup_is_not_read_as_such():
    console = a_terminal(80)
    with on_console(console, "Reading [bold]odd[/name].csv ..."):
        pass
    assert lines_of(console.file.getvalue())[-1].endswith("Reading [bold]odd[/name].csv ...")


def test_a_dumb_terminal_gets_whole_lines_that_fit(told, capsys, monkeypatch):
    monkeypatch.setattr(terminal, "SECONDS_A_LINE", 0.0)
    console = a_terminal(80, term="dumb")
    with on_console(console, "Reading ...") as say:
        say(told)
    assert console.file.getvalue() == ""
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("####---------------- generation 31, 12.")
    assert all(len(line) <= 80 for line in lines)


def test_elsewhere_a_line_now_and_then(told, capsys, monkeypatch):
    console = Console(file=io.StringIO())
    monkeypatch.setattr(terminal, "SECONDS_A_LINE", 0.0)
    with on_console(console, "Reading ...") as say:
        say(told)
        say("Writing ...")
        monkeypatch.setattr(terminal, "SECONDS_A_LINE", math.inf)
        say("Resting ...")
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("generation 31, 12.")
    assert second == "Writing ..."
    OccasionalLines().say("At once.", at_once=True)
    assert capsys.readouterr().err == "At once.\n"
    assert console.file.getvalue() == ""


# -- from Python


class Notebook:
    """An IPython with a kernel, as far as it is asked; `outputs` is what stands in the cell."""

    def __init__(self, has_kernel=True):
        self.outputs, self.n_changes = [], 0
        shell = SimpleNamespace(kernel=object()) if has_kernel else SimpleNamespace()
        self.get_ipython = lambda: shell

    def display(self, data, *, raw, display_id):
        assert raw is display_id is True
        self.outputs.append(data)
        place = len(self.outputs) - 1

        def update(data, *, raw):
            assert raw is True
            self.outputs[place] = data
            self.n_changes += 1

        return SimpleNamespace(update=update)


@pytest.fixture
def notebook(monkeypatch):
    found = Notebook()
    monkeypatch.setitem(sys.modules, "IPython", found)
    monkeypatch.setitem(sys.modules, "IPython.display", found)
    return found


LIMIT = {"max_generations": 4, "random_state": 7}


@pytest.mark.parametrize("wanted", [True, None])
def test_a_notebook_has_one_line(wanted, notebook, rows, capsys, monkeypatch):
    monkeypatch.setattr(notebook_module, "SECONDS_A_CHANGE", 0.0)
    coevo.learn(rows, progress=wanted, **LIMIT)
    (output,) = notebook.outputs
    assert list(output) == ["text/plain"]
    assert output["text/plain"].startswith("━" * 20 + " generation 4 of 4, ")
    assert "\n" not in output["text/plain"]
    assert notebook.n_changes >= 6  # the start, four generations and the end
    assert capsys.readouterr() == ("", "")


def test_a_real_notebook_has_one_line(rows, tmp_path):
    for library in ("nbclient", "nbformat", "ipykernel"):
        pytest.importorskip(library)
    import nbclient
    import nbformat

    coevo.write_data(rows, tmp_path / "rows.csv")
    cell = nbformat.v4.new_code_cell(
        f"import coevo\nfound = coevo.learn({str(tmp_path / 'rows.csv')!r}, max_generations=4)"
    )
    nbclient.NotebookClient(nbformat.v4.new_notebook(cells=[cell]), timeout=120).execute()
    (output,) = cell.outputs
    assert output["output_type"] == "display_data"
    assert output["data"]["text/plain"].startswith("━" * 20 + " generation 4 of 4, ")


def test_a_notebook_is_not_flooded_and_has_the_last_word(notebook, rows, monkeypatch):
    monkeypatch.setattr(notebook_module, "SECONDS_A_CHANGE", math.inf)
    coevo.learn(rows, **LIMIT)
    assert notebook.outputs[0]["text/plain"].startswith("━" * 20 + " generation 4 of 4, ")
    assert notebook.n_changes <= 2  # the end, and a word if kernels are compiled


def test_a_notebook_may_be_left_alone(notebook, rows):
    coevo.learn(rows, progress=False, **LIMIT)
    coevo.BayesianNetworkLearner(**LIMIT).fit(rows)
    assert notebook.outputs == []
    coevo.BayesianNetworkLearner(progress=None, **LIMIT).fit(rows)
    assert len(notebook.outputs) == 1


@pytest.mark.parametrize("ipython", [None, Notebook(has_kernel=False)])
def test_elsewhere_it_is_shown_when_asked_for(ipython, rows, capsys, monkeypatch):
    monkeypatch.setattr(terminal, "SECONDS_A_LINE", math.inf)
    if ipython is not None:
        monkeypatch.setitem(sys.modules, "IPython", ipython)
    quiet = coevo.learn(rows, **LIMIT)
    assert capsys.readouterr() == ("", "")
    shown = coevo.learn(rows, progress=True, **LIMIT)
    out, err = capsys.readouterr()
    last = err.splitlines()[-1]
    assert (out, last.split(", ")[0]) == ("", "generation 4 of 4")
    assert shown.score == quiet.score
    coevo.BayesianNetworkLearner(progress=True, **LIMIT).fit(rows)
    assert capsys.readouterr().err.splitlines()[-1].startswith("generation 4 of 4, ")


def test_what_was_reached_is_told_when_a_callback_fails(notebook, rows, capsys):
    def fail(row):
        if row.generation == 2:
            raise RuntimeError("no more")

    with pytest.raises(RuntimeError):
        coevo.learn(rows, callbacks=[fail], **LIMIT)
    assert " generation 1 of 4, " in notebook.outputs[0]["text/plain"]


@pytest.mark.parametrize("value", [1, "yes"])
def test_progress_is_checked_before_the_table(value):
    with pytest.raises(ParameterError) as caught:
        coevo.learn("no.csv", progress=value)
    sentence = f"'progress' of learn must be True, False or None; got {value!r}."
    assert str(caught.value) == sentence
