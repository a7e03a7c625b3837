"""The texts to copy run as they stand, and give the network of the studio."""

import subprocess
import sys

import click
import pytest

from coevo.cli.learn import command
from coevo.io import read_run
from coevo.studio.run_options import (
    FILES,
    READING,
    SEARCH,
    format_python,
    format_terminal,
    make_command,
)

# A value of each option that is not its default.
VALUES = {
    "method": "tabu", "score": "bic", "ess": 2.5, "parent_penalty": 1.5, "sparse_penalty": 0.5,
    "max_table": 500, "random_state": 7, "max_parents": 3, "max_time": 60.0, "max_generations": 4,
    "patience": 3, "target": -5.25, "constraints": "known file.json",
    "drop": ["a", "b c", "d,e", "-x"],
    "types": "types.json", "discretise": "quantile", "bins": 4, "missing": "em",
    "missing_labels": ["?", "n a"], "keep_labels": ["age=-99"], "merge": {"s": {"Y": "yes"}},
    "decimal": ",", "strict": True, "bootstraps": 5,
    "encoding": "latin-1", "delimiter": ";", "comment": "", "header": False, "skiprows": 2,
    "skipfooter": 1, "bad_rows": "skip", "keep_empty_rows": True, "rename": {"a=b": "c d"},
    "value_labels": False, "sheet": "two", "units_row": True, "duplicates": "keep",
    "totals": "drop", "weights": "n", "cluster_by": "ward",
}  # fmt: skip


def test_every_option_of_the_studio_is_tried():
    assert VALUES.keys() == {*SEARCH, *READING, *FILES}


@pytest.mark.parametrize("name", VALUES)
def test_the_command_reads_its_words_back(name):
    """The parser of the command itself is the oracle."""
    words = make_command("rows.csv", "run", {name: VALUES[name]})
    context = command.make_context("learn", words[1:])
    option = {"random_state": "seed"}.get(name, name)
    found = context.params[option]
    expected = ["s:Y=yes"] if name == "merge" else VALUES[name]  # `read_data` reads both forms
    assert (list(found) if isinstance(found, tuple) else found) == expected
    typed = click.core.ParameterSource.COMMANDLINE
    given = {one.name for one in command.params if context.get_parameter_source(one.name) == typed}
    assert given == {"data", "output", option}


def test_both_texts_give_the_same_network(tmp_path):
    """Types, knowledge and search options, with a quote and a space in every name."""
    root = tmp_path / 'it\'s a "folder"'
    root.mkdir()
    rows = [f"{i % 7},{'a' if i % 3 else 'b'},{(i * i) % 11 + 0.5},{i % 2}" for i in range(300)]
    (root / "my table.csv").write_text("n,letter,x y,odd\n" + "\n".join(rows) + "\n")
    (root / "types.json").write_text('{"x y": {"type": "continuous", "cuts": [2.5, 6.5]}}')
    (root / "known.json").write_text('{"forbidden": [["n", "odd"]], "max_parents": 2}')
    options = {
        "types": "types.json", "constraints": "known.json", "method": "hill_climb",
        "score": "bdeu", "ess": 1.0, "random_state": 3, "drop": ["letter"],
    }  # fmt: skip
    line = format_terminal(root, "my table.csv", "by command", options)
    program = f'coevo() {{ "{sys.executable}" -m coevo "$@"; }}\n'
    subprocess.run(["sh", "-e", "-c", program + line], check=True, capture_output=True)
    text = format_python(root, "my table.csv", "by python", options)
    subprocess.run([sys.executable, "-c", text], check=True, capture_output=True)
    by_command, by_python = (read_run(root / f"by {name}") for name in ("command", "python"))
    assert by_command.network == by_python.network
    assert by_command.facts["score"] == by_python.facts["score"]
    cut = ("below_2.5", "from_2.5_to_6.5", "from_6.5")
    assert by_command.network.variable("x y").states == cut
    assert "letter" not in by_command.network.dag.nodes
