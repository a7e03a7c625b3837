"""``coevo networks`` lists the bundled networks."""

from __future__ import annotations

import json
from dataclasses import asdict

from coevo.bundled import read_network_index


def test_text(run):
    code, out, err = run("networks")
    assert (code, err) == (0, "")
    head, *lines = out.splitlines()
    assert head == "name        variables   arcs  parameters   max parents  states  about"
    for line, info in zip(lines, read_network_index(), strict=True):
        numbers = (info.n_variables, info.n_arcs, info.n_parameters, info.max_parents)
        words = line.split(maxsplit=6)
        assert words[0] == info.name
        assert tuple(int(word.replace(",", "")) for word in words[1:5]) == numbers
        assert words[5:] == [f"{info.min_states}-{info.max_states}", info.domain]
        assert line.index(f" {info.max_parents} ") < head.index("  states")


def test_json(launch):
    code, out, err = launch("networks", "--format", "json")
    assert (code, err) == (0, "")
    assert json.loads(out) == {"networks": [asdict(info) for info in read_network_index()]}
