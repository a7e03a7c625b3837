"""What each arc of a structure is worth: the score with it minus the score without it."""

from __future__ import annotations

from coevo.graph import DAG
from coevo.graph.dag import Arc
from coevo.score.families import FamilyBatch
from coevo.score.scorer import FamilyScorer

__all__ = ["arc_gains"]


def arc_gains(scorer: FamilyScorer, dag: DAG) -> dict[Arc, float]:
    """Return by how much the score of a DAG would fall if an arc were left out, for each arc.

    That is the local score of the child with all its parents, minus that without the one.

    Examples
    --------
    >>> import numpy as np
    >>> from coevo.data import read_data
    >>> table = np.array([[0, 0], [0, 0], [1, 1], [1, 1]])
    >>> scorer = FamilyScorer(read_data(table, names=["a", "b"]), "k2")
    >>> {arc: round(gain, 4) for arc, gain in arc_gains(scorer, DAG("ab", [("a", "b")])).items()}
    {('a', 'b'): 1.204}
    """
    position = scorer.dataset.position
    whole = scorer.per_variable(dag)
    without = [
        (position(child), [position(other) for other in dag.parents(child) if other != parent])
        for parent, child in dag.arcs
    ]
    scores = scorer.local_scores(FamilyBatch.from_pairs(without))
    return {
        arc: whole[arc[1]] - score for arc, score in zip(dag.arcs, scores.tolist(), strict=True)
    }
