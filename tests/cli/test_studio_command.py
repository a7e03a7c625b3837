"""``coevo studio``: what it opens, and when it refuses to start."""

import pytest

import coevo
from coevo.cli import studio as command_module
from coevo.studio import Workspace


@pytest.fixture
def started(monkeypatch):
    """Return the studios that were started, without their servers."""
    import coevo.studio.server

    found = []
    monkeypatch.setattr(
        coevo.studio.server, "serve", lambda studio, **options: found.append((studio, options))
    )
    yield found
    for studio, _ in found:
        studio.end()


def test_nothing_named(run, started, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("studio").code == 0
    ((studio, options),) = started
    assert studio.workspace.root == tmp_path / "coevo-studio"
    assert options == {"host": "127.0.0.1", "port": 0, "open_browser": True}
    assert studio.opened == ""


def test_a_table_is_copied_once(run, started, tmp_path):
    table = tmp_path / "my table.csv"
    table.write_text("a,b\n1,2\n2,1\n")
    for _ in range(2):
        assert run("studio", str(table), "--workspace", str(tmp_path / "w")).code == 0
        studio, _ = started[-1]
        assert studio.opened == "data/my table"
        assert studio.workspace.list_names("tables") == ["my table"]
    table.write_text("a,b\n1,2\n2,1\n1,1\n")
    run("studio", str(table), "--workspace", str(tmp_path / "w"))
    assert started[-1][0].opened == "data/my table 2"


def test_a_run_folder_and_networks(run, started, tmp_path):
    rows = coevo.sample(coevo.load_network("asia"), 100, random_state=1)
    coevo.learn(rows, method="hill_climb", bootstraps=0, output=tmp_path / "run")
    coevo.write_model(coevo.load_network("asia"), tmp_path / "asia.json")
    places = {
        str(tmp_path / "run"): "learn/run",
        str(tmp_path / "run" / "model.bif"): "explore/file:model.bif",
        str(tmp_path / "asia.json"): "explore/file:asia.json",
        "alarm": "explore/bundled:alarm",
    }
    for source, opened in places.items():
        workspace = tmp_path / f"w{len(started)}"
        assert run("studio", source, "--workspace", str(workspace)).code == 0
        studio, _ = started[-1]
        assert studio.opened == opened
        if opened.startswith("explore"):
            network = studio.open_network(opened.partition("/")[2])
            assert network.dag.arcs


def test_errors(run, started, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    missing = run("studio", "no_such.csv")
    assert missing.code == 2
    assert missing.err == (
        "Error: There is no file, run folder or bundled network 'no_such.csv'.\n"
    )
    empty = run("studio", "empty")
    assert empty.err == "Error: There is no run in 'empty': it has no file run.json.\n"
    (tmp_path / "file").write_text("")
    file = run("studio", "--workspace", "file")
    assert (file.code, file.err) == (2, "Error: 'file' is a file. Name a folder.\n")
    assert started == []


def test_one_studio_a_workspace(run, started, tmp_path):
    other = Workspace(tmp_path / "w")
    other.lock()
    found = run("studio", "--workspace", str(tmp_path / "w"))
    assert found.code == 2
    assert found.err == (
        f"Error: Another studio uses the workspace {str(other.root)!r}. End it, or give another "
        "folder with --workspace.\n"
    )
    other.unlock()
    assert run("studio", "--workspace", str(tmp_path / "w")).code == 0


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.0.1", "example.org", "::"])
@pytest.mark.parametrize("password", [None, "", "1234567"])
def test_other_machines_need_a_password(run, started, tmp_path, monkeypatch, host, password):
    monkeypatch.delenv(command_module.PASSWORD, raising=False)
    if password is not None:
        monkeypatch.setenv(command_module.PASSWORD, password)
    found = run("studio", "--host", host, "--workspace", str(tmp_path / "w"))
    assert found.code == 2
    assert found.err == (
        f"Error: Other machines can reach a studio on {host}. Set a password of at least 8 "
        "characters in the environment variable COEVO_STUDIO_PASSWORD.\n"
    )
    assert started == []
    assert not (tmp_path / "w").exists()


def test_with_a_password_other_machines_are_served(run, started, tmp_path, monkeypatch):
    monkeypatch.setenv(command_module.PASSWORD, "12345678")
    found = run("studio", "--host", "0.0.0.0", "--workspace", str(tmp_path / "w"))
    assert found.code == 0
    ((studio, options),) = started
    assert (studio.rules.password, options["host"]) == ("12345678", "0.0.0.0")


def test_without_the_extra(run, tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "starlette", None)
    found = run("studio", "--workspace", str(tmp_path / "w"))
    assert found.code == 2
    assert found.err == (
        "Error: Starlette is not installed. Install it with: pip install 'coevo[studio]'\n"
    )
