"""The part of the contract about reproducible results; see `contracts`."""

import json
from concurrent import futures

import numpy as np
import pytest

from coevo.score import FamilyScorer
from coevo.score import cache as cache_module
from coevo.score import scorer as scorer_module
from coevo.search import Budget, order_climbs
from helpers.hash_seeds import collect_outputs
from helpers.problems import (
    find_differing_fields,
    get_outcome,
    random_constraints,
    random_table,
    shuffle_table,
)

IN_A_PROCESS = """
import json, sys
from coevo import Constraints, FamilyScorer, load_network, sample
from coevo.search import Budget, make_method, run_search

rows = sample(load_network("asia"), 150, random_state=1)
known = Constraints(
    required=[("smoke", "bronc")], forbidden=[("dysp", "xray"), ("lung", "tub")],
    tiers=[["asia", "smoke"], ["xray", "dysp"]], max_parents=3,
)
found = run_search(
    make_method(sys.argv[1], "test", **json.loads(sys.argv[2])), FamilyScorer(rows, "k2"),
    constraints=known, budget=Budget(max_generations=4), random_state=int(sys.argv[3]),
)
print(json.dumps([found.dag.arcs, found.score, [row.score for row in found.history]]))
"""


class SameAnswer:
    """A result depends on the data, the settings and the seed only."""

    def test_the_same_seed_gives_the_same_answer(self, seed):
        table = random_table(seed)
        first, again = (self.run(FamilyScorer(table, "k2"), seed) for _ in range(2))
        assert get_outcome(first) == get_outcome(again)
        assert not find_differing_fields(first.state, again.state)
        assert first.seed == seed

    @pytest.mark.parametrize("kind", ["none", "generator"])
    def test_the_seed_of_the_result_gives_it_again(self, kind, seed):
        scorer = FamilyScorer(random_table(seed), "k2")
        given = None if kind == "none" else np.random.default_rng(seed)
        first = self.run(scorer, given)
        assert get_outcome(self.run(scorer, first.seed)) == get_outcome(first)

    def test_threads_change_nothing(self, seed, monkeypatch):
        used = []

        class Counting(futures.ThreadPoolExecutor):
            def map(self, function, *arguments):
                used.append(len(arguments[0]))
                return super().map(function, *arguments)

        monkeypatch.setattr(futures, "ThreadPoolExecutor", Counting)
        monkeypatch.setattr(scorer_module, "PART_CELLS", 1)  # a small table is shared, too
        monkeypatch.setattr(order_climbs, "SMALLEST_PART", 1)
        table = random_table(seed, n_variables=24, n_rows=80)
        runs = [
            self.run(FamilyScorer(table, "k2", n_jobs=n), seed, budget=Budget(max_generations=3))
            for n in (1, 2, 3)
        ]
        if self.scores_batches:  # there are enough families for two threads and for three
            assert {2, 3} <= set(used)
        assert get_outcome(runs[0]) == get_outcome(runs[1]) == get_outcome(runs[2])
        assert runs[0].cache == runs[1].cache == runs[2].cache

    @pytest.mark.parametrize("what", ["columns", "rows", "states"])
    def test_the_layout_of_the_table_changes_nothing(self, what, seed):
        rng = np.random.default_rng(seed)
        table = random_table(seed)
        known = random_constraints(rng, table.names)
        other = shuffle_table(table, rng, what)
        one, two = (
            self.run(FamilyScorer(data, "bdeu"), seed, constraints=known) for data in (table, other)
        )
        assert get_outcome(one) == get_outcome(two)

    def write_code(self, code):
        """Return the code of another process; a subclass adds what its fixtures do in this one."""
        return code

    def test_the_hash_seed_changes_nothing(self, seed):
        names = ["asia", "bronc", "dysp", "either", "lung", "smoke", "tub", "xray"]
        method = self.make_method(names)
        words = [self.source or method.name, json.dumps(method.settings), str(seed)]
        (printed,) = collect_outputs(self.write_code(IN_A_PROCESS), *words)
        assert ["smoke", "bronc"] in json.loads(printed)[0]

    @pytest.mark.parametrize("cache", ["warm", "tiny"])
    def test_the_cache_changes_nothing(self, cache, seed, monkeypatch):
        table = random_table(seed)
        fresh = self.run(FamilyScorer(table, "k2"), seed)
        if cache == "tiny":
            monkeypatch.setattr(cache_module, "FIRST_CAPACITY", 8)
        scorer = FamilyScorer(table, "k2", cache_bytes=1 if cache == "tiny" else 1 << 24)
        if cache == "warm":
            self.run(scorer, seed + 1)
            self.run(scorer, seed)
        found = self.run(scorer, seed)
        assert get_outcome(found) == get_outcome(fresh)  # the number of evaluations included
        assert found.cache.requested == fresh.cache.requested
        assert found.cache.emptied > 0 if cache == "tiny" else found.cache.scored == 0
