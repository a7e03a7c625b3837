"""pgmpy: hill climbing.

Its K2 score is wrong for variables with three or more states (every unobserved parent
configuration adds to the score), so it is never used. Its BDeu score is wrong for a variable with
an unobserved state (each such state lowers the score), so only observed states are passed. Its
result depends on Python's hash seed, so the seed must be set in the process that runs it.
"""

from __future__ import annotations

from typing import Any, ClassVar

from coevo.data import Dataset
from coevo.experiments.peers.base import LearnFunction, Peer
from coevo.experiments.peers.tables import make_categorical_frame
from coevo.score import BIC, BDeu, Score

__all__ = ["Pgmpy"]


class Pgmpy(Peer):
    """pgmpy's hill climbing, with its default tabu list."""

    name: ClassVar[str] = "pgmpy"
    package: ClassVar[str] = "pgmpy"
    module: ClassVar[str] = "pgmpy"
    method: ClassVar[str] = "hill climbing"
    scores: ClassVar[tuple[type[Score], ...]] = (BDeu, BIC)

    def prepare(self, dataset: Dataset, score: Score) -> LearnFunction:
        """Convert the data."""
        from pgmpy import structure_score
        from pgmpy.causal_discovery import HillClimbSearch

        frame = make_categorical_frame(dataset).astype(str)
        peer_score: Any
        if isinstance(score, BDeu):
            peer_score = structure_score.BDeu(frame, equivalent_sample_size=float(score.ess))
        else:
            states = {variable.name: list(variable.states) for variable in dataset.variables}
            peer_score = structure_score.BIC(frame, state_names=states)
        search = HillClimbSearch(scoring_method=peer_score, return_type="dag", show_progress=False)

        def learn() -> list[tuple[str, str]]:
            search.fit(frame)
            return [(parent, child) for parent, child in search.causal_graph_.edges()]

        return learn
