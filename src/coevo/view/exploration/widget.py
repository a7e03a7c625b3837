"""The explore view in a notebook: a widget whose evidence is shared with Python.

The widget runs the same script as the studio. Its questions come back as messages, and this module
answers them. Its style lives in a shadow tree, so it does not change the notebook.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from coevo.bundled import open_network
from coevo.errors import CoevoError, bad_parameter, import_optional
from coevo.network import BayesianNetwork
from coevo.signatures import check_keywords
from coevo.view.exploration.answers import Explorer
from coevo.view.exploration.drawing import draw_page
from coevo.view.page.bundle import bundle_modules
from coevo.view.page.from_run import make_network_page
from coevo.view.page.template import read_asset

if TYPE_CHECKING:
    from coevo.network import Evidence

__all__ = ["explore"]

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
    evidence = {name: _copy_finding(value) for name, value in (given or {}).items()}
    explorer = Explorer(found)
    explorer.answer("beliefs", {"given": evidence})  # validates the evidence
    return _make_widget(explorer, evidence)


def _copy_finding(value: Any) -> Any:
    return value if isinstance(value, str) else dict(value)


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
