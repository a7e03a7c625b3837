"""Helpers for the tests of proofs: all families of a problem, and proofs of small ones."""

import functools
import itertools
from unittest import mock

import numpy as np

import coevo
from coevo.exact import ProofTask, cuts, find_families, make_certificate, run_proof
from coevo.graph import Constraints
from coevo.score import FamilyBatch, FamilyScorer
from coevo.search import Budget, Problem
from helpers.problems import random_constraints, random_table

SCORES = ["k2", "bdeu", "bds", "bic", "aic", "fnml", "qnml"]


def list_local_scores(problem):
    """Return the score of each allowed family, by child and frozenset of parents."""
    rules, n = problem.rules, problem.n_variables
    pairs = []
    for child in range(n):
        required = frozenset(np.flatnonzero(rules.required[:, child]).tolist())
        allowed = np.flatnonzero(rules.allowed[:, child]).tolist()
        for size in range(rules.max_parents + 1):
            sets = map(frozenset, itertools.combinations(allowed, size))
            pairs.extend((child, parents) for parents in sets if required <= parents)
    scores = problem.scorer.local_scores(FamilyBatch.from_pairs(pairs))
    return dict(zip(pairs, scores.tolist(), strict=True))


def list_nondominated(local):
    """Return the families that score more than each of their subsets in the list."""
    return {
        (child, parents)
        for (child, parents), score in local.items()
        if score > -np.inf
        and all(
            score > local.get((child, frozenset(subset)), -np.inf)
            for size in range(len(parents))
            for subset in itertools.combinations(parents, size)
        )
    }


def random_problem(seed, score, n_variables=5, n_rows=80, is_constrained=False):
    """Return a random problem, with constraints, weights and penalties if wanted."""
    dataset = random_table(seed, n_variables, n_rows)
    rng = np.random.default_rng([seed, 7])
    constraints, weights, penalty, sparse = Constraints(), {}, 0.0, 0.0
    if is_constrained:
        constraints = random_constraints(rng, dataset.names)
        arcs = [(a, b) for a in dataset.names for b in dataset.names if a != b]
        weights = {arc: float(rng.normal(0, 3)) for arc in arcs if rng.random() < 0.3}
        penalty, sparse = float(rng.random()), float(seed % 2 == 0)
    scorer = FamilyScorer(
        dataset, score, weights=weights, parent_penalty=penalty, sparse_penalty=sparse
    )
    return Problem.from_scorer(scorer, constraints)


def prove_problem(problem, budget=None, **options):
    """Return the task, the last checkpoint and the certificate of a proof from the start."""
    task = ProofTask(problem, find_families(problem), problem.make_dag(problem.start))
    last, _ = run_proof(task, budget=budget or Budget(), **options)
    return task, last, make_certificate(task, last.state)


def limit_tables(*sizes):
    """Return a context with local cuts of these sizes only, so that small problems need a tree."""
    return mock.patch.object(cuts, "LOCAL_SIZES", sizes)


@functools.cache
def prove_example():
    """Return the problem, the task, the last checkpoint and the certificate of a small proof.

    It has tables of four variables, and its tree has several leaves.
    """
    rows = coevo.sample(coevo.load_network("asia"), 1000, random_state=5)
    problem = Problem.from_scorer(FamilyScorer(rows, "k2"))
    with limit_tables(4):
        return problem, *prove_problem(problem)
