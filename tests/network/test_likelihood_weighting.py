"""Where exact inference is out of reach, answers are estimated, with their errors, and say so."""

from __future__ import annotations

import math
import warnings
from functools import partial

import numpy as np
import pytest

import coevo.runtime.memory
from coevo.bundled import load_network
from coevo.data import Variable
from coevo.errors import CoevoWarning, ParameterError
from coevo.network import Approximation, BayesianNetwork, Distribution
from coevo.network.distribution import average_distributions, describe_approximation
from coevo.network.likelihood_weighting import draw_weighted_sample
from coevo.posteriors.sample import AveragedNetwork
from helpers import limits
from helpers.errors import refusal
from helpers.limits import TOO_LONG
from helpers.random_networks import (
    grid_network,
    random_evidence,
    random_network,
    reverse_network,
)

LINE = (
    "approximate: likelihood weighting, 100,000 samples, standard error at most 0.002; the exact "
    "answer was not feasible with the elimination orders tried (smallest found: 0.0 GB)"
)


@pytest.fixture
def forget_memory(monkeypatch):
    return partial(limits.forget_memory, monkeypatch)


@pytest.fixture
def forget_time(monkeypatch):
    return partial(limits.forget_time, monkeypatch)


def codes_of(network, states):
    return {name: network.variable(name).states.index(state) for name, state in states.items()}


# -- the estimate


@pytest.mark.parametrize("network_seed", range(6))
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_estimates_are_within_four_standard_errors(network_seed, share):
    network = random_network(network_seed, 7, zeros=0.1 * (network_seed % 2))
    given = random_evidence(network, network_seed, share)
    exact = network.marginals(given=given)
    names = list(exact)
    sample = draw_weighted_sample(network, codes_of(network, given), [[n] for n in names], 20_000)
    for name, p, error in zip(names, sample.probabilities, sample.standard_errors, strict=True):
        assert p.sum() == pytest.approx(1)
        assert (np.abs(p - exact[name].probabilities) <= 4 * error).all()
    expected = network.log_probability(given)
    error = max(sample.log_probability_error, 1e-9)
    assert abs(sample.log_probability - expected) <= 4 * error
    joint = names[:2]
    estimate = draw_weighted_sample(network, codes_of(network, given), [joint], 20_000)
    difference = estimate.probabilities[0] - network.query(joint, given).probabilities
    assert (np.abs(difference) <= 4 * estimate.standard_errors[0]).all()


def test_standard_errors_are_calibrated():
    """Over many seeds, errors in units of their standard error have the mean 0 and the size 1."""
    network = load_network("asia")
    given = {"xray": "yes", "dysp": "yes"}
    exact = [network.query(name, given)["yes"] for name in ("bronc", "smoke", "either")]
    log_exact = network.log_probability(given)
    scores, log_scores = [], []
    for seed in range(200):
        groups = [["bronc"], ["smoke"], ["either"]]
        sample = draw_weighted_sample(network, codes_of(network, given), groups, 2_000, seed)
        scores.append(
            [
                (p[0] - true) / error[0]
                for p, error, true in zip(
                    sample.probabilities, sample.standard_errors, exact, strict=True
                )
            ]
        )
        log_scores.append((sample.log_probability - log_exact) / sample.log_probability_error)
    for each in (*np.array(scores).T, np.array(log_scores)):
        assert abs(each.mean()) < 0.35  # 5 standard errors of the mean
        assert 0.8 < each.std() < 1.2


def test_the_effective_size_counts_equal_weights():
    network = load_network("earthquake")
    without = draw_weighted_sample(network, {}, [["Alarm"]], 5_000)
    assert without.effective_size == 5_000
    assert without.log_probability == 0
    assert without.log_probability_error == 1 / 5_000
    # A burglary has 1 % of the rows: its weight is 0.9, else 0.05, as if Alarm were observed.
    weighted = draw_weighted_sample(network, {"JohnCalls": 0}, [["Alarm"]], 5_000)
    alarms = draw_weighted_sample(network, {}, [["Alarm"]], 5_000).probabilities[0] * 5_000
    total, squares = alarms @ [0.9, 0.05], alarms @ [0.81, 0.0025]
    assert weighted.effective_size == pytest.approx(total**2 / squares)
    assert weighted.log_probability == pytest.approx(math.log(total / 5_000))


