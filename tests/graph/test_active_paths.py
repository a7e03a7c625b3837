"""Active paths are those of the definition, in all DAGs of four variables."""

from __future__ import annotations

import itertools

import pytest

import naive
from coevo.bundled import load_network
from coevo.graph import DAG
from coevo.graph import active_paths as module
from coevo.graph.active_paths import find_active_paths, find_connected

ALL = [frozenset(("cadb"[a], "cadb"[b]) for a, b in arcs) for arcs in naive.all_dags(4)]


def split(names):
    """Yield each way to know some names and to have soft evidence about others."""
    for kinds in itertools.product(("known", "soft", ""), repeat=len(names)):
        yield tuple(
            [name for name, kind in zip(names, kinds, strict=True) if kind == wanted]
            for wanted in ("known", "soft")
        )


@pytest.mark.parametrize("most", [100, 1])
def test_paths_agree_with_the_definition(most):
    for arcs in ALL[:: 1 if most == 1 else 2]:
        dag = DAG("dbac", arcs)
        for known, soft in split("bc"):
            seen = arcs | {(name, f"{name}'") for name in soft}  # a child that is observed
            given = [*known, *(f"{name}'" for name in soft)]
            expected = naive.active_paths(seen, "a", "d", given)
            found = find_active_paths(dag, "a", "d", known, soft, most)
            assert [list(path.nodes) for path in found] == expected[:most]


def test_connected_variables():
    for arcs in ALL:
        dag = DAG("dbac", arcs)
        for known, soft in split("bc"):
            seen = arcs | {(name, f"{name}'") for name in soft}
            given = [*known, *(f"{name}'" for name in soft)]
            expected = {
                name
                for name in set("bcd") - set(known)
                if naive.active_paths(seen, "a", name, given)
            }
            assert find_connected(dag, "a", known, soft) == expected


def test_directions_and_the_evidence_that_opens_a_path():
    dag = load_network("asia").dag
    path = find_active_paths(dag, "asia", "lung", known=["dysp", "xray"])[0]
    assert str(path) == "asia -> tub -> either <- lung"
    assert path.opened_by == ("dysp", "xray")
    (path,) = find_active_paths(dag, "asia", "lung", known=["either", "xray"])  # dysp is not known
    assert path.opened_by == ("either",)
    paths = find_active_paths(dag, "smoke", "dysp", most=5)
    assert [str(path) for path in paths] == [
        "smoke -> bronc -> dysp",
        "smoke -> lung -> either -> dysp",
    ]
    assert all(path.opened_by == () for path in paths)


def test_the_work_is_bounded(monkeypatch):
    names = [f"v{i:02d}" for i in range(40)]
    dag = DAG(names, itertools.combinations(names, 2))  # it has about 2**38 directed paths
    paths = find_active_paths(dag, "v00", "v39", most=4)
    assert [path.nodes for path in paths] == [
        ("v00", "v39"),
        ("v00", "v01", "v39"),
        ("v00", "v02", "v39"),
        ("v00", "v03", "v39"),
    ]
    monkeypatch.setattr(module, "MAX_EXPANSIONS", 50)
    assert find_active_paths(dag, "v00", "v39", most=10_000)[0].nodes == ("v00", "v39")
