"""The confidence in the arcs of a run, as the Confidence view shows it.

It comes from the files of the run folder: ``strength/strength.json`` of a bootstrap,
``posterior/posterior.json`` of a posterior, and the quick bootstrap in ``run.json``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coevo.graph import DAG, Arc, DirectedBy
from coevo.studio.workspace import read_object
from coevo.view.page import Page
from coevo.view.page.model import list_drawn_edges
from coevo.view.picture import Link, LinkKind, draw_graph

__all__ = ["describe_confidence", "draw_confidence"]

Directions = dict[Arc, DirectedBy | None]  # what directs each arc of a network


def describe_confidence(folder: Path) -> dict[str, Any]:
    """Return the strengths of a run: of the full bootstrap, else of the quick one."""
    facts = read_object(folder / "run.json")
    network = _find_directions(facts)
    found = read_object(folder / "strength" / "strength.json")
    if found:
        arcs = [_describe_arc(arc, network) for arc in found["arcs"]]
        answer = {"source": "bootstrap", "arcs": arcs, "threshold": found["threshold"]}
        answer |= {key: found[key] for key in ("n_bootstraps", "n_asked", "consensus")}
    else:
        answer = _describe_quick(facts, network)
    posterior = read_object(folder / "posterior" / "posterior.json")
    return {
        **answer,
        "variables": _list_variables(facts),
        "posterior": _describe_posterior(posterior),
    }


def _find_directions(facts: Mapping[str, Any]) -> Directions:
    """Return the arcs of the network of a run, and what directs each, as the report shows it."""
    arcs = {(arc["from"], arc["to"]): arc.get("directed_by") for arc in facts.get("arcs", [])}
    known = [arc for arc, by in arcs.items() if by == "knowledge"]
    edges = list_drawn_edges(Page(DAG(tuple(_list_variables(facts)), arcs), known=known))
    return {(edge.parent, edge.child): edge.directed_by for edge in edges}


def _describe_arc(arc: Mapping[str, Any], network: Directions) -> dict[str, Any]:
    """Return an arc, and how the network has it: not at all, or the other way round."""
    ends = (arc["from"], arc["to"])
    is_reversed = ends[::-1] in network
    return {
        **arc,
        "in_network": is_reversed or ends in network,
        "is_reversed": is_reversed,
        "directed_by": network.get(ends[::-1] if is_reversed else ends),
    }


def _describe_quick(facts: Mapping[str, Any], network: Directions) -> dict[str, Any]:
    """Return the strengths of the quick bootstrap; before 0.3.0, only those of the network."""
    quick = facts.get("quick_bootstrap") or {}
    if "arcs" in quick:
        arcs = [_describe_arc(arc, network) for arc in quick["arcs"]]
        selected = ("threshold", "n_bootstraps", "n_asked", "consensus")
        return {"source": "quick", "arcs": arcs, **{key: quick[key] for key in selected}}
    arcs = [
        {
            "from": arc["from"],
            "to": arc["to"],
            "strength": arc["strength"],
            "interval": arc.get("interval"),
            "direction": arc.get("direction"),
            "reverse": arc.get("reverse"),
            "gain": arc.get("gain"),
            "in_consensus": False,
            "in_network": True,
            "directed_by": network[arc["from"], arc["to"]],
        }
        for arc in facts.get("arcs", [])
        if arc.get("strength") is not None
    ]
    arcs.sort(key=lambda arc: (-arc["strength"], arc["from"], arc["to"]))
    source = "climbs" if arcs else None  # hill climbs, which make strengths too high
    n_samples = quick.get("n_bootstraps", 0)
    return {
        "source": source,
        "arcs": arcs,
        "threshold": quick.get("threshold"),
        "n_bootstraps": n_samples,
        "n_asked": n_samples,
        "consensus": [],
    }


def _describe_posterior(found: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the posterior probability of each edge, and whether it can be trusted."""
    if not found:
        return None
    return {key: found.get(key) for key in ("edges", "verdict", "is_converged", "sampler")}


def _list_variables(facts: Mapping[str, Any]) -> list[str]:
    """Return the columns that are variables, and the ends of arcs if a file lacks their columns."""
    columns = [
        name
        for name, column in facts.get("columns", {}).items()
        if column.get("type") in ("categorical", "continuous")
    ]
    ends = [arc[end] for arc in facts.get("arcs", []) for end in ("from", "to")]
    return list(dict.fromkeys([*columns, *ends]))


def draw_confidence(record: Mapping[str, Any], least: float, has_all_arrows: bool = False) -> str:
    """Return the arcs of at least this strength as an SVG; wider lines are stronger.

    Arcs that the network does not have are dashed. An arc has an arrowhead if the network knows its
    direction, or if the network does not have it and more than half of its samples direct it so.
    With `has_all_arrows` all arcs have one: those of the network as its DAG has them.
    """
    links = [_make_link(arc, has_all_arrows) for arc in record["arcs"] if arc["strength"] >= least]
    legend = {"same": "in the network", "missing": "strong, but not in the network"}
    kinds = {link.kind for link in links}
    shown: dict[LinkKind, str] = {"same": legend["same"]}
    if "missing" in kinds:
        shown["missing"] = legend["missing"]
    return draw_graph(record["variables"], links, legend=shown).svg


def _make_link(arc: Mapping[str, Any], has_all_arrows: bool) -> Link:
    ends, shares = (arc["from"], arc["to"]), (arc.get("direction"), arc.get("reverse"))
    is_known = arc["directed_by"] is not None
    if arc["in_network"]:
        is_turned = bool(arc.get("is_reversed"))
    else:
        is_turned = (shares[1] or 0.0) > 0.5
        is_known = is_turned or (shares[1] is not None and (shares[0] or 0.0) > 0.5)
    notes = [f"strength {arc['strength']:.2f}"]
    if None not in shares:
        first, second = shares[::-1] if is_turned else shares
        notes.append(f"direction {first:.2f}, reverse {second:.2f}")
    notes += [] if is_known else ["direction unknown"]
    kind: LinkKind = "same" if arc["in_network"] else "missing"
    return Link(
        *(ends[::-1] if is_turned else ends),
        is_directed=is_known or has_all_arrows,
        kind=kind,
        share=arc["strength"],
        note=", ".join(notes),
    )
