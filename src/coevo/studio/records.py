"""What views of the studio show: predictions, the confidence in arcs, prior knowledge.

A table through a network: the predictions of a target, and how good they are.

The numbers are those of ``coevo predict`` and ``coevo evaluate``. The curves are thinned, because a
screen shows a few hundred points. Of a target with many states the most frequent ones are shown: a
confusion matrix of 1,000 states has a million cells.
"""

from __future__ import annotations

import hashlib
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data.known_rows import KnownRows
from coevo.data.source_options import SourceOptions
from coevo.data.writer import copy_with_predictions
from coevo.errors import CoevoWarning, GraphError, format_count, format_list, suggest_match
from coevo.graph import DAG, Arc, Constraints, DirectedBy
from coevo.io.knowledge import (
    Knowledge,
    KnowledgeFile,
    open_knowledge,
    parse_entries,
    write_knowledge,
)
from coevo.network import BayesianNetwork, Prediction, read_rows
from coevo.network.metrics import compute_roc
from coevo.options import SourceParameters, select_options
from coevo.studio.table_settings import TableSettings
from coevo.studio.workspace import InUseError, read_object
from coevo.view.page import Page
from coevo.view.page.model import list_drawn_edges
from coevo.view.picture import Link, LinkKind, draw_graph

__all__ = [
    "Contradiction",
    "KnowledgeError",
    "PredictedTable",
    "StaleKnowledgeError",
    "compute_version",
    "describe_confidence",
    "draw_confidence",
    "find_contradictions",
    "parse_knowledge",
    "predict_table",
    "read_stored_knowledge",
    "store_knowledge",
]

MAX_POINTS = 200  # of a ROC curve
MAX_SHOWN = 30  # states with measures and curves
PREVIEW_ROWS = 12


class PredictedTable:
    """The predictions of one target in one table."""

    def __init__(
        self, prediction: Prediction, rows: KnownRows, path: Path, opening: SourceOptions
    ) -> None:
        self._prediction, self._rows, self._path, self._opening = prediction, rows, path, opening

    def describe(self) -> dict[str, Any]:
        """Return the record for the browser; without true states there are no measures."""
        prediction, rows = self._prediction, self._rows
        target = prediction.variable.name
        answer: dict[str, Any] = {
            "target": target,
            "n_states": prediction.variable.arity,
            "n_rows": rows.n_rows,
            "unknown": prediction.unknown.describe(),
            "n_impossible": len(prediction.impossible),
            "preview": self._preview(),
        }
        true = rows.codes.get(target)
        if true is not None and (true >= 0).any():
            measured = prediction.evaluate(rows)
            codes = _find_frequent(measured.confusion.sum(axis=1))
            states = [prediction.variable.states[code] for code in codes]
            answer["states"] = states
            answer["metrics"] = measured.as_dict() | {
                "confusion": measured.confusion[np.ix_(codes, codes)].tolist(),
                "per_state": {state: asdict(measured.per_state[state]) for state in states},
            }
            answer["roc"] = self._trace_curves(true, codes)
        return answer

    def _preview(self) -> list[dict[str, Any]]:
        columns = dict(self._prediction.list_columns())
        pairs = zip(columns["predicted"], columns["probability"], strict=True)
        return [
            {"row": row, "predicted": state, "probability": share}
            for row, (state, share) in enumerate(list(pairs)[:PREVIEW_ROWS], 1)
        ]

    def _trace_curves(
        self, true: NDArray[np.integer], codes: NDArray[np.intp]
    ) -> dict[str, list[list[float]]]:
        """Return the ROC curve of each of these states that some rows have and others do not."""
        known = np.flatnonzero(true >= 0)
        weights = self._rows.weights
        counts = np.ones(len(known), np.int64) if weights is None else weights[known]
        curves = {}
        for code in codes.tolist():
            is_own = true[known] == code
            if is_own.any() and not is_own.all():
                shares = self._prediction.probabilities[known, code]
                state = self._prediction.variable.states[code]
                curves[state] = _thin(*compute_roc(shares, is_own, counts))
        return curves

    def write(self, target: Path) -> None:
        """Write the table with the predictions and the probability of each state."""
        columns = self._prediction.list_columns(probabilities=True)
        copy_with_predictions(self._path, target, columns, self._opening)


