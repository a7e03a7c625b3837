"""The summary of the species, against direct computations; it changes no search."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import spearmanr

import coevo
from coevo.search.species import Populations, count_pairs, summarise_species


def test_the_agreement_of_orders_is_the_mean_rank_correlation(seed):
    rng = np.random.default_rng(seed)
    orders = np.array([rng.permutation(9) for _ in range(7)])
    places = np.argsort(orders, axis=1)
    expected = np.mean([spearmanr(one, two).statistic for one, two in combinations(places, 2)])
    found = summarise_species(Populations(orders))["orders"]
    assert found["agreement"] == pytest.approx(expected, abs=1e-6)
    assert found["best"] == places[0].tolist()
    assert found["low"] == places.min(axis=0).tolist()
    assert found["high"] == places.max(axis=0).tolist()


def test_the_agreement_of_masks_is_shared_pairs_over_all_pairs(seed):
    rng = np.random.default_rng(seed)
    masks = rng.random((5, 6, 6)) < 0.3
    pairs = list(combinations(masks, 2))
    shared = np.mean([(one & two).sum() for one, two in pairs])
    either = np.mean([(one | two).sum() for one, two in pairs])
    order = np.arange(6)[None]
    counts = masks.sum(axis=0)
    listed = np.argwhere(counts)
    triples = np.column_stack([listed, counts[listed[:, 0], listed[:, 1]]])
    found = summarise_species(Populations(order, 5, triples))["masks"]
    assert found["agreement"] == pytest.approx(shared / either, abs=1e-6)
    assert found["n_pairs"] == masks.any(axis=0).sum()
    assert found["n_common"] == masks.all(axis=0).sum()
    for parent, child, share in found["pairs"]:
        assert share == pytest.approx(masks[:, parent, child].mean(), abs=1e-4)


def test_masks_over_positions_are_counted_over_variables(seed):
    from coevo.search.encoding import decode

    rng = np.random.default_rng(seed)
    order, masks = rng.permutation(5), rng.random((4, 10)) < 0.5
    expected = sum(decode(order, mask).astype(int) for mask in masks)
    triples = [[*pair, expected[tuple(pair)]] for pair in np.argwhere(expected).tolist()]
    assert count_pairs(order, masks).tolist() == triples


@pytest.mark.parametrize("method", ["ccma", "ccga:population=6", "islands:islands=2", "k2ga"])
def test_every_species_is_shown_and_the_search_is_the_same(method, seed):
    rows = coevo.sample(coevo.load_network("asia"), 200, random_state=seed)
    scorer, limit = coevo.FamilyScorer(rows, "bdeu"), coevo.Budget(max_generations=4)
    seen = []

    def watch(checkpoint):
        populations = checkpoint.state.get_populations()
        seen.append(populations and summarise_species(populations))

    found = coevo.run_search(method, scorer, budget=limit, random_state=seed, on_checkpoint=watch)
    alone = coevo.run_search(method, scorer, budget=limit, random_state=seed)
    assert found.dag == alone.dag
    assert sorted(seen[-1]["orders"]["best"]) == list(range(8))
    assert -1 <= seen[-1]["orders"]["agreement"] <= 1
    assert ("masks" in seen[-1]) == (method != "k2ga")


def test_a_method_without_species_shows_none():
    rows = coevo.sample(coevo.load_network("asia"), 200, random_state=1)
    found = coevo.run_search("hill_climb", coevo.FamilyScorer(rows, "bdeu"), random_state=1)
    assert found.state.get_populations() is None
