"""Score gains of arcs: of each arc of a structure, and of the best arcs that it lacks."""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.graph import DAG, ArcRules
from coevo.graph.dag import Arc
from coevo.score.base import Scorer
from coevo.score.families import FamilyBatch, toggle_families
from coevo.work_time import check_deadline

__all__ = ["LIKELY", "Addition", "NearMiss", "arc_gains", "find_best_addition", "find_near_misses"]

FAMILIES_PER_BATCH = 1 << 15  # between two checks of the deadline
NO_ODDS = ("aic", "loglik")  # scores that are no approximation of a marginal likelihood
LIKELY = 0.1  # near misses with this probability are shown to people
MOST_PARENTS = 8  # of a child, for which the gains try all subsets


class NearMiss(NamedTuple):
    """An arc that a structure lacks: its gain, and the probability of its edge."""

    parent: str
    child: str
    gain: float
    probability: float | None  # of the edge, in either direction, if nothing else changes


class Addition(NamedTuple):
    """An arc that a structure lacks, and the change of the score if it is added."""

    parent: str
    child: str
    gain: float  # below 0 if the arc lowers the score


def arc_gains(scorer: Scorer, dag: DAG) -> dict[Arc, float]:
    """Return, for each arc of a DAG, how much the score falls without the arc.

    The gain is the highest local score of the child with this parent and any of its other parents,
    minus the highest one without this parent. In most networks that is the loss of score if the arc
    alone is removed. But a parent that pays only together with this one goes with it: parents that
    tell nothing alone, and were found together in noise, do not count their joint evidence once for
    each of them. A child with more than `MOST_PARENTS` parents keeps all its other parents.

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
    families: list[tuple[int, tuple[int, ...]]] = []
    pairs: list[tuple[slice, slice]] = []  # the families with each arc, and those without it
    for parent, child in dag.arcs:
        others = [position(other) for other in dag.parents(child) if other != parent]
        kept = _list_subsets(others) if len(others) < MOST_PARENTS else [tuple(others)]
        begin, middle = len(families), len(families) + len(kept)
        families += [(position(child), (*subset, position(parent))) for subset in kept]
        families += [(position(child), subset) for subset in kept]
        pairs.append((slice(begin, middle), slice(middle, len(families))))
    scores = scorer.local_scores(FamilyBatch.from_pairs(families))
    return {
        arc: float(scores[having].max() - scores[lacking].max())
        for arc, (having, lacking) in zip(dag.arcs, pairs, strict=True)
    }


def _list_subsets(parents: list[int]) -> list[tuple[int, ...]]:
    """Return all subsets of some parents."""
    sizes = range(len(parents) + 1)
    return [subset for size in sizes for subset in itertools.combinations(parents, size)]


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
    found = _list_best_additions(scorer, dag, rules, 1)
    return found[0] if found else None


def find_near_misses(
    scorer: Scorer, dag: DAG, rules: ArcRules, limit: int = 5
) -> tuple[NearMiss, ...]:
    """Return the best arcs that a structure lacks, one for each pair of variables.

    The pairs with the highest probability come first. The probability is that of the edge if
    everything else stays as it is: e to the gain, summed over the directions that are possible,
    against 1 for no edge. It is None for scores whose differences are no log odds.

    Examples
    --------
    >>> import numpy as np
    >>> from coevo.data import read_data
    >>> from coevo.graph import Constraints
    >>> table = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> from coevo.score import FamilyScorer
    >>> scorer = FamilyScorer(read_data(table, names=["a", "b"]), "k2")
    >>> (found,) = find_near_misses(scorer, DAG("ab"), Constraints().to_rules(["a", "b"]))
    >>> found.parent, found.child, round(found.gain, 4), round(found.probability, 4)
    ('b', 'a', -0.1823, 0.625)
    """
    best = _list_best_additions(scorer, dag, rules, 2 * limit)
    has_odds = scorer.scoring.name not in NO_ODDS
    pairs: dict[frozenset[str], list[Addition]] = {}
    for arc in best:
        pairs.setdefault(frozenset(arc[:2]), []).append(arc)
    found = []
    for arcs in list(pairs.values())[:limit]:
        parent, child, gain = arcs[0]
        if len(arcs) == 1:  # the other direction may be possible, and further down
            arcs = [*arcs, *_score_addition(scorer, dag, rules, child, parent)]
        # e to the gain cannot overflow: a search that ended has no gain far above 0.
        odds = sum(math.exp(min(arc.gain, 700.0)) for arc in arcs)
        found.append(NearMiss(parent, child, gain, odds / (1.0 + odds) if has_odds else None))
    ranked = sorted(found, key=lambda miss: -(miss.gain if not has_odds else miss.probability or 0))
    return tuple(ranked)


def _score_addition(
    scorer: Scorer, dag: DAG, rules: ArcRules, parent: str, child: str
) -> list[Addition]:
    """Return one arc with its gain; nothing if it cannot be added."""
    position = scorer.dataset.find_position
    _, possible = _find_possible_parents(scorer, dag, rules, position(child))
    if position(parent) not in possible:
        return []
    parents = dag.parents(child)
    gain = scorer.local_score(child, (*parents, parent)) - scorer.local_score(child, parents)
    return [Addition(parent, child, gain)]


def _list_best_additions(scorer: Scorer, dag: DAG, rules: ArcRules, limit: int) -> list[Addition]:
    """Return the arcs whose addition raises the score most, the best first."""
    names = scorer.dataset.names
    current = scorer.score_per_variable(dag)
    before = np.array([current[name] for name in names])
    best: list[Addition] = []
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
        gains = scorer.local_scores(batch) - before[child_of]
        best += [
            Addition(names[added[at]], names[child_of[at]], float(gains[at]))
            for at in np.argsort(-gains, kind="stable")[:limit]
        ]
        best = sorted(best, key=lambda arc: -arc.gain)[:limit]  # stable: a tie keeps the first
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
