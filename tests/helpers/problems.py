"""Helpers for the tests of searches: random problems, trajectories and comparisons."""

import itertools
from dataclasses import fields, replace

import numpy as np

import naive
from coevo.data import Dataset, Variable
from coevo.graph import Constraints
from coevo.runtime import deadline
from coevo.runtime.randomness import random_stream
from coevo.score import FamilyScorer
from coevo.search import Problem, SearchState
from helpers.random_tables import dataset_of


def random_table(seed, n_variables=7, n_rows=120):
    """Return random data with two to four states and dependent columns.

    A seed is an int or a list of ints.
    """
    rng = np.random.default_rng([*np.atleast_1d(seed), n_variables, n_rows])
    arities = rng.integers(2, 5, n_variables)
    codes = []
    for i, arity in enumerate(arities):
        column = rng.integers(0, arity, n_rows)
        for parent in rng.permutation(i)[:2]:
            copied = rng.random(n_rows) < 0.4
            column = np.where(copied, codes[parent] % arity, column)
        codes.append(column)
    places = rng.permutation(n_variables)  # names must not reveal the structure
    return dataset_of(arities[places], np.array(codes)[places])


def shuffle_table(dataset, rng, what):
    """Return the same data with its columns, its rows or its states in another order."""
    columns, rows = np.arange(dataset.n_variables), np.arange(dataset.n_rows)
    if what == "columns":
        columns = rng.permutation(columns)
    if what == "rows":
        rows = rng.permutation(rows)
    variables, codes = [], []
    for i in columns:
        variable = dataset.variables[i]
        places = rng.permutation(variable.arity) if what == "states" else range(variable.arity)
        variables.append(Variable(variable.name, tuple(variable.states[p] for p in places)))
        codes.append(np.argsort(places)[dataset.codes[i][rows]])
    return Dataset(variables, codes)


def random_constraints(rng, names):
    """Return constraints of every kind that a hidden order satisfies."""
    hidden = rng.permutation(names).tolist()
    n = len(hidden)
    max_parents = [None, 1, 2, 3][rng.integers(4)]
    forward = [(hidden[i], hidden[j]) for i in range(n) for j in range(i + 1, n)]
    required = []
    for arc in rng.permutation(forward).tolist():
        n_parents = sum(arc[1] == child for _, child in required)
        if rng.random() < 0.2 and n_parents < (max_parents or n):
            required.append(tuple(arc))
    arcs = [*forward, *[(child, parent) for parent, child in forward]]
    forbidden = [arc for arc in arcs if arc not in required and rng.random() < 0.2]
    tiered = [name for name in hidden if rng.random() < 0.7]
    cut = rng.integers(0, len(tiered) + 1)
    tiers = [tiered[:cut], tiered[cut:]] if rng.random() < 0.5 else []
    parents, children = {arc[0] for arc in required}, {arc[1] for arc in required}
    return Constraints(
        max_parents=max_parents,
        required=required,
        forbidden=forbidden,
        tiers=tiers,
        roots=[name for name in hidden if name not in children and rng.random() < 0.15],
        leaves=[name for name in hidden if name not in parents and rng.random() < 0.15],
    )


def as_arcs(matrix):
    """Return a matrix of arcs as a set of pairs of numbers."""
    return {(int(parent), int(child)) for parent, child in np.argwhere(matrix)}


def decode_naively(order, mask, rules):
    """Return the arcs of an order and a mask under rules, by the naive oracle."""
    return naive.read_pair(
        order.tolist(),
        mask.tolist(),
        as_arcs(rules.required),
        as_arcs(rules.allowed),
        rules.max_parents,
        None if rules.arities is None else (rules.arities.tolist(), rules.max_table),
    )


def score_naively(dataset, dag, score):
    """Return the local score of each variable of a structure, by the direct sum."""
    rows, arities = dataset.codes.T.tolist(), dataset.arities.tolist()
    number = {name: i for i, name in enumerate(dataset.names)}
    return {
        child: naive.local_score(
            score, rows, arities, number[child], [number[parent] for parent in dag.parents(child)]
        )
        for child in dataset.names
    }


def walk(search, seed):
    """Yield the states of a search until it is finished, possibly forever."""
    state, _ = search.start(random_stream(seed, 0))
    yield state
    while not search.is_finished(state):
        state, _ = search.step(random_stream(seed, state.generation + 1), state)
        yield state


def collect_states(method, problem, seed, n_steps):
    """Return the states of the first `n_steps` steps of a search, fewer if it finishes."""
    return list(itertools.islice(walk(method.make_search(problem), seed), n_steps + 1))


def find_differing_fields(one, two):
    """Return the names of the fields in which two states differ, in type or in value."""
    assert type(one) is type(two)
    return [
        field.name
        for field in fields(one)
        if not _is_identical(getattr(one, field.name), getattr(two, field.name))
    ]


def _is_identical(one, two):
    if isinstance(one, np.ndarray):
        return one.dtype == two.dtype and np.array_equal(one, two)
    if isinstance(one, tuple) and one and isinstance(one[0], SearchState):
        return len(one) == len(two) and not any(map(find_differing_fields, one, two))
    return type(one) is type(two) and one == two


def drop_times(history):
    """Return the history without its times."""
    return [replace(row, seconds=0.0) for row in history]


def get_outcome(result):
    """Return the parts of a result that may not depend on the clock or the cache."""
    kept = {field.name: getattr(result, field.name) for field in fields(result)}
    for name in ("seconds", "cache", "families_scored", "state"):
        del kept[name]
    support = None if result.support is None else result.support.tolist()
    history = drop_times(result.history)
    return kept | {"history": history, "nodes": result.dag.nodes, "support": support}


class InterruptedScorer(FamilyScorer):
    """A scorer that raises KeyboardInterrupt once, in the middle of batch number `at`."""

    def __init__(self, *arguments, at, **options):
        super().__init__(*arguments, **options)
        self.left = at

    def _compute(self, families):
        self.left -= 1
        if self.left == -1:
            raise KeyboardInterrupt
        return super()._compute(families)


class MovedClock:
    """A clock that stands still unless a test moves it. It takes the place of the real one."""

    def __init__(self, monkeypatch):
        self.now = 1000.0
        monkeypatch.setattr(deadline, "perf_counter", lambda: self.now)


class SlowScorer(FamilyScorer):
    """A scorer that takes a second for each part of a batch, on a moved clock."""

    def __init__(self, *arguments, clock, **options):
        super().__init__(*arguments, **options)
        self.clock, self.n_parts = clock, 0

    def _evaluate(self, batch, size, first, last, *rest):
        self.clock.now += 1
        self.n_parts += 1
        super()._evaluate(batch, size, first, last, *rest)


def make_problem(dataset, score="k2", constraints=None):
    return Problem.from_scorer(FamilyScorer(dataset, score), constraints)
