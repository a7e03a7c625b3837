"""The gain of an arc is what the score loses without it."""

import pytest

from coevo.graph import DAG
from coevo.network import sample
from coevo.networks import load_network
from coevo.score import FamilyScorer, arc_gains


@pytest.mark.parametrize("score", ["k2", "bdeu", "bic"])
def test_gains_are_differences_of_scores(score, seed):
    network = load_network("sachs")
    scorer = FamilyScorer(sample(network, 300, seed), score)
    gains = arc_gains(scorer, network.dag)
    assert tuple(gains) == network.dag.arcs
    whole = scorer.score(network.dag)
    for arc, gain in gains.items():
        others = [other for other in network.dag.arcs if other != arc]
        assert gain == pytest.approx(whole - scorer.score(DAG(network.dag.nodes, others)))


def test_without_arcs(seed):
    dataset = sample(load_network("asia"), 50, seed)
    assert arc_gains(FamilyScorer(dataset, "k2"), DAG(dataset.names)) == {}
