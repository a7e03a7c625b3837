"""Records of files have the declared types, or are damaged."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from coevo.errors import FormatError
from coevo.io.journal import Journal, RecordFormat
from coevo.io.knowledge import check_record

VALUES = [None, True, -1, 2.5, 1e400, float("nan"), "a", "", [], ["a"], {}, {"a": 1}, [["a", 1]]]


@dataclass(frozen=True)
class Run:
    name: str
    number: int
    score: float | None
    arcs: tuple[tuple[str, str], ...]
    seconds: float

    @property
    def key(self):
        return self.name, self.number


RUN = Run("asia", 3, -1.5, (("a", "b"),), 0.5)
FORMAT = RecordFormat(
    ("name", "number"),
    ("seconds",),
    lambda line: Run(**{**line, "arcs": tuple(map(tuple, line["arcs"]))}, seconds=0.0),
    lambda line: {"seconds": float(line["seconds"])},
)


def open_journal(folder):
    journal = Journal(folder, FORMAT, {"seed": 1}, lambda key: key)
    journal.open()
    return journal


def test_a_valid_record():
    check_record(RUN)
    check_record(Run("", 0, None, (), 1))


@pytest.mark.parametrize("field", ["name", "number", "score", "arcs"])
def test_other_types_are_damage_and_never_another_error(tmp_path, field):
    journal = open_journal(tmp_path)
    journal.add(RUN)
    assert list(open_journal(tmp_path).records.values()) == [RUN]
    path = tmp_path / "runs.jsonl"
    line = json.loads(path.read_text())
    messages = []
    for value in VALUES:
        path.write_text(json.dumps({**line, field: value}) + "\n")
        try:
            open_journal(tmp_path)
        except FormatError as error:
            messages.append(str(error))
    assert len(messages) >= len(VALUES) - 4
    assert set(messages) == {
        f"Line 1 of {str(path)!r} is damaged. Remove it or give another folder."
    }


@pytest.mark.parametrize("line", ["3", "[]", '"a"', "null", "[" * 5000, "{}", '{"name": []}'])
@pytest.mark.parametrize("name", ["runs.jsonl", "times.jsonl", "experiment.json"])
def test_lines_of_other_types(tmp_path, name, line):
    open_journal(tmp_path).add(RUN)
    (tmp_path / name).write_text(line + "\n")
    with pytest.raises((FormatError, OSError)) as caught:
        open_journal(tmp_path)
    assert str(tmp_path) in str(caught.value)
