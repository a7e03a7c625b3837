"""pyAgrum as a second opinion on BIF files."""

import warnings

# Its SWIG layer warns while it is being imported and crashes the interpreter when pytest
# turns that warning into an error.
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pyagrum

__all__ = ["assert_same_network", "pyagrum"]

# pyAgrum keeps the numbers of a BIF file in single precision.
PRECISION = 1e-7


def assert_same_network(path, network):
    """Check that pyAgrum finds in the file at `path` what coevo has in `network`."""
    theirs = pyagrum.loadBN(str(path))
    arcs = {(theirs.variable(a).name(), theirs.variable(b).name()) for a, b in theirs.arcs()}
    assert arcs == set(network.dag.arcs)
    assert set(theirs.names()) == {variable.name for variable in network.variables}
    for variable in network.variables:
        name = variable.name
        assert theirs.variable(name).labels() == variable.states
        cpt = theirs.cpt(name)
        axes = list(cpt.names)[::-1]  # its arrays run backwards
        order = [axes.index(axis) for axis in (*network.parents(name), name)]
        table = cpt.toarray().transpose(order).reshape(-1, variable.arity)
        assert abs(table - network.table(name)).max() < PRECISION
