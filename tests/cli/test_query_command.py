"""``coevo query`` prints the probabilities of the library, for names of every form."""

from __future__ import annotations

import math
from functools import partial

import pytest

from coevo.bundled import load_network
from coevo.data import Variable
from coevo.errors import CoevoWarning
from coevo.io import write_bif
from coevo.network import BayesianNetwork
from helpers.limits import forget_memory

ODD = (Variable("a", ("x", "x,b=y", "=")), Variable("b", ("y", "n")), Variable("a,b", ("y",)))


@pytest.fixture
def odd(folder):
    """Return a network whose names and states hold commas and equals signs."""
    tables = {"a": [0.5, 0.3, 0.2], "b": [[0.1, 0.9], [0.2, 0.8], [0.6, 0.4]], "a,b": [1.0]}
    network = BayesianNetwork(ODD, {"b": ["a"]}, tables)
    write_bif(network, "odd.bif")
    return network


@pytest.fixture
def answer(as_json):
    """Return a function that gives the JSON answer of ``coevo query``."""
    return partial(as_json, "query")


# -- the answer


def test_the_burglar_alarm(run):
    """The example of the 2011 paper."""
    arguments = ["earthquake", "Burglary", "--given", "JohnCalls=True,MaryCalls=True"]
    assert run("query", *arguments) == (
        0,
        "evidence, with probability 0.0106439 (logarithm -4.542769)\n"
        "  JohnCalls = True\n"
        "  MaryCalls = True\n"
        "\n"
        "Burglary\n"
        "  0.556522  True\n"
        "  0.443478  False\n",
        "",
    )


def test_without_evidence(run):
    assert run("query", "earthquake", "Burglary", "MaryCalls") == (
        0,
        "Burglary\n  0.010000  True\n  0.990000  False\n\n"
        "MaryCalls\n  0.021119  True\n  0.978881  False\n",
        "",
    )


def test_joint(run):
    arguments = ["earthquake", "Burglary,Earthquake", "--joint", "--given", "Alarm=True"]
    assert run("query", *arguments) == (
        0,
        "evidence, with probability 0.0161142 (logarithm -4.128054)\n"
        "  Alarm = True\n"
        "\n"
        "Burglary, Earthquake\n"
        "  0.011791  True, True\n"
        "  0.571670  True, False\n"
        "  0.356332  False, True\n"
        "  0.060208  False, False\n",
        "",
    )


def test_the_most_probable_explanation(run):
    assert run("query", "earthquake", "--mpe", "--given", "JohnCalls=True") == (
        0,
        "evidence, with probability 0.0636971 (logarithm -2.753617)\n"
        "  JohnCalls = True\n"
        "\n"
        "most probable explanation, with probability 0.753204 given the evidence\n"
        "  Burglary = False\n"
        "  Earthquake = False\n"
        "  Alarm = False\n"
        "  MaryCalls = False\n",
        "",
    )
    assert run("query", "cancer", "--mpe").out == (
        "most probable explanation, with probability 0.352447\n"
        "  Pollution = low\n  Smoker = False\n  Cancer = False\n  Xray = negative\n"
        "  Dyspnoea = False\n"
    )


def test_the_most_probable_states_of_targets(run, answer):
    assert run("query", "cancer", "Smoker,Cancer", "--mpe", "--given", "Dyspnoea=True").out == (
        "evidence, with probability 0.304071 (logarithm -1.190496)\n"
        "  Dyspnoea = True\n\n"
        "most probable states of the targets, with probability 0.688626 given the evidence\n"
        "  Smoker = False\n"
        "  Cancer = False\n"
    )
    found = answer("cancer", "Smoker,Cancer", "--mpe")
    expected = load_network("cancer").most_probable_states(["Smoker", "Cancer"])
    assert found["targets"] == ["Smoker", "Cancer"]
    assert found["states"] == expected.states
    assert found["log_probability_with_states"] == expected.log_probability