def predict_table(
    network: BayesianNetwork, path: Path, target: str, settings: TableSettings
) -> PredictedTable:
    """Predict a variable in each row of a table that was read with the settings of a user."""
    network.variable(target)  # raises if there is none
    given = settings.options
    opening = select_options(SourceParameters, given)
    types = {name: kind for name, kind in settings.types.items() if _is_date_order(kind)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CoevoWarning)  # the record says the same
        rows = read_rows(
            network,
            path,
            types=types or None,
            decimal=given.get("decimal"),
            **opening,
        )
        prediction = network.predict(rows, target)
    source = SourceOptions.from_parameters("predict", **opening)
    return PredictedTable(prediction, rows, path, source)


def _is_date_order(kind: Any) -> bool:
    """Return whether a type gives the order of day and month; the network has all other types."""
    return isinstance(kind, str) and kind.rpartition("+")[2] in ("dmy", "mdy")


def _find_frequent(counts: NDArray[np.integer]) -> NDArray[np.intp]:
    """Return the codes of the `MAX_SHOWN` most frequent states, in the order of the states."""
    return np.sort(np.argsort(-counts, kind="stable")[:MAX_SHOWN])


def _thin(others: NDArray[np.float64], own: NDArray[np.float64]) -> list[list[float]]:
    """Return at most `MAX_POINTS` points of a curve, with its ends."""
    n = len(own)
    kept = np.unique(np.linspace(0, n - 1, min(n, MAX_POINTS)).round().astype(np.intp))
    return [[float(a), float(b)] for a, b in zip(others[kept], own[kept], strict=True)]


# The confidence in the arcs of a run, as the Confidence view shows it.
#
# It comes from the files of the run folder: ``strength/strength.json`` of a bootstrap,
# ``posterior/posterior.json`` of a posterior, and the quick bootstrap in ``run.json``.


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


# Prior knowledge as the Knowledge view edits it: the constraint file, and its contradictions.
#
# The browser holds the object of an ordinary constraint file (`coevo.io.knowledge`). After each
# change it asks for the contradictions. Each is one sentence with the arcs and variables that it
# is about, so that it is shown where it was made. Knowledge with a contradiction is never stored.
#
# Two tabs, or a tab and an editor, may change the same file. What is stored has a version, a hash
# of the file. Whoever changes it names the version that he has seen, and nothing is stored over
# another.


SOURCE = "'knowledge.json'"  # the name of what the browser sends, in messages
_STORING = threading.Lock()  # the version that was compared is the one that is replaced


class KnowledgeError(GraphError):
    """Knowledge with a contradiction; `contradictions` has all of them."""

    def __init__(self, contradictions: Sequence[Contradiction]) -> None:
        super().__init__(contradictions[0].sentence)
        self.contradictions = tuple(contradictions)

    def __reduce__(self) -> tuple[Any, ...]:
        return KnowledgeError, (self.contradictions,)


