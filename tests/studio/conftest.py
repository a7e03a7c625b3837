"""A studio for tests: through its routes, and in a real browser.

All browser tests share one server and one browser. Each uses names of its own for tables and runs.
"""

import contextlib
import threading
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest

from coevo.studio import Studio, Workspace, make_app
from coevo.studio.server import make_address, make_server, open_socket
from helpers.browser import open_page
from helpers.studio_pages import wait_until_live

PORT = 80  # of requests without a server; TestClient leaves it out


@pytest.fixture
def studio(tmp_path):
    """Return a studio with an empty workspace, without a server."""
    made = Studio(Workspace(tmp_path / "space"))
    made.rules.port = PORT
    yield made
    made.close()
    made.end()


@pytest.fixture
def client(studio):
    """Return a client that has the secret, as a page of the studio has it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Starlette would rather have the successor of httpx
        from starlette.testclient import TestClient

    headers = {"origin": "http://127.0.0.1"}
    cookies = {studio.rules.cookie: studio.rules.secret}
    with TestClient(
        make_app(studio), base_url="http://127.0.0.1", headers=headers, cookies=cookies
    ) as made:
        yield made


@contextlib.contextmanager
def run_server(folder: Path):
    """Yield a server in a thread: its studio, its address with the secret, and its host."""
    studio = Studio(Workspace(folder))
    listener = open_socket("127.0.0.1", 0)
    studio.rules.port = listener.getsockname()[1]
    server = make_server(studio)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        address = make_address(studio, "127.0.0.1")
        base = f"http://127.0.0.1:{studio.rules.port}"
        yield SimpleNamespace(studio=studio, address=address, base=base, server=server)
    finally:
        server.should_exit = True
        thread.join()
        studio.end()
        listener.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """Return the one server of all browser tests."""
    with run_server(tmp_path_factory.mktemp("studio") / "space") as running:
        yield running


@pytest.fixture
def open_tab(browser, server):
    """Return a function that opens the studio at an address after ``#``, as ``/learn/NAME``.

    At the end there must be no message on the console, and no request to any other server.
    """
    seen, tabs, allowed = [], [], []

    def call(place="/", **options):
        tab = open_page(browser, **options)
        tabs.append(tab)
        tab.on("console", lambda message: seen.append(_describe_message(message)))
        tab.on("pageerror", lambda error: seen.append(str(error)))
        tab.on(
            "request", lambda asked: None if _is_own(asked.url, server) else seen.append(asked.url)
        )
        tab.goto(f"{server.address}#{place}")
        tab.wait_for_selector("#view > div")
        wait_until_live(tab)
        tab.allowed = allowed  # beginnings of messages that a test expects
        return tab

    yield call
    for tab in tabs:
        tab.context.close()
    assert [text for text in seen if not text.startswith(tuple(allowed))] == []


def _is_own(url, server):
    return url.startswith((f"{server.base}/", "blob:", "data:"))


def _describe_message(message):
    """Return a message of the console; that of a request that failed names its address."""
    is_request = message.text.startswith("Failed to load resource")
    return f"{message.text} {message.location['url']}" if is_request else message.text
