"""The summary of the species, against direct computations; it changes no search."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import spearmanr

import coevo
from coevo.search.breeding import NAMES, SCOUTS, SOURCES, describe_masks
from coevo.search.species import (
    MAX_CHILDREN,
    MAX_PAID,
    MaskRow,
    MaskWork,
    Populations,
    count_pairs,
    list_credit,
    summarise_species,
)


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


def draw_work(seed, n_masks, n, k):
    """Return random work of two islands; some pairs are in several masks."""
    rng = np.random.default_rng(seed)
    shape = (2 * n_masks, n, k)
    return MaskWork(
        [(f"mask {i}", "does something") for i in range(n_masks)],
        rng.random(n_masks),
        rng.integers(0, 3, size=(n_masks, n)) * 17,
        np.maximum(0.0, rng.normal(size=(n_masks, n))),
        rng.permuted(np.tile(np.arange(n, dtype=np.int32), (*shape[:2], 1)), axis=2)[:, :, :k],
        rng.normal(size=shape),
        np.triu(rng.random((n, n)) < 0.3, 1),
    )


@pytest.mark.parametrize(("n_masks", "n", "k"), [(3, 5, 4), (2, 40, 6), (8, 60, 9)])
def test_the_work_of_masks_by_plain_loops(seed, n_masks, n, k):
    work = draw_work(seed, n_masks, n, k)
    found = summarise_species(Populations(np.arange(n)[None], work=work))["work"]
    for mask, row in enumerate(found["masks"]):
        assert row["name"] == f"mask {mask}"
        assert row["families"] == sum(int(each) for each in work.spent[mask])
        assert row["nats"] == pytest.approx(sum(work.earned[mask]), rel=1e-5)
        assert row["credit"] == pytest.approx(work.credit[mask], rel=1e-5)

    totals = []
    for child in range(n):
        families = sum(int(work.spent[mask, child]) for mask in range(n_masks))
        nats = sum(float(work.earned[mask, child]) for mask in range(n_masks))
        totals.append((child, families, nats))
    assert found["families"] == sum(families for _, families, _ in totals)
    assert found["nats"] == pytest.approx(sum(nats for *_, nats in totals), rel=1e-5)
    assert found["n_children"] == sum(families > 0 for _, families, _ in totals)
    earning = [families for _, families, nats in totals if nats > 0]
    assert (found["n_earning"], found["families_of_earning"]) == (len(earning), sum(earning))
    ranked = sorted(totals, key=lambda each: (-each[2], -each[1]))[:MAX_CHILDREN]
    expected = [(child, families) for child, families, _ in ranked if families]
    assert [(child, families) for child, families, _ in found["children"]] == expected
    most = sorted(totals, key=lambda each: -each[1])[:3]
    assert [row[1] for row in found["busiest"]] == [families for _, families, _ in most]

    best = {}
    for mask in range(2 * n_masks):
        for child in range(n):
            for parent, value in zip(
                work.candidates[mask, child], work.values[mask, child], strict=True
            ):
                if value > best.get((int(parent), child), 0.0):
                    best[int(parent), child] = float(value)
    ranked = sorted(best.items(), key=lambda each: -each[1])[:MAX_PAID]
    assert [(a, b) for a, b, *_ in found["paid"]] == [pair for pair, _ in ranked]
    for (parent, child), (_, _, value, use) in zip(
        (pair for pair, _ in ranked), found["paid"], strict=True
    ):
        assert value == pytest.approx(best[parent, child], rel=1e-5)
        is_arc, is_reverse = work.adjacency[parent, child], work.adjacency[child, parent]
        assert use == (1 if is_arc else -1 if is_reverse else 0)


def test_a_short_row_is_listed_without_its_fill():
    row = MaskRow("the mask", 1, np.array([0, 2, 1, 1]), np.array([3.0, 1.0, 0.0, 0.0]))
    found = summarise_species(Populations(np.arange(3)[None], row=row))["row"]
    assert found == {
        "mask": "the mask",
        "child": 1,
        "candidates": [0, 2],
        "values": [3.0, 1.0],
    }


def test_islands_add_up_the_work_of_their_masks():
    rows = coevo.sample(coevo.load_network("asia"), 300, random_state=1)
    scorer, limit = coevo.FamilyScorer(rows, "bdeu"), coevo.Budget(max_generations=2)
    state = coevo.run_search("islands:islands=3", scorer, budget=limit, random_state=1).state
    found = summarise_species(state.get_populations())["work"]
    assert len(found["masks"]) == len(state.islands[0].credit)
    for mask, row in enumerate(found["masks"]):
        assert row["families"] == sum(int(island.spent[mask].sum()) for island in state.islands)
        nats = sum(float(island.earned[mask].sum()) for island in state.islands)
        assert row["nats"] == pytest.approx(nats, rel=1e-5)
        credit = sum(float(island.credit[mask]) for island in state.islands) / 3
        assert row["credit"] == pytest.approx(credit, rel=1e-5)


@pytest.mark.parametrize("method", ["ccma", "ccma:masks=3", "islands:islands=1", "hill_climb"])
def test_the_history_has_the_credit_of_each_mask(method, seed):
    rows = coevo.sample(coevo.load_network("asia"), 300, random_state=seed)
    scorer, limit = coevo.FamilyScorer(rows, "bdeu"), coevo.Budget(max_generations=8)
    credit = []

    def watch(checkpoint):
        state = checkpoint.state
        island = state.islands[0] if hasattr(state, "islands") else state
        credit.append(island.credit.tolist() if hasattr(island, "credit") else [])

    found = coevo.run_search(method, scorer, budget=limit, random_state=seed, on_checkpoint=watch)
    assert [list_credit(row.details) for row in found.history] == credit


def test_every_mask_has_a_name_of_its_own():
    assert len(NAMES) == len(SOURCES)
    assert all(NAMES[scout][1] for scout in SCOUTS)
    for has_scouts in (False, True):
        names = [name for name, _ in describe_masks(17, has_scouts)]
        assert len(set(names)) == 17
        assert [i for i, name in enumerate(names[:8]) if "scout" in name] == (
            list(SCOUTS) if has_scouts else []
        )


def test_the_example_of_ccga_is_a_row_of_the_best_mask(seed):
    from coevo.search.encoding import decode

    rows = coevo.sample(coevo.load_network("asia"), 200, random_state=seed)
    scorer, limit = coevo.FamilyScorer(rows, "bdeu"), coevo.Budget(max_generations=6)
    state = coevo.run_search("ccga", scorer, budget=limit, random_state=seed).state
    row = summarise_species(state.get_populations())["row"]
    order = state.orders[state.order_scores.argmax()]
    adjacency = decode(order, state.masks[state.mask_scores.argmax()])
    assert sorted(row["candidates"]) == np.flatnonzero(adjacency[:, row["child"]]).tolist()
    assert len(row["candidates"]) == adjacency.sum(axis=0).max()
