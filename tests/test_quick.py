"""The list of slow tests names what exists."""

import pytest

from helpers.slow import SLOW_FIXTURES, SLOW_NAMES, SLOW_PATHS, TESTS


@pytest.mark.parametrize("path", SLOW_PATHS)
def test_slow_paths_exist(path):
    assert (TESTS / path).exists(), f"Update tests/helpers/slow.py: tests/{path} does not exist."


@pytest.mark.parametrize("part", [*SLOW_NAMES, *SLOW_FIXTURES])
def test_slow_names_are_used(part):
    sources = [*TESTS.rglob("test_*.py"), *TESTS.glob("helpers/contract*.py")]
    assert any(part in path.read_text(encoding="utf-8") for path in sources)
