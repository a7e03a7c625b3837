"""What arcs gain, in nats and in words, and what they say about their variables.

Score gains of arcs: of each arc of a structure, and of the best arcs that it lacks.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.data import Table, Variable
from coevo.data.summary import format_shares, format_state
from coevo.graph import DAG, Arc, ArcRules
from coevo.runtime.deadline import check_deadline
from coevo.score.base import Scorer
from coevo.score.families import FamilyBatch, toggle_families
from coevo.score.joint_counts import JointCounts, count_configurations

__all__ = [
    "GAIN_WORDS",
    "LIKELY",
    "STRONG",
    "Addition",
    "ArcEffect",
    "GainWord",
    "NearMiss",
    "arc_gains",
    "find_arc_effects",
    "find_best_addition",
    "find_near_misses",
    "name_gain",
]

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


# A word for the gain of an arc: decisive, strong, weak or against.
#
# The gain is the loss of score if the arc is removed. For a Bayesian score (``'bdeu'``, ``'bds'``,
# ``'k2'``) it is the logarithm of a Bayes factor: of the network with the arc against the network
# without it. Kass and Raftery [1]_ put Bayes factors into words. Their limits are Bayes factors of
# 20 and 150, which are 3 and 5 nats:
#
#     decisive   above 5 nats; "very strong" in their table
#     strong     from 3 to 5 nats
#     weak       below 3 nats; "positive" or "not worth more than a bare mention" in their table
#     against    below 0: the score is higher without the arc (a required arc, or an early stop)
#
# For ``'bic'`` the gain approximates that logarithm. ``'aic'`` and ``'loglik'`` have no such
# meaning; the words are then only a way to read the number. Arc weights and a parent penalty are
# part of the gain.
#
# .. [1] R. E. Kass and A. E. Raftery, Bayes factors, Journal of the American Statistical
#    Association 90, 1995.


GainWord = Literal["decisive", "strong", "weak", "against"]
GAIN_WORDS: tuple[GainWord, ...] = ("decisive", "strong", "weak", "against")
STRONG, DECISIVE = 3.0, 5.0  # nats: Bayes factors of 20 and 150


def name_gain(gain: float) -> GainWord:
    """Return the word for a gain in nats.

    >>> [name_gain(gain) for gain in (5.01, 5, 3, 2.99, 0, -0.01)]
    ['decisive', 'strong', 'strong', 'weak', 'weak', 'against']
    """
    if gain > DECISIVE:
        return "decisive"
    if gain >= STRONG:
        return "strong"
    return "weak" if gain >= 0 else "against"


# What an arc says: how the share of a state of the child differs with a state of the parent.
#
# The effect of an arc is one sentence, computed from the counts of the table: "P(crp=high) is 0.48
# where smoker=yes, 0.21 elsewhere". The first number is the share of crp=high in the rows with
# smoker=yes, the second its share in all other rows. The sentence describes the table. It claims
# no cause, so it is true whether the arc has a direction or not. An arc has many such pairs of
# states. The sentence is about the pair that carries the most information, which is the largest
# term n(x, y) log(P(y | x) / P(y)) of the mutual information. The number of rows is a factor, so
# rare states do not win by chance. Equal terms are decided by the names of the states.
#
# Parents can interact: in an exclusive or, each parent alone says nothing about the child. If the
# gain of an arc is strong, and the two variables alone carry less than a quarter of it, then the
# sentence is about the rows with one configuration of the other parents, the one with the most
# information: "with b=yes: P(c=yes) is 0.97 where a=yes, 0.02 elsewhere".


NEGLIGIBLE = 0.25  # share of the gain, below which two variables alone say too little
LARGEST_FAMILY = 1 << 20  # cells; of a larger family only pairs of variables are counted
LARGEST_PAIR = 1 << 22  # cells; a larger pair has no effect
DIGITS = 6  # of nats: smaller differences of two terms may be round-off


@dataclass(frozen=True, slots=True)
class ArcEffect:
    """One effect of an arc. ``str`` gives the sentence.

    Attributes
    ----------
    condition : str
        A state of the parent, as "smoker=yes" or "age >= 57".
    outcome : str
        The state of the child that is more frequent where the condition holds.
    without, within : float
        The share of the outcome in the rows without the condition, and in those with it.
    given : tuple of str
        The states of the other parents in these rows; empty if all rows are meant.

    Examples
    --------
    >>> str(ArcEffect("smoker=yes", "crp=high", 0.21, 0.48))
    'P(crp=high) is 0.48 where smoker=yes, 0.21 elsewhere'
    >>> str(ArcEffect("a=1", "c=1", 0.0, 0.9996, given=("b=0", "d=1")))
    'with b=0 and d=1: P(c=1) is 0.9996 where a=1, 0 elsewhere'
    """

    condition: str
    outcome: str
    without: float
    within: float
    given: tuple[str, ...] = ()

    def __str__(self) -> str:
        among = f"with {' and '.join(self.given)}: " if self.given else ""
        low, high = format_shares(self.without, self.within)
        return f"{among}P({self.outcome}) is {high} where {self.condition}, {low} elsewhere"


def find_arc_effects(table: Table, dag: DAG, gains: Mapping[Arc, float]) -> dict[Arc, ArcEffect]:
    """Return the effect of each arc of a DAG, from the counts of a table.

    An arc has no effect if its two variables are independent in the table, or if they have too
    many states to be counted.

    Parameters
    ----------
    table : Dataset or Shards
        The observations.
    dag : DAG
        The structure over its variables.
    gains : mapping of (parent, child) to float
        The gain of each arc; see `arc_gains`.

    Examples
    --------
    >>> from coevo.data import read_data
    >>> rows = read_data(np.array([[0, 0], [0, 0], [0, 1], [1, 1]]), names=["a", "b"])
    >>> effects = find_arc_effects(rows, DAG("ab", [("a", "b")]), {("a", "b"): 0.1})
    >>> str(effects["a", "b"])
    'P(b=1) is 1 where a=1, 0.33 elsewhere'
    """
    position, variables = table.find_position, table.variables
    families: list[list[int]] = []
    for child in dag.nodes:
        parents = sorted(map(position, dag.parents(child)))
        families += _split_family(parents, position(child), table.arities.tolist())
    found: dict[Arc, ArcEffect] = {}
    for family, counts in zip(families, count_configurations(table, families), strict=True):
        members = [variables[place] for place in family]
        for axis, parent in enumerate(members[:-1]):
            arc = (parent.name, members[-1].name)
            effect = _find_effect(members, counts, axis, gains[arc])
            if effect is not None:
                found[arc] = effect
    return {arc: found[arc] for arc in dag.arcs if arc in found}


def _split_family(parents: Sequence[int], child: int, arities: list[int]) -> Iterator[list[int]]:
    """Yield the groups of variables to count: the family, or pairs if the family is too large."""
    if parents and math.prod(arities[i] for i in (*parents, child)) <= LARGEST_FAMILY:
        yield [*parents, child]
        return
    for parent in parents:
        if arities[parent] * arities[child] <= LARGEST_PAIR:
            yield [parent, child]


def _find_effect(
    family: Sequence[Variable], counts: JointCounts, axis: int, gain: float
) -> ArcEffect | None:
    """Return the effect of the parent at `axis` of the counts of a family; the child is last."""
    parent, child = family[axis], family[-1]
    slices = np.moveaxis(counts, axis, -2)  # the other parents come first
    shape = slices.shape[:-2]
    slices = slices.reshape(-1, parent.arity, child.arity)
    best = _find_best_term(slices.sum(axis=0))
    given: tuple[str, ...] = ()
    if shape and gain >= STRONG and best.information < NEGLIGIBLE * gain:
        information = np.round(_compute_terms(slices).sum(axis=(1, 2)), DIGITS)
        chosen = int(information.argmax())
        best = _find_best_term(slices[chosen])
        others = [variable for i, variable in enumerate(family[:-1]) if i != axis]
        states = np.unravel_index(chosen, shape)
        given = tuple(
            format_state(variable, variable.states[int(state)])
            for variable, state in zip(others, states, strict=True)
        )
    if best.information <= 0:
        return None
    condition = format_state(parent, parent.states[best.row])
    outcome = format_state(child, child.states[best.column])
    return ArcEffect(condition, outcome, best.without, best.within, given)


class _BestTerm(NamedTuple):
    """The term of two states with the most information, and the information of all states."""

    information: float  # nats
    row: int
    column: int
    without: float
    within: float


def _find_best_term(pair: JointCounts) -> _BestTerm:
    """Return the best term of a table with one row per state of the parent."""
    terms = np.round(_compute_terms(pair), DIGITS)
    information = float(terms.sum())
    row, column = divmod(int(terms.argmax()), pair.shape[1])
    if information <= 0:
        return _BestTerm(0.0, row, column, 0.0, 0.0)
    n_row, n_column, n_both = pair[row].sum(), pair[:, column].sum(), pair[row, column]
    without = (n_column - n_both) / (pair.sum() - n_row)
    return _BestTerm(information, row, column, float(without), float(n_both / n_row))


def _compute_terms(counts: JointCounts) -> NDArray[np.float64]:
    """Return n(x, y) log(P(y | x) / P(y)) for the last two axes; 0 where no row is counted."""
    cells = counts.astype(np.float64)
    rows, columns = cells.sum(axis=-1, keepdims=True), cells.sum(axis=-2, keepdims=True)
    expected = rows * columns
    total = rows.sum(axis=-2, keepdims=True)
    ratio = np.divide(cells * total, expected, out=np.ones_like(cells), where=cells > 0)
    terms: NDArray[np.float64] = cells * np.log(ratio)
    return terms