def test_a_state_without_a_sample_has_an_error():
    coin = Variable("coin", ("heads", "tails"))
    network = BayesianNetwork([coin], {}, {"coin": [1 - 1e-9, 1e-9]})
    sample = draw_weighted_sample(network, {}, [["coin"]], 1_000)
    assert sample.probabilities[0].tolist() == [1, 0]
    assert sample.standard_errors[0].tolist() == [0.001, 0.001]


@pytest.mark.parametrize("block", [100, 1 << 20])
def test_blocks_and_the_order_of_variables_change_nothing(block, monkeypatch):
    network = load_network("alarm")
    evidence = codes_of(network, {"HR": "HIGH", "CO": "LOW"})
    first = draw_weighted_sample(network, evidence, [["CVP", "BP"], ["SAO2"]], 3_000)
    monkeypatch.setattr("coevo.network.likelihood_weighting.ROWS_PER_BLOCK", block)
    again = draw_weighted_sample(
        reverse_network(network), evidence, [["CVP", "BP"], ["SAO2"]], 3_000
    )
    for one, two in zip(first.probabilities, again.probabilities, strict=True):
        assert two == pytest.approx(one, rel=1e-12)
    assert again.log_probability == pytest.approx(first.log_probability, rel=1e-12)


# -- answers of a network


def test_an_answer_says_that_it_is_approximate(forget_memory):
    network = load_network("asia")
    exact = network.query("dysp", {"smoke": "yes"})
    exact_marginals = network.marginals(given={"smoke": "yes"})
    forget_memory()
    with pytest.warns(CoevoWarning) as caught:
        answer = network.query("dysp", {"smoke": "yes"})
    assert [str(each.message) for each in caught] == [f"The answer is {LINE}."]
    assert caught[0].filename == __file__
    assert not answer.is_exact
    assert (np.abs(answer.probabilities - exact.probabilities) < 4 * answer.standard_errors).all()
    assert answer.approximation.n_samples == 100_000
    assert answer.approximation.effective_sample_size == 100_000
    assert not answer.standard_errors.flags.writeable
    assert repr(answer) == "<Approximate distribution of 'dysp': {'yes': 0.5517, 'no': 0.4483}>"
    assert str(answer).splitlines()[-1] == LINE
    assert "approximate: likelihood weighting" in answer._repr_html_()
    with pytest.warns(CoevoWarning):
        again = reverse_network(network).query("dysp", {"smoke": "yes"})
    assert again == answer
    with pytest.warns(CoevoWarning):
        marginals = network.marginals(given={"smoke": "yes"})
    for name, found in marginals.items():
        difference = np.abs(found.probabilities - exact_marginals[name].probabilities)
        assert (difference < 4 * found.standard_errors).all()
        assert not found.is_exact


def test_exact_answers_are_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer = load_network("asia").query(["lung", "tub"])
    assert answer.is_exact
    assert answer.approximation is None
    assert answer.standard_errors.tolist() == [[0, 0], [0, 0]]
    assert describe_approximation([answer]) == ""


