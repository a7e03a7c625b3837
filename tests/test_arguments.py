"""Arguments of wrong types are refused before work starts, in one sentence."""

from __future__ import annotations

import copy
import dataclasses

import numpy as np
import pytest

import coevo
from coevo import CPDAG, DAG, BayesianNetworkClassifier, Constraints, FamilyScorer
from coevo.errors import CoevoError
from coevo.interop import from_networkx, from_pgmpy, from_pyagrum, to_networkx, to_pgmpy
from coevo.posteriors import DagSample, Posterior
from coevo.search import METHODS, Budget, run_search

BOTH = np.array(["a", "b"])
ARRAY = "array(['a', 'b'], dtype='<U1')"
ARCS = "a list of pairs (parent, child)"
MODEL = "a BayesianNetwork or a DAG"
SOURCE = "a path, or the name of a bundled network"
WEIGHTS = "'weights' of FamilyScorer must be a mapping of (parent, child) to a number; got"
COLUMNS = "the name of a column, or a list of names"
FOLDER = "the path of a folder or None"


@pytest.fixture(scope="module")
def rows():
    return coevo.sample(coevo.load_network("cancer"), 60, random_state=1)


@pytest.fixture(scope="module")
def dag():
    return DAG(["a", "b"], [("a", "b")])


def refuse(call):
    """Return the message of the error that a call ends with."""
    with pytest.raises(CoevoError) as raised:
        call()
    return str(raised.value)


def must(name, owner, expected, got=ARRAY):
    """Return the sentence of the house."""
    return f"'{name}' of {owner} must be {expected}; got {got}."


GRAPHS = [
    (lambda: Constraints(required=None), must("required", "Constraints", ARCS, "None")),
    (lambda: Constraints(forbidden=[5]), must("forbidden", "Constraints", ARCS, "[5]")),
    (lambda: Constraints(required="ab"), must("required", "Constraints", ARCS, "'ab'")),
    (lambda: Constraints(roots="lung"), must("roots", "Constraints", "a list of names", "'lung'")),
    (lambda: Constraints(leaves=None), must("leaves", "Constraints", "a list of names", "None")),
    (lambda: Constraints(roots=[None]), must("roots", "Constraints", "a list of names", "[None]")),
    (
        lambda: Constraints(tiers=None),
        must("tiers", "Constraints", "a list of lists of names", "None"),
    ),
    (
        lambda: Constraints(tiers="ab"),
        must("tiers", "Constraints", "a list of lists of names", "'ab'"),
    ),
    (
        lambda: Constraints(tiers=["ab"]),
        must("tiers", "Constraints", "a list of lists of names", "'ab'"),
    ),
    (lambda: DAG(["a", None]), must("nodes", "DAG", "a list of names", "['a', None]")),
    (lambda: DAG(None), must("nodes", "DAG", "a list of names", "None")),
    (lambda: DAG("ab", ["a"]), must("arcs", "DAG", ARCS, "['a']")),
    (lambda: DAG("ab", None), must("arcs", "DAG", ARCS, "None")),
    (lambda: DAG("ab", [("a", 1)]), must("arcs", "DAG", ARCS, "[('a', 1)]")),
    (
        lambda: DAG.from_parents(None),
        must("parents", "DAG", "a mapping of each variable to its parents", "None"),
    ),
    (
        lambda: DAG.from_parents({"a": None}),
        must("parents", "DAG", "lists of the parents of each variable", "None"),
    ),
    (lambda: CPDAG(None), must("dag", "CPDAG", "a DAG", "None")),
    (lambda: from_networkx(None), must("graph", "from_networkx", "a DiGraph of networkx", "None")),
    (lambda: to_networkx(None), must("model", "to_networkx", MODEL, "None")),
    (
        lambda: from_pgmpy(None),
        must("model", "from_pgmpy", "a DiscreteBayesianNetwork or DAG of pgmpy", "None"),
    ),
    (lambda: to_pgmpy(None), must("model", "to_pgmpy", MODEL, "None")),
    (lambda: from_pyagrum(None), must("model", "from_pyagrum", "a BayesNet of pyAgrum", "None")),
    (lambda: coevo.sample(None, 3), must("network", "sample", "a BayesianNetwork", "None")),
    (lambda: coevo.open_network(None), must("source", "open_network", SOURCE, "None")),
    (lambda: coevo.open_structure(BOTH), must("source", "open_structure", SOURCE)),
    (lambda: coevo.write_model(None, "x.bif"), must("model", "write_model", MODEL, "None")),
    (lambda: coevo.write_model(DAG("a"), None), must("path", "write_model", "a path", "None")),
    (lambda: coevo.read_knowledge(None), must("path", "read_knowledge", "a path", "None")),
]


