"""Some scores give all networks of an equivalence class the same value; K2 does not."""

import math
from itertools import pairwise

import numpy as np
import pytest

from coevo.graph import DAG
from coevo.score import SCORES, FamilyScorer
from helpers.random_tables import dataset_of, random_codes


def test_k2_is_not_score_equivalent():
    """Two rows show it: a is 0 in both, b is 0 and 1; a has two states and b three.

    By hand: a alone gives 1!1!/... = 1/3, b given a = 0 gives 2!/4! = 1/12, so a -> b
    scores log(1/36). b alone gives 2!/4! = 1/12, a given each of two values of b gives
    1/2, so b -> a scores log(1/48).
    """
    dataset = dataset_of([2, 3], np.array([[0, 0], [0, 1]]))
    names = ["v000", "v001"]
    scorer = FamilyScorer(dataset, "k2")
    assert scorer.score(DAG(names, [("v000", "v001")])) == pytest.approx(math.log(1 / 36))
    assert scorer.score(DAG(names, [("v001", "v000")])) == pytest.approx(math.log(1 / 48))
    bdeu = FamilyScorer(dataset, "bdeu")
    assert bdeu.score(DAG(names, [("v000", "v001")])) == pytest.approx(
        bdeu.score(DAG(names, [("v001", "v000")])), abs=1e-12
    )


@pytest.mark.parametrize("name", SCORES)
def test_reversing_a_chain_shows_which_scores_are_equivalent(name, seed):
    """A chain and its reverse state the same independences.

    BDs differs from BDeu only if a configuration never occurs, so the data are few and skewed.
    """
    arities, codes = random_codes("skewed", seed, n_rows=25)
    scorer = FamilyScorer(dataset_of(arities, codes), name)
    names = list(scorer.dataset.names)
    chain = scorer.score(DAG(names, list(pairwise(names))))
    reverse = scorer.score(DAG(names, list(pairwise(names[::-1]))))
    assert (chain == pytest.approx(reverse, rel=1e-10)) == SCORES[name].is_equivalent
