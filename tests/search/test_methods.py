"""Every method passes the contract suite, with several settings."""

import textwrap

import pytest

from coevo.errors import ParameterError
from coevo.score import FamilyScorer
from coevo.search import (
    CCGA,
    CCMA,
    GA,
    GES,
    K2,
    K2GA,
    METHODS,
    MMHC,
    PC,
    TAN,
    ChowLiu,
    HillClimb,
    Islands,
    NaiveBayes,
    Tabu,
    make_method,
    run_search,
    trees,
)
from contracts import SearchContract
from helpers.problems import random_table


class TestCCGA(SearchContract):
    def make_method(self, names):
        return CCGA(population=12)


class TestCCGA1(SearchContract):
    def make_method(self, names):
        return CCGA(population=12, random_partners=0)


class TestCCGAOfAnOddPopulation(SearchContract):
    def make_method(self, names):
        return CCGA(population=7, random_partners=2, p_flip=0.2, p_swap=1.0)


class TestK2(SearchContract):
    def make_method(self, names):
        return K2()


class TestK2OfAGivenOrder(SearchContract):
    def make_method(self, names):
        return K2(order=sorted(names, reverse=True), max_parents=2)


class TestHillClimb(SearchContract):
    def make_method(self, names):
        return HillClimb()


class TestHillClimbWithRestarts(SearchContract):
    def make_method(self, names):
        return HillClimb(restarts=3, perturbations=2)


class TestTabu(SearchContract):
    def make_method(self, names):
        return Tabu(tenure=3, max_stalled=20)


class TestGES(SearchContract):
    def make_method(self, names):
        return GES()


class TestGESWithoutTurning(SearchContract):
    def make_method(self, names):
        return GES(turning=False)


class TestK2GA(SearchContract):
    def make_method(self, names):
        return K2GA(population=8, offspring=3)


class TestK2GAOfThreeParents(SearchContract):
    def make_method(self, names):
        return K2GA(population=5, offspring=1, crossover="vr", mutation="scramble", p_mutation=0.8)


class TestGA(SearchContract):
    def make_method(self, names):
        return GA(population=9)


class TestGAByInformation(SearchContract):
    def make_method(self, names):
        return GA(population=6, repair="information", p_flip=0.1, optimise=True)


class TestGAWithAnOrder(SearchContract):
    def make_method(self, names):
        return GA(population=16, order=sorted(names, reverse=True), max_parents=2)


class TestCCMA(SearchContract):
    def make_method(self, names):
        return CCMA(orders=4, masks=3, restart_after=2)


class TestIslands(SearchContract):
    n_steps = 3

    def make_method(self, names):
        return Islands(islands=2, epoch=2, migrants=1, orders=3, masks=2, restart_after=2)


class TestOneIsland(SearchContract):
    n_steps = 3

    def make_method(self, names):
        return Islands(islands=1, epoch=2, orders=3, masks=2, restart_after=2)


class TestChowLiu(SearchContract):
    def make_method(self, names):
        return ChowLiu()


class TestNaiveBayes(SearchContract):
    def make_method(self, names):
        return NaiveBayes(class_variable=names[-1])

    scores_batches = False  # one family for each variable, too few for threads

    @pytest.mark.parametrize("cache", ["warm"])  # too few families to fill the smallest cache
    def test_the_cache_changes_nothing(self, cache, seed, monkeypatch):
        super().test_the_cache_changes_nothing(cache, seed, monkeypatch)


class TestTAN(SearchContract):
    def make_method(self, names):
        return TAN(class_variable=names[0])


class TestTANInSmallSteps(TestTAN):
    @pytest.fixture(autouse=True)
    def _take_small_steps(self, monkeypatch):
        monkeypatch.setattr(trees, "FAMILIES_PER_STEP", 1)

    scores_batches = False  # a step has too few families for threads

    def write_code(self, code):
        small = "mock.patch('coevo.search.trees.FAMILIES_PER_STEP', 1)"
        return f"from unittest import mock\nwith {small}:\n{textwrap.indent(code, '    ')}"


class TestPC(SearchContract):
    def make_method(self, names):
        return PC()


class TestPCWithFewTests(SearchContract):
    def make_method(self, names):
        return PC(test="x2", alpha=0.5, max_given=1)


class TestMMHC(SearchContract):
    n_steps = 12  # the climb comes after the tests

    def make_method(self, names):
        return MMHC()


class TestMMHCWithFewTests(SearchContract):
    n_steps = 12

    def make_method(self, names):
        return MMHC(test="x2", alpha=0.3, max_given=1)


def test_methods_by_name():
    for name, kind in METHODS.items():
        assert make_method(name, "x") == kind()
        assert kind.name == name
    assert make_method("ccga", "x", population=7) == CCGA(population=7)
    assert make_method("k2", "x", max_parents=3) == K2(max_parents=3)
    chosen = CCGA(population=7)
    assert make_method(chosen, "x") is chosen


LISTED = ", ".join(repr(name) for name in sorted(METHODS))


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("CCGB", f"one of {LISTED}; got 'CCGB'. Did you mean 'ccga'?"),
        ("", f"one of {LISTED}; got ''."),
        (None, "the name of a method or a Method; got None."),
        (K2, f"the name of a method or a Method; got {K2!r}."),
    ],
)
def test_bad_methods(method, message, seed):
    with pytest.raises(ParameterError) as caught:
        run_search(method, FamilyScorer(random_table(seed)))
    assert str(caught.value) == f"'method' of run_search must be {message}"


def test_data_instead_of_a_scorer(seed):
    table = random_table(seed)
    with pytest.raises(ParameterError) as caught:
        run_search("k2", table)
    assert str(caught.value) == f"'scorer' of run_search must be a FamilyScorer; got {table!r}."
