"""The page of the studio: it starts, shows the workspace, and changes with it."""

import subprocess
import sys

LIGHT = """
import sys
import coevo.cli.studio, coevo.studio.server, coevo.studio.routes
from pathlib import Path
from tempfile import TemporaryDirectory
with TemporaryDirectory() as folder:
    studio = coevo.studio.Studio(coevo.studio.Workspace(Path(folder)))
    coevo.studio.make_app(studio)
heavy = {"pandas", "pyarrow", "matplotlib", "coevo.search"} & set(sys.modules)
print(sorted(heavy))
"""


def test_the_server_imports_nothing_heavy():
    found = subprocess.run(
        [sys.executable, "-c", LIGHT], capture_output=True, text=True, check=True
    )
    assert found.stdout == "[]\n"


def test_the_workspace_is_listed(client, studio):
    (studio.workspace.root / "runs" / "first").mkdir()
    found = client.get("/api/workspace").json()
    assert [run["name"] for run in found["runs"]] == ["first"]
    assert found["folder"] == str(studio.workspace.root)


def test_an_unknown_address(client):
    answer = client.get("/api/nothing")
    assert (answer.status_code, answer.json()) == (404, {"error": "Not Found."})


def test_home_follows_the_workspace(open_tab, server):
    tab = open_tab()
    assert tab.title() == "coevo studio"
    tab.wait_for_selector("h1 >> text=Workspace")
    (server.studio.workspace.root / "runs" / "made elsewhere").mkdir()
    server.studio.notify("runs")
    tab.wait_for_selector("text=made elsewhere")
    tab.on("dialog", lambda dialog: dialog.accept())
    tab.click('[aria-label="Remove the run made elsewhere"]')
    tab.wait_for_selector(".cards >> text=made elsewhere", state="detached")
    assert not (server.studio.workspace.root / "runs" / "made elsewhere").exists()