def test_named_targets_are_answered_one_by_one_before_they_are_estimated(monkeypatch):
    """To keep all tables for all marginals needs more memory than one elimination."""
    network = grid_network(10)
    expected = network.marginals(["r09c09", "r04c04"])
    monkeypatch.setattr(coevo.runtime.memory, "get_machine_memory", lambda: 10**5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = network.marginals(["r09c09", "r04c04"])
    for name, answer in found.items():
        assert answer.is_exact
        assert answer.probabilities == pytest.approx(expected[name].probabilities, rel=1e-9)
    with pytest.warns(CoevoWarning):
        assert not any(each.is_exact for each in network.marginals().values())


# -- work instead of memory

LONG_LINE = (
    "approximate: likelihood weighting, 100,000 samples, standard error at most 0.002; " + TOO_LONG
)


def test_an_answer_that_takes_too_long_is_estimated(forget_time):
    network, given = load_network("asia"), {"smoke": "yes"}
    exact, observed = network.query("dysp", given), {"dysp": "yes"}
    exact_evidence = network.measure_evidence(observed)
    exact_marginals = network.marginals(given=given)
    forget_time()
    with pytest.warns(CoevoWarning) as caught:
        answer = network.query("dysp", given)
    assert [str(each.message) for each in caught] == [
        f"The answer is {LONG_LINE}. Pass exact=True to compute the exact answer."
    ]
    assert caught[0].filename == __file__
    assert str(answer).splitlines()[-1] == LONG_LINE
    assert answer.approximation.is_in_memory
    assert (np.abs(answer.probabilities - exact.probabilities) < 4 * answer.standard_errors).all()
    with pytest.warns(CoevoWarning):
        found = network.marginals(["dysp"], given)["dysp"]
    assert found == answer
    estimate = network.measure_evidence(observed)
    assert not estimate.is_exact
    assert (
        abs(estimate.log_probability - exact_evidence.log_probability) < 4 * estimate.standard_error
    )
    with warnings.catch_warnings():  # nobody needs to wait for a clock: it is the same elimination
        warnings.simplefilter("error")
        assert network.query("dysp", given, exact=True) == exact
        assert network.marginals(given=given, exact=True) == exact_marginals
        one = network.marginals(["dysp"], given, exact=True)["dysp"]
        assert one.probabilities == pytest.approx(exact.probabilities, rel=1e-12)
        assert network.measure_evidence(observed, exact=True) == exact_evidence
        averaged = AveragedNetwork([(0.5, network), (0.5, network)])
        assert averaged.query("dysp", given, exact=True).is_exact
        assert averaged.marginals("dysp", given, exact=True)["dysp"].is_exact
        assert averaged.measure_evidence(observed, exact=True).is_exact


def test_the_number_of_operations_decides(forget_time):
    """In a chain of three states each of five steps reads two tables for 9 cells.

    The answer is copied. All marginals are messages of the same plan.
    """
    names = [f"v{i}" for i in range(6)]
    tables = {name: np.full((3, 3) if name != "v0" else (1, 3), 1 / 3) for name in names}
    network = BayesianNetwork(
        [Variable(name, ("a", "b", "c")) for name in names],
        dict(zip(names[1:], ([name] for name in names), strict=False)),
        tables,
    )
    one, every = math.ceil((5 * 2 * 9 + 3) / 8), math.ceil(5 * 2 * 9 / 8)
    forget_time(one)
    assert network.query("v5").is_exact
    assert network.marginals(["v5"])["v5"].is_exact
    forget_time(one - 1)
    with pytest.warns(CoevoWarning):
        answer = network.query("v5")
    assert answer.approximation.smallest_order_operations == one
    assert not answer.is_exact
    forget_time(every)
    assert all(each.is_exact for each in network.marginals().values())
    forget_time(every - 1)
    with pytest.warns(CoevoWarning):
        assert not any(each.is_exact for each in network.marginals().values())


def test_few_named_targets_are_answered_one_by_one_if_that_is_quicker(forget_time):
    """An elimination whose last variable is the target keeps one small table."""
    network = grid_network(6)
    expected = network.marginals(["r05c05"])
    forget_time()
    with pytest.warns(CoevoWarning):
        single = network.query("r05c05").approximation.smallest_order_operations
    forget_time(single)
    found = network.marginals(["r05c05"])["r05c05"]
    assert found.is_exact
    assert found.probabilities == pytest.approx(expected["r05c05"].probabilities, rel=1e-12)


def test_memory_is_the_reason_if_both_are_short(forget_memory, forget_time):
    forget_memory()
    forget_time()
    with pytest.warns(CoevoWarning) as caught:
        answer = load_network("asia").query("dysp", {"smoke": "yes"})
    assert [str(each.message) for each in caught] == [f"The answer is {LINE}."]
    assert not answer.approximation.is_in_memory


@pytest.mark.parametrize("method", ["query", "marginals", "measure_evidence"])
def test_exact_is_a_bool(method):
    given = {"given": {"smoke": "yes"}}
    arguments = given if method == "measure_evidence" else {"targets": "lung", **given}
    sentence = f"'exact' of {method} must be a bool; got 'yes'."
    ask = getattr(load_network("asia"), method)
    assert refusal(ParameterError, ask, exact="yes", **arguments) == sentence


def test_evidence_that_is_too_improbable_can_be_computed_exactly(forget_time):
    variables = [Variable(name, ("yes", "no")) for name in "ab"]
    tables = {"a": [1e-5, 1 - 1e-5], "b": [[1, 0], [0, 1]]}
    network = BayesianNetwork(variables, {"b": ["a"]}, tables)
    forget_time()
    sentence = (
        "The evidence is too improbable for likelihood weighting: the effective size of 100,000 "
        f"samples is 0.0, and 100 are needed; {TOO_LONG}. Leave out the least probable findings, "
        "or compute the exact answer with exact=True (--exact)."
    )
    assert refusal(ParameterError, network.query, "a", {"b": "yes"}) == sentence
    assert network.query("a", {"b": "yes"}, exact=True)["yes"] == 1


# -- improbable evidence and large answers


def test_improbable_evidence_is_refused(forget_memory):
    names = [f"v{i:02d}" for i in range(30)]
    variables = [Variable(name, ("yes", "no")) for name in names]
    tables = {name: [[0.9, 0.1], [0.1, 0.9]] for name in names} | {"v00": [0.5, 0.5]}
    network = BayesianNetwork(
        variables, dict(zip(names[1:], ([n] for n in names), strict=False)), tables
    )
    given = dict.fromkeys(names[1::2], "yes")
    exact = network.log_probability(given)
    impossible = BayesianNetwork(
        variables[:2], {"v01": ["v00"]}, {"v00": [1, 0], "v01": [[0, 1], [0, 1]]}
    )
    forget_memory(100)
    sentence = (
        "The evidence is too improbable for likelihood weighting: the effective size of 100,000 "
        "samples is 0.0, and 100 are needed; the exact answer was not feasible with the "
        "elimination orders tried (smallest found: 0.0 GB). Leave out the least probable "
        "findings, or use a machine with more memory."
    )
    assert refusal(ParameterError, impossible.query, "v00", {"v01": "yes"}) == sentence
    with pytest.warns(CoevoWarning):
        assert not network.query("v00", given).is_exact
    found = network.measure_evidence(given)
    assert not found.is_exact
    assert abs(found.log_probability - exact) < 4 * found.standard_error


def test_equal_weights_do_not_make_an_estimate_exact(forget_memory):
    """No sample has the rare cause that makes the evidence improbable."""
    variables = [Variable(name, ("yes", "no")) for name in "ab"]
    tables = {"a": [1e-9, 1 - 1e-9], "b": [[0.1, 0.9], [0.5, 0.5]]}
    network = BayesianNetwork(variables, {"b": ["a"]}, tables)
    forget_memory(50)
    assert network.measure_evidence({"b": "yes"}) == (math.log(0.5), 1e-5)
    assert not network.measure_evidence({"b": "yes"}).is_exact


def test_a_joint_distribution_that_is_too_large_to_estimate_is_refused(forget_memory):
    forget_memory(200)
    sentence = (
        "An estimate of the joint distribution of 3 variables needs 0.0 GB of memory; this machine "
        "has 0.0 GB. Ask for fewer variables at once."
    )
    names = ["dysp", "xray", "lung"]
    assert refusal(ParameterError, load_network("asia").query, names) == sentence


def test_an_average_has_the_errors_of_its_parts(forget_memory):
    coin = (Variable("coin", ("heads", "tails")),)
    exact = Distribution(coin, np.array([0.5, 0.5]))
    rough = Distribution(
        coin, np.array([0.7, 0.3]), Approximation(np.array([0.02, 0.02]), 1_000, 600.0, 10**12)
    )
    assert average_distributions([(0.25, exact), (0.75, exact)]).is_exact
    mean = average_distributions([(0.25, exact), (0.75, rough)])
    assert mean.probabilities.tolist() == pytest.approx([0.65, 0.35])
    assert mean.standard_errors.tolist() == pytest.approx([0.015, 0.015])
    assert describe_approximation([exact, mean]) == (
        "approximate: likelihood weighting, 1,000 samples, standard error at most 0.02; the exact "
        "answer was not feasible with the elimination orders tried (smallest found: 1,000.0 GB)"
    )
    network = load_network("asia")
    averaged = AveragedNetwork([(0.5, network), (0.5, network)])
    given = {"xray": "yes"}
    expected = averaged.measure_evidence(given)
    assert expected.is_exact
    assert expected.log_probability == pytest.approx(network.log_probability(given))
    forget_memory()
    estimate = averaged.measure_evidence(given)
    assert (
        0 < abs(estimate.log_probability - expected.log_probability) < 4 * estimate.standard_error
    )
    with pytest.warns(CoevoWarning):
        assert not averaged.query("lung", given).is_exact
    with pytest.warns(CoevoWarning):
        assert not averaged.marginals(["lung"], given)["lung"].is_exact
