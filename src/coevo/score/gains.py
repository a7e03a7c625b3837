"""Score gains of arcs: of each arc of a structure, and of the best arc that it lacks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coevo.graph import DAG, ArcRules
from coevo.graph.dag import Arc
from coevo.score.base import Scorer
from coevo.score.families import FamilyBatch, toggle_families

__all__ = ["Addition", "arc_gains", "find_best_addition"]


class Addition(NamedTuple):
    """An arc that a structure lacks, and the change of the score if it is added."""

    parent: str
    child: str
    gain: float  # below 0 if the arc lowers the score


def arc_gains(scorer: Scorer, dag: DAG) -> dict[Arc, float]:
    """Return, for each arc of a DAG, how much the score falls if the arc is removed.

    The gain is the local score of the child with all its parents, minus its local score
    without this parent.

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
    position = scorer.dataset.find_position
    current = scorer.score_per_variable(dag)
    without = [
        (position(child), [position(other) for other in dag.parents(child) if other != parent])
        for parent, child in dag.arcs
    ]
    scores = scorer.local_scores(FamilyBatch.from_pairs(without))
    return {
        arc: current[arc[1]] - score for arc, score in zip(dag.arcs, scores.tolist(), strict=True)
    }


def find_best_addition(scorer: Scorer, dag: DAG, rules: ArcRules) -> Addition | None:
    """Return the arc whose addition raises the score most, or lowers it least.

    The candidates are all arcs that the rules allow and that close no cycle; the result is
    None if there are none. A tie goes to the first arc by the names of child and parent.

    Examples
    --------
    >>> import numpy as np
    >>> from coevo.data import read_data
    >>> from coevo.graph import Constraints
    >>> table = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> from coevo.score import FamilyScorer
    >>> scorer = FamilyScorer(read_data(table, names=["a", "b"]), "k2")
    >>> rules = Constraints(roots=["a"]).to_rules(["a", "b"])
    >>> parent, child, gain = find_best_addition(scorer, DAG("ab"), rules)
    >>> parent, child, round(gain, 4)
    ('a', 'b', -0.1823)
    >>> find_best_addition(scorer, DAG("ab", [("a", "b")]), rules)
    """
    names, position = scorer.dataset.names, scorer.dataset.find_position
    current = scorer.score_per_variable(dag)
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
    before = np.array([current[names[child]] for _, child in added])
    gains = scorer.local_scores(FamilyBatch.from_parts(parts)) - before
    best = int(gains.argmax())
    parent, child = added[best]
    return Addition(names[parent], names[child], float(gains[best]))
