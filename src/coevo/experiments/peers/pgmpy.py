"""pgmpy: hill climbing.

Its K2 score is wrong for variables of three states and more (every parent configuration
that does not occur adds to it), so that it is never asked for it. Its BDeu is wrong where a
variable has a state that does not occur (each one takes away from it), so that it is told of
those that do. Its answer changes with Python's hash seed, which therefore has to be set
where it runs.
"""

from __future__ import annotations

from typing import Any, ClassVar

from coevo.data import Dataset
from coevo.experiments.peers.base import Learn, Peer
from coevo.experiments.peers.tables import categorical_frame
from coevo.score import BIC, BDeu, Score

__all__ = ["Pgmpy"]


class Pgmpy(Peer):
    """pgmpy's hill climbing, with its usual tabu list."""

    name: ClassVar[str] = "pgmpy"
    package: ClassVar[str] = "pgmpy"
    module: ClassVar[str] = "pgmpy"
    method: ClassVar[str] = "hill climbing"
    scores: ClassVar[tuple[type[Score], ...]] = (BDeu, BIC)

    def prepare(self, dataset: Dataset, score: Score) -> Learn:
        """Hand the data over."""
        from pgmpy import structure_score
        from pgmpy.causal_discovery import HillClimbSearch

        frame = categorical_frame(dataset).astype(str)
        theirs: Any
        if isinstance(score, BDeu):
            theirs = structure_score.BDeu(frame, equivalent_sample_size=float(score.ess))
        else:
            states = {variable.name: list(variable.states) for variable in dataset.variables}
            theirs = structure_score.BIC(frame, state_names=states)
        search = HillClimbSearch(scoring_method=theirs, return_type="dag", show_progress=False)

        def learn() -> list[tuple[str, str]]:
            search.fit(frame)
            return [(parent, child) for parent, child in search.causal_graph_.edges()]

        return learn
