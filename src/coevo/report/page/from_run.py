"""The page of a run, from what `coevo learn` found or from the files it wrote."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from coevo.graph import DAG
from coevo.network import BayesianNetwork
from coevo.report.page.model import ArcFacts, FoundArc, Page, Progress, Sureness

__all__ = ["network_page", "run_page"]

TITLE = "Learned network"
ARC_FACTS = ("gain", "strength", "direction", "support")  # as `ArcFacts` has them


def network_page(network: BayesianNetwork, title: str = "") -> Page:
    """Return a page of which nothing is known but a network.

    >>> from coevo.bundled import load_network
    >>> network_page(load_network("asia")).title
    'asia'
    """
    return Page(
        network.dag,
        network,
        title=title or network.name or "Bayesian network",
        facts={"parameters": f"{network.n_parameters:,}"},
    )


def run_page(
    facts: Mapping[str, Any],
    history: Iterable[Mapping[str, Any]],
    network: BayesianNetwork | None,
    title: str = "",
) -> Page:
    """Return the page of a run.

    Parameters
    ----------
    facts : mapping
        What ``run.json`` holds; what it lacks is left out of the page.
    history : iterable of mappings
        The rows of ``history.jsonl``.
    network : BayesianNetwork or None
        What ``model.bif`` holds, if there is one; without it the structure is that of
        `facts`.
    title : str
        What stands at the top.
    """
    arcs = {(arc["from"], arc["to"]): arc for arc in facts.get("arcs", ())}
    dag = DAG(tuple(facts.get("per_variable", ())), arcs) if network is None else network.dag
    known = {
        arc: ArcFacts(*(arcs[arc].get(name) for name in ARC_FACTS))
        for arc in dag.arcs
        if arc in arcs
    }
    return Page(
        dag,
        network,
        title=title or (f"Learned from {facts['source']}" if "source" in facts else TITLE),
        facts=_headlines(facts),
        arcs=known,
        rejected=_rejected(facts),
        sureness=_sureness(facts.get("bootstraps"), dag),
        history=[Progress(row["seconds"], row["generation"], row["score"]) for row in history],
        audit=[*_on_missing(facts), *(_sentence(item) for item in facts.get("audit", ()))],
        columns=_columns(facts.get("columns", ())),
        settings=_settings(facts),
        command=shlex.join(["coevo", *facts["command"]]) if "command" in facts else "",
        stamp=_stamp(facts),
    )


def _rejected(facts: Mapping[str, Any]) -> str:
    """Return what the best of the arcs that were left out would do to the score."""
    if "best_rejected" not in facts:
        return ""
    arc = facts["best_rejected"]
    if arc is None:
        return "No further arc is allowed."
    named, gain = f"{arc['from']} → {arc['to']}", arc["gain"]
    if gain > 0:
        return f"{named} would raise the score by {gain:,.2f}: the search ended early."
    return f"The best of the arcs left out, {named}, would lower the score by {-gain:,.2f}."


def _sureness(bootstraps: Mapping[str, Any] | None, dag: DAG) -> Sureness | None:
    """Return what bootstraps say, if there were any."""
    if bootstraps is None:
        return None
    joined = {frozenset(arc) for arc in dag.arcs}
    found = [
        FoundArc(arc["from"], arc["to"], arc["strength"], {arc["from"], arc["to"]} in joined)
        for arc in bootstraps["arcs"]
    ]
    return Sureness(bootstraps["n_bootstraps"], bootstraps["threshold"], found)


def _on_missing(facts: Mapping[str, Any]) -> list[str]:
    """Return the sentence on missing cells, if there were any."""
    if "missing" not in facts:
        return []
    told = facts["missing"]
    counts = ", ".join(f"{name} {count:,}" for name, count in told["columns"].items())
    return [
        f"{told['n_missing']:,} cells ({told['share']:.1%}) are missing, and "
        f"{told['n_complete_rows']:,} rows have none missing; policy: {told['policy']}. "
        f"By column: {counts}."
    ]


def _headlines(facts: Mapping[str, Any]) -> dict[str, str]:
    formats = {
        "score": ("score", "{:,.2f}"),
        "scoring": ("scored by", "{}"),
        "method": ("found by", "{}"),
        "n_rows": ("rows", "{:,}"),
        "seconds": ("seconds", "{:,.2f}"),
        "stop_reason": ("ended by", "{}"),
    }
    return {
        label: form.format(facts[name]) for name, (label, form) in formats.items() if name in facts
    }


def _settings(facts: Mapping[str, Any]) -> dict[str, str]:
    """Return how the structure was found, the method's own settings last."""
    own = ("method", "scoring", "ess", "seed", "generations", "evaluations", "stop_reason")
    found = {name: _text(facts[name]) for name in own if facts.get(name) is not None}
    return found | {name: _text(value) for name, value in facts.get("settings", {}).items()}


def _stamp(facts: Mapping[str, Any]) -> dict[str, str]:
    labels = {"version": "coevo", "seed": "seed", "data_hash": "hash of the data"}
    found = {label: _text(facts[name]) for name, label in labels.items() if name in facts}
    if facts.get("stop_reason") in ("time", "interrupt", "callback"):
        found["same again"] = (
            f"The clock or a hand ended the search; with --max-generations {facts['generations']} "
            "as its limit it gives the same network on any machine."
        )
    return found


def _columns(given: Mapping[str, Any] | Sequence[Any]) -> dict[str, str]:
    """Return what was decided about each column, from an object or a list of objects."""
    if isinstance(given, Mapping):
        return {name: _sentence(value) for name, value in given.items()}
    return {
        str(item["name"]): _sentence({k: v for k, v in item.items() if k != "name"})
        for item in given
    }


def _sentence(item: Any) -> str:
    if isinstance(item, Mapping):
        if isinstance(item.get("message"), str):
            return str(item["message"])
        return ", ".join(f"{name}: {_text(value)}" for name, value in item.items())
    return _text(item)


def _text(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_text(inner)}" for name, inner in value.items())
    return f"{value:g}" if isinstance(value, float) else str(value)
