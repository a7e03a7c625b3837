"""The texts to copy run as they stand, and give the network of the studio."""

import shlex
import subprocess
import sys

import click
import pytest

from coevo.cli.learn import command
from coevo.errors import ParameterError
from coevo.io import read_run
from coevo.learning.options import LEARN_DEFAULTS
from coevo.studio.learn_text import format_command, format_python, list_words

# A value of each option that is not its default.
VALUES = {
    "method": "tabu", "score": "bic", "ess": 2.5, "parent_penalty": 1.5, "max_table": None,
    "random_state": 7, "max_parents": 3, "max_time": 60.0, "max_generations": 4, "patience": 3,
    "target": -5.25, "constraints": "known file.json", "start": "asia", "states": "states.json",
    "drop": ["a", "b c", "d,e", "-x"], "types": "types.json", "discretise": "quantile", "bins": 4,
    "missing": "em", "missing_labels": ["?", "n a"], "decimal": ",", "strict": True,
    "bootstraps": 5, "n_jobs": 2, "encoding": "latin-1", "delimiter": ";", "comment": "",
    "header": False, "skiprows": 2, "skipfooter": 1, "bad_rows": "skip", "keep_empty_rows": True,
    "rename": {"a=b": "c d"}, "value_labels": False, "sheet": "two", "posterior": True,
    "query": "SELECT 1", "shards": "folder", "cluster": "local:2",
}  # fmt: skip


def test_every_option_of_learn_has_its_words():
    python_only = {"names", "connection"}
    assert VALUES.keys() == LEARN_DEFAULTS.keys() - python_only


@pytest.mark.parametrize("name", VALUES)
def test_the_command_reads_its_words_back(name):
    """The parser of the command itself is the oracle."""
    words = list_words({name: VALUES[name]})
    context = command.make_context("learn", ["rows.csv", *words], resilient_parsing=False)
    option = {"random_state": "seed"}.get(name, name)
    found = context.params[option]
    expected = tuple(VALUES[name]) if isinstance(VALUES[name], list) else VALUES[name]
    assert found == expected
    given = {
        one.name
        for one in command.params
        if context.get_parameter_source(one.name) == click.core.ParameterSource.COMMANDLINE
    }
    assert given == {"data", option}


def test_defaults_need_no_words():
    given = {name: value for name, value in LEARN_DEFAULTS.items() if name != "random_state"}
    assert list_words(given) == []
    assert list_words({"random_state": 0}) == ["--seed", "0"]


def test_an_unknown_option_is_an_error():
    with pytest.raises(ParameterError) as caught:
        list_words({"metod": "tabu"})
    assert str(caught.value) == "There is no option 'metod'. Did you mean 'method'?"


def test_both_texts_give_the_same_network(tmp_path):
    """Types, knowledge and search options, with a quote and a space in every name."""
    table = tmp_path / "it's a table.csv"
    rows = [f"{i % 7},{'a' if i % 3 else 'b'},{(i * i) % 11 + 0.5},{i % 2}" for i in range(300)]
    table.write_text("n,letter,x y,odd\n" + "\n".join(rows) + "\n")
    types = tmp_path / "types.json"
    types.write_text('{"x y": {"type": "continuous", "cuts": [2.5, 6.5]}}')
    known = tmp_path / "known.json"
    known.write_text('{"forbidden": [["n", "odd"]], "max_parents": 2}')
    options = {
        "types": str(types), "constraints": str(known), "method": "hill_climb", "score": "bdeu",
        "ess": 1.0, "random_state": 3, "drop": ["letter"],
    }  # fmt: skip
    line = format_command(table, options, tmp_path / "by command")
    words = shlex.split(line)
    assert words[:2] == ["coevo", "learn"]
    run = [sys.executable, "-m", "coevo", *words[1:]]
    subprocess.run(run, check=True, capture_output=True)
    text = format_python(table, options, tmp_path / "by python")
    subprocess.run([sys.executable, "-c", text], check=True, capture_output=True)
    by_command, by_python = (read_run(tmp_path / f"by {name}") for name in ("command", "python"))
    assert by_command.network == by_python.network
    assert by_command.facts["score"] == by_python.facts["score"]
    assert by_command.network.variable("x y").states == (
        "below_2.5",
        "from_2.5_to_6.5",
        "from_6.5",
    )
    assert "letter" not in by_command.network.dag.nodes
