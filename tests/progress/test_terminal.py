"""Progress on terminals of any width, on dumb terminals, in files and in notebooks."""

from __future__ import annotations

import io
import math
import re
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest
from rich.console import Console

import coevo
from coevo.errors import ParameterError
from coevo.progress import displays
from coevo.progress import displays as notebook_module
from coevo.progress.displays import PeriodicLines, show_on_console, show_runs_on_console
from coevo.search import Budget, HistoryRow
from helpers.values import as_values

ROW = HistoryRow(31, 0, 12.3, 12, -53131.714, 45, {})


@pytest.fixture(scope="module")
def rows():
    return coevo.sample(coevo.load_network("asia"), 200, random_state=1)


@pytest.fixture
def progress(rows):
    return coevo.progress.SearchProgress(Budget(max_time=60), coevo.FamilyScorer(rows))


@pytest.fixture
def updated(progress):
    progress.update(ROW)
    return progress


def make_terminal(width, term="xterm", **environment):
    environment = {"TERM": term, **environment}
    return Console(file=io.StringIO(), force_terminal=True, width=width, _environ=environment)


def lines_of(text):
    """Return the lines on a terminal without control sequences."""
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    return [line.rstrip() for line in re.split(r"[\r\n]+", plain) if line.strip()]


# -- a terminal


@pytest.mark.parametrize("width", [24, 50, 80, 200])
@pytest.mark.parametrize("environment", [{}, {"NO_COLOR": "1"}])
def test_a_terminal_shows_the_bar_and_the_text(width, environment, updated):
    console = make_terminal(width, **environment)
    with show_on_console(console, "Reading ...") as show:
        show(updated)
    lines = lines_of(console.file.getvalue())
    assert all(len(line) <= width for line in lines)
    text = " ".join(line.strip() for line in lines)
    assert re.search(
        r"━+.* 2\d% -:--:-- generation 31, 1\d\.\d of 60 s, best score -53,131\.71,", text
    )
    assert re.search(r"45 arcs, [\d,]+ families per second, about 48 s left$", text)


@pytest.mark.parametrize(("seconds", "n_full"), [(0.0, 0), (3.0, 1), (59.9, 19), (60.0, 20)])
def test_the_bar_is_full_at_the_end_and_not_before(seconds, n_full, rows):
    now = 100.0 + seconds
    progress = coevo.progress.SearchProgress(
        Budget(max_time=60), coevo.FamilyScorer(rows), clock=lambda: now
    )
    progress.update(replace(ROW, seconds=seconds))
    console = make_terminal(80, NO_COLOR="1")  # without colours rich leaves the rest blank
    with show_on_console(console, "Reading ...") as show:
        show(progress)
    (bar,) = {line for line in lines_of(console.file.getvalue()) if "━" in line or "%" in line}
    assert bar.count("━") == n_full


def test_a_search_without_limits_has_a_bar_without_a_percentage(rows):
    progress = coevo.progress.SearchProgress(Budget(), coevo.FamilyScorer(rows))
    progress.update(ROW)
    console = make_terminal(80)
    with show_on_console(console, "Reading ...") as show:
        show(progress)
    text = " ".join(line.strip() for line in lines_of(console.file.getvalue()))
    assert "%" not in text
    assert re.search(r"━ +generation 31, 1\d\.\d s, ", text)


def test_a_long_name_is_cut():
    console = make_terminal(50)
    with show_on_console(console, f"Reading {'x' * 100}.csv ..."):
        pass
    assert {line[2:] for line in lines_of(console.file.getvalue())} == {f"Reading {'x' * 39}…"}


def test_markup_is_not_interpreted():
    console = make_terminal(80)
    with show_on_console(console, "Reading [bold]odd[/name].csv ..."):
        pass
    assert lines_of(console.file.getvalue())[-1].endswith("Reading [bold]odd[/name].csv ...")


def test_a_dumb_terminal_gets_wrapped_lines(updated, capsys, monkeypatch):
    monkeypatch.setattr(displays, "SECONDS_BETWEEN_LINES", 0.0)
    console = make_terminal(80, term="dumb")
    with show_on_console(console, "Reading ...") as show:
        show(updated)
    assert console.file.getvalue() == ""
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert all(len(line) <= 80 for line in lines)
    assert re.match(r"generation 31, 1\d\.\d of 60 s, best score .* families per", " ".join(lines))


