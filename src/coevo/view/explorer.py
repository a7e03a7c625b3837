"""Explore a network: its drawing, and answers to questions about it, as plain values.

The studio and the notebook widget show them with the same script, which asks for them by name.

**Answers.** Questions come from a browser or a notebook, so their content is validated like that of
any caller. Where exact answers would take too much memory or time, probabilities are estimated, and
the answer has their standard errors and a sentence that says so.

**Drawings.** There are two drawings of a network: with its names only, and with room for the bars
of its states.

**The widget.** Its evidence is shared with Python. The widget runs the same script as the studio.
Its questions come back as messages, and this module answers them. Its style lives in a shadow tree,
so it does not change the notebook.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from coevo.bundled import open_network
from coevo.checks import is_choice
from coevo.errors import (
    CoevoError,
    NetworkError,
    ParameterError,
    bad_choice,
    bad_parameter,
    import_optional,
)
from coevo.graph.active_paths import find_active_paths
from coevo.network import BayesianNetwork, JunctionTree
from coevo.network.distribution import describe_approximation
from coevo.network.explain import split_evidence
from coevo.network.inference import most_probable_explanation
from coevo.network.question import encode_evidence, encode_state
from coevo.network.sampling import BeliefEstimator
from coevo.signatures import check_keywords
from coevo.view.page.document import find_curve
from coevo.view.page.drawing import compute_view_box, format_path, make_arc_data, make_table_data
from coevo.view.page.from_run import make_network_page
from coevo.view.page.model import Page, list_drawn_edges, orient_for_layout
from coevo.view.page.template import bundle_modules, read_asset
from coevo.view.picture.labels import estimate_text_width
from coevo.view.picture.layout import Layout, lay_out

if TYPE_CHECKING:
    from coevo.network import Evidence

__all__ = ["MAX_BARS", "QUESTIONS", "Explorer", "draw_page", "explore", "list_sizes"]


DIGITS = 6  # significant digits of a probability
MOST_PATHS = 5
ESTIMATED = (
    "Estimated by likelihood weighting. Variables that seem to tell something by chance are left "
    "out."
)

Body = Mapping[str, Any]
Answer = dict[str, Any]


class Explorer:
    """A network and its junction tree, if it is not too large, which answers questions about it.

    Parameters
    ----------
    network : BayesianNetwork
        The network.
    parent_counts : mapping of str to sequence of numbers, optional
        The number of rows behind each row of a probability table.

    Examples
    --------
    >>> from coevo.bundled import load_network
    >>> explorer = Explorer(load_network("earthquake"))
    >>> answer = explorer.answer("beliefs", {"given": {"Alarm": "True"}})
    >>> round(answer["log_probability"], 3), answer["marginals"][1]
    (-4.128, [0.583461, 0.416539])
    """

    def __init__(
        self, network: BayesianNetwork, parent_counts: Mapping[str, Any] | None = None
    ) -> None:
        self.network = network
        self.names = sorted(variable.name for variable in network.variables)
        self._number = {name: i for i, name in enumerate(self.names)}
        self._parent_counts = parent_counts or {}

    @cached_property
    def tree(self) -> JunctionTree | BeliefEstimator:
        """The junction tree, which keeps its messages between questions.

        A network that is too large for one has an estimator, which answers the same questions.
        """
        try:
            return JunctionTree(self.network)
        except ParameterError:  # its only reason is the size
            return BeliefEstimator(self.network)

    def answer(self, question: str, body: Body) -> Answer:
        """Return the answer to a question of `QUESTIONS`; variables are numbered by name."""
        if not is_choice(question, QUESTIONS):
            raise bad_choice("question", "Explorer", QUESTIONS, question)
        return QUESTIONS[question](self, body)

    def tell_beliefs(self, body: Body) -> Answer:
        """Return the marginals of all variables and the logarithm of P(evidence).

        Impossible evidence is an answer, too: one sentence.
        """
        given = _get_given(body)
        encode_evidence(self.network, given, "beliefs")
        try:
            beliefs = self.tree.compute_beliefs(given)
        except NetworkError as error:
            return {"impossible": str(error)}
        found = [beliefs.marginals[name] for name in self.names]
        answer: Answer = {
            "marginals": [[_round(p) for p in each.probabilities.tolist()] for each in found],
            "log_probability": beliefs.log_probability,
        }
        if not all(each.is_exact for each in found):
            answer["standard_errors"] = [
                [_round(error) for error in each.standard_errors.tolist()] for each in found
            ]
            answer["log_probability_error"] = beliefs.log_probability_error
            answer["estimate"] = f"These numbers are {describe_approximation(found)}."
        return answer

    def tell_explanation(self, body: Body) -> Answer:
        """Return the jointly most probable state of each variable."""
        given = _get_given(body)
        found = most_probable_explanation(self.network, given)
        states = [
            encode_state(self.network.variable(name), found.states.get(name, given.get(name)))
            for name in self.names
        ]
        evidence = self.tree.compute_beliefs(given).log_probability
        return {
            "states": states,
            "log_probability": found.log_probability,
            "share": math.exp(min(0.0, found.log_probability - evidence)),
        }

    def tell_information(self, body: Body) -> Answer:
        """Return what each unobserved variable would tell about a target, in nats."""
        target, given = self._get_name(body, "target"), _get_given(body)
        if isinstance(self.tree, BeliefEstimator):
            estimated = self.tree.measure_information(target, given)
            rows = [
                {
                    "variable": self._number[name],
                    "nats": _round(nats),
                    "standard_error": _round(estimated.standard_errors[name]),
                }
                for name, nats in estimated.information.items()
            ]
            return {"entropy": _round(estimated.entropy), "rows": rows, "estimate": ESTIMATED}
        told = self.tree.measure_information(target, given)
        entropy = told.pop(target, 0.0)
        rows = [
            {"variable": self._number[name], "nats": _round(nats)}
            for name, nats in told.items()
            if round(nats, 9) > 0
        ]
        return {"entropy": _round(entropy), "rows": rows}

    def tell_paths(self, body: Body) -> Answer:
        """Return the shortest active paths between two variables, and what opens them."""
        source, target = self._get_name(body, "source"), self._get_name(body, "target")
        if source == target:
            raise ParameterError("Choose two different variables.")
        given = {n: value for n, value in _get_given(body).items() if n not in (source, target)}
        known, soft = split_evidence(given)
        paths = find_active_paths(self.network.dag, source, target, known, soft, MOST_PATHS)
        return {
            "paths": [
                {
                    "nodes": [self._number[node] for node in path.nodes],
                    "opened_by": [self._number[node] for node in path.opened_by],
                    "text": str(path),
                }
                for path in paths
            ],
            "known": [self._number[name] for name in known],
        }

    def tell_table(self, body: Body) -> Answer:
        """Return the probability table of a variable."""
        name = self._get_name(body, "variable")
        counts = self._parent_counts.get(name)
        return make_table_data(self.network, name, self._number, counts)

    def _get_name(self, body: Body, key: str) -> str:
        name = body.get(key)
        if not isinstance(name, str):
            raise ParameterError(f"The question must name a variable as its {key}.")
        return self.network.variable(name).name


def _get_given(body: Body) -> dict[str, Any]:
    """Return the evidence of a question: a state, or weights of states, of each variable."""
    given = body.get("given") or {}
    if not isinstance(given, Mapping) or not all(
        isinstance(value, str | Mapping) for value in given.values()
    ):
        raise ParameterError("The evidence must have a state, or weights, of each variable.")
    return dict(given)


def _round(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


QUESTIONS: dict[str, Callable[[Explorer, Body], Answer]] = {
    "beliefs": Explorer.tell_beliefs,
    "explanation": Explorer.tell_explanation,
    "information": Explorer.tell_information,
    "paths": Explorer.tell_paths,
    "table": Explorer.tell_table,
}


MAX_BARS = 8  # states of a variable that have a bar in the drawing; the panel has all of them
BAR_HEIGHT = 15.0
BAR_MARGIN = 5.0  # below the last bar
BAR_WIDTH = 70.0 + 37.0 + 2 * 6.0 + 5.0  # a bar, a number and margins
STATE_FONT_SIZE = 10.0
MIN_STATE_WIDTH, MAX_STATE_WIDTH = 40.0, 140.0

Sizes = dict[str, tuple[float, float]]
LayOut = Callable[..., Layout]


def list_sizes(network: BayesianNetwork) -> Sizes:
    """Return the least width of each variable with bars, and the height of its bars.

    >>> from coevo.bundled import load_network
    >>> list_sizes(load_network("survey"))["A"]  # of three states
    (164.0, 50.0)
    """
    sizes = {}
    for variable in network.variables:
        states = variable.states
        widest = max(estimate_text_width(state, STATE_FONT_SIZE) for state in states[:MAX_BARS])
        width = BAR_WIDTH + math.ceil(min(MAX_STATE_WIDTH, max(MIN_STATE_WIDTH, widest)))
        sizes[variable.name] = width, BAR_HEIGHT * min(len(states), MAX_BARS) + BAR_MARGIN
    return sizes


def draw_page(page: Page, has_bars: bool = False, lay_out: LayOut = lay_out) -> dict[str, Any]:
    """Return the drawing of a page.

    Parameters
    ----------
    page : Page
        The structure, its network if it has one, and the facts about its arcs.
    has_bars : bool
        Leave room for the bars of the states.
    lay_out : callable
        Lays out the graph; the studio gives one that keeps layouts.
    """
    edges = list_drawn_edges(page)
    names = sorted(page.dag.nodes)
    layout_arcs = orient_for_layout(page.dag, edges)
    sizes: Mapping[str, tuple[float, float]] = {}
    if has_bars and page.network is not None:
        sizes = list_sizes(page.network)
    layout = lay_out(names, sorted(layout_arcs.values()), sizes=sizes)
    boxes = [layout.boxes[name] for name in names]
    max_gain = max((edge.facts.gain or 0.0 for edge in edges), default=0.0)
    drawing: dict[str, Any] = {
        "title": page.title,
        "facts": dict(page.facts),
        "names": names,
        "labels": [box.label for box in boxes],
        "boxes": [[round(b.x, 1), round(b.y, 1), b.width, b.height] for b in boxes],
        "arcs": make_arc_data(edges, names),
        "paths": [format_path(find_curve(edge, layout_arcs, layout.curves)) for edge in edges],
        "widths": [  # as shares of the largest line width
            math.sqrt(max(0.0, edge.facts.gain or 0.0) / max_gain) if max_gain > 0 else 0.15
            for edge in edges
        ],
        "viewBox": list(compute_view_box(layout)),
        "bars": bool(sizes),
        "is_learned": page.is_learned,  # then it opens on the directions that are known
    }
    if page.network is not None:
        drawing["states"] = [list(page.network.variable(name).states) for name in names]
    return drawing


MAX_BARS_SHOWN = 100  # variables of a network that is drawn with bars at first


@check_keywords()
def explore(network: Any, given: Evidence | None = None) -> Any:
    """Show a network in a notebook: its graph with the probabilities of all states.

    Click on a state to observe it, and all other probabilities change. The widget needs anywidget
    (``pip install 'coevo[notebook]'``).

    Parameters
    ----------
    network : BayesianNetwork, LearnResult, str or path
        The network, the result of `learn`, the name of a bundled network, or the path of a file or
        of the folder of a run.
    given : mapping of str to str, optional
        The evidence to start with.

    Returns
    -------
    anywidget.AnyWidget
        The widget. Its attribute ``evidence`` is a dict of variable to state, or to weights of its
        states. It follows the clicks, and setting it changes the view.

    Examples
    --------
    >>> view = explore("asia", {"xray": "yes"})
    >>> view.evidence
    {'xray': 'yes'}
    """
    is_named = isinstance(network, str | os.PathLike)
    found = open_network(network) if is_named else getattr(network, "network", network)
    if not isinstance(found, BayesianNetwork):
        expected = "a BayesianNetwork, a LearnResult, a name or a path"
        raise bad_parameter("network", "explore", expected, network)
    evidence = {  # a copy: the widget changes it
        name: value if isinstance(value, str) else dict(value)
        for name, value in (given or {}).items()
    }
    explorer = Explorer(found)
    explorer.answer("beliefs", {"given": evidence})  # validates the evidence
    return _make_widget(explorer, evidence)


def _make_widget(explorer: Explorer, first: dict[str, Any]) -> Any:
    anywidget: Any = import_optional("anywidget", "anywidget", "notebook")
    traitlets: Any = import_optional("traitlets", "anywidget", "notebook")
    page = make_network_page(explorer.network)

    class ExploreWidget(anywidget.AnyWidget):  # type: ignore[misc]
        _esm = bundle_modules("widget", is_module=True)
        style = traitlets.Unicode(make_style()).tag(sync=True)
        drawing = traitlets.Dict(
            draw_page(page, has_bars=len(explorer.names) <= MAX_BARS_SHOWN)
        ).tag(sync=True)
        evidence = traitlets.Dict(first).tag(sync=True)

        def __init__(self) -> None:
            super().__init__()
            self.on_msg(self._answer)

        def _answer(self, _: Any, message: Any, buffers: Any) -> None:
            self.send(answer_message(explorer, message))

    return ExploreWidget()


def make_style() -> str:
    """Return the style sheets of the view, for a shadow tree."""
    texts = (read_asset("page.css"), read_asset("explore.css"))
    return "".join(texts).replace(":root", ":host")


def answer_message(explorer: Explorer, message: Any) -> dict[str, Any]:
    """Return the answer to a message of the script, with the number of its question."""
    if not isinstance(message, dict):
        return {"error": "A message must be an object."}
    number = message.get("number")
    try:
        body = message.get("body")
        question = str(message.get("question"))
        if question == "drawing":
            has_bars = isinstance(body, dict) and body.get("bars") is True
            answer = draw_page(make_network_page(explorer.network), has_bars)
        else:
            answer = explorer.answer(question, body if isinstance(body, dict) else {})
    except CoevoError as error:
        return {"number": number, "error": str(error)}
    return {"number": number, "answer": answer}
