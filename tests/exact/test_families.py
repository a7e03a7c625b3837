"""All families that can be in an optimal network are found, and the rules are proved by tests."""

import itertools

import numpy as np
import pytest

import naive
from coevo.errors import DataError, ParameterError
from coevo.exact import check_certificate, families, find_families
from coevo.exact.check import list_families
from coevo.exact.families import check_range, encode_sets, round_up, to_nats
from coevo.exact.superset_bounds import SupersetBounds
from coevo.score import FamilyScorer
from coevo.search import Problem
from helpers.proofs import (
    SCORES,
    list_local_scores,
    list_nondominated,
    prove_problem,
    random_problem,
)
from helpers.random_tables import dataset_of


def as_pairs(families):
    n = families.n_variables
    return {
        (int(child), frozenset(p for p in row if p < n)): float(score)
        for child, row, score in zip(
            families.children, families.parents.tolist(), families.scores, strict=True
        )
    }


@pytest.mark.parametrize("is_constrained", [False, True])
@pytest.mark.parametrize("score", [*SCORES, "loglik"])
def test_families_are_those_that_beat_their_subsets(score, is_constrained):
    for seed in range(3):
        problem = random_problem(seed, score, 6, 40, is_constrained)
        local = list_local_scores(problem)
        found = as_pairs(find_families(problem))
        assert found == {pair: local[pair] for pair in list_nondominated(local)}


@pytest.mark.parametrize("score", SCORES)
def test_the_checker_lists_the_same_families(score):
    problem = random_problem(5, score, 6, 40, is_constrained=True)
    families, bounds = find_families(problem), SupersetBounds(problem.scorer, problem.rules)
    for child in range(problem.n_variables):
        parents, units = list_families(bounds, child)
        own = slice(families.begin[child], families.begin[child + 1])
        listed = sorted(zip(map(sorted, parents.tolist()), units.tolist(), strict=True))
        other = zip(map(sorted, families.parents[own].tolist()), families.units[own], strict=True)
        width = families.parents.shape[1]
        padded = [(p + [problem.n_variables] * (width - len(p)), u) for p, u in listed]
        assert padded == sorted((p, int(u)) for p, u in other)


@pytest.mark.parametrize("score", ["bdeu", "bic"])
@pytest.mark.parametrize("slack", [0.5, 5.0])
def test_a_slack_keeps_families_near_their_subsets(score, slack):
    for seed in range(3):
        problem = random_problem(seed, score, 5, 40)
        local = list_local_scores(problem)
        wanted = {
            (child, parents)
            for (child, parents), value in local.items()
            if all(
                value >= local[child, frozenset(subset)] - slack
                for size in range(len(parents))
                for subset in itertools.combinations(parents, size)
            )
        }
        assert set(as_pairs(find_families(problem, slack))) == wanted


@pytest.mark.parametrize("is_constrained", [False, True])
@pytest.mark.parametrize("score", [score for score in SCORES if score != "qnml"])
def test_no_superset_exceeds_its_bound(score, is_constrained):
    for seed in range(4):
        problem = random_problem(seed, score, 6, 25, is_constrained)
        local = list_local_scores(problem)
        bounds = SupersetBounds(problem.scorer, problem.rules)
        assert bounds.exists
        for (child, parents), value in local.items():
            supersets = [v for (c, p), v in local.items() if c == child and p > parents]
            if not supersets:
                continue
            sets = np.array([sorted(parents)], dtype=np.int64).reshape(1, -1)
            scores = np.array([value])
            (bound,) = bounds.bound_supersets(child, sets, scores, np.array([np.inf]))
            assert bound >= max(supersets)
            (useful,) = bounds.bound_supersets(child, sets, scores, np.array([value]))
            assert useful >= bound
            assert useful == bound or bound > value


@pytest.mark.parametrize("is_constrained", [False, True])
@pytest.mark.parametrize("score", SCORES)
def test_a_redundant_parent_never_pays(score, is_constrained):
    n_redundant = 0
    for seed, slack in itertools.product(range(3), (0.0, 2.0)):
        problem = random_problem(seed, score, 5, 60, is_constrained)
        local = list_local_scores(problem)
        bounds = SupersetBounds(problem.scorer, problem.rules)
        for (child, parents), value in local.items():
            sets = np.array([sorted(parents)], dtype=np.int64).reshape(1, -1)
            for added in {u for c, p in local if c == child for u in p} - parents:
                if bounds.find_redundant(child, sets, np.array([value]), np.array([added]), slack):
                    n_redundant += 1
                    assert all(
                        other <= local[child, p - {added}] - slack
                        for (c, p), other in local.items()
                        if c == child
                        and p > parents
                        and added in p
                        and (child, p - {added}) in local
                    )
    assert (n_redundant > 0) is (score in ("bic", "aic"))


