"""What is never estimated is refused if it takes more than about a minute, unless it must be exact.

All answers have one rule, one sentence and one option (`coevo.network.work_limit`).
"""

from __future__ import annotations

import math
import tracemalloc
import warnings
from functools import partial

import numpy as np
import pytest

from coevo.bundled import load_network
from coevo.data import Variable
from coevo.errors import ParameterError
from coevo.network import BayesianNetwork, JunctionTree, read_rows, sample
from coevo.network.elimination import Cost
from coevo.network.row_elimination import RowInference
from coevo.network.work_limit import WorkLimit
from coevo.posteriors.sample import AveragedNetwork
from helpers import limits
from helpers.errors import refusal
from helpers.limits import INSIST, TOO_LONG
from helpers.random_networks import (
    enumerate_joint,
    grid_network,
    random_evidence,
    random_network,
)

ASIA = load_network("asia")
GIVEN = {"smoke": "yes", "dysp": "yes"}
FEWER = "Give fewer rows, or fewer unknown cells"
MORE = (
    "the exact answer would take more than 1 minute with the elimination orders tried (more than "
    "0.0 billion operations)"
)


@pytest.fixture
def forget_time(monkeypatch):
    return partial(limits.forget_time, monkeypatch)


def make_rows(network=ASIA, n_rows=40, share=0.4):
    """Return sampled rows, a share of whose cells is unknown."""
    rng = np.random.default_rng(7)
    dataset = sample(network, n_rows, random_state=7)
    names = [variable.name for variable in dataset.variables]
    cells = np.stack(
        [
            np.array(variable.states, dtype=object)[np.asarray(column)]
            for variable, column in zip(dataset.variables, dataset.codes, strict=True)
        ],
        axis=1,
    )
    cells[rng.random(cells.shape) < share] = "?"
    return read_rows(network, cells, names=names)


