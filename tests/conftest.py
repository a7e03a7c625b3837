"""What all tests share: a seed that can be chosen, and the command line in a process."""

import contextlib
import os
from dataclasses import replace

import pytest

from helpers import forked
from helpers.slow import is_slow


def pytest_addoption(parser):
    parser.addoption("--seed", type=int, default=0, help="seed of every seeded test")


def pytest_collection_modifyitems(items):
    for item in items:
        if is_slow(item):
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def seed(request):
    """Return a seed; no test may depend on its value."""
    return request.config.getoption("--seed")


@pytest.fixture(autouse=True)
def _no_colour_no_terminal(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    assert os.environ["NO_COLOR"]


@pytest.fixture(autouse=True)
def _no_wait_for_the_disk(monkeypatch):
    """Let files reach the disk whenever the system likes: no test cuts the power."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture
def stopped_search(monkeypatch):
    """Press Ctrl-C in every search of `learn`, `posterior` and `prove`."""
    from coevo.learning.task import LearnTask

    def search(task, callbacks):
        found = original(task, callbacks)
        return replace(found, search=replace(found.search, stop_reason="interrupt"))

    original = LearnTask.search
    monkeypatch.setattr(LearnTask, "search", search)


@pytest.fixture(scope="session")
def dask_workers():
    """Return two workers of one thread each, as ``--cluster local:2`` has them.

    All tests share them: starting a cluster takes longer than most tests.
    """
    pytest.importorskip("distributed")
    from coevo.parallel import open_workers

    with contextlib.ExitStack() as opened:
        with forked.instead_of_spawned():
            workers = opened.enter_context(open_workers(cluster="local:2"))
        yield workers


@pytest.fixture(scope="module", autouse=True)
def _forked_workers(request):
    """Fork what coevo would spawn, unless a module is marked: see `helpers.forked`."""
    is_marked = request.node.get_closest_marker("spawned") is not None
    with contextlib.nullcontext() if is_marked else forked.instead_of_spawned():
        yield


@pytest.fixture(scope="module")
def browser():
    """Return a headless browser; the test is skipped if there is none."""
    from helpers.browser import launch_browser

    with launch_browser() as launched:
        yield launched