def make_copies(n_states, n_rows):
    """Return three variables: two that determine each other, and one that says little."""
    rng = np.random.default_rng([n_states, n_rows])
    values = np.arange(n_rows) % n_states
    codes = [values, rng.permutation(n_states)[values], rng.integers(0, 2, n_rows)]
    return dataset_of([n_states, n_states, 2], np.array(codes))


@pytest.mark.parametrize("score", ["bic", "aic"])
@pytest.mark.parametrize("n_states", [6, 8])
def test_the_entropy_rule_keeps_parents_that_pay_and_drops_those_that_cannot(score, n_states):
    """A copy gains all of the entropy, so half of it, or twice as much, is a wrong rule.

    The rule decides exactly at the number of rows from which the entropy pays for the table. The
    prover and its checker share it, so only the enumeration of all structures can tell.
    """
    n_dropped, n_near = 0, 0
    for n_rows in range(n_states, 7 * n_states, n_states):  # all states are equally frequent
        table = make_copies(n_states, n_rows)
        problem = Problem.from_scorer(FamilyScorer(table, score))
        entropy = n_rows * np.log(n_states)
        penalty = (0.5 * np.log(n_rows) if score == "bic" else 1.0) * (n_states - 1) ** 2
        pays = bool(entropy > penalty)
        n_dropped, n_near = n_dropped + (not pays), n_near + (penalty < entropy < 2 * penalty)

        bounds = SupersetBounds(problem.scorer, problem.rules)
        none, alone = np.empty((1, 0), dtype=np.int64), problem.scorer.local_score("v000", [])
        (is_redundant,) = bounds.find_redundant(0, none, np.array([alone]), np.array([1]))
        assert is_redundant == (not pays)

        rows, arities = table.codes.T.tolist(), table.arities.tolist()
        best = max(naive.structure_score(score, rows, arities, arcs) for arcs in naive.all_dags(3))
        task, last, certificate = prove_problem(problem)
        assert last.state.score == pytest.approx(best, rel=1e-11)
        assert ((0, frozenset({1})) in as_pairs(task.families)) == pays
        assert check_certificate(certificate, table).score == pytest.approx(best, rel=1e-11)
    assert n_dropped > 0
    assert n_near > 0


def test_the_rules_save_work():
    """With few rows no rule would be needed only if all sets were scored."""
    for score in ("bic", "k2", "bdeu"):
        problem = random_problem(0, score, 8, 15)
        assert find_families(problem).n_scored < 8 * 2**7


def test_too_many_families_are_refused_before_the_work(monkeypatch):
    monkeypatch.setattr(families, "get_machine_memory", lambda: 32_000)
    problem = random_problem(0, "qnml", 7, 30)
    with pytest.raises(ParameterError) as caught:
        find_families(problem)
    assert str(caught.value) == (
        "A proof with up to 6 parents has 140 families of one size, which need 0 MiB; 0 MiB may be "
        "used. Give a limit: max_parents=1 (--max-parents 1) fits."
    )
    monkeypatch.setattr(families, "get_machine_memory", lambda: None)
    assert len(find_families(problem)) > 7


def test_keys_of_sets_keep_the_order():
    sets = np.array(list(itertools.combinations(range(9), 4)))
    for base in (9, 10**6):
        keys = encode_sets(sets, base)
        assert sorted(keys.tolist()) == keys.tolist()
        assert len(set(keys.tolist())) == len(sets)


def test_units_are_rounded_up():
    values = np.array([-1234.56789, -0.1, 0.0, 1e-12])
    units = round_up(values)
    assert all(u / 2**32 >= v for u, v in zip(units.tolist(), values.tolist(), strict=True))
    assert all((u - 1) / 2**32 < v for u, v in zip(units.tolist(), values.tolist(), strict=True))
    assert to_nats(2**60 + 1) * 2.0**32 > 2**60
    with pytest.raises(DataError) as caught:
        check_range(np.array([-1e9]), 10)
    assert str(caught.value) == (
        "A local score is beyond 26,843,546 nats, which a proof cannot add up exactly. Take a "
        "sample of the rows."
    )
