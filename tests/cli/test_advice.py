"""The advice of ``coevo inspect``: each option that it prints works when it is followed."""

from __future__ import annotations

import json
import shlex

import pytest

from coevo.view.inspection import inspect_table
from coevo.view.inspection.result import split_undo, suggest_option
from helpers.advice_tables import make_dirty, write_sources


@pytest.mark.parametrize("name", ["t.csv", "t.xlsx", "t.json", "t.parquet", "t.db"])
def test_every_hint_works_when_followed_literally(name, tmp_path, run):
    """The advice to give -999 as a missing label left -999, and made "n/a" a state."""
    list(write_sources(make_dirty(), tmp_path))
    path = str(tmp_path / name)
    found = inspect_table(path)
    assert {one.kind for one in found.decisions} >= {"missing_code", "missing_word", "spelling"}
    advised = [one for one in found.findings if suggest_option(one)]
    assert {one.kind for one in advised} >= {"sentinel", "missing_word", "synonyms", "rare_states"}
    for finding in advised:
        option = suggest_option(finding)
        assert finding.options is None or option in finding.sentence
        answer = json.loads(run("inspect", path, *shlex.split(option), "--format", "json").out)
        assert finding.sentence not in [one["sentence"] for one in answer["findings"]]
    for decision in found.decisions:
        if decision.kind == "missing":
            continue  # an option of `learn`; tests/cli/test_undo.py follows it there
        option = split_undo(decision)[-1]
        answer = json.loads(run("inspect", path, *shlex.split(option), "--format", "json").out)
        assert decision.sentence not in [one["sentence"] for one in answer["decisions"]]
