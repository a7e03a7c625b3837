"""Tables with few rows cost the regret of the child, the same for all networks of a class."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

import coevo
import naive
from coevo.errors import ParameterError
from coevo.graph import CPDAG, DAG
from coevo.missing.scorers import ExpectedScorer
from coevo.score import FamilyBatch, FamilyScorer
from coevo.score.penalties import DENSE, SPARSE
from helpers.errors import refusal
from helpers.problems import random_table


def draw_columns(seed, arities, n_rows):
    """Return a table of independent columns with about equally frequent states."""
    rng = np.random.default_rng([seed, 23])
    columns = [[f"s{v:02}" for v in rng.integers(r, size=n_rows)] for r in arities]
    return coevo.read_data(pd.DataFrame({f"c{i}": column for i, column in enumerate(columns)}))


def compute_regret(scorer, v):
    """Return the highest log-likelihood of a variable minus its score without parents."""
    counts = [int(n) for n in scorer.dataset.state_counts[v] if n]
    highest = sum(n * math.log(n / sum(counts)) for n in counts)
    return highest - scorer.local_score(scorer.dataset.names[v])


def compute_cost(scorer, members):
    """Return G of the module: the cost of a set of variables."""
    n_cells = math.prod(int(scorer.dataset.arities[v]) for v in members)
    a_row = n_cells / scorer.dataset.n_rows
    if len(members) < 2 or a_row <= DENSE:
        return 0.0
    share = min(1.0, math.log(a_row / DENSE) / math.log(SPARSE / DENSE))
    return share * sum(compute_regret(scorer, v) for v in members)


@pytest.mark.parametrize("score", ["bdeu", "k2", "bic", "qnml"])
def test_the_penalty_is_the_difference_of_two_costs(score, seed):
    dataset = draw_columns(seed, (2, 3, 5, 8, 13), 30)
    plain, charged = FamilyScorer(dataset, score), FamilyScorer(dataset, score, sparse_penalty=1.5)
    families = [
        (child, parents)
        for child in range(5)
        for size in range(4)
        for parents in itertools.combinations([v for v in range(5) if v != child], size)
    ]
    batch = FamilyBatch.from_pairs(families)
    costs = [compute_cost(plain, (c, *p)) - compute_cost(plain, p) for c, p in families]
    assert min(costs) >= 0 < max(costs)
    expected = plain.local_scores(batch) - 1.5 * np.array(costs)
    for _ in range(2):  # first computed, then cached
        assert charged.local_scores(batch) == pytest.approx(expected, abs=1e-7)
    assert charged.score_once(batch) == pytest.approx(expected, abs=1e-7)
    assert len(charged.local_scores(FamilyBatch.from_pairs([]))) == 0


def test_a_table_with_enough_rows_costs_nothing(seed):
    dataset = random_table(seed, n_variables=5, n_rows=400)
    plain, charged = FamilyScorer(dataset), FamilyScorer(dataset, sparse_penalty=1)
    batch = FamilyBatch.from_pairs([(0, ()), (0, (1,)), (2, (0, 1)), (4, (0, 1, 2, 3))])
    assert charged.local_scores(batch).tolist() == plain.local_scores(batch).tolist()


def test_all_networks_of_a_class_have_the_same_cost(seed):
    dataset = draw_columns(seed, (4, 6, 9, 12), 30)
    scorer = FamilyScorer(dataset, "bdeu", ess=5, parent_penalty=4, sparse_penalty=1)
    classes: dict = {}
    for arcs in naive.all_dags(4):
        dag = DAG(dataset.names, [(dataset.names[a], dataset.names[b]) for a, b in arcs])
        cpdag = CPDAG(dag)
        key = (frozenset(cpdag.arcs), frozenset(cpdag.edges))
        classes.setdefault(key, []).append(scorer.score(dag))
    assert max(max(found) - min(found) for found in classes.values()) < 1e-9


def test_imputed_tables_pay_it_once(seed):
    tables = [draw_columns(number, (8, 8, 8), 30) for number in (seed, seed)]
    one = FamilyScorer(tables[0], "bdeu", sparse_penalty=1)
    both = ExpectedScorer(tables, "bdeu", sparse_penalty=1)
    batch = FamilyBatch.from_pairs([(0, (1,)), (2, (0, 1))])
    assert both.local_scores(batch) == pytest.approx(one.local_scores(batch), abs=1e-9)


@pytest.mark.parametrize("number", range(3))
def test_noise_with_many_states_and_few_rows_has_no_arcs(number):
    """Without the penalty, parents whose configurations hold single rows are rewarded."""
    table = draw_columns(number, [15] * 10, 60)
    assert coevo.learn(table, bootstraps=0).gains == {}
    assert coevo.learn(table, bootstraps=0, score=coevo.Objective(sparse_penalty=0)).gains


def test_only_the_default_objective_has_it():
    asia = coevo.sample(coevo.load_network("asia"), 50, 1)
    assert coevo.learn(asia, bootstraps=0).spec.sparse_penalty == 1.0
    named = coevo.learn(asia, bootstraps=0, score="bdeu")
    assert named.spec.sparse_penalty == 0.0
    assert refusal(ParameterError, FamilyScorer, asia, sparse_penalty=-1) == (
        "'sparse_penalty' of FamilyScorer must be a number from 0 to 1,000,000; got -1."
    )
