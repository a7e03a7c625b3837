"""The peers maximise the requested score on the given rows and states."""

import itertools
import sys
import warnings
from importlib import util

import numpy as np
import pytest

from coevo.bundled import load_network
from coevo.data import Dataset, Variable
from coevo.experiments.peers import PEERS, make_categorical_frame
from coevo.graph import DAG, compare
from coevo.network import sample
from coevo.score import FamilyScorer, make_score

# pyAgrum's log-gamma function has seven correct digits, and only inside its table.
PRECISION = 1e-3
NAMES = list(PEERS)


@pytest.fixture(autouse=True)
def _ignore_warnings_of_peers():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def peer_named(name):
    """Return a peer, or skip the test if it is not installed."""
    if not PEERS[name].is_installed:
        pytest.skip(f"{name} is not installed; install it with: pip install 'coevo[bench]'")
    return PEERS[name]


@pytest.fixture(scope="module")
def few_rows():
    """Return few rows of a network, in which some states do not occur."""
    dataset = sample(load_network("insurance"), 100, random_state=3)
    assert any(len(np.unique(c)) < n for c, n in zip(dataset.codes, dataset.arities, strict=True))
    return dataset


@pytest.fixture(scope="module")
def collider():
    """Return rows in which c depends on a and b, with names that are difficult in files."""
    rng = np.random.default_rng(1)
    a, b = rng.integers(2, size=(2, 400))
    c = np.where(rng.random(400) < 0.05, 2, a + b > 0)
    names = ("a, 'first'", "b b", "c;\u00e4")
    states = (("no", "yes, often"), ("0", "1"), ("-", "+", "broken", "never"))
    variables = [Variable(name, labels) for name, labels in zip(names, states, strict=True)]
    return Dataset(variables, [a, b, c]), DAG(names, [(names[0], names[2]), (names[1], names[2])])


def neighbours(dag):
    """Yield the DAGs that differ by one arc change."""
    arcs = set(dag.arcs)
    for parent, child in itertools.permutations(dag.nodes, 2):
        if (parent, child) in arcs:
            changes = [arcs - {(parent, child)}, arcs - {(parent, child)} | {(child, parent)}]
        elif (child, parent) not in arcs:
            changes = [arcs | {(parent, child)}]
        else:
            continue
        for change in changes:
            try:
                yield DAG(dag.nodes, change)
            except ValueError:  # a cycle
                continue


@pytest.mark.parametrize(
    ("name", "score", "ess"),
    [
        ("pyagrum", "k2", None),
        ("pyagrum", "bic", None),
        ("pybnesian", "bdeu", 1.0),
        ("pybnesian", "bdeu", 20.0),
        ("pybnesian", "bic", None),
        ("pgmpy", "bic", None),
    ],
)
def test_no_change_of_an_arc_is_better_by_our_scorer(name, score, ess, few_rows):
    """It holds only if the peer used the same rows, states and prior."""
    scoring = make_score(score, ess)
    dag, seconds = peer_named(name).learn(few_rows, scoring)
    assert seconds > 0
    scorer = FamilyScorer(few_rows, scoring)
    found = scorer.score(dag)
    assert found > scorer.score(DAG(few_rows.names))
    assert max(scorer.score(other) for other in neighbours(dag)) <= found + PRECISION


def has_both_edges(dag, true):
    """Return whether both edges are present; a greedy search may direct them either way."""
    return not compare(dag, true).missing


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("score", ["k2", "bdeu", "bds", "bic", "aic"])
def test_every_peer_learns_by_every_score(name, score, collider):
    dataset, true = collider
    dag, _ = peer_named(name).learn(dataset, make_score(score))
    assert dag.nodes == dataset.names
    assert has_both_edges(dag, true)


def test_causal_learn_directs_arcs_as_we_do(collider):
    """It searches equivalence classes; this class has only one DAG."""
    dataset, true = collider
    assert peer_named("causal-learn").learn(dataset, make_score("bdeu"))[0] == true


@pytest.mark.parametrize("name", NAMES)
def test_weighted_rows_count_as_often_as_they_occur(name, collider):
    dataset, true = collider
    rows, counts = np.unique(dataset.codes, axis=1, return_counts=True)
    weighted = Dataset(dataset.variables, list(rows), weights=counts)
    assert has_both_edges(peer_named(name).learn(weighted, make_score("bdeu"))[0], true)


def test_another_sample_size_reaches_pyagrum(few_rows):
    dags = [PEERS["pyagrum"].learn(few_rows, make_score("bdeu", ess))[0] for ess in (1.0, 50.0)]
    scores = [FamilyScorer(few_rows, "bdeu", ess=50.0).score(dag) for dag in dags]
    assert len(dags[0].arcs) < len(dags[1].arcs)
    assert scores[0] < scores[1]


def test_the_scores_of_pgmpy():
    """Its BDeu and BIC scores agree with coevo's if all states occur."""
    peer_named("pgmpy")
    from pgmpy import structure_score

    network = load_network("sachs")
    dataset = sample(network, 500, random_state=3)
    frame = make_categorical_frame(dataset).astype(str)
    for theirs, ours in (
        (structure_score.BDeu(frame, 3.0), FamilyScorer(dataset, "bdeu", ess=3)),
        (structure_score.BIC(frame), FamilyScorer(dataset, "bic")),
    ):
        for variable in dataset.names:
            parents = network.dag.parents(variable)
            found = theirs.local_score(variable, parents)
            assert found == pytest.approx(ours.local_score(variable, parents), rel=1e-9)


def test_the_clock_starts_after_the_conversion_of_the_data(collider):
    calls = []
    dataset, _ = collider
    PEERS["pybnesian"].learn(dataset, make_score("bic"), lambda: calls.append("begun"))
    assert calls == ["begun"]


# -- scores


@pytest.mark.parametrize(
    ("name", "used"),
    [
        ("pyagrum", "k2; bdeu (ess 5); bdeu (ess 5); bic; bic; bic"),
        ("pybnesian", "bdeu (ess 1); bdeu (ess 5); bdeu (ess 5); bic; bic; bic"),
        ("pgmpy", "bdeu (ess 1); bdeu (ess 5); bdeu (ess 5); bic; bic; bic"),
        ("causal-learn", "; ".join(["bdeu (ess 1) and a prior on arcs"] * 6)),
    ],
)
def test_the_score_that_each_peer_maximises(name, used):
    asked = ("k2", None), ("bdeu", 5), ("bds", 5), ("bic", None), ("aic", None), ("loglik", None)
    assert "; ".join(PEERS[name].describe_score_used(make_score(*score)) for score in asked) == used


# -- installation


def test_a_peer_that_is_not_installed(monkeypatch):
    monkeypatch.setattr(util, "find_spec", lambda module: None)
    assert not any(peer.is_installed for peer in PEERS.values())


def test_versions_and_presence_need_no_import():
    for peer in PEERS.values():
        loaded = peer.module in sys.modules
        assert peer.is_installed == (peer.version is not None)
        assert (peer.module in sys.modules) == loaded


def test_the_registry():
    assert NAMES == ["pyagrum", "pybnesian", "pgmpy", "causal-learn"]
    assert all(peer.method and peer.package and peer.scores for peer in PEERS.values())
