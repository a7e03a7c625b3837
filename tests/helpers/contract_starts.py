"""The part of the contract about start structures and checkpoints; see `contracts`."""

from itertools import pairwise

import numpy as np
import pytest

from coevo.errors import DataError, GraphError, ParameterError
from coevo.graph import DAG, Constraints
from coevo.score import FamilyScorer
from coevo.search import StoredCheckpoint, run_search, write_checkpoint
from helpers.problems import (
    drop_times,
    find_differing_fields,
    get_outcome,
    random_constraints,
    random_table,
)


class Starts:
    """A search resumes from any checkpoint as if it had never stopped, and uses its start."""

    def test_a_search_resumes_from_every_checkpoint_file(self, seed, tmp_path):
        table = random_table(seed)
        known = random_constraints(np.random.default_rng(seed), table.names)
        path, kind = tmp_path / "checkpoint.npz", self.make_method(table.names).state_type
        contents = []

        def save(checkpoint):
            write_checkpoint(checkpoint, {"seed": seed}, path)
            contents.append(path.read_bytes())

        uninterrupted = self.run(
            FamilyScorer(table, "k2"), seed, constraints=known, on_checkpoint=save
        )
        assert len(contents) == len(uninterrupted.history)
        for generation, content in enumerate(contents):
            path.write_bytes(content)
            stored = StoredCheckpoint(path)
            reached = stored.to_checkpoint(kind)
            assert stored.facts == {"seed": seed}
            assert (
                drop_times(reached.history) == drop_times(uninterrupted.history)[: generation + 1]
            )
            resumed = self.run(FamilyScorer(table, "k2"), seed, constraints=known, state=reached)
            assert get_outcome(resumed) == get_outcome(uninterrupted)
            assert not find_differing_fields(resumed.state, uninterrupted.state)
            clock = [row.seconds for row in resumed.history]
            assert clock == sorted(clock)
            assert resumed.seconds >= clock[-1]

    @pytest.mark.parametrize("constrained", [False, True])
    def test_the_result_is_at_least_as_good_as_the_start(self, constrained, seed):
        if not self.make_method(["a"]).maximises:
            pytest.skip("The method does not maximise the score.")
        table = random_table(seed)
        rng = np.random.default_rng(seed)
        known = random_constraints(rng, table.names) if constrained else None
        scorer = FamilyScorer(table, "k2")
        good = run_search("tabu", scorer, constraints=known).dag
        poor = DAG(table.names, known.required if known else [table.names[:2]])
        for start in (good, poor):
            given = DAG(rng.permutation(start.nodes).tolist(), start.arcs)
            found = self.run(scorer, seed, constraints=known, start=given)
            assert found.score >= found.history[0].score >= scorer.score(start)
            again = self.run(scorer, seed, constraints=known, start=start)
            assert get_outcome(again) == get_outcome(found)

    def test_bad_starts(self, seed):
        scorer = FamilyScorer(random_table(seed, 4), "k2")
        names = scorer.dataset.names
        chain = DAG(names, list(pairwise(names)))
        star = DAG(names, [(name, names[0]) for name in names[1:]])
        for start, known, message in (
            (chain, Constraints(forbidden=[names[1:3]]), "'v001' -> 'v002' is not allowed"),
            (chain, Constraints(required=[names[::2]]), "'v000' -> 'v002' is required but absent"),
            (star, Constraints(max_parents=2), "'v000' has 3 parents, and 'max_parents' is 2"),
        ):
            with pytest.raises(GraphError, match=f"The start breaks the constraints: {message}"):
                self.run(scorer, seed, constraints=known, start=start)
        with pytest.raises(DataError, match="The structure has no variable 'v003' of the data"):
            self.run(scorer, seed, start=DAG(names[:3]))
        with pytest.raises(ParameterError, match="'start' of run_search must be a DAG or None"):
            self.run(scorer, seed, start=list(pairwise(names)))