ROWS = make_rows()
ANSWERS = {
    "log_probability": (
        lambda **o: ASIA.log_probability(GIVEN, **o),
        f"'log_probability' is never estimated; {TOO_LONG}. Use measure_evidence for an estimate",
    ),
    "most_probable_explanation": (
        lambda **o: ASIA.most_probable_explanation(GIVEN, **o),
        f"The most probable explanation is never estimated; {TOO_LONG}. Give more evidence",
    ),
    "explain": (
        lambda **o: ASIA.explain("lung", GIVEN, **o).as_dict(),
        f"An explanation is never estimated; {MORE}. Give more evidence",
    ),
    "sample": (
        lambda **o: (
            sample(ASIA, 20, 1, GIVEN, **o).to_dict()
            if hasattr(sample(ASIA, 1, 1), "to_dict")
            else [codes.tolist() for codes in sample(ASIA, 20, 1, GIVEN, **o).codes]
        ),
        f"A sample given evidence is never estimated; {TOO_LONG}. Give more evidence",
    ),
    "log_likelihood": (
        lambda **o: ASIA.log_likelihood(ROWS, **o).per_row.tolist(),
        f"The log-likelihood of rows with unknown cells is never estimated; {TOO_LONG}. {FEWER}",
    ),
    "predict": (
        lambda **o: ASIA.predict(ROWS, "bronc", **o).probabilities.tolist(),
        f"A prediction is never estimated; {TOO_LONG}. {FEWER}",
    ),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_what_takes_too_long_is_refused_unless_it_must_be_exact(name, forget_time):
    ask, sentence = ANSWERS[name]
    expected = ask()
    assert ask(exact=True) == expected
    forget_time()
    assert refusal(ParameterError, ask) == f"{sentence}, {INSIST}"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ask(exact=True) == expected


@pytest.mark.parametrize("name", ANSWERS)
def test_exact_is_a_bool(name):
    sentence = f"'exact' of {name} must be a bool; got 'yes'."
    assert refusal(ParameterError, ANSWERS[name][0], exact="yes") == sentence


def test_averages_take_the_option(forget_time):
    averaged = AveragedNetwork([(0.5, ASIA), (0.5, ASIA)])
    probability, shares = averaged.log_probability(GIVEN), averaged.predict(ROWS, "bronc")
    forget_time()
    for ask in (
        partial(averaged.log_probability, GIVEN),
        partial(averaged.predict, ROWS, "bronc"),
    ):
        assert refusal(ParameterError, ask).endswith(INSIST)
    assert averaged.log_probability(GIVEN, exact=True) == probability
    found = averaged.predict(ROWS, "bronc", exact=True)
    assert found.probabilities.tolist() == shares.probabilities.tolist()


# -- the limit of several eliminations


def test_a_limit_adds_up():
    limit = WorkLimit("An explanation", exact=False)
    limit.add(Cost(8, 3 << 30))
    limit.add(Cost(8, 1 << 30))  # a minute in all
    sentence = (
        "An explanation is never estimated; the exact answer would take more than 1 minute with "
        f"the elimination orders tried (more than 4.3 billion operations). Give more evidence, "
        f"{INSIST}"
    )
    assert refusal(ParameterError, limit.add, Cost(8, 1)) == sentence
    limit = WorkLimit("An explanation", exact=True)
    limit.add(Cost(8, 1 << 60))
    sentence = refusal(ParameterError, limit.add, Cost(10**30, 0))  # no memory is made by patience
    assert sentence.startswith("Exact inference with the best elimination order found needs ")


def test_an_explanation_counts_all_its_questions(forget_time):
    """Each question is within the limit that all of them exceed."""
    given = {"smoke": "yes", "dysp": "yes", "xray": "no"}
    costs = []

    class Counting(WorkLimit):
        def add(self, cost, is_all=False):
            costs.append(cost.n_operations)
            super().add(cost, is_all)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("coevo.network.explain.WorkLimit", Counting)
        expected = ASIA.explain("lung", given).as_dict()
    assert len(costs) > 10
    assert max(costs) < sum(costs) / 3
    forget_time(sum(costs))
    assert ASIA.explain("lung", given).as_dict() == expected
    forget_time(sum(costs) - 1)
    assert "An explanation is never estimated" in refusal(
        ParameterError, ASIA.explain, "lung", given
    )


def test_explanations_are_exact_whatever_the_limit_is(forget_time):
    """Against enumeration; nothing in them is an estimate."""
    for seed in range(4):
        network = random_network(seed, 6)
        given = random_evidence(network, seed, 0.3)
        target = next(v.name for v in network.variables if v.name not in given and v.arity > 1)
        forget_time()
        found = network.explain(target, given, exact=True).posterior
        forget_time(1 << 32)
        joint = enumerate_joint(network)
        for place, variable in enumerate(network.variables):
            if variable.name in given:
                code = variable.states.index(given[variable.name])
                joint = joint.take([code], axis=place)
        place = [variable.name for variable in network.variables].index(target)
        own = joint.sum(axis=tuple(i for i in range(joint.ndim) if i != place))
        assert list(found.values()) == pytest.approx((own / own.sum()).tolist(), abs=1e-12)


# -- rows


def chain(n, n_states=3):
    names = [f"v{i}" for i in range(n)]
    rng = np.random.default_rng(5)
    tables = {name: rng.dirichlet(np.ones(n_states), n_states) for name in names}
    tables["v0"] = tables["v0"][:1]
    states = tuple(f"s{k}" for k in range(n_states))
    parents = dict(zip(names[1:], ([name] for name in names), strict=False))
    return BayesianNetwork([Variable(name, states) for name in names], parents, tables)


def test_rows_with_equal_evidence_count_once(forget_time):
    """The target and an unknown parent: a clique of 9 cells and one of 3, for each distinct row."""
    network = chain(4)  # v3 is known, v1 and v2 are not
    cells = np.array([["s0", "?", "?", end] for end in ("s0", "s1", "s0", "s1", "s1")])
    rows = read_rows(network, cells, names=["v0", "v1", "v2", "v3"])
    expected = network.predict(rows, "v2").probabilities
    forget_time(2 * (9 + 3))
    assert network.predict(rows, "v2").probabilities.tolist() == expected.tolist()
    assert network.log_likelihood(rows).n_rows == 5
    forget_time(2 * (9 + 3) - 1)
    for ask in (partial(network.predict, target="v2"), network.log_likelihood):
        assert refusal(ParameterError, ask, rows).endswith(INSIST)


def test_contradictions_and_the_prediction_without_evidence_count(forget_time):
    """A component that can make a row impossible is eliminated, too; and the prior is a query."""
    variables = [Variable(name, ("yes", "no")) for name in "abcd"]
    parents = {"b": ["a"], "d": ["c"]}
    tables = {"a": [0.5, 0.5], "b": [[0.9, 0.1], [0.2, 0.8]], "c": [1.0, 0.0]}
    network = BayesianNetwork(variables, parents, {**tables, "d": [[1.0, 0.0], [0.5, 0.5]]})
    fine = read_rows(network, np.array([["yes", "yes"]]), names=["b", "d"])
    contradicted = read_rows(network, np.array([["yes", "no"]]), names=["b", "d"])
    own, other = 2, 2  # the cells of a given b, and of c given d
    forget_time(own + other)
    assert network.predict(fine, "a").probabilities[0, 0] == pytest.approx(9 / 11)
    forget_time(own + other - 1)
    assert refusal(ParameterError, network.predict, fine, "a").endswith(INSIST)
    forget_time(own + other)
    sentence = refusal(ParameterError, network.predict, contradicted, "a")  # the prior is too much
    assert sentence == f"A prediction is never estimated; {MORE}. {FEWER}, {INSIST}"


@pytest.mark.parametrize(("n", "n_states"), [(4, 3), (8, 3), (11, 3), (14, 2)])
def test_the_memory_of_rows_is_that_of_all_tables(n, n_states, monkeypatch):
    """Measured: no more numbers exist at one time than the plan says, and hardly fewer."""
    network = grid_network(n, n_states=n_states)
    inference = RowInference(network)
    last = network.dag.topological_order[-1]
    (component,) = inference.iterate_components(inference.make_set([last]))
    plan, codes = inference.plan(component), {last: np.zeros(1, dtype=np.int32)}
    inference.compute(plan, codes)
    tracemalloc.start()
    inference.compute(plan, codes)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 8 * plan.n_peak + 400 * n**2  # and some objects for each variable
    assert most > 0.7 * 8 * plan.n_peak
    monkeypatch.setattr("coevo.runtime.memory.get_machine_memory", lambda: 8 * plan.n_peak - 1)
    assert "Exact inference" in refusal(ParameterError, inference.plan, component)


def test_blocks_of_rows_change_nothing(monkeypatch):
    expected = ASIA.log_likelihood(ROWS).per_row
    shares = ASIA.predict(ROWS, "bronc").probabilities
    monkeypatch.setattr("coevo.network.row_elimination.PEAK_AT_ONCE", 1)
    assert ASIA.log_likelihood(ROWS).per_row.tolist() == expected.tolist()
    assert ASIA.predict(ROWS, "bronc").probabilities.tolist() == shares.tolist()


# -- logarithms


def test_numbers_below_the_smallest_float_have_the_limit_too(monkeypatch, forget_time):
    """The plan is quick enough; the elimination with logarithms, which has to answer, is not."""
    coin = Variable("coin", ("fair", "odd"))
    throws = [Variable(f"t{i:04d}", ("no", "yes")) for i in range(400)]
    tables = {throw.name: [[0.5, 0.5], [0.99999, 0.00001]] for throw in throws}
    tables[throws[-1].name] = [[1.0, 0.0], [0.5, 0.5]]
    network = BayesianNetwork(
        [coin, *throws], {throw.name: ["coin"] for throw in throws}, {**tables, "coin": [0.5, 0.5]}
    )
    given = {throw.name: "yes" for throw in throws}
    asked = [
        partial(network.query, "coin", given),
        partial(network.marginals, None, given),
        partial(network.measure_evidence, given),
    ]
    expected = [ask() for ask in asked]
    log_probability = network.log_probability(given)
    monkeypatch.setattr("coevo.network.inference.is_feasible", lambda *arguments: True)
    forget_time(1)
    sentence = (
        f"An answer with numbers below the smallest float is never estimated; {MORE}. Give more "
        f"evidence, {INSIST}"
    )
    for ask, answer in zip(asked, expected, strict=True):
        assert refusal(ParameterError, ask) == sentence
        assert ask(exact=True) == answer
    assert network.log_probability(given, exact=True) == log_probability
    tree = JunctionTree(network, exact=True)
    assert tree.compute_beliefs(given).marginals["coin"].probabilities.tolist() == [0, 1]


# -- a network that is out of reach


def test_a_large_grid_is_refused_or_estimated_at_once():
    """28 x 28 variables of three states: no answer hangs, and none fills the memory."""
    network = grid_network(28, n_states=3)
    first, last = "r00c00", "r27c27"
    given = {last: "yes"}
    hidden = read_rows(network, np.array([["yes"]]), names=[last])
    complete = sample(network, 3, random_state=1)
    for ask in (
        partial(network.log_probability, given),
        partial(network.most_probable_explanation, given),
        partial(network.explain, first, given),
        partial(network.explain, last),
        partial(sample, network, 5, 1, given),
        partial(network.log_likelihood, hidden),
        partial(network.predict, hidden, first),
        partial(JunctionTree, network),
    ):
        for option in ({}, {"exact": True}):  # it does not fit into any memory
            assert "order found needs" in refusal(ParameterError, ask, **option)
    assert math.isfinite(network.log_likelihood(complete).total)
    assert network.predict(complete, first).probabilities.shape == (3, 3)


def test_a_message_reports_no_more_than_it_can():
    network = grid_network(30, n_states=10)
    sentence = refusal(ParameterError, network.most_probable_explanation)
    assert f" needs {10**21:,}.0 GB of memory; " in sentence


def test_a_grid_that_fits_into_memory_is_refused_by_its_work(monkeypatch):
    """18 x 18 variables of three states, on a machine with a petabyte."""
    monkeypatch.setattr("coevo.runtime.memory.get_machine_memory", lambda: 10**15)
    network = grid_network(18, n_states=3)
    given = {"r17c17": "yes"}
    hidden = read_rows(network, np.array([["yes"]]), names=["r17c17"])
    for ask in (
        partial(network.most_probable_explanation, given),
        partial(network.explain, "r00c00", given),
        partial(network.log_likelihood, hidden),
        partial(network.predict, hidden, "r00c00"),
    ):
        sentence = refusal(ParameterError, ask)
        assert "is never estimated; the exact answer would take " in sentence
        assert sentence.endswith(INSIST)
