"""The gain of an arc is the score with the arc minus the score without it."""

import pytest

from coevo.bundled import load_network
from coevo.errors import GraphError
from coevo.graph import DAG, Constraints
from coevo.network import sample
from coevo.score import FamilyScorer, arc_gains, find_best_addition
from coevo.score import gains as gains_module


@pytest.mark.parametrize("score", ["k2", "bdeu", "bic"])
def test_gains_are_differences_of_scores(score, seed):
    network = load_network("sachs")
    scorer = FamilyScorer(sample(network, 300, seed), score)
    gains = arc_gains(scorer, network.dag)
    assert tuple(gains) == network.dag.arcs
    complete = scorer.score(network.dag)
    for arc, gain in gains.items():
        others = [other for other in network.dag.arcs if other != arc]
        assert gain == pytest.approx(complete - scorer.score(DAG(network.dag.nodes, others)))


def test_without_arcs(seed):
    dataset = sample(load_network("asia"), 50, seed)
    assert arc_gains(FamilyScorer(dataset, "k2"), DAG(dataset.names)) == {}


def naive_additions(scorer, dag, constraints):
    """Yield (gain, arc) for each arc that may be added, from the scores of complete DAGs."""
    rules = constraints.to_rules(dag.nodes)
    for i, parent in enumerate(dag.nodes):
        for j, child in enumerate(dag.nodes):
            full = len(dag.parents(child)) >= rules.max_parents
            if full or not rules.allowed[i, j] or (parent, child) in dag.arcs:
                continue
            try:
                other = DAG(dag.nodes, [*dag.arcs, (parent, child)])
            except GraphError:  # a cycle
                continue
            yield scorer.score(other) - scorer.score(dag), (parent, child)


@pytest.mark.parametrize("score", ["k2", "bdeu", "bic"])
@pytest.mark.parametrize(
    "constraints",
    [Constraints(), Constraints(max_parents=2), Constraints(roots=["PKA", "Akt"], leaves=["Raf"])],
)
def test_the_best_addition_is_the_best_of_all(score, constraints, seed):
    network = load_network("sachs")
    dataset = sample(network, 300, seed)
    scorer = FamilyScorer(dataset, score)
    for arcs in ((), network.dag.arcs[::3], network.dag.arcs):
        dag = DAG(network.dag.nodes, arcs)
        additions = {arc: gain for gain, arc in naive_additions(scorer, dag, constraints)}
        parent, child, gain = find_best_addition(scorer, dag, constraints.to_rules(dataset.names))
        assert gain == pytest.approx(additions[parent, child])
        assert gain == pytest.approx(max(additions.values()))


@pytest.mark.parametrize("limit", [1, 20])
def test_the_size_of_a_batch_changes_nothing(limit, seed, monkeypatch):
    dataset = sample(load_network("asia"), 100, seed)
    scorer, rules = FamilyScorer(dataset, "bic"), Constraints().to_rules(dataset.names)
    right = find_best_addition(scorer, DAG(dataset.names), rules)
    monkeypatch.setattr(gains_module, "FAMILIES_PER_BATCH", limit)
    assert find_best_addition(scorer, DAG(dataset.names), rules) == right


def test_no_arc_can_be_added(seed):
    dataset = sample(load_network("asia"), 50, seed)
    scorer = FamilyScorer(dataset)
    none = Constraints(roots=dataset.names).to_rules(dataset.names)
    assert find_best_addition(scorer, DAG(dataset.names), none) is None
    pairs = [(a, b) for i, a in enumerate(dataset.names) for b in dataset.names[i + 1 :]]
    full = DAG(dataset.names, pairs)
    assert find_best_addition(scorer, full, Constraints().to_rules(dataset.names)) is None


def test_the_first_variable_can_be_the_child(seed):
    dataset = sample(load_network("asia"), 100, seed)
    first, *others = dataset.names
    rules = Constraints(roots=others).to_rules(dataset.names)
    found = find_best_addition(FamilyScorer(dataset, "bic"), DAG(dataset.names), rules)
    assert found is not None
    assert found.child == first


def test_a_batch_without_families_ends_nothing(seed, monkeypatch):
    """One child in each batch: the first has no possible parent, the last one has."""
    dataset = sample(load_network("asia"), 100, seed)
    *others, last = dataset.names
    rules = Constraints(roots=others).to_rules(dataset.names)
    monkeypatch.setattr(gains_module, "FAMILIES_PER_BATCH", 1)
    found = find_best_addition(FamilyScorer(dataset, "bic"), DAG(dataset.names), rules)
    assert found is not None
    assert found.child == last


def test_no_parent_beyond_the_limit_is_added(seed):
    dataset = sample(load_network("asia"), 100, seed)
    *others, last = dataset.names
    scorer, dag = FamilyScorer(dataset, "bic"), DAG(dataset.names, [(others[0], last)])
    for limit, is_found in ((1, False), (2, True)):
        rules = Constraints(roots=others, max_parents=limit).to_rules(dataset.names)
        assert (find_best_addition(scorer, dag, rules) is not None) is is_found
