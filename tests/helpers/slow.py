"""Which tests `make quick` leaves out.

A test is slow if it starts processes, a cluster or a browser, or if it takes seconds because
it searches, uses the largest network or tries hundreds of random cases (Hypothesis). `make
test` runs all tests. The list is here and nowhere else; a test checks that it names what exists.
"""

from pathlib import Path

import pytest
from hypothesis import is_hypothesis_test

TESTS = Path(__file__).resolve().parents[1]

# folders and files below tests/
SLOW_PATHS = (
    "cli/test_any_table.py",
    "cli/test_bench_command.py",
    "cli/test_learn_bootstraps.py",
    "cli/test_learn_killed.py",
    "cli/test_learn_missing.py",
    "cli/test_paper_command.py",
    "cli/test_strength_command.py",
    "cli/test_terminal.py",
    "docs/test_clusters_page.py",
    "docs",
    "examples",
    "experiments",
    "fuzz",
    "view/test_inspection_browser.py",
    "io/test_bif_properties.py",
    "io/test_format_properties.py",
    "io/test_growth.py",
    "learning/test_bootstrap.py",
    "learning/test_bootstrap_missing.py",
    "learning/test_checkpoints_missing.py",
    "missing/test_policies.py",
    "parallel",
    "view/test_notebook_browser.py",
    "view/test_browser.py",
    "view/test_browser_neighbourhood.py",
    "view/test_browser_panel.py",
    "score/test_against_peers.py",
    "score/test_arc_weights.py",
    "search/test_ccma.py",
    "search/test_long_runs.py",
    "studio",
    "test_interrupts.py",
)

# parts of the names of tests
SLOW_NAMES = (
    "any_number_of_rows",
    "ctrl_c",
    "hash_seed",
    "in_a_terminal",
    "interrupt",
    "largest",
    "munin",
    "of_every_size",
    "process",
    "published_networks",
    "needs_no_scipy",
    "without_scikit_learn",
)

SLOW_FIXTURES = ("dask_workers",)


def is_slow(item: pytest.Item) -> bool:
    """Return whether a test belongs to `make test` only."""
    if item.path.is_relative_to(TESTS):
        place = item.path.relative_to(TESTS)
        names = {place.as_posix(), *(parent.as_posix() for parent in place.parents)}
        if not names.isdisjoint(SLOW_PATHS):
            return True
    return (
        any(part in item.name for part in SLOW_NAMES)
        or any(name in getattr(item, "fixturenames", ()) for name in SLOW_FIXTURES)
        or is_hypothesis_test(getattr(item, "obj", None))
    )
