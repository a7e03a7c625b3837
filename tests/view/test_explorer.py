"""The drawing of a network and the answers about it agree with the network."""

import json
import math
import warnings

import numpy as np
import pytest

from coevo.bundled import load_network
from coevo.errors import NetworkError, ParameterError
from coevo.view.explorer import MAX_BARS, Explorer, draw_page
from coevo.view.page import Page, make_network_page
from helpers import limits
from helpers.errors import refusal
from helpers.limits import INSIST, TOO_LONG
from helpers.random_networks import random_evidence, random_network


@pytest.fixture(scope="module")
def asia():
    return Explorer(load_network("asia"))


def test_beliefs_are_the_marginals(asia):
    given = {"xray": "yes", "smoke": {"yes": 3, "no": 1}}
    answer = asia.answer("beliefs", {"given": given})
    network = asia.network
    assert answer["log_probability"] == pytest.approx(network.log_probability(given))
    expected = network.marginals([n for n in asia.names if n != "xray"], given)
    for name, found in zip(asia.names, answer["marginals"], strict=True):
        if name == "xray":
            assert found == [1.0, 0.0]
        else:
            assert found == pytest.approx(expected[name].probabilities, abs=1e-6)
    json.dumps(answer, allow_nan=False)


def test_impossible_evidence_is_an_answer(asia):
    answer = asia.answer("beliefs", {"given": {"lung": "yes", "either": "no"}})
    assert answer == {
        "impossible": "The evidence has probability 0 under the network: 'either' = 'no', "
        "'lung' = 'yes'."
    }


def test_the_explanation_is_the_most_probable_one():
    for seed in range(5):
        network = random_network(seed, 7)
        given = random_evidence(network, seed, 0.3)
        answer = Explorer(network).answer("explanation", {"given": given})
        names = sorted(variable.name for variable in network.variables)
        states = {
            name: network.variable(name).states[k]
            for name, k in zip(names, answer["states"], strict=True)
        }
        best = network.most_probable_explanation(given)
        assert states == {**best.states, **given}
        assert answer["log_probability"] == best.log_probability
        joint = math.exp(best.log_probability - network.log_probability(given))
        assert answer["share"] == pytest.approx(joint)


def test_information_agrees_with_explain(asia):
    given = {"smoke": "yes"}
    answer = asia.answer("information", {"target": "lung", "given": given})
    expected = asia.network.explain("lung", given, top=10)
    found = [(asia.names[row["variable"]], row["nats"]) for row in answer["rows"]]
    assert [name for name, _ in found] == [one.name for one in expected.next_observations]
    for (_, nats), one in zip(found, expected.next_observations, strict=True):
        assert nats == pytest.approx(one.information, rel=1e-5)
    assert answer["entropy"] == pytest.approx(expected.entropy, rel=1e-5)


# -- networks that are too large


@pytest.fixture
def forget_time(monkeypatch):
    limits.forget_time(monkeypatch)


@pytest.fixture
def forget_memory(monkeypatch):
    limits.forget_memory(monkeypatch)


@pytest.mark.parametrize("limit", ["forget_time", "forget_memory"])
@pytest.mark.parametrize("given", [{}, {"xray": "yes", "smoke": {"yes": 3, "no": 1}}])
def test_beliefs_are_estimated_if_exact_ones_are_out_of_reach(request, limit, given):
    network = load_network("asia")
    exact = Explorer(network).answer("beliefs", {"given": given})
    request.getfixturevalue(limit)
    with warnings.catch_warnings():  # the answer itself says it
        warnings.simplefilter("error")
        answer = Explorer(network).answer("beliefs", {"given": given})
    json.dumps(answer, allow_nan=False)
    rows = zip(answer["marginals"], exact["marginals"], answer["standard_errors"], strict=True)
    for found, expected, errors in rows:
        assert max(np.abs(np.subtract(found, expected)) - 4 * np.array(errors)) <= 1e-6
    if given:
        error = answer["log_probability_error"]
        assert 0 < abs(answer["log_probability"] - exact["log_probability"]) < 4 * error
        xray = sorted(v.name for v in network.variables).index("xray")
        assert answer["marginals"][xray] == [1, 0]
        assert answer["standard_errors"][xray] == [0, 0]


def test_an_estimate_says_so(forget_time):
    assert Explorer(load_network("asia")).answer("beliefs", {})["estimate"] == (
        "These numbers are approximate: likelihood weighting, 100,000 samples, standard error at "
        f"most 0.002; {TOO_LONG}."
    )


