"""A workspace whose files were changed by hand: each view answers with a sentence."""

import json

import pytest

import coevo

FACTS = "does not hold the facts of a run."


@pytest.fixture
def workspace(studio):
    """Return the folder of a workspace with one table, and one run that was started in it."""
    space = studio.workspace
    rows = coevo.sample(coevo.load_network("earthquake"), 2000, random_state=1)
    space.store_table("t", "t.csv", lambda path: coevo.write_data(rows, path))
    run = space.make_folder("runs", "one")
    coevo.learn(rows, output=run, method="k2", bootstraps=2, random_state=1, progress=False)
    given = {"table": "t", "options": {"method": "k2"}, "command": ["learn"]}
    (run / "studio.json").write_text(json.dumps(given))
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


@pytest.mark.parametrize("text", ['{"state": 1e999}', '{"error": "\\ud800"}'])
def test_what_json_cannot_hold(client, workspace, text):
    (workspace / "runs" / "one" / "job.json").write_text(text)
    assert ask(client, "runs/one") == (
        400,
        "A file of the workspace holds a number that is not finite, or text that is not Unicode.",
    )


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
