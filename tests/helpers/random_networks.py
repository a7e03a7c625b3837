"""Random networks and evidence; the same network in another order; its joint distribution."""

import numpy as np

import naive
from coevo.data import Variable
from coevo.network import BayesianNetwork


def random_network(seed, n_variables=6, max_states=3, zeros=0.0, max_parents=3, min_states=1):
    """Return a network of random arcs and tables; `zeros` is the share of entries that are 0.

    Variables and states have a random order.
    """
    rng = np.random.default_rng([*np.atleast_1d(seed), n_variables])
    names = rng.permutation([f"v{i:02d}" for i in range(n_variables)]).tolist()
    variables = {
        name: Variable(name, tuple(rng.permutation([f"s{k}" for k in range(arity)]).tolist()))
        for name, arity in zip(
            names, rng.integers(min_states, max_states + 1, n_variables), strict=True
        )
    }
    parents, tables = {}, {}
    for i, name in enumerate(names):
        n_parents = min(i, int(rng.integers(0, max_parents + 1)))
        parents[name] = rng.permutation(names[:i])[:n_parents].tolist()
        rows = int(np.prod([variables[p].arity for p in parents[name]], dtype=int))
        table = rng.dirichlet(np.ones(variables[name].arity), rows)
        table[rng.random(table.shape) < zeros] = 0
        table[table.sum(axis=1) == 0, 0] = 1
        tables[name] = table / table.sum(axis=1, keepdims=True)
    order = rng.permutation(names).tolist()
    return BayesianNetwork([variables[name] for name in order], parents, tables)


def reverse_network(network):
    """Return the same network with its variables and its parents in reverse order."""
    names = [variable.name for variable in network.variables]
    tables, parents = {}, {}
    for name in names:
        parents[name] = network.parents(name)[::-1]
        shape = [network.variable(p).arity for p in network.parents(name)]
        cube = network.table(name).reshape([*shape, -1])
        axes = [*range(len(shape))[::-1], len(shape)]
        tables[name] = cube.transpose(axes).reshape(network.table(name).shape)
    return BayesianNetwork(network.variables[::-1], parents, tables)


def random_evidence(network, seed, share):
    """Sample one row of the network; return the states of a share of its variables."""
    rng = np.random.default_rng(seed)
    row = {}
    for name in network.dag.topological_order:
        place = network.find_configurations(name, row)
        row[name] = np.asarray(
            rng.choice(network.variable(name).arity, p=network.table(name)[place])
        )
    return {
        name: network.variable(name).states[int(row[name])]
        for name in sorted(row)
        if rng.random() < share
    }


def enumerate_joint(network):
    """Return the joint distribution as an array with one axis a variable; use `naive`."""
    arities = {variable.name: variable.arity for variable in network.variables}
    tables = {name: network.table(name).tolist() for name in arities}
    joint = naive.joint_distribution(arities, {n: network.parents(n) for n in arities}, tables)
    return np.array(list(joint.values())).reshape(list(arities.values()))


def grid_network(n, seed=0, n_states=2):
    """Return a random network of n times n variables, which are binary by default.

    The parents of a variable are the one above it and the one to its left.
    """
    rng = np.random.default_rng([seed, n])
    name = "r{:02d}c{:02d}".format
    parents = {
        name(i, j): [name(*place) for place in ((i - 1, j), (i, j - 1)) if min(place) >= 0]
        for i in range(n)
        for j in range(n)
    }
    tables = {}
    for node, above in parents.items():
        if n_states == 2:
            yes = rng.uniform(0.1, 0.9, 2 ** len(above))
            tables[node] = np.stack([yes, 1 - yes], axis=1)
        else:
            tables[node] = rng.dirichlet(np.ones(n_states), n_states ** len(above))
    states = ("yes", "no", *(f"other{k}" for k in range(2, n_states)))
    return BayesianNetwork([Variable(node, states) for node in parents], parents, tables)
