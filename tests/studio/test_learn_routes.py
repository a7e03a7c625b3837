"""Searches of the studio: they run in processes, stop, resume, and equal those of coevo learn."""

import json
import threading

import pytest
from click.testing import CliRunner

import coevo
from coevo.cli import cli
from coevo.data import write_data
from coevo.io import read_run
from coevo.search.species import list_credit, summarise_species
from coevo.studio.events import read_events
from coevo.studio.run_options import SEARCH
from coevo.studio.workspace import read_object
from helpers.values import as_values

FEW = {"method": "ccma", "max_generations": 8, "random_state": 3, "bootstraps": 0}


@pytest.fixture
def table(studio):
    """Return the name of a table in the workspace: 300 rows of asia."""
    rows = coevo.sample(coevo.load_network("asia"), 300, random_state=1)
    return studio.workspace.store_table("asia", "asia.csv", lambda path: write_data(rows, path))


def run_to_end(client, studio, table, **options):
    answer = client.post("/api/runs", json={"table": table, "options": {**FEW, **options}})
    assert answer.status_code == 201, answer.text
    name = answer.json()["name"]
    assert studio.jobs.wait(name, 120)
    return name


def arcs_of(studio, name):
    return read_run(studio.workspace.locate("runs", name)).network.dag.arcs


def test_a_search_equals_that_of_the_command_line(client, studio, table):
    name = run_to_end(client, studio, table)
    facts = client.get(f"/api/runs/{name}").json()
    assert facts["state"] == "done", facts
    assert facts["command"] == (
        f"coevo learn tables/asia/asia.csv --method ccma --max-generations 8 --seed 3 "
        f"--bootstraps 0 -o 'runs/{name}'"
    )
    path = studio.workspace.open_table(table).path
    same = coevo.learn(path, **as_values(FEW))
    assert arcs_of(studio, name) == same.network.dag.arcs
    assert facts["saved"]["score"] == same.search.score
    events = read_events(studio.workspace.locate("runs", name))
    rows = [row for event in events if event["kind"] == "rows" for row in event["rows"]]
    assert [row[0] for row in rows] == list(range(9))
    assert rows[-1][4] == same.search.score
    (opened,) = [event for event in events if event["kind"] == "opened"]
    last = [event for event in events if event["kind"] == "network"][-1]
    names = opened["variables"]
    assert {(names[p], names[c]) for p, c in last["arcs"]} == set(same.search.dag.arcs)
    assert events[-1]["kind"] == "done"

    credit = [row for event in events for row in event.get("credit", ())]
    expected = [[row.generation, *list_credit(row.details)] for row in same.history]
    expected = [row for row in expected if any(row[1:])]
    assert len(expected) > 2
    for found, row in zip(credit, expected, strict=True):
        assert found == pytest.approx(row, rel=1e-3)
    shown = [event for event in events if event["kind"] == "species"][-1]
    summary = summarise_species(same.search.state.get_populations())
    assert {key: shown[key] for key in summary} == json.loads(json.dumps(summary))


def wait_for(studio, name, kind):
    """Wait until a search has told something: the feed of the page would show it."""
    folder = studio.workspace.locate("runs", name)
    seen, woken = studio.jobs._on_events, threading.Event()

    def on_events(changed, unsaved=()):
        seen(changed, unsaved)
        if any(event["kind"] == kind for event in read_events(folder)):
            woken.set()

    studio.jobs._on_events = on_events
    on_events(folder)
    assert woken.wait(120)
    studio.jobs._on_events = seen


