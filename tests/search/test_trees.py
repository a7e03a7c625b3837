"""Chow-Liu, naive Bayes and TAN equal the best structure of their form, found by enumeration."""

import itertools
import warnings

import numpy as np
import pytest

import coevo
import naive
from coevo.data import read_data
from coevo.errors import ParameterError
from coevo.graph import DAG, Constraints
from coevo.score import SCORES, FamilyScorer
from coevo.search import TAN, ChowLiu, NaiveBayes, run_search
from coevo.search.trees import choose_first_roots, find_best_branching
from helpers.problems import random_constraints, random_table, score_naively, shuffle_table

TIGHT = {"rel": 1e-11, "abs": 1e-7}


def rows_of(table):
    return table.codes.T.tolist(), table.arities.tolist()


def best_branching(gains):
    """Return the largest total gain of a forest, by enumeration."""
    nodes = range(len(gains))
    return max(sum(gains[arc] for arc in arcs) for arcs in naive.all_forests(nodes))


@pytest.mark.parametrize("case", range(40))
def test_the_best_branching(case, seed):
    rng = np.random.default_rng([seed, case])
    n = int(rng.integers(1, 6))
    gains = rng.normal(1.0, 1.0, (n, n))
    if case % 3 == 0:
        gains = np.round(gains)  # many ties
    if case % 4 == 0:
        gains[rng.random((n, n)) < 0.3] = -np.inf
    if case % 5 == 0:
        gains = (gains + gains.T) / 2
    parents = find_best_branching(gains)
    arcs = {(parent, child) for child, parent in enumerate(parents.tolist()) if parent >= 0}
    assert naive.is_acyclic(arcs)
    assert sum(gains[arc] for arc in arcs) == pytest.approx(best_branching(gains), abs=1e-7)


@pytest.mark.parametrize("case", range(20))
def test_a_fixed_parent_stays(case, seed):
    rng = np.random.default_rng([seed, case])
    gains = rng.normal(1.0, 1.0, (5, 5))
    fixed = np.array([-1, -1, -1, -1, 1])
    if case % 2:
        fixed[1] = 0
    parents = find_best_branching(gains, fixed)
    decided = {(parent, child) for child, parent in enumerate(fixed.tolist()) if parent >= 0}
    assert (parents[fixed >= 0] == fixed[fixed >= 0]).all()
    arcs = {(parent, child) for child, parent in enumerate(parents.tolist()) if parent >= 0}
    heads = {child for _, child in decided}
    possible = [
        forest
        for forest in naive.all_forests(range(5))
        if decided == {arc for arc in forest if arc[1] in heads}
    ]
    assert arcs in possible
    best = max(sum(gains[arc] for arc in forest - decided) for forest in possible)
    assert sum(gains[arc] for arc in arcs - decided) == pytest.approx(best, abs=1e-7)


def test_the_first_variable_is_the_root_if_directions_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    gains = rng.random((6, 6))
    gains += gains.T
    parents = choose_first_roots(find_best_branching(gains), gains)
    assert (parents < 0).tolist() == [True, False, False, False, False, False]


@pytest.mark.parametrize("score", SCORES)
def test_chow_liu_is_the_best_tree(score, seed):
    for case in range(3):
        table = random_table([seed, case], n_variables=5, n_rows=60)
        found = run_search(ChowLiu(), FamilyScorer(table, score))
        assert found.stop_reason == "finished"
        assert all(len(found.dag.parents(node)) <= 1 for node in found.dag.nodes)
        assert found.score == pytest.approx(naive.best_tree(score, *rows_of(table)), **TIGHT)


@pytest.mark.parametrize("score", SCORES)
def test_tan_is_the_best_tree_below_the_class(score, seed):
    for case in range(3):
        table = random_table([seed, case], n_variables=5, n_rows=60)
        found = run_search(TAN(class_variable=table.names[2]), FamilyScorer(table, score))
        star, others = naive.class_arcs(5, 2), [0, 1, 3, 4]
        best = naive.best_tree(score, *rows_of(table), star, others)
        assert found.score == pytest.approx(best, **TIGHT)
        for node in found.dag.nodes:
            parents = set(found.dag.parents(node))
            assert (table.names[2] in parents) == (node != table.names[2])
            assert len(parents) <= 2


