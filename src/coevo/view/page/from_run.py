"""The page of a run, from the facts of `coevo learn` or from the files that it wrote."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from coevo.data.root_names import describe_roots
from coevo.graph import DAG
from coevo.network import BayesianNetwork
from coevo.score import NearMiss
from coevo.score.gains import LIKELY
from coevo.search.species import list_credit
from coevo.species_record import is_summary
from coevo.view.page.model import ArcFacts, BootstrapArc, BootstrapSummary, Page, ScorePoint
from coevo.view.page.table_facts import (
    describe_audit,
    describe_columns,
    describe_decisions,
    format_value,
)

__all__ = ["make_network_page", "make_run_page"]

TITLE = "Learned network"


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
    rows = list(history)
    arcs = {(arc["from"], arc["to"]): arc for arc in facts.get("arcs", ())}
    dag = DAG(tuple(facts.get("per_variable", ())), arcs) if network is None else network.dag
    arc_facts = {arc: _read_arc_facts(arcs[arc]) for arc in dag.arcs if arc in arcs}
    return Page(
        dag,
        network,
        title=title or (f"Learned from {facts['source']}" if "source" in facts else TITLE),
        facts=_list_main_facts(facts),
        arcs=arc_facts,
        rejected=_describe_best_rejected(facts),
        reason=str(facts.get("no_arcs_reason", "")),
        near_misses=_read_near_misses(facts),
        samples=_describe_samples(facts),
        posterior=str(facts.get("posterior", {}).get("verdict", "")),
        proof=str(facts.get("proof", {}).get("verdict", "")),
        bootstrap=_summarise_bootstrap(facts.get("bootstraps"), dag),
        history=[ScorePoint(row["seconds"], row["generation"], row["score"]) for row in rows],
        audit=describe_audit(facts),
        decisions=describe_decisions(facts),
        columns=describe_columns(facts.get("columns", ())),
        settings=_format_settings(facts),
        command=shlex.join(["coevo", *facts["command"]]) if "command" in facts else "",
        stamp=_format_stamp(facts),
        parent_counts={} if network is None else _read_parent_counts(facts, network),
        are_counts_means=facts.get("missing", {}).get("policy", "state") != "state",
        is_learned=True,
        known=[a for a in dag.arcs if a in arcs and arcs[a].get("directed_by") == "knowledge"],
        n_rows=facts.get("n_rows"),
        hints=_list_hints(facts),
        species=_read_species(facts),
        credit=[[row["generation"], *credit] for row in rows if any(credit := list_credit(row))],
    )


def _read_species(facts: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the species of a run; None if it has none, as runs of 0.2.0 and older."""
    species: dict[str, Any] | None = facts.get("species")
    if species is not None and not is_summary(species):
        raise ValueError("the species are no summary")
    return species


def _read_arc_facts(arc: Mapping[str, Any]) -> ArcFacts:
    gain, strength, direction = map(arc.get, ("gain", "strength", "direction"))
    if "reverse" not in arc:  # before 0.3.0, undirected edges counted half for each direction
        direction = None
    says = arc.get("says") or ""
    return ArcFacts(gain, strength, direction, says, arc.get("probability"), arc.get("reverse"))


def _list_hints(facts: Mapping[str, Any]) -> list[str]:
    """Return what the user may have to tell the search."""
    roots = facts.get("suggested_roots", ())
    return [f"{describe_roots(roots)}."] if roots else []


def _read_parent_counts(
    facts: Mapping[str, Any], network: BayesianNetwork
) -> dict[str, list[float]]:
    """Return the number of rows behind each row of each table, where the run knows it.

    Older runs have no counts. Counts of another network, because model.bif was replaced, are left
    out.
    """
    found = {}
    for name, family in facts.get("parent_counts", {}).items():
        if name not in network.dag.nodes or family["parents"] != list(network.parents(name)):
            continue
        if len(family["rows"]) == len(network.table(name)):
            found[name] = [float(count) for count in family["rows"]]
    return found


def _describe_samples(facts: Mapping[str, Any]) -> str:
    """Return a sentence about the samples of the quick bootstrap, or why there are none."""
    if "no_strengths" in facts:
        return f"No strengths: {facts['no_strengths']}."
    if "quick_bootstrap" not in facts:
        return ""
    n_samples = facts["quick_bootstrap"]["n_bootstraps"]
    if facts["quick_bootstrap"].get("method") == "hill_climb":  # of version 0.2.0
        return (
            f"Strengths come from {n_samples:,} samples, learned by hill climbing. Many are "
            "too high. Learn again, or use the option --bootstraps 100."
        )
    return (
        f"Strengths come from {n_samples:,} samples of the rows, each learned by a short search. "
        "The option --bootstraps 100 gives the full bootstrap."
    )


def _describe_best_rejected(facts: Mapping[str, Any]) -> str:
    """Return a sentence about the best rejected arc and its gain."""
    if "best_rejected" not in facts:
        return ""
    arc = facts["best_rejected"]
    if arc is None:
        return "No further arc is allowed."
    named, gain = f"{arc['from']} → {arc['to']}", arc["gain"]
    if abs(gain) < 0.005:  # 0.00 when rounded
        return f"The best rejected arc, {named}, would change the score by less than 0.01."
    if gain > 0:
        return f"The arc {named} would raise the score by {gain:,.2f}: the search stopped early."
    return f"The best rejected arc, {named}, would lower the score by {-gain:,.2f}."


def _read_near_misses(facts: Mapping[str, Any]) -> list[NearMiss]:
    """Return the near misses that are not improbable; older runs have none."""
    misses = [
        NearMiss(miss["from"], miss["to"], miss["gain"], miss["probability"])
        for miss in facts.get("near_misses", ())
    ]
    return [miss for miss in misses if (miss.probability or 0.0) >= LIKELY]


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


def _list_main_facts(facts: Mapping[str, Any]) -> dict[str, str]:
    formats = {
        "score": ("score", "{:z,.2f}"),
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
    settings = {name: format_value(facts[name]) for name in general if facts.get(name) is not None}
    return settings | {
        name: format_value(value) for name, value in facts.get("settings", {}).items()
    }


def _format_stamp(facts: Mapping[str, Any]) -> dict[str, str]:
    labels = {"version": "coevo", "seed": "seed", "data_hash": "hash of the data"}
    stamp = {label: format_value(facts[name]) for name, label in labels.items() if name in facts}
    if facts.get("stop_reason") in ("time", "interrupt", "callback"):
        stamp["reproducibility"] = (
            "The time limit or the user stopped the search. With the limit --max-generations "
            f"{facts['generations']} it gives the same network on any machine."
        )
    return stamp
