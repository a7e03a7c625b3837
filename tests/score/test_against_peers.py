"""K2, BDeu and BIC against pyAgrum and pybnesian.

The families are the true structures of Alarm and Insurance, and 500 random families on each.
BIC agrees with both peers to 1e-9 and better. For the other scores pyAgrum has a table of
log-gamma with steps of 0.01 and seven digits. Its K2 is therefore right to 1e-7 only, and its
BDeu to 1e-6 if every hyperparameter is a multiple of 0.01. With a hyperparameter such as 1/3,
its scores are wrong by percents. The tests therefore give pyAgrum multiples of 0.01. pybnesian
has all digits, and the tests compare it to 1e-9 with any prior.
"""

import math
from functools import cache

import pandas as pd
import pytest

from coevo.bundled import load_network
from coevo.data import write_data
from coevo.network import sample
from coevo.score import FamilyScorer
from helpers.peer_oracles import pyagrum_scorer, pybnesian
from helpers.random_tables import random_families

ALPHA = 0.25  # a hyperparameter in the table of pyAgrum


@pytest.fixture(scope="module", params=["alarm", "insurance"])
def sampled(request, tmp_path_factory):
    network = load_network(request.param)
    dataset = sample(network, 1000, random_state=5)
    path = tmp_path_factory.mktemp("sampled") / "rows.csv"
    write_data(dataset, path)
    names = dataset.names
    families = [(name, network.dag.parents(name)) for name in names]
    families += [
        (names[child], tuple(names[parent] for parent in parents))
        for child, parents in random_families(len(names), 500, 4, seed=3)
    ]
    return network, dataset, path, families


def n_cells(network, child, parents):
    return math.prod(network.variable(name).arity for name in (child, *parents))


def ours(sampled, score, ess=None):
    _, dataset, _, families = sampled
    scorer = FamilyScorer(dataset, score, ess=ess)
    return [scorer.local_score(*family) for family in families]


@pytest.mark.parametrize(("score", "precision"), [("bic", 1e-9), ("k2", 1e-7)])
def test_pyagrum(sampled, score, precision):
    network, _, path, families = sampled
    peer = pyagrum_scorer(path, network, score)
    theirs = [peer(*family) for family in families]
    assert ours(sampled, score) == pytest.approx(theirs, rel=precision)


def test_pyagrum_bdeu(sampled):
    network, dataset, path, families = sampled
    peer = cache(lambda weight: pyagrum_scorer(path, network, "bdeu", weight))
    scorer = cache(lambda weight: FamilyScorer(dataset, "bdeu", ess=weight))
    for family in families:
        weight = ALPHA * n_cells(network, *family)
        assert scorer(weight).local_score(*family) == pytest.approx(peer(weight)(*family), rel=1e-6)


@pytest.fixture(scope="module")
def pybnesian_scores(sampled):
    """Return a function that returns the scores of pybnesian for a score name and an ess."""
    network, dataset, _, families = sampled
    frame = pd.DataFrame(
        {
            variable.name: pd.Categorical.from_codes(codes, list(variable.states))
            for variable, codes in zip(dataset.variables, dataset.codes, strict=True)
        }
    )
    model = pybnesian.DiscreteBN(list(dataset.names))
    bdeu = cache(lambda ess: pybnesian.BDe(frame, ess))
    bic = pybnesian.BIC(frame)

    def scores(score, ess):
        for child, parents in families:
            # K2 is BDeu with as many imagined rows as the family has cells
            size = float(n_cells(network, child, parents)) if score == "k2" else ess
            peer = bic if score == "bic" else bdeu(size)
            yield peer.local_score(model, child, list(parents))

    return lambda score, ess: list(scores(score, ess))


@pytest.mark.parametrize(
    ("score", "ess"), [("k2", None), ("bdeu", 1.0), ("bdeu", 10.0), ("bic", None)]
)
def test_pybnesian(sampled, pybnesian_scores, score, ess):
    assert ours(sampled, score, ess) == pytest.approx(pybnesian_scores(score, ess), rel=1e-9)