@pytest.mark.parametrize("score", ["bdeu", "k2", "bic"])
def test_trees_obey_forbidden_arcs_and_stay_the_best(score, seed):
    for case in range(4):
        rng = np.random.default_rng([seed, case])
        table = random_table([seed, case], n_variables=5, n_rows=60)
        pairs = list(itertools.permutations(range(5), 2))
        allowed = [pair for pair in pairs if rng.random() < 0.6]
        names = table.names
        known = Constraints(
            forbidden=[(names[a], names[b]) for a, b in pairs if (a, b) not in allowed]
        )
        found = run_search(ChowLiu(), FamilyScorer(table, score), constraints=known)
        best = naive.best_tree(score, *rows_of(table), allowed=set(allowed))
        assert found.score == pytest.approx(best, **TIGHT)


def test_the_gain_of_an_arc_is_the_mutual_information(seed):
    """With the log-likelihood the trees are those of Chow and Liu, and of Friedman and others."""
    table = random_table(seed, n_variables=5, n_rows=80)
    rows, n = table.codes.T.tolist(), 80
    tree = run_search(ChowLiu(), FamilyScorer(table, "loglik"))
    empty = FamilyScorer(table, "loglik").score(DAG(table.names))
    number = {name: i for i, name in enumerate(table.names)}
    information = sum(
        naive.mutual_information(rows, number[parent], number[child])
        for parent, child in tree.dag.arcs
    )
    assert len(tree.dag.arcs) == 4
    assert tree.score - empty == pytest.approx(n * information)
    tan = run_search(TAN(class_variable=table.names[0]), FamilyScorer(table, "loglik"))
    bayes = run_search(NaiveBayes(class_variable=table.names[0]), FamilyScorer(table, "loglik"))
    information = sum(
        naive.mutual_information(rows, number[parent], number[child], [0])
        for parent, child in set(tan.dag.arcs) - set(bayes.dag.arcs)
    )
    assert tan.score - bayes.score == pytest.approx(n * information)


def test_naive_bayes_has_all_arcs_of_the_class(seed):
    table = random_table(seed)
    found = run_search(NaiveBayes(class_variable="v003"), FamilyScorer(table, "bic"))
    assert set(found.dag.arcs) == {("v003", name) for name in table.names if name != "v003"}
    assert found.score == pytest.approx(sum(score_naively(table, found.dag, "bic").values()))
    assert found.generations == 1


def test_independent_columns_have_no_tree(seed):
    rng = np.random.default_rng(seed)
    table = read_data(rng.integers(0, 2, (400, 4)), names=[*"abcd"])
    assert run_search(ChowLiu(), FamilyScorer(table, "bic")).dag.arcs == ()
    tan = run_search(TAN(class_variable="b"), FamilyScorer(table, "bic"))
    assert tan.dag.arcs == (("b", "a"), ("b", "c"), ("b", "d"))


@pytest.mark.parametrize("case", range(12))
def test_constraints_come_before_the_form(case, seed):
    """The class keeps the arcs that the constraints leave it."""
    rng = np.random.default_rng([seed, case])
    table = random_table([seed, case], n_variables=6, n_rows=60)
    known = random_constraints(rng, table.names)
    rules, target = known.to_rules(table.names), table.names[case % 6]
    found = run_search(
        NaiveBayes(class_variable=target), FamilyScorer(table, "bdeu"), constraints=known
    )
    required = set(known.required)
    assert set(found.dag.arcs) - required <= {(target, name) for name in table.names}
    above = {name for name in table.names if target in DAG(table.names, required).descendants(name)}
    for i, name in enumerate(table.names):
        needed = sum(child == name for _, child in required - {(target, name)})
        is_free = rules.allowed[table.names.index(target), i] and name not in above
        has_arc = (target, name) in found.dag.arcs
        assert has_arc == bool(is_free and needed < rules.max_parents)


