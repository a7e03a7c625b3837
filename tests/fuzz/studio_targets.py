"""What the studio reads: HTTP requests, and the files of its workspace.

A request is a recipe in JSON, so that the mutations of JSON work on it. It is answered in this
process, without a socket. An answer is a fault if it is an error of the server, or if it shows
something of the workspace to a request without the secret.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import weakref
from unittest import mock
from urllib.parse import quote

import coevo
from coevo.bundled import load_network
from coevo.io import write_model
from coevo.studio import Studio, Workspace, make_app
from coevo.studio.routes import shell
from coevo.studio.security import Rules
from fuzz.mutate import _json, mutate
from fuzz.target import Target

SECRET = "secret0123456789"
HOST = "127.0.0.1:80"
HEADERS = {"host": HOST, "origin": f"http://{HOST}", "cookie": f"coevo_studio_80={SECRET}"}
JSON = {**HEADERS, "content-type": "application/json"}
OPTIONS = {"method": "k2", "max_generations": 2, "score": "bic", "random_state": 3}
TYPES = {"types": {"asia": "categorical"}, "options": {"missing": "drop", "bins": 3}}
KNOWN = {"required": [["smoke", "lung"]], "tiers": [["asia", "smoke"], ["lung"]]}
REQUESTS = [
    ("GET", "/", {"token": SECRET}, None),
    ("GET", "/assets/index.html", {}, None),
    ("GET", "/api/workspace", {}, None),
    ("GET", "/api/events", {"run": "one", "after": "1"}, None),
    ("GET", "/api/tables/asia", {}, None),
    ("PUT", "/api/tables/asia/settings", {}, TYPES),
    ("POST", "/api/tables/asia/undo", {}, {"kind": "constant", "columns": ["tub"]}),
    ("POST", "/api/tables/asia/bins", {}, {"column": "asia", "cuts": [0.5]}),
    ("POST", "/api/tables/open", {}, {"example": "patients"}),
    ("POST", "/api/tables/open", {}, {"network": "cancer", "rows": 20, "seed": 1}),
    ("POST", "/api/upload/tables", {"file": "new.csv"}, "a,b\nx,1\ny,2\nx,2\ny,1\n"),
    ("PUT", "/api/tables/asia/knowledge", {}, KNOWN),
    ("POST", "/api/tables/asia/knowledge/check", {}, KNOWN),
    ("POST", "/api/tables/asia/knowledge/import", {"file": "a.json"}, KNOWN),
    ("GET", "/api/learn/choices", {}, None),
    ("POST", "/api/runs", {}, {"table": "asia", "name": "two", "options": OPTIONS}),
    ("POST", "/api/runs/one/resume", {}, {"options": {"max_generations": 3}}),
    ("POST", "/api/learn/drawing", {}, {"variables": ["a", "b"], "arcs": [[0, 1]]}),
    ("GET", "/api/runs/one", {}, None),
    ("GET", "/api/explore/run:one", {"bars": "1"}, None),
    ("POST", "/api/explore/bundled:asia/beliefs", {}, {"given": {"smoke": "yes"}}),
    ("POST", "/api/explore/file:cancer.bif/information", {}, {"target": "Cancer", "given": {}}),
    ("GET", "/api/compare/run:one/run:one", {}, None),
    ("POST", "/api/confidence/one", {}, {"bootstraps": 2}),
    ("GET", "/api/confidence/one/graph.svg", {"least": "0.5"}, None),
    ("GET", "/api/predict/run:one/rows", {"table": "asia", "target": "lung"}, None),
    ("GET", "/api/export/run:one/bif", {"shown": "1"}, None),
    ("DELETE", "/api/tables/asia", {}, None),
    ("POST", "/login", {}, {"password": "wrong"}),
]
FILES = [
    "tables/asia/table.json", "tables/asia/types.json", "tables/asia/constraints.json",
    "runs/one/job.json", "runs/one/studio.json", "runs/one/events.jsonl", "runs/one/run.json",
]  # fmt: skip
VIEWS = ["workspace", "tables/asia", "tables/asia/knowledge", "runs/one", "explore/run:one",
         "confidence/one", "predict/run:one", "export/run:one", "events?run=one"]  # fmt: skip


class Server:
    """A studio with a small workspace, which is as it was before each request."""

    def __init__(self, folder) -> None:
        self.space, self._copy = folder / "space", folder / "copy"
        _fill(Workspace(self._copy))
        self._loop = asyncio.new_event_loop()
        weakref.finalize(self, self._loop.close)
        self._is_new = True

    def _restart(self):
        """Begin with the workspace as it was; no job ever starts."""
        shutil.rmtree(self.space, ignore_errors=True)
        shutil.copytree(self._copy, self.space)
        rules = Rules(secret=SECRET, port=80, password="password")
        self._studio = Studio(Workspace(self.space), rules)
        self._studio.jobs._n_parallel = 0
        self._app = make_app(self._studio)

    def ask(self, method, path, query=b"", headers=(), body=b""):
        """Return the status and the body of an answer."""
        if self._is_new:
            self._restart()
        self._is_new = method not in ("GET", "HEAD")
        scope = {
            "type": "http", "http_version": "1.1", "method": method, "path": path, "scheme": "http",
            "raw_path": quote(path).encode(), "query_string": query, "headers": list(headers),
            "server": ("127.0.0.1", 80), "client": ("127.0.0.1", 5000), "root_path": "",
        }  # fmt: skip
        waiting = [{"type": "http.request", "body": body, "more_body": False}]
        sent = []

        async def receive():
            return waiting.pop(0) if waiting else {"type": "http.disconnect"}

        async def send(message):
            sent.append(message)

        with mock.patch.object(shell, "LOGIN_PAUSE", 0.0):
            self._loop.run_until_complete(self._app(scope, receive, send))
        if self._is_new:
            self._studio.end()
        return sent[0]["status"], b"".join(one.get("body", b"") for one in sent[1:])

    def change_files(self):
        """Let the next request start anew."""
        self._is_new = True


def _fill(space):
    rows = coevo.sample(load_network("asia"), 40, random_state=1)
    space.store_table("asia", "asia.csv", lambda path: coevo.write_data(rows, path))
    table = space.open_table("asia")
    table.types_path.write_text(
        json.dumps({"asia": "categorical", "lung": {"type": "categorical"}})
    )
    table.constraints_path.write_text(json.dumps(KNOWN))
    run = space.make_folder("runs", "one")
    coevo.learn(table.path, output=run, method="k2", bootstraps=2, random_state=1, progress=False)
    job = {"state": "done", "kind": "learn", "options": {"resume": False}, "error": None}
    (run / "job.json").write_text(json.dumps(job))
    studio = {"table": "asia", "options": OPTIONS, "command": ["coevo", "learn"]}
    (run / "studio.json").write_text(json.dumps(studio))
    events = [{"kind": "opened", "variables": ["asia", "lung"]}, {"kind": "done"}]
    (run / "events.jsonl").write_text("".join(json.dumps(one) + "\n" for one in events))
    (space.root / "networks").mkdir(exist_ok=True)
    write_model(load_network("cancer"), space.root / "networks" / "cancer.bif")


def make_studio_targets(folder):
    """Yield the requests, and the files of the workspace."""
    folder.mkdir()
    server = Server(folder)
    names = ("method", "path", "query", "headers", "body")
    seeds = []
    for method, path, query, body in REQUESTS:
        headers = JSON if isinstance(body, dict) else HEADERS
        recipe = dict(zip(names, (method, path, query, headers, body), strict=True))
        seeds.append(json.dumps(recipe).encode())
    yield Target("request", seeds, lambda data: _ask(server, data), _mutate_request)
    contents = [(name, (folder / "copy" / name).read_bytes()) for name in FILES]
    files = [name.encode() + b"\n" + content for name, content in contents]
    yield Target("studio-files", files, lambda data: _show_all(server, data), _mutate_file)


def _mutate_file(data, rng, others):
    """Change a file of the workspace; its name is the first line."""
    name, _, content = data.partition(b"\n")
    return name + b"\n" + mutate(content, rng, [other.partition(b"\n")[2] for other in others])


def _mutate_request(data, rng, others):
    """Change values of a recipe; sometimes its text."""
    if rng.random() < 0.15:
        return mutate(data, rng, others)
    for _ in range(rng.choice((1, 1, 2, 3))):
        data = _json(data, rng, others)
    recipe = json.loads(data)
    if rng.random() < 0.7 and isinstance(recipe, dict):
        recipe["headers"] = JSON if recipe.get("body") else HEADERS
    if rng.random() < 0.2 and isinstance(recipe, dict):
        text = mutate(str(recipe.get("path")).encode("utf-8", "replace"), rng, others).decode(
            "utf-8", "replace"
        )
        recipe["path"] = "/" + text.lstrip("/")
    return json.dumps(recipe).encode()


def _ask(server, data):
    """Send the request of a recipe, if a server could receive it."""
    try:
        recipe = json.loads(data)
        method, path = str(recipe["method"]), str(recipe["path"])
        query = "&".join(f"{quote(str(k))}={quote(str(v))}" for k, v in recipe["query"].items())
        headers = [(str(k).lower().encode(), str(v).encode()) for k, v in recipe["headers"].items()]
        body = recipe["body"]
        content = body if isinstance(body, str) else "" if body is None else json.dumps(body)
        sent = content.encode("utf-8", "surrogatepass")
        path.encode()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    are_plain = all(
        re.fullmatch(rb"[!#$%&'*+.^_`|~0-9a-z-]+", name) and not set(value) & set(b"\r\n\0")
        for name, value in headers
    )
    if not (are_plain and re.fullmatch("[A-Z]+", method) and path.startswith("/")):
        return None  # the server of HTTP refuses it
    status, answer = server.ask(method, path, query.encode(), headers, sent)
    knows = SECRET.encode() in data
    assert status < 500, (status, answer)
    assert knows or status >= 300 or not path.startswith("/api"), (status, path)
    return status


def _show_all(server, data):
    """Ask for every view of a workspace with a changed file."""
    server.change_files()
    server._restart()
    server._is_new = False
    name, _, content = data.partition(b"\n")
    (server.space / name.decode()).write_bytes(content)
    headers = [(key.encode(), value.encode()) for key, value in HEADERS.items()]
    for view in VIEWS:
        path, _, query = view.partition("?")
        status, answer = server.ask("GET", f"/api/{path}", query.encode(), headers)
        assert status < 500, (view, status, answer)
    server._studio.end()
    server.change_files()
