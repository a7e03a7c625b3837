"""Summaries of the species from files: complete ones pass, damaged ones do not."""

import copy
import json

import pytest

import coevo
from coevo.files.species_record import is_row, is_summary, is_work
from coevo.search.species import summarise_species


@pytest.fixture(scope="module", params=["ccma", "ccga:population=6", "k2ga", "islands:islands=2"])
def summary(request):
    """Return a summary as a file holds it."""
    rows = coevo.sample(coevo.load_network("asia"), 200, random_state=1)
    scorer, limit = coevo.FamilyScorer(rows, "bdeu"), coevo.Budget(max_generations=6)
    found = coevo.run_search(request.param, scorer, budget=limit, random_state=1)
    species = summarise_species(found.state.get_populations())
    return json.loads(json.dumps({"variables": list(found.dag.nodes), **species}))


def test_a_summary_passes(summary):
    assert is_summary(summary)


@pytest.mark.parametrize("wrong", [None, 5, "text", [5], {}, [[1]], {"n": 1}, float("nan")])
def test_a_damaged_part_is_found(summary, wrong):
    assert not is_summary(wrong)
    for key in ("variables", "orders"):
        assert not is_summary({**summary, key: wrong})
    for key in ("masks", "work", "row"):  # older versions do not write all of them
        assert is_summary({**summary, key: wrong}) == (wrong is None)


LISTS = {
    "orders": ("best", "low", "high", "mean"),
    "masks": ("pairs",),
    "work": ("masks", "children", "busiest", "paid"),
    "row": ("candidates", "values"),
}


@pytest.mark.parametrize("wrong", [5, "text", ["text"], {}, [[1]], [None]])
def test_a_damaged_list_is_found(summary, wrong):
    for part, keys in LISTS.items():
        for key in keys if part in summary else ():
            changed = copy.deepcopy(summary)
            changed[part][key] = wrong
            assert not is_summary(changed)


@pytest.mark.parametrize("number", [-1, 8, 0.5, True])
def test_a_number_of_no_variable_is_found(summary, number):
    if "row" in summary:
        row = {**summary["row"], "child": number}
        assert not is_summary({**summary, "row": row})
        assert is_row(row) == (number == 8)  # alone, it does not know the variables
    if "work" in summary:
        work = {**summary["work"], "children": [[number, 1, 1.0]]}
        assert not is_summary({**summary, "work": work})
        assert is_work(work) == (number == 8)
