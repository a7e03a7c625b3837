"""The routes of Confidence, Predict and Export, on a run that the studio has learned."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import coevo
from coevo.bundled import load_network
from coevo.data import Variable
from coevo.io import parse_model, read_run
from coevo.io.formats import FORMATS
from coevo.io.run_folder import write_run
from coevo.network import BayesianNetwork
from coevo.studio.records import describe_confidence, draw_confidence
from coevo.studio.run_options import format_python, format_terminal
from helpers.values import as_values

PATIENTS = (Path(__file__).parents[2] / "examples" / "patients.csv").read_bytes()
OPTIONS = {"method": "hill_climb", "random_state": 3, "bootstraps": 0}
CUTS = {"age": {"type": "continuous", "cuts": [45]}, "patient_id": "ignore"}


@pytest.fixture
def run(client, studio):
    """Return the name of a run of the example table, learned by a job."""
    client.post("/api/upload/tables?file=patients.csv", content=PATIENTS)
    client.put("/api/tables/patients/settings", json={"types": CUTS, "options": {}})
    client.put("/api/tables/patients/knowledge", json={"forbidden": [["ill", "age"]]})
    body = {"table": "patients", "options": OPTIONS}
    name = client.post("/api/runs", json=body).json()["name"]
    assert studio.jobs.wait(name, 60)
    assert studio.jobs.read_state(name)["state"] == "done"
    return name


def test_confidence_predict_and_export_of_a_run(client, studio, run):
    """One run for all, because each search costs a process."""
    check_confidence(client, studio, run)
    check_prediction(client, studio, run)
    check_export(client, studio, run)
    check_export_without_the_table(client, run)


def check_export_without_the_table(client, run):
    assert client.delete("/api/tables/patients").status_code == 200
    texts = client.get(f"/api/export/run:{run}").json()["texts"]
    assert ["coevo report" in texts[0]["text"], "open_network" in texts[1]["text"]] == [True] * 2


def check_confidence(client, studio, run):
    before = client.get(f"/api/confidence/{run}").json()
    assert before["source"] is None
    for body, sentence in [
        ({}, "Ask for bootstrap samples, for the posterior, or for both."),
        ({"bootstraps": -1}, "'bootstraps' of the studio must be an int from 0 to 10,000; got -1."),
    ]:
        assert client.post(f"/api/confidence/{run}", json=body).json() == {"error": sentence}
    answer = client.post(f"/api/confidence/{run}", json={"bootstraps": 6, "posterior": True})
    assert answer.status_code == 202
    assert studio.jobs.wait(run, 120)
    found = client.get(f"/api/confidence/{run}").json()
    assert found["run"]["state"] == "done", found["run"]
    assert (found["source"], found["n_bootstraps"]) == ("bootstrap", 6)
    folder = studio.workspace.locate("runs", run)
    table = studio.workspace.open_table("patients")
    expected = coevo.learn(
        table.path,
        **as_values(
            {
                "types": table.types_path,
                "constraints": table.constraints_path,
                **OPTIONS,
                "bootstraps": 6,
            }
        ),
    )
    by_arc = {(arc["from"], arc["to"]): arc["strength"] for arc in found["arcs"]}
    assert by_arc == {(arc.parent, arc.child): arc.strength for arc in expected.bootstrap.arcs}
    edges = {frozenset((one["from"], one["to"])): one for one in found["posterior"]["edges"]}
    assert edges[frozenset(("crp", "ill"))]["probability"] > 0.99
    stored = json.loads((folder / "posterior" / "posterior.json").read_text())
    assert found["posterior"]["verdict"] == stored["verdict"]
    network = set(expected.dag.arcs)
    for arc in found["arcs"]:
        ends = (arc["from"], arc["to"])
        assert arc["in_network"] == (ends in network or ends[::-1] in network)
    events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    done = [one["done"] for one in events if one["kind"] == "samples"]
    assert sorted(done) == list(range(1, 7))
    picture = client.get(f"/api/confidence/{run}/graph.svg?least=0.3")
    assert picture.headers["content-type"] == "image/svg+xml"
    assert picture.text == draw_confidence(describe_confidence(folder), 0.3)
    wrong = client.get(f"/api/confidence/{run}/graph.svg?least=x")
    assert wrong.json() == {"error": "The strength must be a number; got 'x'."}


def check_prediction(client, studio, run):
    network = read_run(studio.workspace.locate("runs", run)).network
    path = studio.workspace.open_table("patients").path
    shown = client.get(f"/api/predict/run:{run}").json()
    assert shown["variables"] == [variable.name for variable in network.variables]
    assert shown["table"] == "patients"
    found = client.get(f"/api/predict/run:{run}/rows?table=patients&target=ill").json()
    prediction = network.predict(path, "ill")
    metrics = prediction.evaluate(path)
    assert found["metrics"] == json.loads(json.dumps(metrics.as_dict()))
    assert found["preview"][0]["predicted"] == prediction.states[0]
    curve = np.array(found["roc"]["yes"])
    assert curve[0].tolist() == [0, 0]
    assert curve[-1].tolist() == [1, 1]
    area = np.trapezoid(curve[:, 1], curve[:, 0])
    assert area == pytest.approx(metrics.per_state["yes"].auc, abs=1e-9)
    answer = client.get(f"/api/predict/run:{run}/file?table=patients&target=ill")
    lines = answer.text.splitlines()
    assert lines[0].endswith(",predicted,probability,ill=no,ill=yes")
    assert len(lines) == 601
    predicted = [line.split(",")[8] for line in lines[1:]]
    assert predicted == list(prediction.states)
    assert list((studio.workspace.root / "incoming").iterdir()) == []
    wrong = client.get(f"/api/predict/run:{run}/rows?table=patients&target=il")
    assert wrong.status_code == 400
    assert "Did you mean 'ill'?" in wrong.json()["error"]


def check_export(client, studio, run):
    network = read_run(studio.workspace.locate("runs", run)).network
    for name, one in FORMATS.items():
        answer = client.get(f"/api/export/run:{run}/{name}")
        assert answer.headers["content-disposition"].endswith(f'{one.extensions[0]}"'), name
        model = parse_model(answer.text, name)
        dag = getattr(model, "dag", model)
        assert set(dag.arcs) == set(network.dag.arcs), name
    for name, start in (("svg", b"<svg"), ("png", b"\x89PNG")):
        assert client.get(f"/api/export/run:{run}/{name}").content.startswith(start)
    report = client.get(f"/api/export/run:{run}/report")
    assert report.text == (studio.workspace.locate("runs", run) / "report.html").read_text()
    assert "attachment" in report.headers["content-disposition"]
    wrong = client.get(f"/api/export/run:{run}/gif")
    assert "must be one of" in wrong.json()["error"]
    shown = client.get(f"/api/export/run:{run}").json()["texts"]
    root, again = studio.workspace.root, f"runs/{run} 2"  # test_learn_text.py runs such texts
    given = json.loads((studio.workspace.locate("runs", run) / "studio.json").read_text())
    arguments = (root, "tables/patients/patients.csv", again, given["options"])
    assert [one["text"] for one in shown] == [
        format_terminal(*arguments),
        format_python(*arguments),
    ]


def test_a_published_network_is_exported_and_predicts(client, studio):
    client.post("/api/tables/open", json={"network": "asia", "rows": 300})
    found = client.get("/api/predict/bundled:asia/rows?table=asia 300&target=dysp").json()
    assert found["metrics"]["n_rows"] == 300
    texts = client.get("/api/export/bundled:asia").json()["texts"]
    assert [one["text"] for one in texts] == [
        "coevo report asia",
        'import coevo\n\nnetwork = coevo.open_network("asia")\nprint(network)',
    ]
    assert parse_model(
        client.get("/api/export/bundled:asia/bif").text, "bif"
    ) == coevo.load_network("asia")


def test_a_table_without_the_target_is_predicted_without_measures(client):
    rows = "smoke,dysp\n" + "yes,no\nno,yes\n" * 30
    client.post("/api/upload/tables?file=visitors.csv", content=rows.encode())
    found = client.get("/api/predict/bundled:asia/rows?table=visitors&target=lung").json()
    assert "metrics" not in found
    assert found["n_rows"] == 60
    assert any("lung" in sentence or "column" in sentence for sentence in found["unknown"])


def test_strengths_need_a_run_of_the_studio(client, studio):
    rows = coevo.sample(coevo.load_network("asia"), 500, random_state=1)
    coevo.learn(rows, random_state=7, output=studio.workspace.root / "runs" / "mine")
    found = client.get("/api/confidence/mine").json()
    assert found["source"] == "quick"
    run = json.loads((studio.workspace.root / "runs" / "mine" / "run.json").read_text())
    assert [arc["strength"] for arc in found["arcs"]] == [
        arc["strength"] for arc in run["quick_bootstrap"]["arcs"]
    ]
    assert {arc["in_network"] for arc in found["arcs"]} == {True, False}
    run["quick_bootstrap"] = {"method": "hill_climb", "n_bootstraps": 12}  # of version 0.2.0
    for arc in run["arcs"]:
        del arc["interval"], arc["direction"], arc["reverse"]
    (studio.workspace.root / "runs" / "mine" / "run.json").write_text(json.dumps(run))
    old = client.get("/api/confidence/mine").json()
    assert (old["source"], old["n_bootstraps"], len(old["arcs"])) == (
        "climbs",
        12,
        len(run["arcs"]),
    )
    answer = client.post("/api/confidence/mine", json={"bootstraps": 5})
    assert answer.json() == {
        "error": "The run 'mine' was not started in the studio. Use coevo learn --resume "
        "--bootstraps on the command line."
    }


@pytest.mark.parametrize(
    "network", ["file:..%2f..%2fsecret.bif", "run:..%2fsecret", "secret", "bundled:..%2fx"]
)
@pytest.mark.parametrize("place", ["/api/export/{}", "/api/export/{}/bif", "/api/predict/{}"])
def test_a_network_outside_of_the_workspace_is_refused(client, studio, network, place):
    secret = studio.workspace.root.parent / "secret.bif"
    secret.write_text("network secret {}")
    answer = client.get(place.format(network))
    assert answer.status_code in (400, 404)
    assert "network secret" not in answer.text


def test_pictures_have_the_arrowheads_that_are_known(client, studio):
    """Of a - b the direction is unknown; c and d are parents of e; the network lacks a - e."""
    names = "abcde"
    arcs = [("a", "b"), ("c", "e"), ("d", "e")]
    facts = {
        "columns": {name: {"type": "categorical"} for name in names},
        "arcs": [{"from": one, "to": two} for one, two in arcs],
    }
    shares = {"strength": 0.5, "interval": [0.4, 0.6], "gain": None, "in_consensus": False}
    found = [
        {"from": "b", "to": "a", "direction": 0.9, "reverse": 0.0, **shares},
        {"from": "c", "to": "e", "direction": 0.4, "reverse": 0.5, **shares},
        {"from": "a", "to": "e", "direction": 0.2, "reverse": 0.75, **shares},
        {"from": "a", "to": "d", "direction": 0.5, "reverse": 0.5, **shares},
    ]
    quick = {"threshold": 0.3, "n_bootstraps": 9, "n_asked": 9, "consensus": []}
    facts["quick_bootstrap"] = {"arcs": found, **quick}
    states = [Variable(name, ("no", "yes")) for name in names]
    parents = {"b": ["a"], "e": ["c", "d"]}
    tables = {name: [[0.5, 0.5]] * 2 ** len(parents.get(name, ())) for name in names}
    network = BayesianNetwork(states, parents, tables)
    write_run(studio.workspace.root / "runs" / "one", network, facts, [])

    record = client.get("/api/confidence/one").json()
    assert [arc["directed_by"] for arc in record["arcs"]] == [None, "data", None, None]
    picture = client.get("/api/confidence/one/graph.svg?least=0.3").text
    assert list_ends(picture, "from", "to") == {("c", "e"), ("e", "a")}
    assert list_ends(picture, "between", "and") == {("a", "b"), ("a", "d")}
    assert "strength 0.50, direction 0.00, reverse 0.90, direction unknown" in picture
    picture = client.get("/api/confidence/one/graph.svg?least=0.3&arrows=all").text
    assert list_ends(picture, "from", "to") == {("a", "b"), ("c", "e"), ("e", "a"), ("a", "d")}

    assert client.get("/api/export/run:one").json()["is_learned"]
    picture = client.get("/api/export/run:one/svg").text
    assert list_ends(picture, "between", "and") == {("a", "b")}
    assert list_ends(picture, "from", "to") == set(arcs[1:])
    picture = client.get("/api/export/run:one/svg?arrows=all").text
    assert list_ends(picture, "from", "to") == set(arcs)
    assert not client.get("/api/export/bundled:asia").json()["is_learned"]
    asia = client.get("/api/export/bundled:asia/svg").text
    assert list_ends(asia, "from", "to") == set(load_network("asia").dag.arcs)


def test_strengths_are_drawn_without_the_columns_of_a_run(client, studio):
    """What the page lists is what it draws: the ends of arcs are variables, too."""
    asia = load_network("asia")
    arcs = [{"from": one, "to": two, "strength": 0.9} for one, two in asia.dag.arcs]
    write_run(studio.workspace.root / "runs" / "bare", asia, {"arcs": arcs}, [])
    record = client.get("/api/confidence/bare").json()
    assert set(record["variables"]) == set(asia.dag.nodes)
    picture = client.get("/api/confidence/bare/graph.svg?least=0.5&arrows=all")
    assert list_ends(picture.text, "from", "to") == set(asia.dag.arcs)


def list_ends(picture, first, second):
    """Return the ends of the arcs of an SVG, or of its edges without direction."""
    return set(re.findall(f'data-{first}="(.*?)" data-{second}="(.*?)"', picture))
