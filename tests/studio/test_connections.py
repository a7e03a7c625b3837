"""Connections that stop in the middle: they get an answer, and never keep the owner out."""

import json
import socket
import threading
from contextlib import ExitStack, suppress

import pytest

from coevo.studio import server as connections
from helpers.waiting import wait_for

HALF = b"GET /assets/app.js HTTP/1.1\r\nhost: "
LOGIN = b"POST /login HTTP/1.1\r\ncontent-length: 50\r\n"


def connect(server):
    return socket.create_connection(("127.0.0.1", server.studio.rules.port), timeout=60)


def make_host(server):
    return b"host: 127.0.0.1:%d\r\n" % server.studio.rules.port


def ask(server, path=b"/api/workspace", secret=None):
    """Send a request of the owner on a new connection; return its status."""
    rules = server.studio.rules
    with connect(server) as made:
        cookie = f"cookie: {rules.cookie}={secret or rules.secret}\r\n".encode()
        head = b"GET %s HTTP/1.1\r\n" % path + make_host(server) + cookie
        made.sendall(head + b"connection: close\r\n\r\n")
        return read_answer(made)[0]


def read_answer(made):
    """Return the status and the body of the one answer on a connection, which then ends."""
    content = b""
    while part := made.recv(1 << 16):
        content += part
    if not content:
        return None, None
    head, _, body = content.partition(b"\r\n\r\n")
    return int(head.split()[1]), body


def read_one(made):
    """Read one answer with a known length, on a connection that stays open."""
    content = b""
    while b"\r\n\r\n" not in content:
        content += made.recv(1 << 16)
    head, _, body = content.partition(b"\r\n\r\n")
    lines = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    while len(body) < int(lines[b"content-length"]):
        body += made.recv(1 << 16)
    return int(head.split()[1])


def finish_one_request(server, made):
    made.sendall(b"GET /assets/icon.svg HTTP/1.1\r\n" + make_host(server) + b"\r\n")
    assert read_one(made) == 200


def stop_in_second_head(server, made):
    finish_one_request(server, made)
    made.sendall(HALF)


def stop_in_body(server, made):
    origin = b"origin: http://127.0.0.1:%d\r\n" % server.studio.rules.port
    made.sendall(LOGIN + make_host(server) + origin + b"content-type: application/json\r\n\r\n{")


def never_read(server, made):
    """Ask for more than the buffers hold, and take nothing of it."""
    one = b"GET /assets/views/data.js HTTP/1.1\r\n" + make_host(server) + b"\r\n"
    made.sendall(one * 800)


STOPS = {
    "silent": lambda server, made: None,
    "first head": lambda server, made: made.sendall(HALF),
    "second head": stop_in_second_head,
    "body": stop_in_body,
    "answers that nobody reads": never_read,
}


@pytest.mark.parametrize("stop", STOPS)
def test_the_owner_gets_in_whatever_strangers_leave_open(server, monkeypatch, stop):
    monkeypatch.setattr(connections, "MAX_STRANGERS", 8)
    with ExitStack() as stack:
        for _ in range(12):
            STOPS[stop](server, stack.enter_context(connect(server)))
            assert ask(server) == 200
        assert ask(server, secret="wrong") == 401


def test_who_must_go_in_the_middle_of_a_request_gets_an_answer(server, monkeypatch):
    monkeypatch.setattr(connections, "MAX_STRANGERS", 2)
    with ExitStack() as stack:
        first = stack.enter_context(connect(server))
        stop_in_second_head(server, first)
        silent = stack.enter_context(connect(server))
        finish_one_request(server, silent)  # it rests
        for _ in range(2):
            finish_one_request(server, stack.enter_context(connect(server)))
        status, body = read_answer(first)
        assert status == 503
        assert json.loads(body) == {"error": "Too many connections are open. Try again."}
        assert read_answer(silent) == (None, None)  # it asked for nothing


def test_a_request_with_the_secret_is_read_before_its_connection_makes_room(server, monkeypatch):
    """Of many connections that come at once, those of the owner have not been read yet."""
    monkeypatch.setattr(connections, "MAX_STRANGERS", 1)
    monkeypatch.setattr(connections, "GRACE_SECONDS", 60)
    with ExitStack() as stack:
        own = stack.enter_context(connect(server))
        for _ in range(3):
            finish_one_request(server, stack.enter_context(connect(server)))
        rules = server.studio.rules
        cookie = f"cookie: {rules.cookie}={rules.secret}\r\n".encode()
        own.sendall(b"GET /api/workspace HTTP/1.1\r\n" + make_host(server) + cookie + b"\r\n")
        assert read_one(own) == 200