class StaleKnowledgeError(InUseError):
    """Knowledge that was changed by another tab since it was loaded."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Statements that cannot hold together: one sentence, and what it is about."""

    sentence: str
    arcs: tuple[Arc, ...] = ()
    variables: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the contradiction as plain values."""
        return {
            "sentence": self.sentence,
            "arcs": [list(arc) for arc in self.arcs],
            "variables": list(self.variables),
        }


def parse_knowledge(content: Any) -> Knowledge:
    """Return the knowledge in the object of a constraint file; groups become their variables.

    >>> parse_knowledge({"required": [["rain", "wet"]], "tiers": [[], ["wet"]]}).as_dict()
    {'required': [['rain', 'wet']], 'tiers': [['wet']]}
    """
    return KnowledgeFile(tuple(parse_entries(SOURCE, content))).resolve()


def find_contradictions(knowledge: Knowledge, names: Sequence[str]) -> tuple[Contradiction, ...]:
    """Return everything that keeps a search over the variables `names` from starting.

    >>> known = parse_knowledge({"required": [["a", "b"]], "tiers": [["b"], ["a"]]})
    >>> [one.sentence for one in find_contradictions(known, ["a", "b"])]
    ["'a' -> 'b' is required, but 'a' is in a later tier than 'b'."]
    """
    constraints = knowledge.constraints
    unknown = tuple(_find_unknown(knowledge, names))
    if unknown:
        return unknown
    found = [
        *_find_repeated(constraints),
        *_find_illegal_arcs(constraints, names),
        *_find_cycle(constraints, names),
        *_find_too_many_parents(constraints, names),
    ]
    if not found:
        try:
            constraints.to_rules(names)
        except GraphError as error:  # what the functions above do not know
            found.append(Contradiction(str(error)))
    return tuple(found)


def _find_unknown(knowledge: Knowledge, names: Sequence[str]) -> Iterator[Contradiction]:
    """Yield the names that are no variables, each once."""
    constraints, known = knowledge.constraints, set(names)
    arcs = (*constraints.required, *constraints.forbidden, *knowledge.weights)
    in_tiers = (name for tier in constraints.tiers for name in tier)
    ends = (end for arc in arcs for end in arc)
    mentioned = dict.fromkeys((*ends, *in_tiers, *constraints.roots, *constraints.leaves))
    for name in mentioned:
        if name not in known:
            near = suggest_match(name, names)
            yield Contradiction(
                f"{name!r} is not a variable of the table. Remove it from the knowledge, or use "
                f"the column.{near}",
                tuple(arc for arc in arcs if name in arc),
                (name,),
            )


def _find_repeated(constraints: Constraints) -> Iterator[Contradiction]:
    seen: set[str] = set()
    for name in (name for tier in constraints.tiers for name in tier):
        if name in seen:
            yield Contradiction(f"{name!r} is in two tiers. Leave it in one.", (), (name,))
        seen.add(name)


def _find_illegal_arcs(constraints: Constraints, names: Sequence[str]) -> Iterator[Contradiction]:
    """Yield the required arcs that the rest of the knowledge does not allow, each alone."""
    given = constraints.as_dict() | {"required": ()}
    given.pop("max_parents", None)
    if len({name for tier in constraints.tiers for name in tier}) < sum(
        map(len, constraints.tiers)
    ):
        given.pop("tiers")  # a variable in two tiers is reported already
    for arc in constraints.required:
        try:
            Constraints(**given | {"required": [arc]}).to_rules(names)
        except GraphError as error:
            yield Contradiction(str(error), (arc,), arc)


def _find_cycle(constraints: Constraints, names: Sequence[str]) -> Iterator[Contradiction]:
    """Yield the cycle of the required arcs, if there is one, with all arcs on cycles."""
    arcs = tuple(arc for arc in constraints.required if arc[0] != arc[1])
    try:
        Constraints(required=arcs).to_rules(names)
    except GraphError as error:
        on_cycles = tuple(arc for arc in arcs if _has_path(arcs, arc[1], arc[0]))
        yield Contradiction(str(error), on_cycles, tuple(sorted({a for a, _ in on_cycles})))


def _has_path(arcs: Sequence[Arc], start: str, end: str) -> bool:
    reached, waiting = {start}, [start]
    while waiting:
        node = waiting.pop()
        new = {child for parent, child in arcs if parent == node} - reached
        reached |= new
        waiting.extend(new)
    return end in reached


def _find_too_many_parents(
    constraints: Constraints, names: Sequence[str]
) -> Iterator[Contradiction]:
    limit = constraints.max_parents
    for name in names if limit is not None else ():
        arcs = tuple(arc for arc in constraints.required if arc[1] == name)
        if len(arcs) > (limit or 0):
            parents = format_list([repr(parent) for parent, _ in arcs])
            yield Contradiction(
                f"{name!r} has {len(arcs)} required parents ({parents}), but the limit is "
                f"{format_count(limit or 0, 'parent')}.",
                arcs,
                (name,),
            )


def read_stored_knowledge(path: Path) -> Knowledge:
    """Read the constraint file of a table; without a file there is no knowledge."""
    return open_knowledge(path).resolve() if path.exists() else Knowledge()


def compute_version(path: Path) -> str:
    """Return the version of the constraint file of a table; it is empty if there is no file."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()[:32]
    except FileNotFoundError:
        return ""


def store_knowledge(
    path: Path, knowledge: Knowledge, names: Sequence[str], version: str | None = None
) -> str:
    """Write the constraint file of a table; return its new version.

    A contradiction raises `KnowledgeError`. Another version than the one that is there raises
    `StaleKnowledgeError`; None replaces any. Knowledge without any statement removes the file.
    """
    contradictions = find_contradictions(knowledge, names)
    if contradictions:
        raise KnowledgeError(contradictions)
    with _STORING:
        if version is not None and version != compute_version(path):
            raise StaleKnowledgeError(
                "The knowledge about this table was changed elsewhere since it was loaded."
            )
        if knowledge.as_dict():
            write_knowledge(knowledge, path)
        else:
            path.unlink(missing_ok=True)
        return compute_version(path)