def test_stop_extend_and_continue_on_the_command_line(client, studio, table, monkeypatch):
    options = {"method": "ccga:population=8", "max_generations": 1_000_000, "bootstraps": 0}
    answer = client.post("/api/runs", json={"table": table, "name": "long", "options": options})
    assert answer.json() == {"name": "long"}
    wait_for(studio, "long", "rows")
    refuse = client.delete("/api/runs/long")
    assert refuse.json() == {"error": "The run 'long' is being worked on. Stop it first."}
    waiting = client.post("/api/runs", json={"table": table, "options": FEW}).json()["name"]
    assert client.get(f"/api/runs/{waiting}").json()["state"] == "queued"
    assert client.post(f"/api/runs/{waiting}/stop", json={}).status_code == 200
    assert client.get(f"/api/runs/{waiting}").json()["state"] == "stopped"
    assert client.post("/api/runs/long/stop", json={}).status_code == 200
    assert studio.jobs.wait("long", 120)
    stopped = client.get("/api/runs/long").json()
    assert (stopped["state"], stopped["has_network"]) == ("stopped", True)
    assert stopped["saved"]["stop_reason"] == "interrupt"
    n_done = stopped["saved"]["generations"]

    extended = {"options": {"max_generations": n_done + 3}}
    assert client.post("/api/runs/long/resume", json=extended).status_code == 200
    assert studio.jobs.wait("long", 120)
    facts = client.get("/api/runs/long").json()
    assert (facts["state"], facts["saved"]["generations"]) == ("done", n_done + 3)
    path = studio.workspace.open_table(table).path
    same = coevo.learn(path, **as_values({**options, "max_generations": n_done + 3}))
    assert arcs_of(studio, "long") == same.network.dag.arcs

    monkeypatch.chdir(studio.workspace.root)
    words = read_object(studio.workspace.locate("runs", "long") / "studio.json")["command"]
    words[words.index("--max-generations") + 1] = str(n_done + 6)
    found = CliRunner().invoke(cli, [*words, "--resume"], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    longer = coevo.learn(path, **as_values({**options, "max_generations": n_done + 6}))
    assert arcs_of(studio, "long") == longer.network.dag.arcs
    assert client.get("/api/runs/long").json()["saved"]["generations"] == n_done + 6


def test_a_run_of_the_command_line_is_shown(client, studio, tmp_path):
    rows = coevo.sample(coevo.load_network("asia"), 200, random_state=2)
    coevo.learn(rows, output=tmp_path / "mine", **as_values(FEW))
    name = studio.workspace.add_named("runs", tmp_path / "mine")
    facts = client.get(f"/api/runs/{name}").json()
    assert (facts["state"], facts["has_network"], facts["has_events"]) == ("done", True, False)
    assert [row[0] for row in facts["saved"]["rows"]] == list(range(9))
    assert sorted(facts["saved"]["variables"]) == sorted(rows.names)
    saved = read_run(tmp_path / "mine")
    assert facts["saved"]["species"] == saved.facts["species"]
    assert [row[0] for row in facts["saved"]["credit"]] == [
        row["generation"] for row in saved.history if any(list_credit(row))
    ]
    answer = client.post(f"/api/runs/{name}/resume", json={})
    assert answer.json() == {
        "error": f"The run {name!r} was not started in the studio. "
        "Resume it with coevo learn --resume."
    }


def test_a_failed_search_says_why(client, studio):
    text = "a,b\n" + "1,2\n" * 5
    studio.workspace.store_table("flat", "flat.csv", lambda path: path.write_text(text))
    name = run_to_end(client, studio, "flat")
    facts = client.get(f"/api/runs/{name}").json()
    with pytest.raises(coevo.CoevoError) as caught:
        coevo.learn(studio.workspace.open_table("flat").path, **as_values(FEW))
    assert (facts["state"], facts["error"]) == ("failed", str(caught.value))
    path = studio.workspace.open_table("flat").path
    path.write_text("a,b\n" + "1,2\n2,1\n" * 5)  # the user mends the table
    again = client.post(f"/api/runs/{name}/again").json()["name"]
    assert again == f"{name} 2"
    assert studio.jobs.wait(again, 60)
    mended = client.get(f"/api/runs/{again}").json()
    assert (mended["state"], mended["options"]) == ("done", facts["options"])
    (studio.workspace.root / "runs" / "other").mkdir()
    answer = client.post("/api/runs/other/again")
    assert answer.json() == {"error": "The run 'other' was not started in the studio."}


def test_a_search_survives_a_disk_without_space(client, studio, table):
    """A limit on the size of files, which processes inherit, stands in for a full disk."""
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    options = {"method": "ccma", "max_generations": 30, "random_state": 1}
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        name = client.post("/api/runs", json={"table": table, "options": options}).json()["name"]
        assert studio.jobs.wait(name, 60)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    failed = client.get(f"/api/runs/{name}").json()
    assert failed["state"] == "failed"
    assert failed["error"].startswith("The search has ended, but its files cannot be written: '")
    assert failed["error"].endswith(
        "File too large. Make room on the disk, then resume the run to write them."
    )
    assert client.post(f"/api/runs/{name}/resume", json={}).status_code == 200
    assert studio.jobs.wait(name, 60)
    done = client.get(f"/api/runs/{name}").json()
    assert (done["state"], done["error"], done["has_network"]) == ("done", None, True)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"max_parents": 0}, "'max_parents' of learn must be an int >= 1 or None; got 0."),
        ({"score": "bicc"}, "Did you mean 'bic'?"),
        ({"max_time": -1}, "'max_time' of learn must be a number >= 0 or None; got -1."),
        ({"ess": [[1]]}, "The option 'ess' must be a text, a number or a list of them."),
    ],
)
def test_wrong_options_are_refused_at_once(client, studio, table, options, sentence):
    answer = client.post("/api/runs", json={"table": table, "options": options})
    assert answer.status_code == 400
    assert answer.json()["error"].endswith(sentence)
    assert list((studio.workspace.root / "runs").iterdir()) == []


