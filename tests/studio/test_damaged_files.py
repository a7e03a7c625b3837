"""A workspace whose files were changed by hand: each view answers with a sentence."""

import json
import shutil

import pytest

import coevo
from coevo.studio.events import read_events

FACTS = "does not hold the facts of a run."


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """Return a folder with a table and a run that was learned from it."""
    folder = tmp_path_factory.mktemp("learned")
    rows = coevo.sample(coevo.load_network("earthquake"), 2000, random_state=1)
    coevo.write_data(rows, folder / "t.csv")
    coevo.learn(folder / "t.csv", output=folder / "one", method="k2", bootstraps=2, progress=False)
    given = {"table": "t", "options": {"method": "k2", "bootstraps": 2}, "command": ["learn"]}
    (folder / "one" / "studio.json").write_text(json.dumps(given))
    return folder


@pytest.fixture
def workspace(studio, learned):
    """Return the folder of a workspace with one table, and one run that was started in it."""
    space = studio.workspace
    space.store_table("t", "t.csv", lambda path: shutil.copy(learned / "t.csv", path))
    shutil.copytree(learned / "one", space.root / "runs" / "one")
    return space.root


def change(path, **values):
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def ask(client, path):
    answer = client.get(f"/api/{path}")
    return answer.status_code, answer.json().get("error", "")


@pytest.mark.parametrize(
    ("values", "views"),
    [
        ({"arcs": [5]}, ["explore/run:one", "confidence/one", "confidence/one/graph.svg"]),
        ({"columns": {"a": []}}, ["confidence/one"]),
        ({"bootstraps": {"arcs": [True]}}, ["explore/run:one", "export/run:one/report"]),
        ({"decisions": [1]}, ["explore/run:one", "compare/run:one/run:one"]),
    ],
)
def test_facts_of_other_types(client, workspace, values, views):
    path = workspace / "runs" / "one" / "run.json"
    change(path, **values)
    for view in views:
        assert ask(client, view) == (400, f"{str(path)!r} is damaged: it {FACTS}")


def test_gains_of_other_types(client, workspace):
    path = workspace / "runs" / "one" / "run.json"
    first, second, *others = json.loads(path.read_text())["arcs"]
    change(path, arcs=[{**first, "gain": [1]}, second, *others])
    for view in ("explore/run:one", "compare/run:one/run:one"):
        status, error = ask(client, view)
        assert status == 400, view
        assert error.endswith(FACTS)


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ({"table": 5}, "The run 'one' is damaged: studio.json does not say how it began."),
        ({"options": []}, "The run 'one' is damaged: studio.json does not say how it began."),
        ({"options": {"x": 1}}, "The studio has no option 'x'."),
    ],
)
def test_a_record_of_the_start_of_a_run_that_is_damaged(client, workspace, values, error):
    change(workspace / "runs" / "one" / "studio.json", **values)
    for view in ("runs/one", "export/run:one"):
        assert ask(client, view) == (400, error)
    assert client.post("/api/confidence/one", json={"bootstraps": 2}).json()["error"] == error
    assert client.post("/api/runs/one/resume", json={}).json()["error"] == error
    assert ask(client, "workspace")[0] == 200
    assert ask(client, "predict/run:one")[0] == 200


def test_what_json_cannot_hold(client, workspace):
    (workspace / "runs" / "one" / "job.json").write_text('{"error": "\\ud800"}')
    assert ask(client, "runs/one") == (
        400,
        "A file of the workspace holds a number that is not finite, or text that is not Unicode.",
    )


