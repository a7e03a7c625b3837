"""The page of a run, from the facts of `coevo learn` or from the files that it wrote.

It also says in words what is known of the table: the audit, the decisions and the columns. The
values come from ``run.json``, which any version of coevo may have written. Values of an unknown
shape are shown as they are.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from coevo.data.summary import shorten_states
from coevo.data.table_audit import describe_roots
from coevo.errors import format_count
from coevo.files.species_record import is_summary
from coevo.graph import DAG
from coevo.network import BayesianNetwork
from coevo.score import NearMiss
from coevo.score.arcs import LIKELY
from coevo.search.species import list_credit
from coevo.view.page.model import ArcFacts, BootstrapArc, BootstrapSummary, Page, ScorePoint

__all__ = [
    "describe_audit",
    "describe_columns",
    "describe_decisions",
    "format_value",
    "make_network_page",
    "make_run_page",
]


MAX_STATES = 20  # of a column that are listed


def describe_audit(facts: Mapping[str, Any]) -> list[str]:
    """Return a sentence about missing values, if there are any, and one for each finding.

    >>> describe_audit({"audit": [{"kind": "constant", "columns": ["a"], "sentence": "Drop 'a'."}]})
    ["Drop 'a'."]
    """
    return [*_describe_missing(facts), *(_format_item(item) for item in facts.get("audit", ()))]


def _describe_missing(facts: Mapping[str, Any]) -> list[str]:
    if "missing" not in facts:
        return []
    missing = facts["missing"]
    counts = ", ".join(f"{name} {count:,}" for name, count in missing["columns"].items())
    return [
        f"Missing values: {missing['n_missing']:,} ({missing['share']:.1%} of all values). "
        f"Complete rows: {missing['n_complete_rows']:,}. Policy: {missing['policy']}. "
        f"Missing values by column: {counts}."
    ]


def describe_decisions(facts: Mapping[str, Any]) -> list[str]:
    """Return what was decided about the table, and how to undo it."""
    return [
        f"{item['sentence']} Undo: {item['undo']}." if item.get("undo") else str(item["sentence"])
        for item in facts.get("decisions", ())
    ]


def describe_columns(columns: Mapping[str, Any] | Sequence[Any]) -> dict[str, str]:
    """Return the type and treatment of each column, from an object or a list of objects.

    >>> describe_columns({"age": {"type": "continuous", "method": "mdl", "cuts": [18.0, 65.0]}})
    {'age': 'continuous, 3 bins with the cut points 18, 65 (mdl)'}
    """
    if isinstance(columns, Mapping):
        return {name: _describe_column(value) for name, value in columns.items()}
    return {
        str(item["name"]): _describe_column({k: v for k, v in item.items() if k != "name"})
        for item in columns
    }


def _describe_column(column: Any) -> str:
    """Return the type of a column, its values, and its states or cut points."""
    if not (isinstance(column, Mapping) and isinstance(column.get("type"), str)):
        return _format_item(column)
    if column["type"] == "ignore":
        return str(column.get("reason") or "left out")
    if column["type"] not in ("categorical", "continuous"):
        return f"dates, replaced by {column['type'].replace('+', ', ')}"
    parts = [column["type"], *([column["holds"]] if column.get("holds") else [])]
    if "cuts" in column:
        parts.append(_describe_cuts(column["cuts"], column.get("method")))
    elif "states" in column:
        parts.append(_describe_states(column["states"]))
    if column.get("source"):
        parts.append(f"part of {column['source']}")
    return ", ".join(parts)


def _describe_cuts(cuts: Sequence[float], method: str | None) -> str:
    if not cuts:
        return "no cut point"
    label = "the cut point" if len(cuts) == 1 else "the cut points"
    named = f" ({method})" if method else ""
    return f"{len(cuts) + 1:,} bins with {label} {format_value(cuts)}{named}"


def _describe_states(states: Sequence[str]) -> str:
    shown = shorten_states(tuple(map(str, states)))
    listed = ", ".join([*shown.values()][:MAX_STATES])
    rest = len(states) - MAX_STATES
    more = f" and {rest:,} more" if rest > 0 else ""
    return f"{format_count(len(states), 'state')}: {listed}{more}"


def _format_item(item: Any) -> str:
    """Return the sentence of an item; without one, its keys and values."""
    if not isinstance(item, Mapping):
        return format_value(item)
    for name in ("sentence", "message"):
        if isinstance(item.get(name), str):
            return str(item[name])
    return ", ".join(f"{name}: {format_value(value)}" for name, value in item.items())


def format_value(value: Any) -> str:
    """Return a value of ``run.json`` as text.

    >>> format_value([True, None, -0.0, {"a": 0.25}])
    'yes, none, 0, a 0.25'
    """
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, list | tuple):
        return ", ".join(map(format_value, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {format_value(inner)}" for name, inner in value.items())
    return f"{value:zg}" if isinstance(value, float) else str(value)


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
        hints=[f"{describe_roots(roots)}."] if (roots := facts.get("suggested_roots", ())) else [],
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