@pytest.mark.parametrize("stop", ["first head", "second head"])
def test_the_head_of_each_request_must_come_soon(server, monkeypatch, stop):
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.01)
    monkeypatch.setattr(connections, "STRANGER_SECONDS", 60)
    with connect(server) as made:
        if stop == "second head":
            monkeypatch.setattr(connections, "HEAD_SECONDS", 60)
            finish_one_request(server, made)
            monkeypatch.setattr(connections, "HEAD_SECONDS", 0.01)
        status, body = None, None
        with suppress(OSError):  # the time was over before the first byte
            made.sendall(HALF)
            status, body = read_answer(made)
    assert status in (408, None)
    if body:
        assert json.loads(body) == {"error": "The request took too long. Send it again."}


def test_a_body_that_stops_is_answered(server, monkeypatch):
    monkeypatch.setattr("coevo.studio.security.STRANGER_SECONDS", 0.01)
    with connect(server) as made:
        stop_in_body(server, made)
        status, body = read_answer(made)
    assert status == 408
    assert json.loads(body) == {"error": "The rest of the request has not come. Send it again."}


def test_a_body_of_the_owner_that_stops_is_answered(server, monkeypatch):
    monkeypatch.setattr("coevo.studio.security.BODY_SECONDS", 0.01)
    rules = server.studio.rules
    with connect(server) as made:
        head = b"POST /api/upload/tables?file=half.csv HTTP/1.1\r\ncontent-length: 50\r\n"
        key = f"authorization: Bearer {rules.secret}\r\n\r\na,b".encode()
        made.sendall(head + make_host(server) + key)
        assert read_answer(made)[0] == 408
    assert "half" not in server.studio.workspace.list_names("tables")


def test_answers_that_nobody_takes_end_the_connection(server, monkeypatch):
    strangers, pause = server.server.config.http_protocol_class.strangers, threading.Event()
    with connect(server) as made:
        finish_one_request(server, made)
        monkeypatch.setattr(connections, "STRANGER_SECONDS", 0.01)
        never_read(server, made)
        own = made.getsockname()
        for _ in range(6000):  # the client sees no end before it reads, so the server is asked
            if not any(one.client == own for one in list(strangers)):
                return
            pause.wait(0.01)
        raise AssertionError("it stays open")


def test_a_request_whose_body_is_not_read_ends_its_connection(server):
    """Its rest could come for ever, byte by byte."""
    with connect(server) as made:
        head = b"POST /api/nothing HTTP/1.1\r\ncontent-length: 50\r\n"
        key = f"authorization: Bearer {server.studio.rules.secret}\r\n\r\n{{".encode()
        made.sendall(head + make_host(server) + key)
        assert read_answer(made)[0] == 404


def test_too_many_requests_of_the_owner_are_answered(client, monkeypatch):
    monkeypatch.setattr("coevo.studio.security.MAX_OPEN", 0)
    answer = client.get("/api/workspace")
    sentence = "Too many requests are open. Close some pages of the studio."
    assert (answer.status_code, answer.json()) == (503, {"error": sentence})
    client.cookies.clear()
    assert client.get("/login").status_code == 200  # a stranger has another limit


def test_streams_that_are_asked_for_at_once_are_counted(server, monkeypatch):
    """Each gets an answer, and other requests of the owner have room."""
    rules, feed = server.studio.rules, server.studio.feed
    wait_for(lambda: feed.n_streams == 0)  # those of tabs of other tests, which are closed
    monkeypatch.setattr("coevo.studio.routes.shell.MAX_STREAMS", 4)
    cookie = f"cookie: {rules.cookie}={rules.secret}\r\n".encode()
    head = b"GET /api/events HTTP/1.1\r\n" + make_host(server) + cookie + b"\r\n"
    with ExitStack() as stack:
        made = [stack.enter_context(connect(server)) for _ in range(20)]
        for one in made:
            one.sendall(head)
        answers = [one.recv(1 << 16).split()[1] for one in made]
        assert (answers.count(b"200"), answers.count(b"503")) == (4, 16)
        assert ask(server) == 200
