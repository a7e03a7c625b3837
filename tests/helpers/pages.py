"""Pages for tests: one with all sections, and one with names that could break the markup."""

from coevo.bundled import load_network
from coevo.data import Variable
from coevo.graph import DAG
from coevo.network import BayesianNetwork
from coevo.view.page import ArcFacts, BootstrapArc, BootstrapSummary, Page, ScorePoint

NASTY = ["</script><script>alert(1)</script>", "a\"b'c<&>", "漢字 \u2028 ü", "{{data}}", "x" * 300]


def full_page():
    """Return a page with all sections."""
    asia = load_network("asia")
    other = [arc for arc in asia.dag.arcs if arc[0] != "smoke"]
    return Page(
        asia.dag,
        asia,
        title="Asia & <friends>",
        facts={"score": "-2,200.50"},
        arcs={
            arc: ArcFacts(
                10.0 * i,
                strength=i / 10,
                direction=0.5,
                says=f"P(b=1) is 0.{i} where a{i}=1, 0 elsewhere",
            )
            for i, arc in enumerate(asia.dag.arcs)
        },
        rejected="The best rejected arc is <this>.",
        samples="Strengths come from 20 <quick> samples.",
        bootstrap=BootstrapSummary(
            20,
            0.25,
            [BootstrapArc("lung", "asia", 0.8, False)]
            + [BootstrapArc(*arc, i / 10, True) for i, arc in enumerate(asia.dag.arcs)],
        ),
        history=[ScorePoint(0.01, 0, -90.0), ScorePoint(0.5, 1, -40.5), ScorePoint(2.0, 2, -40.5)],
        audit=["Column 'asia' is <rare>."],
        columns={"asia": "kept"},
        settings={"method": "ccma"},
        command="coevo learn 'a b.csv'",
        stamp={"coevo": "0.1.0", "seed": "7"},
        other=DAG(asia.dag.nodes, [*other, ("lung", "smoke"), ("xray", "smoke")]),
        other_name="<that>",
    )


def nasty_page():
    """Return a page whose names and states try to break out of the markup."""
    variables = [Variable(name, ("</td>", "<b>")) for name in NASTY]
    parents = {NASTY[0]: [NASTY[1]], NASTY[2]: [NASTY[0], NASTY[3]]}
    tables = {name: [0.25, 0.75] * 2 ** len(parents.get(name, ())) for name in NASTY}
    network = BayesianNetwork(variables, parents, tables)
    return Page(network.dag, network, title="</title>", command="</pre>", audit=["</ul><script>"])