def test_evidence_can_make_an_answer_exact(monkeypatch):
    """With its only parent observed, nothing is left to be summed out."""
    network = load_network("asia")
    given = {name: network.variable(name).states[1] for name in ("smoke", "either", "asia", "tub")}
    given |= {"lung": "no", "bronc": "no", "xray": "no"}
    monkeypatch.setattr("coevo.network.elimination.MAX_OPERATIONS", 10)
    explorer = Explorer(network)
    assert "estimate" in explorer.answer("beliefs", {})
    answer = explorer.answer("beliefs", {"given": given})
    assert "estimate" not in answer
    assert answer["log_probability"] == pytest.approx(network.log_probability(given))


def test_estimated_information_agrees_with_explain(forget_time):
    for seed in range(4):
        network = random_network(seed, 8)
        given = random_evidence(network, seed, 0.2)
        explorer = Explorer(network)
        target = next(name for name in explorer.names if name not in given)
        answer = explorer.answer("information", {"target": target, "given": given})
        assert answer["estimate"] == (
            "Estimated by likelihood weighting. Variables that seem to tell something by chance "
            "are left out."
        )
        exact = network.explain(target, given, top=10, exact=True)
        expected = {one.name: one.information for one in exact.next_observations}
        found = {explorer.names[row["variable"]]: row for row in answer["rows"]}
        assert answer["entropy"] == pytest.approx(exact.entropy, abs=0.02)
        assert set(found) <= set(expected)
        for name, nats in expected.items():
            if name in found:
                error = found[name]["standard_error"]
                assert abs(found[name]["nats"] - nats) < 4 * error + 1e-4
            else:
                assert nats < 0.01
        assert list(found) == sorted(found, key=lambda name: -found[name]["nats"])
        assert explorer.answer("information", {"target": target, "given": {target: "s0"}}) == {
            "entropy": 0.0,
            "rows": [],
            "estimate": answer["estimate"],
        }


def test_the_most_probable_explanation_is_not_estimated(forget_time):
    sentence = (
        f"The most probable explanation is never estimated; {TOO_LONG}. Give more evidence, "
        f"{INSIST}"
    )
    explorer = Explorer(load_network("asia"))
    assert refusal(ParameterError, explorer.answer, "explanation", {}) == sentence


def test_paths_open_and_close(asia):
    ask = {"source": "tub", "target": "lung"}
    assert asia.answer("paths", ask)["paths"] == []
    answer = asia.answer("paths", {**ask, "given": {"xray": "yes"}})
    names = asia.names
    assert [names[n] for n in answer["paths"][0]["nodes"]] == ["tub", "either", "lung"]
    assert [names[n] for n in answer["paths"][0]["opened_by"]] == ["xray"]
    assert answer["paths"][0]["text"] == "tub -> either <- lung"
    assert answer["known"] == [names.index("xray")]


def test_the_table_of_a_variable(asia):
    answer = asia.answer("table", {"variable": "dysp"})
    assert [asia.names[p] for p in answer["parents"]] == list(asia.network.parents("dysp"))
    assert answer["rows"] == asia.network.table("dysp").round(6).tolist()


@pytest.mark.parametrize(
    ("question", "body", "kind", "sentence"),
    [
        (
            "believe",
            {},
            ParameterError,
            "'question' of Explorer must be one of 'beliefs', 'explanation', 'information', "
            "'paths', 'table'; got 'believe'. Did you mean 'beliefs'?",
        ),
        (
            "beliefs",
            {"given": {"xray": 7}},
            ParameterError,
            "The evidence must have a state, or weights, of each variable.",
        ),
        (
            "beliefs",
            {"given": {"xray": "maybe"}},
            NetworkError,
            "'xray' has no state 'maybe'; its states are 'yes', 'no'.",
        ),
        (
            "information",
            {"target": ["lung"]},
            ParameterError,
            "The question must name a variable as its target.",
        ),
        (
            "paths",
            {"source": "tub", "target": "tub"},
            ParameterError,
            "Choose two different variables.",
        ),
    ],
)
def test_questions_that_are_refused(asia, question, body, kind, sentence):
    assert refusal(kind, asia.answer, question, body) == sentence


def test_a_drawing_has_room_for_bars():
    network = load_network("insurance")
    page = make_network_page(network)
    plain, bars = draw_page(page), draw_page(page, has_bars=True)
    assert plain["names"] == bars["names"] == sorted(v.name for v in network.variables)
    assert not plain["bars"]
    assert bars["bars"]
    for name, box in zip(bars["names"], bars["boxes"], strict=True):
        rows = min(MAX_BARS, network.variable(name).arity)
        assert box[3] == 26 + 15 * rows + 5
    assert {box[3] for box in plain["boxes"]} == {26}
    assert len(bars["paths"]) == len(bars["arcs"]) == len(network.dag.arcs)
    json.dumps(bars, allow_nan=False)


def test_a_drawing_shows_differences():
    network = load_network("asia")
    other = load_network("asia").dag
    kinds = {arc[3] for arc in draw_page(Page(network.dag, network, other=other))["arcs"]}
    assert kinds == {"same"}
