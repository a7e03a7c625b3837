"""CCGA still gives the answers that it gave before its core served other problems."""

import json

import pytest

from helpers.ccga_answers import CASES, FILE, make_answers

STORED = json.loads(FILE.read_text(encoding="utf-8"))
FLOATS = ("score", "scores", "details")


@pytest.mark.parametrize("name", CASES)
def test_no_answer_has_changed(name):
    found = make_answers(name)
    assert found.keys() == STORED[name].keys()
    for part, stored in STORED[name].items():
        discrete = {key: value for key, value in stored.items() if key not in FLOATS}
        assert {key: found[part][key] for key in discrete} == discrete
        for key in FLOATS:
            assert found[part][key] == pytest.approx(stored[key], rel=1e-12)


def test_every_case_is_stored():
    assert list(STORED) == list(CASES)
