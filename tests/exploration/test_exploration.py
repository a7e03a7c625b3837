"""The drawing of a network and the answers about it agree with the network."""

import json
import math

import pytest

from coevo.bundled import load_network
from coevo.errors import NetworkError, ParameterError
from coevo.exploration import Explorer, draw_page
from coevo.exploration.drawing import MAX_BARS
from coevo.report.page import Page, make_network_page
from helpers.errors import refusal
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