@pytest.mark.parametrize(("call", "message"), GRAPHS, ids=[message for _, message in GRAPHS])
def test_graphs_and_files(call, message):
    assert refuse(call) == message


TABLES = [
    (
        lambda t: coevo.learn(t, callbacks=None),
        must("callbacks", "learn", "a list of functions", "None"),
    ),
    (
        lambda t: coevo.learn(t, callbacks=[5]),
        must("callbacks", "learn", "a list of functions", "[5]"),
    ),
    (
        lambda t: run_search("k2", FamilyScorer(t), callbacks=5),
        must("callbacks", "run_search", "a list of functions", "5"),
    ),
    (
        lambda t: coevo.check_proof(None, t),
        must("certificate", "check_proof", "a Certificate or a path", "None"),
    ),
    (lambda t: coevo.fit_network(None, t), must("dag", "fit_network", "a DAG", "None")),
    (
        lambda t: coevo.measure_dependence(t, [], "Xray"),
        must("x", "measure_dependence", "the name of a column", "[]"),
    ),
    (
        lambda t: coevo.measure_dependence(t, "Xray", None),
        must("y", "measure_dependence", "the name of a column", "None"),
    ),
    (
        lambda t: coevo.measure_dependence(t, "Xray", "Cancer", given=None),
        must("given", "measure_dependence", COLUMNS, "None"),
    ),
    (
        lambda t: coevo.measure_dependence(t, "Xray", "Cancer", given=[5]),
        must("given", "measure_dependence", COLUMNS, "[5]"),
    ),
    (
        lambda t: t.split(np.random.default_rng(1), -1),
        must("n_held_out", "split", "an int from 0 to 60, the number of rows", "-1"),
    ),
    (
        lambda t: t.split(np.random.default_rng(1), 99),
        must("n_held_out", "split", "an int from 0 to 60, the number of rows", "99"),
    ),
    (lambda t: t.split(None, 1), must("rng", "split", "a Generator of NumPy", "None")),
    (lambda t: t.resample(None), must("rng", "resample", "a Generator of NumPy", "None")),
    (lambda t: coevo.learn(t, resume=BOTH), must("resume", "learn", "a bool")),
    (lambda t: coevo.posterior(t, resume=BOTH), must("resume", "posterior", "a bool")),
    (lambda t: coevo.prove(t, resume=BOTH), must("resume", "prove", "a bool")),
    (lambda t: coevo.learn(t, output=5), must("output", "learn", FOLDER, "5")),
    (
        lambda t: coevo.learn(t, output="a\0b"),
        "'a\\x00b' cannot be the name of a folder. Choose another name.",
    ),
    (
        lambda t: coevo.learn(t, output="\ud800"),
        "'\\ud800' cannot be the name of a folder. Choose another name.",
    ),
    (
        lambda t: coevo.posterior(t, prior=BOTH),
        must("prior", "posterior", "one of 'order', 'uniform'"),
    ),
    (
        lambda t: coevo.posterior(t, family_prior=BOTH),
        must("family_prior", "posterior", "one of 'fair', 'uniform'"),
    ),
    (
        lambda t: coevo.posterior(t, sampler=BOTH),
        must("sampler", "posterior", "one of 'auto', 'chains', 'exact'"),
    ),
    (
        lambda t: coevo.learn(t, read={"header": BOTH}),
        must("header", "learn", "True, False or None"),
    ),
    (
        lambda t: coevo.learn(t, read={"bad_rows": BOTH}),
        must("bad_rows", "learn", "one of 'refuse', 'repair', 'skip'"),
    ),
    (
        lambda t: coevo.learn(t, read={"decimal": BOTH}),
        must("decimal", "learn", "'.', ',' or None"),
    ),
    (
        lambda t: coevo.read_data(t, discretise=BOTH),
        must("discretise", "read_data", "one of 'kmeans', 'mdl', 'quantile', 'uniform'"),
    ),
    (lambda t: coevo.read_data(t, deduplicate=BOTH), must("deduplicate", "read_data", "a bool")),
    (lambda t: FamilyScorer(t, weights={"Xray": 1}), f"{WEIGHTS} {{'Xray': 1}}."),
    (lambda t: FamilyScorer(t, weights=BOTH), f"{WEIGHTS} {ARRAY}."),
    (lambda t: coevo.bootstrap_strength(t, weights={"Xray": 1}), f"{WEIGHTS} {{'Xray': 1}}."),
    (lambda t: coevo.bootstrap_strength(t, weights=BOTH), f"{WEIGHTS} {ARRAY}."),
    (
        lambda t: BayesianNetworkClassifier(structure=BOTH).fit([[1]], [0]),
        must(
            "structure", "BayesianNetworkClassifier", "one of 'auto', 'free', 'naive_bayes', 'tan'"
        ),
    ),
    (
        lambda t: BayesianNetworkClassifier().fit([[1, 2], [1]], [0, 1]),
        "The rows of X have different lengths. Give each row the same number of values.",
    ),
    (
        lambda t: coevo.read_data(np.zeros(3, dtype=[("a", "i4", (2,)), ("b", "i4")])),
        "The field 'a' of the array has the shape (2,) in each row. Give one field for each value.",
    ),
]