def test_a_file_gets_a_line_every_few_seconds(updated, capsys, monkeypatch):
    console = Console(file=io.StringIO())
    monkeypatch.setattr(displays, "SECONDS_BETWEEN_LINES", 0.0)
    with show_on_console(console, "Reading ...") as show:
        show(updated)
        show("Writing ...")
        monkeypatch.setattr(displays, "SECONDS_BETWEEN_LINES", math.inf)
        show("Resting ...")
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("generation 31, 12.")
    assert second == "Writing ..."
    PeriodicLines().show("At once.", at_once=True)
    assert capsys.readouterr().err == "At once.\n"
    assert console.file.getvalue() == ""


@pytest.mark.parametrize("width", [24, 50, 80])
def test_a_terminal_shows_a_bar_over_many_runs(width):
    console = make_terminal(width)
    with show_runs_on_console(console, "runs") as show:
        show(3, 8, "[bold]alarm, 1,000 rows")
    lines = lines_of(console.file.getvalue())
    assert all(len(line) <= width for line in lines)
    if width == 80:
        assert re.search(r"━ +3/8 +runs +-:--:-- +\[bold\]alarm, 1,000 rows", lines[-1])


def test_a_file_gets_lines_about_many_runs(capsys, monkeypatch):
    console = Console(file=io.StringIO())
    monkeypatch.setattr(displays, "SECONDS_BETWEEN_LINES", math.inf)
    with show_runs_on_console(console, "runs") as show:
        show(3, 8, "alarm")
        show(8, 8, "asia")
    assert capsys.readouterr().err == "8 of 8 runs: asia\n"  # the last line is always printed


# -- from Python


class Notebook:
    """A stand-in for IPython with a kernel; `outputs` are the outputs of the cell."""

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
    monkeypatch.setattr(notebook_module, "SECONDS_BETWEEN_UPDATES", 0.0)
    coevo.learn(rows, progress=wanted, **as_values(LIMIT))
    (output,) = notebook.outputs
    assert list(output) == ["text/plain"]
    assert output["text/plain"].startswith("100 %: generation 4 of 4, ")
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
    assert output["data"]["text/plain"].startswith("100 %: generation 4 of 4, ")


def test_a_notebook_has_few_updates_and_the_last_state(notebook, rows, monkeypatch):
    monkeypatch.setattr(notebook_module, "SECONDS_BETWEEN_UPDATES", math.inf)
    coevo.learn(rows, **as_values(LIMIT))
    assert notebook.outputs[0]["text/plain"].startswith("100 %: generation 4 of 4, ")
    assert notebook.n_changes <= 2


def test_no_progress_in_a_notebook(notebook, rows):
    coevo.learn(rows, progress=False, **as_values(LIMIT))
    coevo.BayesianNetworkLearner(**LIMIT).fit(rows)
    assert notebook.outputs == []
    coevo.BayesianNetworkLearner(progress=None, **LIMIT).fit(rows)
    assert len(notebook.outputs) == 1


@pytest.mark.parametrize("ipython", [None, Notebook(has_kernel=False)])
def test_outside_notebooks_progress_is_shown_on_request(ipython, rows, capsys, monkeypatch):
    monkeypatch.setattr(displays, "SECONDS_BETWEEN_LINES", math.inf)
    if ipython is not None:
        monkeypatch.setitem(sys.modules, "IPython", ipython)
    quiet = coevo.learn(rows, **as_values(LIMIT))
    assert capsys.readouterr() == ("", "")
    shown = coevo.learn(rows, progress=True, **as_values(LIMIT))
    out, err = capsys.readouterr()
    last = err.splitlines()[-1]
    assert (out, last.split(", ")[0]) == ("", "generation 4 of 4")
    assert shown.score == quiet.score
    coevo.BayesianNetworkLearner(progress=True, **LIMIT).fit(rows)
    assert capsys.readouterr().err.splitlines()[-1].startswith("generation 4 of 4, ")


def test_the_last_state_is_shown_when_a_callback_fails(notebook, rows, capsys):
    def fail(row):
        if row.generation == 2:
            raise RuntimeError("no more")

    with pytest.raises(RuntimeError):
        coevo.learn(rows, callbacks=[fail], **as_values(LIMIT))
    assert "25 %: generation 1 of 4, " in notebook.outputs[0]["text/plain"]


@pytest.mark.parametrize("value", [1, "yes"])
def test_progress_is_checked_before_the_table(value):
    with pytest.raises(ParameterError) as caught:
        coevo.learn("no.csv", progress=value)
    sentence = f"'progress' of learn must be True, False or None; got {value!r}."
    assert str(caught.value) == sentence