def test_types_and_constraints_of_the_table_belong_to_the_run(client, studio, table):
    stored = studio.workspace.open_table(table)
    stored.constraints_path.write_text(
        json.dumps({"forbidden": [["bronc", "dysp"], ["dysp", "bronc"]]})
    )
    stored.write_options({"drop": ["xray"]})
    name = run_to_end(client, studio, table)
    stored.constraints_path.unlink()  # later changes do not reach the run
    arcs, folder = arcs_of(studio, name), studio.workspace.locate("runs", name)
    assert {("bronc", "dysp"), ("dysp", "bronc")}.isdisjoint(arcs)
    assert "xray" not in {each for arc in arcs for each in arc}
    command = client.get(f"/api/runs/{name}").json()["command"]
    assert f"--constraints 'runs/{name}/constraints.json'" in command
    assert "--drop xray" in command
    assert (folder / "constraints.json").is_file()


def test_the_choices_of_the_form(client):
    found = client.get("/api/learn/choices").json()
    assert {"ccma", "ccga", "hill_climb"} <= {method["name"] for method in found["methods"]}
    assert {"bdeu", "bic", "k2"} <= set(found["scores"])
    fields = {field["name"]: field for field in found["fields"]}
    assert set(fields) <= set(SEARCH)
    assert fields["max_table"] == {
        "name": "max_table",
        "title": "Largest table",
        "placeholder": "10,000",
        "hint": "Cells of a conditional table.",
        "least": 1,
        "is_whole": True,
    }
    assert fields["target"]["least"] is None
    assert fields["random_state"]["is_whole"]


def test_a_live_network_is_drawn(client):
    body = {"variables": ["a", "<b>", "c"], "arcs": [[0, 1], [1, 2]]}
    drawing = client.post("/api/learn/drawing", json=body).json()
    assert drawing["names"] == ["<b>", "a", "c"]
    assert sorted(arc[:2] for arc in drawing["arcs"]) == [[0, 2], [1, 0]]


def test_a_live_network_has_the_directions_that_are_known(client, studio):
    body = {"variables": list("abcd"), "arcs": [[0, 1], [1, 2], [3, 2]], "run": "live"}
    folder = studio.workspace.make_folder("runs", "live")

    def draw():
        drawing = client.post("/api/learn/drawing", json=body).json()
        assert drawing["is_learned"]
        return [arc[2] for arc in drawing["arcs"]]

    assert draw() == [0, 1, 1]  # a - b is an edge of the class
    (folder / "constraints.json").write_text('{"roots": ["a"]}')
    assert draw() == [2, 1, 1]  # the constraints of the run direct it
    (folder / "constraints.json").write_text('{"roots": ["of another table"]}')
    assert draw() == [0, 1, 1]
    body["run"] = "none"
    assert client.post("/api/learn/drawing", json=body).status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        {"variables": ["a", "b"], "arcs": [[0, 1], [1, 0]]},
        {"variables": ["a", "b"], "arcs": [[0, 7]]},
        {"variables": None, "arcs": None},
        {"variables": ["a"], "arcs": [[0]]},
        {"variables": [str(i) for i in range(151)], "arcs": []},
    ],
)
def test_no_other_thing_is_drawn(client, body):
    assert client.post("/api/learn/drawing", json=body).status_code == 400


def test_a_run_is_compared_with_others_and_with_a_proof(client, studio, table):
    runs = studio.workspace.root / "runs"
    for name, score, options in [
        ("mine", -5.0, {}),
        ("better", -4.0, {}),
        ("worse", -6.0, {}),
        ("other score", -1.0, {"score": "bic"}),
    ]:
        (runs / name).mkdir()
        given = {"table": table, "options": options, "command": []}
        (runs / name / "studio.json").write_text(json.dumps(given))
        (runs / name / "history.jsonl").write_text("")
        facts = {"score": score, "proof": {"bound": -3.5}}
        (runs / name / "run.json").write_text(json.dumps(facts))
    found = client.get("/api/runs/mine").json()
    assert [level["name"] for level in found["levels"]] == ["better", "worse"]
    assert found["saved"]["bound"] == -3.5
