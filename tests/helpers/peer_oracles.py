"""Oracles from other libraries: pyAgrum for BIF files and scores, pybnesian for scores."""

import math
import warnings

# Its SWIG layer warns during import, and crashes the interpreter if pytest turns the warning
# into an error.
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pyagrum
    import pybnesian

__all__ = [
    "assert_same_network",
    "pyagrum",
    "pyagrum_network",
    "pyagrum_scorer",
    "pybnesian",
]

# pyAgrum keeps the numbers of a BIF file in single precision.
PRECISION = 1e-7


def assert_same_network(path, network):
    """Check that pyAgrum reads the network `network` from the file at `path`."""
    theirs = pyagrum.loadBN(str(path))
    arcs = {(theirs.variable(a).name(), theirs.variable(b).name()) for a, b in theirs.arcs()}
    assert arcs == set(network.dag.arcs)
    assert set(theirs.names()) == {variable.name for variable in network.variables}
    for variable in network.variables:
        name = variable.name
        assert theirs.variable(name).labels() == variable.states
        cpt = theirs.cpt(name)
        axes = list(cpt.names)[::-1]  # its axes are in reverse order
        order = [axes.index(axis) for axis in (*network.parents(name), name)]
        table = cpt.toarray().transpose(order).reshape(-1, variable.arity)
        assert abs(table - network.table(name)).max() < PRECISION


def pyagrum_network(network):
    """Return the network as pyAgrum's, with tables in double precision."""
    theirs = pyagrum.BayesNet()
    for variable in network.variables:
        theirs.add(labelled(variable))
    for variable in network.variables:
        # The child varies fastest in its tables, then the parent whose arc came first.
        for parent in reversed(network.parents(variable.name)):
            theirs.addArc(parent, variable.name)
        theirs.cpt(variable.name).fillWith(network.table(variable.name).ravel().tolist())
    return theirs


def labelled(variable):
    labels = pyagrum.LabelizedVariable(variable.name, "", 0)
    for state in variable.states:
        labels.addLabel(state)
    return labels


def pyagrum_scorer(path, network, score, weight=None):
    """Return a function that gives pyAgrum's local score of (child, parents) by name.

    With a weight, `score` is ignored: the Bayesian-Dirichlet score under the BDeu prior
    of that equivalent sample size. pyAgrum's scores are in bits; these are in nats.
    """
    template = pyagrum.BayesNet()
    for variable in network.variables:
        template.add(labelled(variable))
    learner = pyagrum.BNLearner(str(path), template)
    if weight is not None:
        learner.useScoreBD()
        learner.useBDeuPrior(weight)
    else:
        learner.useNoPrior()
        {"k2": learner.useScoreK2, "bic": learner.useScoreBIC}[score]()
    return lambda child, parents: learner.score(child, list(parents)) * math.log(2)