def test_json_has_the_numbers_of_the_network(answer):
    network, given = load_network("alarm"), {"HR": "HIGH", "CO": "LOW"}
    options = ["--given", "HR=HIGH", "--given", "CO=LOW"]
    found = answer("alarm", *options)
    assert found["given"] == given
    assert found["log_probability"] == network.log_probability(given)
    assert found["probability"] == math.exp(found["log_probability"])
    marginals = network.marginals(given=given)
    assert found["marginals"] == {name: each.to_dict() for name, each in marginals.items()}
    assert list(found["marginals"]) == [v.name for v in network.variables if v.name not in given]
    found = answer("alarm", "CVP,BP", "SAO2", "--joint", *options)
    assert found["targets"] == ["CVP", "BP", "SAO2"]
    joint = network.query(["CVP", "BP", "SAO2"], given).to_dict()
    assert {tuple(row["states"]): row["probability"] for row in found["joint"]} == joint
    found = answer("alarm", "--mpe", *options)
    explanation = network.most_probable_explanation(given)
    assert found["states"] == explanation.states
    assert found["log_probability_with_states"] == explanation.log_probability


LINE = (
    "approximate: likelihood weighting, 100,000 samples, standard error at most 0.002; the exact "
    "answer was not feasible with the elimination orders tried (smallest found: 0.0 GB)"
)


def test_the_exact_answer_can_be_forced(run, answer, monkeypatch):
    arguments = ["asia", "bronc", "--given", "dysp=yes"]
    expected = answer(*arguments)
    monkeypatch.setattr("coevo.network.elimination.MAX_OPERATIONS", 0)
    assert run("query", *arguments).out.splitlines()[0] == (
        "approximate: likelihood weighting, 100,000 samples, standard error at most 0.002; the "
        "exact answer would take about 1 minute with the elimination orders tried (smallest found: "
        "0.0 billion operations); --exact computes it"
    )
    assert answer(*arguments)["approximation"]["is_in_memory"] is True
    found = answer(*arguments, "--exact")
    assert found["is_exact"]
    assert found["log_probability"] == expected["log_probability"]
    assert found["marginals"]["bronc"] == pytest.approx(expected["marginals"]["bronc"], rel=1e-12)
    joint = answer(*arguments, "--joint", "--exact")
    assert joint["is_exact"]
    assert [row["probability"] for row in joint["joint"]] == pytest.approx(
        list(expected["marginals"]["bronc"].values())
    )


def test_an_answer_that_is_not_exact_says_so(run, answer, monkeypatch):
    """The estimate of the library, with its standard errors, as text and as JSON."""
    arguments = ["asia", "bronc", "--given", "dysp=yes"]
    assert answer(*arguments)["is_exact"] is True
    forget_memory(monkeypatch)
    network, given = load_network("asia"), {"dysp": "yes"}
    with pytest.warns(CoevoWarning):
        found = network.marginals("bronc", given)["bronc"]
    evidence = network.measure_evidence(given)
    (yes, no), error = found.probabilities, found.standard_errors[0]
    assert run("query", *arguments) == (
        0,
        f"{LINE}\n\n"
        f"evidence, with probability {math.exp(evidence.log_probability):.6g} "
        f"(logarithm {evidence.log_probability:.6f}, standard error 0.003)\n"
        "  dysp = yes\n\n"
        f"bronc\n  {yes:.6f} +- {error:.6f}  yes\n  {no:.6f} +- {error:.6f}  no\n",
        "",
    )
    approximation = {
        "method": "likelihood weighting",
        "samples": 100_000,
        "effective_sample_size": found.approximation.effective_sample_size,
        "smallest_order_bytes": found.approximation.smallest_order_bytes,
        "smallest_order_operations": found.approximation.smallest_order_operations,
        "is_in_memory": False,
    }
    assert answer(*arguments) == {
        "given": given,
        "log_probability": evidence.log_probability,
        "probability": math.exp(evidence.log_probability),
        "log_probability_standard_error": evidence.standard_error,
        "is_exact": False,
        "approximation": approximation,
        "marginals": {"bronc": found.to_dict()},
        "standard_errors": {"bronc": dict(zip(found, found.standard_errors, strict=True))},
    }
    joint = answer(*arguments, "--joint")
    assert joint["approximation"]["samples"] == 100_000
    assert joint["is_exact"] is False
    assert [row["standard_error"] for row in joint["joint"]] == found.standard_errors.tolist()
    assert run("query", *arguments, "--joint").out.startswith(f"{LINE}\n\nevidence")
    assert run("query", "asia", "--mpe") == (
        2,
        "",
        "Error: Exact inference with the best elimination order found needs 0.0 GB of memory; this "
        "machine has 0.0 GB. Give more evidence, or use a machine with more memory.\n",
    )


