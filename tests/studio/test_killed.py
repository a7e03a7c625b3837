"""A studio that is killed or ended comes back: the search resumes, and ends the same."""

import random

import coevo
from coevo.data import write_data
from coevo.io import read_run
from coevo.studio import Workspace
from coevo.studio.events import read_events
from helpers.studio_process import StudioProcess
from helpers.values import as_values

OPTIONS = {"method": "ccma", "max_generations": 30, "random_state": 5, "bootstraps": 0}


def test_a_killed_studio_resumes_its_search(tmp_path, seed):
    workspace = Workspace(tmp_path / "space")
    rows = coevo.sample(coevo.load_network("asia"), 400, random_state=seed)
    name = workspace.store_table("asia", "asia.csv", lambda path: write_data(rows, path))
    expected = coevo.learn(workspace.open_table(name).path, **as_values(OPTIONS))
    rng, run, seen, kills = random.Random(seed), None, 0, 0
    moments = [rng.randint(5, 14), rng.randint(9, 16)]  # the second after a checkpoint
    while True:
        left = moments.pop(0) if moments else None
        studio = StudioProcess(workspace.root, left)
        if run is None:
            status, answer = studio.ask("POST", "/api/runs", {"table": name, "options": OPTIONS})
            assert status == 201
            run = answer["name"].replace(" ", "%20")
        for number, event in studio.follow(run, seen):
            assert number == seen + 1  # none is lost, and none comes twice
            seen = number
            left = None if left is None else left - 1
            if left == 0 or event["kind"] in ("done", "failed"):
                break
        if left != 0:
            break
        kills += 1
        if kills == 1:
            assert studio.kill() == []  # no process is left behind
        else:  # Ctrl-C saves the work
            assert studio.end() == (0, [])
            seen = len(read_events(workspace.locate("runs", answer["name"])))
    folder = workspace.locate("runs", answer["name"])
    code, orphans = studio.end()
    assert (code, orphans, kills) == (0, [], 2)
    found, events = read_run(folder), read_events(folder)
    assert found.network.dag.arcs == expected.network.dag.arcs
    assert found.facts["score"] == expected.search.score
    assert [row["generation"] for row in found.history] == list(range(31))
    assert [row["score"] for row in found.history] == [r.score for r in expected.search.history]
    assert sum(event["kind"] == "resumed" for event in events) >= 1
    shown = {row[0]: row[4] for e in events if e["kind"] == "rows" for row in e["rows"]}
    assert [shown[g] for g in range(31)] == [row.score for row in expected.search.history]
