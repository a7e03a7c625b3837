"""What an arc says: the best pair of states, against a naive search over all of them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import naive
from coevo.data import Dataset, Variable, read_data
from coevo.data.summary import format_state
from coevo.graph import DAG
from coevo.score import FamilyScorer, arc_gains, find_arc_effects, name_gain
from coevo.score.arcs import ArcEffect
from helpers.random_tables import SHAPES, dataset_of, random_codes


def read(text, rows):
    return read_data(np.array(rows), names=list(text))


def say(table, arcs, gains=None):
    """Return the sentence of each arc."""
    dag = DAG(table.names, arcs)
    known = arc_gains(FamilyScorer(table, "bdeu"), dag) if gains is None else gains
    return {arc: str(effect) for arc, effect in find_arc_effects(table, dag, known).items()}


# -- words


@pytest.mark.parametrize(
    ("gain", "word"),
    [(1e9, "decisive"), (5.0001, "decisive"), (5.0, "strong"), (3.0, "strong"), (2.9999, "weak"),
     (0.0, "weak"), (-1e-9, "against"), (-50, "against")],
)  # fmt: skip
def test_the_word_for_a_gain(gain, word):
    assert name_gain(gain) == word


def test_the_limits_are_bayes_factors_of_20_and_150():
    assert name_gain(np.log(20.1)) == "strong"
    assert name_gain(np.log(19)) == "weak"
    assert name_gain(np.log(150)) == "decisive"  # 5.01 nats


# -- the oracle


def expect(table, arcs, gain):
    """Return the effect of each arc by the oracle, as `ArcEffect`."""
    rows = table.expand().codes.T.tolist()
    expected = {}
    for parent, child in arcs:
        parents = [table.find_position(one) for one, other in arcs if other == child]
        place = table.find_position(child), parents, table.find_position(parent)
        found = naive.arc_effect(rows, *place, gain)
        if found is None:
            continue
        given, x, y, without, within = found
        named = {i: table.variables[i] for i in range(table.n_variables)}
        texts = [f"{named[i].name}={named[i].states[state]}" for i, state in given.items()]
        cause, outcome = named[place[2]], named[place[0]]
        expected[parent, child] = ArcEffect(
            f"{cause.name}={cause.states[x]}",
            f"{outcome.name}={outcome.states[y]}",
            float(without),
            float(within),
            tuple(texts),
        )
    return expected


@pytest.mark.parametrize("gain", [2.0, 1e6])  # 1e6: always in the context of the other parents
@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape != "many states"])
def test_effects_agree_with_the_oracle(shape, gain, seed):
    arities, codes = random_codes(shape, seed, 150)
    table = dataset_of(arities, codes)
    names = table.names
    arcs = [(names[i], names[j]) for i, j in ((0, 1), (2, 1), (0, 3), (4, 5), (6, 5), (7, 5))]
    dag = DAG(names, arcs)
    assert find_arc_effects(table, dag, dict.fromkeys(arcs, gain)) == expect(table, arcs, gain)


@pytest.mark.parametrize("n_rows", [2, 3])
def test_all_tables_of_three_binary_columns(n_rows):
    cells = list(itertools.product((0, 1), repeat=3))
    arcs = [("v000", "v002"), ("v001", "v002")]
    for rows in itertools.combinations_with_replacement(cells, n_rows):
        table = dataset_of((2, 2, 2), np.array(rows).T)
        for gain in (1.0, 1e6):
            found = find_arc_effects(table, DAG(table.names, arcs), dict.fromkeys(arcs, gain))
            assert found == expect(table, arcs, gain)


def test_weights_count_as_rows(seed):
    arities, codes = random_codes("skewed", seed, 200)
    table = dataset_of(arities[:3], codes[:3])
    arcs = [(table.names[0], table.names[2]), (table.names[1], table.names[2])]
    compact = table.deduplicate()
    assert compact.weights is not None
    gains = dict.fromkeys(arcs, 1e6)
    assert say(compact, arcs, gains) == say(table, arcs, gains)


def test_the_order_of_columns_rows_and_states_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    states = {"a": ("no", "yes"), "b": ("x", "y", "z"), "c": ("low", "high")}
    columns = {name: rng.integers(len(states[name]), size=80) for name in states}
    columns["c"] = np.where(rng.random(80) < 0.7, columns["a"] ^ (columns["b"] > 0), columns["c"])
    order = rng.permutation(80)

    def build(names, rows, flipped):
        variables, codes = [], []
        for name in names:
            given = states[name][::-1] if flipped else states[name]
            variables.append(Variable(name, given))
            column = columns[name][rows]
            codes.append(len(given) - 1 - column if flipped else column)
        return Dataset(variables, codes)

    arcs = [("a", "c"), ("b", "c")]
    expected = say(build("abc", np.arange(80), False), arcs)
    assert set(expected) == set(arcs)
    assert say(build("cba", order, True), arcs) == expected


# -- sentences


def test_an_effect_in_all_rows():
    rows = [("yes", "high")] * 48 + [("yes", "low")] * 52 + [("no", "high")] * 21
    rows += [("no", "low")] * 79
    assert say(read(["smoker", "crp"], rows), [("smoker", "crp")]) == {
        ("smoker", "crp"): "P(crp=high) is 0.48 where smoker=yes, 0.21 elsewhere"
    }


def test_parents_that_interact_speak_in_a_context():
    rows = [(a, b, a ^ b) for a in (0, 1) for b in (0, 1) for _ in range(50)]
    found = say(read("abc", rows), [("a", "c"), ("b", "c")])
    assert found == {
        ("a", "c"): "with b=0: P(c=0) is 1 where a=0, 0 elsewhere",
        ("b", "c"): "with a=0: P(c=0) is 1 where b=0, 0 elsewhere",
    }
    rows = [
        (a, b, d, a ^ b ^ d) for a, b, d in itertools.product((0, 1), repeat=3) for _ in range(9)
    ]
    found = say(read("abdc", rows), [("a", "c"), ("b", "c"), ("d", "c")])
    assert found["b", "c"] == "with a=0 and d=0: P(c=0) is 1 where b=0, 0 elsewhere"


def test_an_arc_without_information_says_nothing():
    table = dataset_of((2, 2, 1, 1), [[0, 0, 1, 1], [0, 1, 0, 1], [0] * 4, [0] * 4])
    arcs = [("v000", "v001"), ("v002", "v000"), ("v001", "v003")]
    assert say(table, arcs, dict.fromkeys(arcs, 10.0)) == {}


def test_too_many_states_are_not_counted(monkeypatch):
    import coevo.score.arcs as module

    rows = [(a, b, a ^ b) for a in (0, 1) for b in (0, 1) for _ in range(50)]
    rows += [(1, 1, 1)]
    arcs = [("a", "c"), ("b", "c")]
    monkeypatch.setattr(module, "LARGEST_FAMILY", 7)
    assert say(read("abc", rows), arcs) == {
        ("a", "c"): "P(c=0) is 0.500 where a=0, 0.495 elsewhere",
        ("b", "c"): "P(c=0) is 0.500 where b=0, 0.495 elsewhere",
    }
    monkeypatch.setattr(module, "LARGEST_PAIR", 3)
    assert say(read("abc", rows), arcs) == {}


def test_bins_are_inequalities():
    age = Variable("age", ("from_57", "below_18.5", "from_18.5_to_57"))
    assert [format_state(age, state) for state in age.states] == [
        "age >= 57",
        "age < 18.5",
        "18.5 <= age < 57",
    ]
    with_missing = Variable("age", ("below_2", "from_2", "missing"))
    assert [format_state(with_missing, state) for state in with_missing.states] == [
        "age < 2",
        "age >= 2",
        "age=missing",
    ]
    assert format_state(Variable("age", ("below_2", "from_3")), "from_3") == "age=from_3"
    assert format_state(Variable("age", ("any",)), "any") == "age=any"


@pytest.mark.parametrize(
    ("shares", "text"),
    [
        ((0.0, 1.0), "P(b=1) is 1 where a=1, 0 elsewhere"),
        ((0.5, 0.7512), "P(b=1) is 0.75 where a=1, 0.50 elsewhere"),
        ((0.0004, 0.9996), "P(b=1) is 0.9996 where a=1, 0.0004 elsewhere"),
        ((0.331, 0.334), "P(b=1) is 0.334 where a=1, 0.331 elsewhere"),
        ((0.5, 0.5 + 1e-9), "P(b=1) is 0.500000 where a=1, 0.500000 elsewhere"),
    ],
)
def test_shares_have_as_many_digits_as_they_need(shares, text):
    assert str(ArcEffect("a=1", "b=1", *shares)) == text