def test_a_process_and_its_hash_seed_change_nothing(launch):
    arguments = ["query", "insurance", "--given", "Age=Senior,Mileage=Domino", "--format", "json"]
    first, second = (launch(*arguments, PYTHONHASHSEED=seed) for seed in "01")
    assert first.code == 0
    assert first == second


# -- names


@pytest.mark.parametrize(
    ("options", "given"),
    [
        (["a=x"], {"a": "x"}),
        (["a=x,b=y"], {"a": "x,b=y"}),  # the longest state goes first
        (["a=x", "b=y"], {"a": "x", "b": "y"}),
        (["b=y,a=x"], {"b": "y", "a": "x"}),
        (["a=x,b=y,b=n"], {"a": "x,b=y", "b": "n"}),
        (["a=x,b=n"], {"a": "x", "b": "n"}),
        (["a==,b=n"], {"a": "=", "b": "n"}),
        (["a,b=y"], {"a,b": "y"}),
        (["a,b=y,a==,b=n"], {"a,b": "y", "a": "=", "b": "n"}),
    ],
)
def test_commas_and_equals_signs_in_names(options, given, odd, answer):
    found = answer("odd.bif", *(part for option in options for part in ("--given", option)))
    assert found["given"] == given
    assert found["log_probability"] == odd.log_probability(given)


@pytest.mark.parametrize(
    ("targets", "names"),
    [
        (["b"], ["b"]),
        (["b,a"], ["b", "a"]),
        (["a,b"], ["a,b"]),
        (["a", "b"], ["a", "b"]),
        (["a,b,a,b"], ["a,b"] * 2),
        (["b,a,b,a"], ["b", "a,b", "a"]),
    ],
)
def test_commas_in_targets(targets, names, odd, answer, refused):
    if len(set(names)) < len(names):
        sentence = "'targets' of marginals names 'a,b' twice."
        assert refused("query", "odd.bif", *targets) == sentence
    else:
        assert list(answer("odd.bif", *targets)["marginals"]) == names


# -- refusals


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("asai", "There is no file and no bundled network 'asai'. Did you mean 'asia'?"),
        ("asia smok", "There is no variable 'smok' in the network. Did you mean 'smoke'?"),
        ("asia smoke,tubb", "There is no variable 'tubb' in the network. Did you mean 'tub'?"),
        (
            "asia --given smok=yes",
            "There is no variable 'smok' in the network. Did you mean 'smoke'?",
        ),
        (
            "asia --given tub=yes,smoke=yess",
            "'smoke' has no state 'yess'; its states are 'yes', 'no'. Did you mean 'yes'?",
        ),
        ("asia --given smoke", "'--given' must be VARIABLE=STATE; got 'smoke'."),
        ("asia --given tub=yes,", "'--given' must be VARIABLE=STATE; got ''."),
        (
            "asia --given tub=yes --given tub=no",
            "The evidence names 'tub' twice. Give one state for it.",
        ),
        (
            "asia tub --given tub=yes",
            "'tub' is both a target and evidence. Remove it from one of them.",
        ),
        (
            "asia --given either=no,lung=yes",
            "The evidence has probability 0 under the network: 'either' = 'no', 'lung' = 'yes'.",
        ),
        (
            "asia --mpe --given either=no,lung=yes",
            "The evidence has probability 0 under the network: 'either' = 'no', 'lung' = 'yes'.",
        ),
        (
            "asia tub --mpe --joint",
            "'--mpe' and '--joint' are two questions. Leave out one of them.",
        ),
        ("asia --joint", "'--joint' needs targets. Name the variables of the joint distribution."),
    ],
)
def test_refusals(arguments, sentence, refused):
    assert refused("query", *arguments.split()) == sentence


def test_a_state_of_a_variable_with_an_equals_sign(odd, refused):
    assert refused("query", "odd.bif", "--given", "a=x,b=q") == (
        "'b' has no state 'q'; its states are 'y', 'n'."
    )
