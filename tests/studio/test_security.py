"""Attacks on the studio: each line of defence is tried by the attack that it is there for."""

import ast
import asyncio
import hmac
import json
import os
import re
import warnings
from importlib.resources import files
from pathlib import Path

import pytest
from starlette.exceptions import HTTPException

from coevo.cli.studio import command as studio_command
from coevo.errors import CoevoError, FileError
from coevo.studio import make_app
from coevo.studio.run_options import check_given
from coevo.studio.security import POLICY, Guard, LoginAttempts, Rules
from coevo.studio.server import make_address
from coevo.studio.workspace import make_name, read_object

BASE = "http://127.0.0.1"
OWN = {"origin": BASE}
LEARN = {"table": "t", "options": {}}


@pytest.fixture
def stranger(studio):
    """Return a client without the secret, and without an Origin."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from starlette.testclient import TestClient
    with TestClient(make_app(studio), base_url=BASE) as made:
        yield made


@pytest.fixture
def cookie(studio):
    return {"cookie": f"{studio.rules.cookie}={studio.rules.secret}"}


def refused(answer, status, sentence):
    assert (answer.status_code, answer.json()) == (status, {"error": sentence})
    assert answer.headers["content-security-policy"] == POLICY


# --- DNS rebinding: a page whose name points to this machine


@pytest.mark.parametrize(
    "host",
    [
        *(
            "evil.example",
            "evil.example:80",
            "127.0.0.1.evil.example",
            "127.0.0.1:81",
            "",
            "[::1]:81",
        ),
        *("127.0.0.2", "localhost.", "127.0.0.1:80:80", "0.0.0.0", "127.1"),
    ],
)
def test_another_host_is_refused(stranger, cookie, host):
    answer = stranger.get("/api/workspace", headers={**cookie, "host": host})
    sentence = "This address does not belong to the studio. Open the one that it printed."
    refused(answer, 421, sentence)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:80", "localhost", "LOCALHOST:80", "[::1]"]
)
def test_the_own_hosts_are_served(stranger, cookie, host):
    assert stranger.get("/api/workspace", headers={**cookie, "host": host}).status_code == 200


def test_two_hosts_are_refused(stranger, cookie):
    headers = [("cookie", cookie["cookie"]), ("host", "127.0.0.1"), ("host", "evil.example")]
    assert stranger.get("/api/workspace", headers=headers).status_code == 421


def test_an_open_studio_takes_addresses_but_no_names():
    rules = Rules(port=8000, allows_addresses=True, hosts=("studio.example",))
    assert rules.is_own_host("192.168.0.7:8000")
    assert rules.is_own_host("[fe80::1]:8000")
    assert rules.is_own_host("studio.example:8000")
    assert not rules.is_own_host("evil.example:8000")
    assert not rules.is_own_host("192.168.0.7:8001")


# --- CSRF: a page elsewhere that uses the cookie of the studio


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:81", "http://localhost"],
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_another_origin_is_refused(stranger, cookie, origin, method):
    answer = stranger.request(method, "/api/runs", headers={**cookie, "origin": origin})
    refused(answer, 403, "The request comes from a page that is not the studio's.")


def test_a_change_without_an_origin_is_refused(stranger, cookie):
    answer = stranger.post("/api/runs", json=LEARN, headers=cookie)
    refused(answer, 403, "The request comes from a page that is not the studio's.")


def test_a_form_of_another_page_cannot_send_json(client):
    text = json.dumps(LEARN)
    answer = client.post("/api/runs", content=text, headers={"content-type": "text/plain"})
    refused(answer, 415, "The body must be JSON.")


def test_a_program_with_the_secret_needs_no_origin(stranger, studio):
    headers = {"authorization": f"Bearer {studio.rules.secret}"}
    answer = stranger.post("/api/runs", json=LEARN, headers=headers)
    refused(answer, 404, "There is no table 't' in the workspace.")
    wrong = {"authorization": f"Bearer {studio.rules.secret}x"}
    assert stranger.post("/api/runs", json=LEARN, headers=wrong).status_code == 403


# --- the secret


@pytest.mark.parametrize(
    "path", ["/", "/api/workspace", "/api/events", "/?token=wrong", "/?token="]
)
def test_nothing_without_the_secret(stranger, path):
    answer = stranger.get(path, headers=OWN)
    refused(answer, 401, "The secret is missing. Open the address that the studio printed.")


def test_a_part_of_the_secret_is_not_enough(stranger, studio):
    for wrong in (studio.rules.secret[:-1], studio.rules.secret + "A", "", "ä"):
        value = f"{studio.rules.cookie}={wrong}".encode()
        answer = stranger.get("/api/workspace", headers={"cookie": value})
        assert answer.status_code == 401


def test_the_cookie_of_another_port_is_refused(stranger, studio):
    headers = {"cookie": f"coevo_studio_81={studio.rules.secret}"}
    assert stranger.get("/api/workspace", headers=headers).status_code == 401


@pytest.mark.parametrize(
    "others",
    [
        *(
            "theme=dark mode",
            'a={"b": [1, "c"]}',
            "mail=a@b.c",
            "x=[1]",
            "bare",
            "=",
            "",
            ";;",
            ",",
            "a,b=c",
        ),
        *(
            'q="half',
            "a==;b=\\",
            "ü=ü",
            "a=\x7f",
            "expires=Mon, 01 Jan 2029",
            "$Version=1",
            "a\tb=c\td",
        ),
    ],
)
def test_cookies_of_other_programs_do_not_lock_the_owner_out(stranger, studio, others):
    """All ports of a host share their cookies, so any program of the machine can set some."""
    own = f"{studio.rules.cookie}={studio.rules.secret}"
    wrong = f"{studio.rules.cookie}=wrong"
    for texts in ([f"{others}; {own}"], [f"{own};{others}"], [others, own], [own, others]):
        headers = [("cookie", text.encode("latin-1")) for text in texts]
        assert stranger.get("/api/workspace", headers=headers).status_code == 200
        both = [("cookie", f"{wrong}; {texts[0]}".encode("latin-1")), *headers[1:]]
        assert stranger.get("/api/workspace", headers=both).status_code == 200
    headers = {"cookie": f"{others}; {wrong}".encode("latin-1")}
    assert stranger.get("/api/workspace", headers=headers).status_code == 401


def test_the_first_request_receives_the_cookie(stranger, studio):
    path = f"/?token={studio.rules.secret}"
    answer = stranger.get(path, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    given = answer.headers["set-cookie"]
    assert given.split("; ")[1:] == ["Path=/", "HttpOnly", "SameSite=Strict"]
    assert stranger.get("/api/workspace").status_code == 200


def test_the_secret_is_compared_in_constant_time(stranger, studio, monkeypatch):
    compared = []
    original = hmac.compare_digest

    def compare(one, two):
        compared.append((one, two))
        return original(one, two)

    monkeypatch.setattr(hmac, "compare_digest", compare)
    secret = studio.rules.secret.encode()
    stranger.get("/?token=guess")
    stranger.get("/api/workspace", headers={"cookie": f"{studio.rules.cookie}=guess"})
    stranger.get("/api/workspace", headers={"authorization": "Bearer guess"})
    assert set(compared) == {(b"guess", secret)}
    studio.rules.password = "a long password"
    stranger.post("/login", json={"password": "guess"}, headers=OWN)
    assert (b"guess", b"a long password") in compared


def test_every_studio_has_its_own_secret():
    found = {Rules().secret for _ in range(20)}
    assert len(found) == 20
    assert min(map(len, found)) >= 43  # 256 bits


# --- a studio that other machines can reach


def test_the_login_gives_the_cookie_for_the_password_only(stranger, studio, monkeypatch):
    monkeypatch.setattr("coevo.studio.routes.shell.LOGIN_PAUSE", 0.0)
    studio.rules.password = "correct horse"
    for wrong in ("", "correct hors", "correct horsé", None, 7):
        answer = stranger.post("/login", json={"password": wrong}, headers=OWN)
        refused(answer, 401, "The password is wrong.")
    assert stranger.get("/api/workspace").status_code == 401
    assert stranger.post("/login", json={"password": "correct horse"}).status_code == 403
    answer = stranger.post("/login", json={"password": "correct horse"}, headers=OWN)
    assert answer.status_code == 200
    assert stranger.get("/api/workspace").status_code == 200


def test_without_a_password_nobody_logs_in(stranger, monkeypatch):
    monkeypatch.setattr("coevo.studio.routes.shell.LOGIN_PAUSE", 0.0)
    for guess in ("", "None", None):
        answer = stranger.post("/login", json={"password": guess}, headers=OWN)
        refused(answer, 401, "The password is wrong.")


# --- large requests


def test_a_large_body_is_refused_by_its_length(client, studio):
    studio.rules.max_body = 1000
    answer = client.post("/api/runs", content=b"x" * 1001)
    refused(answer, 413, "The request is larger than 1,000 bytes.")
    headers = {"content-length": "-1"}
    assert client.post("/api/runs", content=b"{}", headers=headers).status_code == 413


@pytest.mark.parametrize(("path", "limit"), [("/api/runs", 1000), ("/api/upload/x", 5000)])
def test_a_large_body_without_a_length_is_not_read_to_its_end(studio, cookie, path, limit):
    studio.rules.max_body, studio.rules.max_upload = 1000, 5000
    n_asked, answers = 0, []

    async def receive():
        nonlocal n_asked
        n_asked += 1
        return {"type": "http.request", "body": b"x" * 100, "more_body": True}

    async def send(message):
        answers.append(message)

    async def read_all(scope, receive, send):
        while (await receive())["more_body"]:
            pass

    texts = {"host": "127.0.0.1", **OWN, **cookie, "content-type": "application/json"}
    headers = [(name.encode(), value.encode()) for name, value in texts.items()]
    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "query_string": b"",
        "headers": headers,
    }
    with pytest.raises(HTTPException) as caught:
        asyncio.run(Guard(read_all, studio.rules)(scope, receive, send))
    assert (caught.value.status_code, n_asked) == (413, limit // 100 + 1)


def test_the_answer_to_a_body_that_is_too_large(client, studio):
    studio.rules.max_body = 1000
    headers = {"content-type": "application/json"}
    answer = client.post("/api/runs", content=iter([b"x" * 1001]), headers=headers)
    refused(answer, 413, "The request is larger than 1,000 bytes.")


# --- paths

OUTSIDE = [
    *(
        "..",
        ".",
        "../../secret",
        "/etc/passwd",
        "a/b",
        "a\\b",
        "..\\x",
        "C:",
        "a\0b",
        "",
        " a",
        "a.",
    ),
    *("con", "NUL.csv", ".hidden", "-rf", "a" * 101, "a\nb", "ä", "a ", "~root", "$HOME"),
]


@pytest.mark.parametrize("name", OUTSIDE)
@pytest.mark.parametrize("kind", ["tables", "runs", "networks"])
def test_a_name_cannot_leave_the_workspace(studio, kind, name):
    (studio.workspace.root.parent / "secret").write_text("secret")
    with pytest.raises(FileError, match="cannot be a name"):
        studio.workspace.locate(kind, name)
    with pytest.raises(FileError, match="cannot be a name"):
        studio.workspace.make_folder(kind, name)


@pytest.mark.parametrize(
    "path", ["%2e%2e", "..%2f..%2fsecret", "%2fetc%2fpasswd", "a%00b", "a%5cb"]
)
def test_an_address_cannot_leave_the_workspace(client, path):
    for address in (f"/api/runs/{path}", f"/api/events?run={path}"):
        assert client.get(address).status_code in (400, 404)
    assert client.delete(f"/api/runs/{path}").status_code in (400, 404, 405)


def test_a_link_cannot_leave_the_workspace(client, studio, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "run.json").write_text("{}")
    (studio.workspace.root / "runs" / "link").symlink_to(outside)
    sentence = "'link' is a link out of the workspace. Name it on the command line."
    refused(client.get("/api/runs/link"), 400, sentence)
    refused(client.delete("/api/runs/link"), 400, sentence)
    assert client.get("/api/workspace").json()["runs"] == []
    assert (outside / "run.json").exists()


@pytest.mark.parametrize("file", ["../../../secret.csv", "/etc/passwd", "link.csv", 7, None])
def test_a_table_names_a_file_of_its_own_folder(studio, tmp_path, file):
    secret = tmp_path / "secret.csv"
    secret.write_text("a,b\n1,2\n")
    folder = studio.workspace.make_folder("tables", "t")
    (folder / "link.csv").symlink_to(secret)
    (folder / "table.json").write_text(json.dumps({"file": file}))
    with pytest.raises(CoevoError):
        _ = studio.workspace.open_table("t").path


def test_what_was_said_about_a_table_is_in_its_folder(client, studio, tmp_path):
    secret = tmp_path / "secret.json"
    secret.write_text("{}")
    studio.workspace.store_table("t", "t.csv", lambda target: target.write_text("a,b\n1,2\n2,1\n"))
    folder = studio.workspace.locate("tables", "t")
    for name in ("types.json", "constraints.json"):
        (folder / name).symlink_to(secret)
        sentence = f"{str(folder / name)!r} is a link out of its folder. Replace it by a copy."
        refused(client.post("/api/runs", json=LEARN), 400, sentence)
        refused(client.get("/api/tables/t/knowledge/file"), 400, sentence)
        (folder / name).unlink()


@pytest.mark.parametrize("file", ["events.jsonl", "run.json", "job.json", "strength"])
def test_a_link_in_a_run_cannot_leave_its_folder(client, studio, tmp_path, file):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "strength.json").write_text('{"arcs": []}')
    folder = studio.workspace.make_folder("runs", "evil")
    link = folder / file
    link.symlink_to(outside if file == "strength" else outside / "strength.json")
    sentence = f"{str(link)!r} is a link out of its folder. Replace it by a copy."
    for address in ("/api/runs/evil", "/api/events?run=evil", "/api/confidence/evil"):
        refused(client.get(address), 400, sentence)
    assert client.get("/api/workspace").json()["runs"] == []


def test_a_link_within_a_run_is_a_file_of_it(client, studio):
    folder = studio.workspace.make_folder("runs", "one")
    (folder / "first.json").write_text('{"state": "done"}')
    (folder / "job.json").symlink_to("first.json")
    assert client.get("/api/workspace").json()["runs"][0]["state"] == "done"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no FIFOs")
@pytest.mark.parametrize("file", ["job.json", "events.jsonl"])
def test_a_fifo_does_not_block_the_studio(client, studio, file):
    folder = studio.workspace.make_folder("runs", "one")
    os.mkfifo(folder / file)
    sentence = f"{str(folder / file)!r} is neither a file nor a folder."
    refused(client.get("/api/events?run=one"), 400, sentence)
    assert client.get("/api/workspace").json()["runs"] == []
    assert studio.jobs.resume_interrupted() == []


def test_the_address_for_the_browser_enters_once(studio, client):
    """Other users of the machine see the command line of the browser."""
    address = make_address(studio, "127.0.0.1", studio.rules.make_ticket())
    assert studio.rules.secret not in address
    path = address.removeprefix("http://127.0.0.1:80")
    client.cookies.clear()
    foreign = client.get(path, headers={"host": "example.org"}, follow_redirects=False)
    assert foreign.status_code == 421  # and the ticket is not used up
    entered = client.get(path, follow_redirects=False)
    assert (entered.status_code, entered.headers["location"]) == (303, "/")
    client.cookies.clear()
    assert client.get(path, follow_redirects=False).status_code == 401


def test_an_empty_ticket_does_not_enter(client):
    client.cookies.clear()
    assert client.get("/?token=", follow_redirects=False).status_code == 401


@pytest.mark.parametrize("host", ["127.0.0.2", "[::1]", "::1", "LOCALHOST", "127.1"])
def test_any_spelling_of_this_machine_is_its_own(host, monkeypatch, tmp_path):
    served = {}
    monkeypatch.setattr("coevo.studio.serve", lambda studio, **more: served.update(more, s=studio))
    arguments = ["--workspace", str(tmp_path / "space"), "--host", host, "--no-browser"]
    studio_command.callback(**studio_command.make_context("studio", arguments).params)
    studio = served["s"]
    studio.rules.port = 8888
    place = make_address(studio, served["host"]).removeprefix("http://").split("/")[0]
    assert studio.rules.password is None
    assert studio.rules.is_own_host(place)
    studio.end()


def test_guesses_of_one_address_do_not_delay_another():
    async def try_all():
        attempts, order = LoginAttempts(), []

        async def guess(address, pause):
            try:
                async with attempts.take_turn(address):
                    await pause.wait()
                    order.append(address)
            except HTTPException as error:
                order.append(error.status_code)

        never, now = asyncio.Event(), asyncio.Event()
        now.set()
        guesses = [asyncio.create_task(guess("a", never)) for _ in range(7)]
        await asyncio.sleep(0)
        await guess("b", now)
        never.set()
        await asyncio.gather(*guesses)
        return order, attempts._queues

    assert asyncio.run(try_all()) == ([429, 429, "b", *["a"] * 5], {})


@pytest.mark.parametrize("path", [f"{'a' * 300}.js", f"page/{'a/' * 200}b.js"])
def test_a_long_path_is_no_file_of_the_page(client, path):
    refused(client.get(f"/assets/{path}"), 404, "There is no such file.")


def test_text_that_no_file_can_hold_is_refused(client):
    answer = client.post(
        "/api/runs",
        content=b'{"options": {"comment": "\\ud800"}}',
        headers={"content-type": "application/json"},
    )
    refused(answer, 400, "The body holds text that is not Unicode.")


@pytest.mark.parametrize("path", ["a\0b", "a" * 5000])
def test_a_path_that_cannot_be_one_is_refused(client, path):
    answer = client.post("/api/tables/open", json={"path": path})
    refused(answer, 400, "The path is not that of a file.")


def test_a_path_outside_is_used_if_the_user_named_it(studio, tmp_path):
    outside = tmp_path / "a run"
    outside.mkdir()
    name = studio.workspace.add_named("runs", outside)
    assert studio.workspace.locate("runs", name) == outside
    studio.workspace.remove("runs", name)
    assert outside.is_dir()  # it is forgotten, not removed


@pytest.mark.parametrize("text", ["<b>&.csv", "../../x.csv", "", "con", "\u202etxt.exe", "-rf /"])
def test_any_text_gives_a_harmless_name(studio, text):
    name = make_name(text)
    assert studio.workspace.make_folder("tables", name).parent == studio.workspace.root / "tables"


@pytest.mark.parametrize(
    "path",
    ["../server.py", "..%2fserver.py", "page/..%2f..%2fmodel.py", "%2fetc%2fpasswd", "views"],
)
def test_assets_are_only_those_of_the_page(client, path):
    assert client.get(f"/assets/{path}").status_code == 404
    assert client.get("/assets/app.js").status_code == 200


@pytest.mark.parametrize("content", ["[1]", "{", "\0", '"text"'])
def test_damaged_files_are_refused(tmp_path, content):
    path = tmp_path / "table.json"
    path.write_text(content)
    with pytest.raises(CoevoError, match="damaged"):
        read_object(path)


# --- code: nothing that comes with a request is run


@pytest.mark.parametrize(
    "method", ["evil.py:Evil", "os:system", "/tmp/evil.py:Evil", "ccma:file=x.py", "no_such", 7]
)
def test_a_method_is_one_of_coevo(client, studio, method):
    path = studio.workspace.root.parent / "evil.py"
    path.write_text("raise SystemExit('run')")
    studio.workspace.store_table("t", "t.csv", lambda target: target.write_text("a,b\n1,2\n2,1\n"))
    answer = client.post("/api/runs", json={"table": "t", "options": {"method": method}})
    assert answer.status_code == 400
    assert list((studio.workspace.root / "runs").iterdir()) == []


@pytest.mark.parametrize(
    "option",
    ["types", "constraints", "start", "shards", "cluster", "connection", "query", "output"],
)
def test_an_option_cannot_name_a_file(client, studio, option):
    studio.workspace.store_table("t", "t.csv", lambda target: target.write_text("a,b\n1,2\n2,1\n"))
    answer = client.post("/api/runs", json={"table": "t", "options": {option: "/etc/passwd"}})
    refused(answer, 400, f"The studio has no option {option!r}.")


def test_no_module_of_the_studio_can_read_pickles():
    forbidden = {"pickle", "cPickle", "marshal", "shelve", "dill", "joblib", "eval", "exec"}
    for path in sorted(Path(str(files("coevo.studio"))).rglob("*.py")):
        names = {
            name
            for node in ast.walk(ast.parse(path.read_text()))
            for name in (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [str(node.module)]
                if isinstance(node, ast.ImportFrom)
                else [node.id]
                if isinstance(node, ast.Name)
                else []
            )
        }
        assert not names & forbidden, path


# --- markup


def test_every_answer_has_the_policy(client, stranger):
    for answer in (
        *(client.get(path) for path in ("/", "/api/workspace", "/assets/app.js", "/nothing")),
        stranger.get("/"),
    ):
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in answer.headers
    assert "unsafe" not in POLICY
    assert client.get("/api/workspace").headers["cache-control"] == "no-store"


def test_the_page_has_no_inline_code_and_loads_nothing_from_elsewhere():
    assets = Path(str(files("coevo.studio"))) / "assets"
    for path in sorted(assets.rglob("*.html")):
        text = path.read_text()
        assert re.findall(r"<script(?![^>]*\bsrc=)", text) == []
        assert re.findall(r"<style|\sstyle=|\son\w+=|https?://", text) == []
    for path in sorted(assets.rglob("*.js")):
        text = path.read_text()
        found = re.findall(
            r"\b(innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval|new Function)\b", text
        )
        assert found == [], path
        assert re.findall(r"https?://(?!www\.w3\.org/)", text) == [], path


def test_web_sockets_are_refused(stranger):
    from starlette.websockets import WebSocketDisconnect

    with pytest.raises(WebSocketDisconnect), stranger.websocket_connect("/api/events"):
        pass


EVIL = {"table": "t", "command": [], "options": {"method": "ccma"}}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"method": "evil.py:Evil"}, "'method' of the studio must be one of"),
        ({"types": "/etc/passwd"}, "studio.json names a file elsewhere"),
        ({"constraints": "../../secret.json"}, "studio.json names a file elsewhere"),
        ({"start": "/etc/passwd"}, "The studio has no option 'start'."),
        (None, "studio.json does not say how it began"),
    ],
)
def test_a_run_folder_from_elsewhere_is_not_trusted(change, sentence):
    given = {} if change is None else {**EVIL, "options": {**EVIL["options"], **change}}
    with pytest.raises(CoevoError, match=re.escape(sentence)):
        check_given(given, "r")
    assert check_given(EVIL, "r") == EVIL
