"""Searches of the studio: they run in processes, stop, resume, and equal those of coevo learn."""

import pytest

import coevo
from coevo.data import write_data
from coevo.io import read_run
from coevo.studio.events import read_events

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
    same = coevo.learn(path, **FEW)
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