CONTENTS = [
    *(b"\xff\xfe\0\0", b"5", b"[1]", b"{}", b"[" * 5000, b'{"options": {"drop": 5}, "arcs": 5}'),
    *(b'{"state": [], "options": "abc"}', b'{"arcs": [{}], "tiers": [5], "table": 5, "file": []}'),
]
FILES = [
    *("tables/t/t.csv", "tables/t/table.json", "tables/t/types.json", "tables/t/constraints.json"),
    *(f"runs/one/{name}" for name in ("job.json", "studio.json", "run.json", "events.jsonl")),
    *(f"runs/one/{name}" for name in ("history.jsonl", "model.bif", "checkpoint.npz")),
    *("runs/one/strength/strength.json", "runs/one/posterior/posterior.json", "networks/n.bif"),
]
VIEWS = {  # by the folder that they read
    "tables": ["tables", "tables/t", "tables/t/settings", "tables/t/knowledge", "explore/run:one"],
    "runs": [
        *("runs/one", "explore/run:one", "confidence/one", "confidence/one/graph.svg"),
        *("predict/run:one", "export/run:one", "export/run:one/report", "compare/run:one/run:one"),
    ],
    "networks": ["explore", "predict", "export", "explore/file:n.bif", "export/file:n.bif"],
}


@pytest.mark.parametrize("file", FILES)
def test_any_damaged_file_is_a_sentence_and_hides_nothing_else(
    client, studio, workspace, monkeypatch, file
):
    monkeypatch.setattr(studio.jobs, "submit", lambda *args: None)  # no process
    good = studio.workspace.make_folder("runs", "good")
    (good / "job.json").write_text('{"state": "done"}')
    path = workspace / file
    path.parent.mkdir(exist_ok=True)
    for content in CONTENTS:
        path.write_bytes(content)
        found = client.get("/api/workspace").json()
        assert [run["name"] for run in found["runs"]] == ["good", "one"], content
        assert set(studio.jobs.resume_interrupted()) <= {"one"}
        for view in VIEWS[file.split("/")[0]]:
            answer = client.get(f"/api/{view}")
            assert answer.status_code < 500, (content, view, answer.text)
            if answer.status_code >= 400:
                assert answer.json()["error"].endswith("."), (content, view, answer.text)


def test_a_damaged_state_is_one_damaged_run_that_can_be_resumed(client, studio, workspace):
    path = workspace / "runs" / "one" / "job.json"
    sentence = "it does not hold the state of a run. Resume the run to write it anew."
    for options in (5, "abc", [1], None):
        path.write_text(json.dumps({"state": "interrupted", "options": options}))
        assert studio.jobs.resume_interrupted() == []
        (run,) = client.get("/api/workspace").json()["runs"]
        assert (run["state"], run["table"]) == ("damaged", "t")
        assert run["error"] == f"{str(path)!r} is damaged: {sentence}"
    rows = b'{"kind": "rows", "rows": [[0, 1, 0.1, 0, -5.5, 2]], "left": null, "fraction": null}\n'
    damaged = [b'{"kind": "ro', b"[1]", b"{}", b'{"kind": "rows", "rows": 5}', b"\xff\0"]
    damaged += [b'{"kind": "rows", "rows": []}', b'{"kind": "rows", "rows": [[NaN]]}']
    (path.parent / "events.jsonl").write_bytes(rows + b"\n".join(damaged) + b"\n" + rows)
    assert [event["kind"] for event in read_events(path.parent)] == ["rows", "rows"]
    assert client.post("/api/runs/one/resume", json={}).status_code == 200
    assert studio.jobs.wait("one", 120)
    run = client.get("/api/runs/one").json()
    assert (run["state"], run["error"]) == ("done", None)
    assert read_events(path.parent)[-1]["kind"] == "done"


def test_a_table_without_its_file(client, workspace):
    (workspace / "tables" / "t" / "t.csv").unlink()
    error = "There is no file of the table 't'."
    assert client.get("/api/tables/t").json()["unreadable"] == error
    assert ask(client, "tables/t/knowledge") == (404, error)


def test_a_length_without_end_and_a_password_that_is_not_unicode(client, studio):
    studio.rules.password = "password"
    headers = {"content-length": "9" * 5000}
    assert client.post("/api/runs", headers=headers, content=b"{}").status_code == 413
    answer = client.post(
        "/login", content=b'{"password": "\\ud800"}', headers={"content-type": "application/json"}
    )
    assert answer.status_code == 400
