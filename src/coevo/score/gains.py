"""Score gains of arcs: of each arc of a structure, and of the best arc that it lacks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.graph import DAG, ArcRules
from coevo.graph.dag import Arc
from coevo.score.base import Scorer
from coevo.score.families import FamilyBatch, toggle_families
from coevo.work_time import check_deadline

__all__ = ["Addition", "arc_gains", "find_best_addition"]

FAMILIES_PER_BATCH = 1 << 15  # between two checks of the deadline


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
    names = scorer.dataset.names
    current = scorer.score_per_variable(dag)
    best: Addition | None = None
    step = max(1, FAMILIES_PER_BATCH // max(1, len(names)))
    for first in range(0, len(names), step):
        children = range(first, min(len(names), first + step))
        others = [_find_possible_parents(scorer, dag, rules, child) for child in children]
        parts = [
            toggle_families(child, *pair) for child, pair in zip(children, others, strict=True)
        ]
        batch = FamilyBatch.from_parts(parts)
        if not len(batch):
            continue
        added = np.concatenate([new for _, new in others])
        child_of = np.repeat(children, [len(new) for _, new in others])
        before = np.array([current[name] for name in names])
        gains = scorer.local_scores(batch) - before[child_of]
        at = int(gains.argmax())
        if best is None or gains[at] > best.gain:
            best = Addition(names[added[at]], names[child_of[at]], float(gains[at]))
    return best


def _find_possible_parents(
    scorer: Scorer, dag: DAG, rules: ArcRules, child: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the parents of a child, and the variables that may be added to them."""
    check_deadline()
    name, position = scorer.dataset.names[child], scorer.dataset.find_position
    parents = np.array(sorted(map(position, dag.parents(name))), dtype=np.int64)
    possible = rules.allowed[:, child] & (len(parents) < rules.max_parents)
    possible[[*parents, *map(position, dag.descendants(name))]] = False
    return parents, np.flatnonzero(possible)
