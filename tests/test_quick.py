"""The lists of slow tests and of modules for mutants name what exists."""

import pytest

from helpers.slow import SLOW_FIXTURES, SLOW_NAMES, SLOW_PATHS, TESTS
from mutants import MODULES, ROOT


@pytest.mark.parametrize("path", SLOW_PATHS)
def test_slow_paths_exist(path):
    assert (TESTS / path).exists(), f"Update tests/helpers/slow.py: tests/{path} does not exist."


@pytest.mark.parametrize("part", [*SLOW_NAMES, *SLOW_FIXTURES])
def test_slow_names_are_used(part):
    sources = [*TESTS.rglob("test_*.py"), *TESTS.glob("helpers/contract*.py")]
    assert any(part in path.read_text(encoding="utf-8") for path in sources)


@pytest.mark.parametrize("module", MODULES)
def test_the_modules_of_mutants_and_their_tests_exist(module):
    assert (ROOT / "src/coevo" / module).is_file(), f"Update tests/mutants.py: no {module}."
    for path in MODULES[module]:
        assert (TESTS / path).is_file(), f"Update tests/mutants.py: no tests/{path}."
