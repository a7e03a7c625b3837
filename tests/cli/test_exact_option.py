"""``--exact`` of every command that eliminates variables; without it, too much work is refused."""

from __future__ import annotations

import pytest

from helpers.limits import INSIST, forget_time

ASKED = {
    "query": ("asia", "--given", "smoke=yes", "--mpe"),
    "explain": ("asia", "lung", "--given", "smoke=yes"),
    "predict": ("asia", "rows.csv", "lung"),
    "evaluate": ("asia", "rows.csv", "--target", "lung"),
    "sample": ("asia", "--rows", "20", "--seed", "1", "--given", "dysp=yes", "-o", "drawn.csv"),
}


@pytest.mark.parametrize("command", ASKED)
def test_too_much_work_is_refused_unless_it_must_be_exact(command, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("smoke,dysp,lung\nyes,?,no\n?,yes,yes\nno,no,no\n")
    expected = run(command, *ASKED[command])
    assert expected.code == 0
    drawn = read_drawn(tmp_path)
    forget_time(monkeypatch)
    refused = run(command, *ASKED[command])
    assert refused.code == 2
    assert refused.out == ""
    assert " is never estimated; " in refused.err
    assert refused.err.endswith(f"{INSIST}\n")
    assert run(command, *ASKED[command], "--exact") == expected
    assert read_drawn(tmp_path) == drawn


def read_drawn(folder):
    path = folder / "drawn.csv"
    return path.read_text() if path.exists() else ""


def test_a_cross_validation_is_always_exact(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(f"{'yes' if i % 3 else 'no'},{'aab?b'[i * i % 7 % 5]}" for i in range(40))
    (tmp_path / "rows.csv").write_text(f"one,two\n{rows}\n")
    asked = ("evaluate", "rows.csv", "--cv", "2", "-m", "hill_climb", "--format", "json")
    forget_time(monkeypatch)
    assert run(*asked).code == 0
    assert run(*asked, "--exact") == (
        2,
        "",
        "Error: '--cv' is always exact. Leave out '--exact'.\n",
    )
