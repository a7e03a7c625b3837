"""What objects show in a notebook, for the tests of cells."""

from coevo.data import Variable
from coevo.graph import CPDAG, DAG, compare
from coevo.learning.result_picture import render_result
from coevo.network import BayesianNetwork
from coevo.posteriors import ArcStrength, BootstrapResult

NASTY = ["<script>alert(1)</script>", "a\"b'c<&>", "漢字 \u2028 ü", "</svg></div>", "x" * 300]


def nasty_network():
    variables = [Variable(name, ("</td>", "<b>")) for name in NASTY]
    parents = {NASTY[0]: [NASTY[1]], NASTY[2]: [NASTY[0], NASTY[3]]}
    tables = {name: [0.25, 0.75] * 2 ** len(parents.get(name, ())) for name in NASTY}
    return BayesianNetwork(variables, parents, tables, "<i>")


def make_bootstrap(dag):
    strengths = [
        ArcStrength(*arc, strength=1 - i / 10, direction=0.75, gain=None, in_consensus=True)
        for i, arc in enumerate(dag.arcs)
    ]
    return BootstrapResult(tuple(strengths), 0.5, dag, dag, -1.0, 20, 20, 7)


def list_arc_facts(dag):
    return [
        {
            "from": parent,
            "to": child,
            "gain": 9.0 - i,
            "word": "decisive",
            "directed": i > 0,
            "directed_by": "data" if i > 0 else None,
            "strength": 0.5,
            "says": f"P(<b>) is 1 where {parent}=1",
        }
        for i, (parent, child) in enumerate(dag.arcs)
    ]


def list_shown(network):
    """Return what each kind of object shows for a network."""
    dag = network.dag
    objects = [network, dag, CPDAG(dag), compare(dag, DAG(dag.nodes)), make_bootstrap(dag)]
    shown = [item._repr_html_() for item in (*objects, dag.plot())]
    return [*shown, render_result("LearnResult", dag.nodes, list_arc_facts(dag))]
