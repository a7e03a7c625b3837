"""The gain of an arc is the best score with the arc minus the best score without it."""

import itertools

import numpy as np
import pytest

from coevo.bundled import load_network
from coevo.data import read_data
from coevo.errors import GraphError
from coevo.graph import DAG, Constraints
from coevo.network import sample
from coevo.score import FamilyScorer, arc_gains, find_best_addition, find_near_misses
from coevo.score import arcs as gains_module


@pytest.mark.parametrize("score", ["k2", "bdeu", "bic"])
def test_gains_are_differences_of_scores(score, seed):
    network = load_network("sachs")
    scorer = FamilyScorer(sample(network, 300, seed), score)
    gains = arc_gains(scorer, network.dag)
    assert tuple(gains) == network.dag.arcs
    for (parent, child), gain in gains.items():
        others = [other for other in network.dag.parents(child) if other != parent]
        subsets = [s for n in range(len(others) + 1) for s in itertools.combinations(others, n)]
        having = max(scorer.local_score(child, (*subset, parent)) for subset in subsets)
        lacking = max(scorer.local_score(child, subset) for subset in subsets)
        assert gain == pytest.approx(having - lacking)


def test_parents_found_together_share_their_gain(monkeypatch):
    """In an exclusive or no parent tells anything alone: without one, the other goes too."""
    rng = np.random.default_rng(1)
    a, b = rng.integers(2, size=(2, 40))
    dataset = read_data(np.array([a, b, a ^ b]).T, names=["a", "b", "c"])
    scorer = FamilyScorer(dataset, "bdeu", parent_penalty=4)
    dag = DAG("abc", [("a", "c"), ("b", "c")])
    total = scorer.local_score("c", "ab") - scorer.local_score("c")
    removed = scorer.local_score("c", "ab") - scorer.local_score("c", "b")
    assert 0 < total < removed
    assert arc_gains(scorer, dag)["a", "c"] == pytest.approx(total)
    monkeypatch.setattr(gains_module, "MOST_PARENTS", 1)  # too many parents to try all subsets
    assert arc_gains(scorer, dag)["a", "c"] == pytest.approx(removed)


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


@pytest.mark.parametrize("score", ["bdeu", "k2", "bic"])
def test_near_misses_are_the_best_pairs_outside(score, seed, monkeypatch):
    dataset = sample(load_network("asia"), 150, seed)
    scorer = FamilyScorer(dataset, score)
    dag = DAG(dataset.names, [("smoke", "lung"), ("lung", "either"), ("tub", "either")])
    constraints = Constraints(forbidden=[("bronc", "dysp")], max_parents=2)
    by_pair: dict = {}
    for gain, arc in naive_additions(scorer, dag, constraints):
        by_pair.setdefault(frozenset(arc), []).append(gain)
    odds = {pair: sum(map(np.exp, gains)) for pair, gains in by_pair.items()}
    rules = constraints.to_rules(dataset.names)
    found = find_near_misses(scorer, dag, rules, limit=4)
    best = sorted(by_pair, key=lambda pair: -max(by_pair[pair]))[:4]
    assert {frozenset(miss[:2]) for miss in found} == set(best)
    for miss in found:
        pair = frozenset(miss[:2])
        assert miss.gain == pytest.approx(max(by_pair[pair]))
        assert miss.probability == pytest.approx(odds[pair] / (1 + odds[pair]))
    assert [m.probability for m in found] == sorted((m.probability for m in found), reverse=True)
    monkeypatch.setattr(gains_module, "FAMILIES_PER_BATCH", 1)
    assert find_near_misses(scorer, dag, rules, limit=4) == found
    (other,) = find_near_misses(FamilyScorer(dataset, "aic"), dag, rules, limit=1)
    assert other.probability is None  # AIC is no log odds


def test_near_misses_are_ranked_by_probability_not_by_gain():
    """Two directions that are possible together are more probable than one with a larger gain."""
    dataset = sample(load_network("asia"), 150, 26)
    dag = DAG(dataset.names, [("smoke", "lung"), ("lung", "either"), ("tub", "either")])
    rules = Constraints(forbidden=[("bronc", "dysp")], max_parents=2).to_rules(dataset.names)
    found = find_near_misses(FamilyScorer(dataset, "bic"), dag, rules, limit=4)
    assert [(miss.parent, miss.child) for miss in found[1:3]] == [
        ("smoke", "bronc"),
        ("either", "xray"),
    ]
    assert found[1].gain < found[2].gain
    assert found[1].probability > found[2].probability
