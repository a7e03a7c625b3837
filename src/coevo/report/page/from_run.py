"""The page of a run, from the facts of `coevo learn` or from the files that it wrote."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from coevo.graph import DAG
from coevo.network import BayesianNetwork
from coevo.report.page.model import ArcFacts, BootstrapArc, BootstrapSummary, Page, ScorePoint

__all__ = ["make_network_page", "make_run_page"]

TITLE = "Learned network"
ARC_FACTS = ("gain", "strength", "direction", "support")  # the fields of `ArcFacts`


def make_network_page(network: BayesianNetwork, title: str = "") -> Page:
    """Return the page of a network without a run.

    >>> from coevo.bundled import load_network
    >>> make_network_page(load_network("asia")).title
    'asia'
    """
    return Page(
        network.dag,
        network,
        title=title or network.name or "Bayesian network",
        facts={"parameters": f"{network.n_parameters:,}"},
    )


def make_run_page(
    facts: Mapping[str, Any],
    history: Iterable[Mapping[str, Any]],
    network: BayesianNetwork | None,
    title: str = "",
) -> Page:
    """Return the page of a run.

    Parameters
    ----------
    facts : mapping
        The content of ``run.json``. Missing facts are left out of the page.
    history : iterable of mappings
        The rows of ``history.jsonl``.
    network : BayesianNetwork or None
        The content of ``model.bif``, if there is one. Without it, the structure comes from
        `facts`.
    title : str
        The title of the page.
    """
    arcs = {(arc["from"], arc["to"]): arc for arc in facts.get("arcs", ())}
    dag = DAG(tuple(facts.get("per_variable", ())), arcs) if network is None else network.dag
    arc_facts = {
        arc: ArcFacts(*(arcs[arc].get(name) for name in ARC_FACTS))
        for arc in dag.arcs
        if arc in arcs
    }
    return Page(
        dag,
        network,
        title=title or (f"Learned from {facts['source']}" if "source" in facts else TITLE),
        facts=_list_main_facts(facts),
        arcs=arc_facts,
        rejected=_describe_best_rejected(facts),
        bootstrap=_summarise_bootstrap(facts.get("bootstraps"), dag),
        history=[ScorePoint(row["seconds"], row["generation"], row["score"]) for row in history],
        audit=[*_describe_missing(facts), *(_format_item(item) for item in facts.get("audit", ()))],
        decisions=[_format_decision(item) for item in facts.get("decisions", ())],
        columns=_format_columns(facts.get("columns", ())),
        settings=_format_settings(facts),
        command=shlex.join(["coevo", *facts["command"]]) if "command" in facts else "",
        stamp=_format_stamp(facts),
    )


def _describe_best_rejected(facts: Mapping[str, Any]) -> str:
    """Return a sentence about the best rejected arc and its gain."""
    if "best_rejected" not in facts:
        return ""
    arc = facts["best_rejected"]
    if arc is None:
        return "No further arc is allowed."
    named, gain = f"{arc['from']} → {arc['to']}", arc["gain"]
    if gain > 0:
        return f"The arc {named} would raise the score by {gain:,.2f}: the search stopped early."
    return f"The best rejected arc, {named}, would lower the score by {-gain:,.2f}."


def _summarise_bootstrap(bootstraps: Mapping[str, Any] | None, dag: DAG) -> BootstrapSummary | None:
    """Return the arc strengths of the bootstrap, or None without one."""
    if bootstraps is None:
        return None
    joined = {frozenset(arc) for arc in dag.arcs}
    bootstrap_arcs = [
        BootstrapArc(arc["from"], arc["to"], arc["strength"], {arc["from"], arc["to"]} in joined)
        for arc in bootstraps["arcs"]
    ]
    return BootstrapSummary(bootstraps["n_bootstraps"], bootstraps["threshold"], bootstrap_arcs)


def _format_decision(decision: Mapping[str, Any]) -> str:
    """Return what was decided about the table, and how to undo it."""
    undo = f" Undo: {decision['undo']}." if decision.get("undo") else ""
    return f"{decision['sentence']}{undo}"


def _describe_missing(facts: Mapping[str, Any]) -> list[str]:
    """Return a text about missing values, if there are any."""
    if "missing" not in facts:
        return []
    missing = facts["missing"]
    counts = ", ".join(f"{name} {count:,}" for name, count in missing["columns"].items())
    return [
        f"Missing values: {missing['n_missing']:,} ({missing['share']:.1%} of all values). "
        f"Complete rows: {missing['n_complete_rows']:,}. Policy: {missing['policy']}. "
        f"Missing values by column: {counts}."
    ]


def _list_main_facts(facts: Mapping[str, Any]) -> dict[str, str]:
    formats = {
        "score": ("score", "{:,.2f}"),
        "scoring": ("scoring", "{}"),
        "method": ("method", "{}"),
        "n_rows": ("rows", "{:,}"),
        "seconds": ("seconds", "{:,.2f}"),
        "stop_reason": ("stopped by", "{}"),
    }
    return {
        label: form.format(facts[name]) for name, (label, form) in formats.items() if name in facts
    }


def _format_settings(facts: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings of the search, those of the method last."""
    general = ("method", "scoring", "ess", "seed", "generations", "evaluations", "stop_reason")
    settings = {name: _format_value(facts[name]) for name in general if facts.get(name) is not None}
    return settings | {
        name: _format_value(value) for name, value in facts.get("settings", {}).items()
    }


def _format_stamp(facts: Mapping[str, Any]) -> dict[str, str]:
    labels = {"version": "coevo", "seed": "seed", "data_hash": "hash of the data"}
    stamp = {label: _format_value(facts[name]) for name, label in labels.items() if name in facts}
    if facts.get("stop_reason") in ("time", "interrupt", "callback"):
        stamp["reproducibility"] = (
            "The time limit or the user stopped the search. With the limit --max-generations "
            f"{facts['generations']} it gives the same network on any machine."
        )
    return stamp


def _format_columns(columns: Mapping[str, Any] | Sequence[Any]) -> dict[str, str]:
    """Return the type and treatment of each column, from an object or a list of objects."""
    if isinstance(columns, Mapping):
        return {name: _format_item(value) for name, value in columns.items()}
    return {
        str(item["name"]): _format_item({k: v for k, v in item.items() if k != "name"})
        for item in columns
    }


def _format_item(item: Any) -> str:
    if isinstance(item, Mapping):
        if isinstance(item.get("message"), str):
            return str(item["message"])
        return ", ".join(f"{name}: {_format_value(value)}" for name, value in item.items())
    return _format_value(item)


def _format_value(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, list | tuple):
        return ", ".join(map(_format_value, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_format_value(inner)}" for name, inner in value.items())
    return f"{value:g}" if isinstance(value, float) else str(value)