@pytest.mark.parametrize(("call", "message"), TABLES, ids=[message for _, message in TABLES])
def test_tables(call, message, rows):
    assert refuse(lambda: call(rows)) == message


def test_two_structures(dag):
    assert refuse(lambda: coevo.compare(dag, None)) == "'true' of compare must be a DAG; got None."
    assert refuse(lambda: coevo.compare(None, dag)) == "'found' of compare must be a DAG; got None."


@pytest.mark.parametrize("number", [-1, 0, None, float("nan")])
def test_the_number_of_top_networks(number, dag):
    found = object.__new__(Posterior)
    object.__setattr__(found, "sample", DagSample.from_matrices(("a", "b"), [dag.adjacency()]))
    message = f"'number' of top_networks must be an int >= 1; got {number}."
    assert refuse(lambda: found.top_networks(number)) == message
    assert found.top_networks(1) == [(dag, 1.0)]


@pytest.mark.parametrize("method", sorted(METHODS))
def test_results_can_be_compared(method, rows):
    """A result equals its copy, states with arrays are equal to themselves only."""
    options = {"class_variable": "Cancer"} if method in ("tan", "naive_bayes") else {}
    found = run_search(
        METHODS[method](**options), FamilyScorer(rows), budget=Budget(max_generations=1)
    )
    assert found == copy.deepcopy(found)
    for one in (found.state, found.checkpoint):
        other = copy.deepcopy(one)
        assert one == one
        assert one != other
        assert len({one, other}) == 2


def test_diagnostics_are_equal_to_themselves_only():
    """Arrays have no single truth value."""
    kind = coevo.posteriors.diagnostics.ChainDiagnostics
    assert kind.__eq__ is object.__eq__
    assert dataclasses.is_dataclass(kind)