def test_a_limit_of_one_parent_leaves_naive_bayes(seed):
    table = random_table(seed)
    target, limit = table.names[0], Constraints(max_parents=1)
    one, two = (
        run_search(method(class_variable=target), FamilyScorer(table, "loglik"), constraints=limit)
        for method in (TAN, NaiveBayes)
    )
    assert one.dag == two.dag


def test_the_root_is_the_first_variable(seed):
    """The score does not depend on directions, so the first variable of each tree is its root."""
    table = random_table(seed)
    for case in range(3):
        shuffled = shuffle_table(table, np.random.default_rng([seed, case]), "columns")
        found = run_search(ChowLiu(), FamilyScorer(shuffled, "loglik"))
        assert [node for node in found.dag.nodes if not found.dag.parents(node)] == ["v000"]


@pytest.mark.parametrize("method", [TAN, NaiveBayes])
def test_the_class_variable_is_needed(method, seed):
    scorer = FamilyScorer(random_table(seed))
    name = method.__name__
    with pytest.raises(ParameterError) as caught:
        run_search(method(), scorer)
    assert str(caught.value) == (
        f"The method {method.name!r} needs the class variable. Give its name: "
        f"method={name}(class_variable='NAME'), or coevo learn -m {method.name} --class-variable "
        "NAME."
    )
    with pytest.raises(ParameterError) as caught:
        run_search(method(class_variable="v0003"), scorer)
    assert str(caught.value) == (
        f"'class_variable' of {name} must be a variable of the data; got 'v0003'. "
        "Did you mean 'v003'?"
    )
    with pytest.raises(ParameterError) as caught:
        method(class_variable=3)
    assert str(caught.value) == f"'class_variable' of {name} must be the name of a variable; got 3."


def test_learn_takes_the_methods(seed):
    rows = coevo.sample(coevo.load_network("asia"), 500, random_state=seed)
    found = coevo.learn(rows, method=TAN(class_variable="dysp"))
    assert found.search.settings == {"class_variable": "dysp"}
    assert {child for parent, child in found.dag.arcs if parent == "dysp"} == {
        name for name in rows.names if name != "dysp"
    }


def learn_by_pyagrum(rows, method, target):
    """Return the structure that the classifier of pyAgrum learns."""
    skbn = pytest.importorskip("pyagrum.skbn")
    processors = pytest.importorskip("pyagrum.lib.discreteTypeProcessor")
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {v.name: np.array(v.states)[c] for v, c in zip(rows.variables, rows.codes, strict=True)}
    )
    as_it_is = processors.DiscreteTypeProcessor("NoDiscretization", defaultNumberOfBins=None)
    model = skbn.BNClassifier(learningMethod=method, type_processor=as_it_is)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(frame.drop(columns=target), frame[target].to_numpy())
    name = {node: model.bn_.variable(node).name() for node in model.bn_.nodes()}
    own = {node: name[node] if name[node] in rows.names else target for node in name}
    return DAG(rows.names, [(own[parent], own[child]) for parent, child in model.bn_.arcs()])


@pytest.mark.parametrize(("network", "target"), [("asia", "dysp"), ("child", "Disease")])
def test_trees_agree_with_pyagrum(network, target, seed):
    """The TAN of pyAgrum has no arcs with little information, so it scores no more."""
    rows = coevo.sample(coevo.load_network(network), 800, random_state=seed).expand()
    scorer = FamilyScorer(rows, "loglik")
    theirs = learn_by_pyagrum(rows, "Chow-Liu", target)
    assert run_search(ChowLiu(), scorer).score == pytest.approx(scorer.score(theirs))
    tan = learn_by_pyagrum(rows, "TAN", target)
    found = run_search(TAN(class_variable=target), scorer)
    assert found.score >= scorer.score(tan) - 1e-9
    if len(tan.arcs) == len(found.dag.arcs):
        assert found.score == pytest.approx(scorer.score(tan))
