"""What arcs are worth: those of a structure, and the best one that it does not have."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coevo.graph import DAG, ArcRules
from coevo.graph.dag import Arc
from coevo.score.base import Scorer
from coevo.score.families import FamilyBatch, toggle_families

__all__ = ["Addition", "arc_gains", "best_addition"]


class Addition(NamedTuple):
    """An arc that a structure does not have, and what the score would gain by it."""

    parent: str
    child: str
    gain: float  # below 0 if the score would fall


def arc_gains(scorer: Scorer, dag: DAG) -> dict[Arc, float]:
    """Return by how much the score of a DAG would fall if an arc were left out, for each arc.

    That is the local score of the child with all its parents, minus that without the one.

    Examples
    --------
    >>> import numpy as np
    >>> from coevo.data import read_data
    >>> table = np.array([[0, 0], [0, 0], [1, 1], [1, 1]])
    >>> from coevo.score import FamilyScorer
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


def best_addition(scorer: Scorer, dag: DAG, rules: ArcRules) -> Addition | None:
    """Return the arc that a DAG would gain most by, or lose least; None if it may get none.

    Looked at is every arc that the rules allow and that closes no cycle. Of equal ones it
    is the first by the names of child and parent.

    Examples
    --------
    >>> import numpy as np
    >>> from coevo.data import read_data
    >>> from coevo.graph import Constraints
    >>> table = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> from coevo.score import FamilyScorer
    >>> scorer = FamilyScorer(read_data(table, names=["a", "b"]), "k2")
    >>> rules = Constraints(roots=["a"]).rules(["a", "b"])
    >>> parent, child, gain = best_addition(scorer, DAG("ab"), rules)
    >>> parent, child, round(gain, 4)
    ('a', 'b', -0.1823)
    >>> best_addition(scorer, DAG("ab", [("a", "b")]), rules)
    """
    names, position = scorer.dataset.names, scorer.dataset.position
    whole = scorer.per_variable(dag)
    parts, added = [], []
    for child, name in enumerate(names):
        parents = np.array(sorted(map(position, dag.parents(name))), dtype=np.int64)
        possible = rules.allowed[:, child] & (len(parents) < rules.max_parents)
        possible[[*parents, *map(position, dag.descendants(name))]] = False
        others = np.flatnonzero(possible)
        parts.append(toggle_families(child, parents, others))
        added += [(int(other), child) for other in others]
    if not added:
        return None
    held = np.array([whole[names[child]] for _, child in added])
    gains = scorer.local_scores(FamilyBatch.joined(parts)) - held
    best = int(gains.argmax())
    parent, child = added[best]
    return Addition(names[parent], names[child], float(gains[best]))
