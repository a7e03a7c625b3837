"""Other networks from a network: names, tables, arcs, fewer variables; random networks; divergence.

A network is a value, so each edit returns a new one. The functions that begin an edit implement the
methods of `BayesianNetwork` with the same names, which document them.

An arc x -> y can be reversed without a change of the joint distribution if there is no other
directed path from x to y [1]_. Both variables then get the parents of both: with A the parents of x
and B the other parents of y, P(y | A, B) is the sum over x of P(x | A) P(y | x, B), and Bayes' rule
gives P(x | y, A, B). A variable is marginalised out by reversing its arcs until it has no children;
it is then barren and can be dropped. The result is exact. It may have arcs that a smaller network
would do without, because no rule looks at the numbers.

.. [1] R. D. Shachter, Evaluating influence diagrams, Operations Research 34, 1986.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coevo.checks import is_int, is_number
from coevo.data.variable import MAX_STATES, Discrete, Variable
from coevo.errors import (
    NetworkError,
    ParameterError,
    bad_parameter,
    find_duplicate,
    format_list,
    suggest_match,
)
from coevo.network.bayesian_network import BayesianNetwork
from coevo.network.inference import query
from coevo.network.node_distribution import CPT, NodeDistribution, TableDistribution, check_size
from coevo.network.work_limit import WorkLimit, check_exact
from coevo.runtime.randomness import RandomState, resolve_seed
from coevo.signatures import check_keywords

__all__ = [
    "add_arc",
    "kl_divergence",
    "marginalise",
    "random_network",
    "remove_arc",
    "replace",
    "reverse_arc",
]

Tables = Mapping[str, ArrayLike | NodeDistribution]
Cube = NDArray[np.float64]  # one axis for each parent, in order, then one for the child


def replace(
    network: BayesianNetwork,
    *,
    name: str | None = None,
    names: Mapping[str, str] | None = None,
    states: Mapping[str, Mapping[str, str] | Sequence[str]] | None = None,
    parents: Mapping[str, Sequence[str]] | None = None,
    tables: Tables | None = None,
) -> BayesianNetwork:
    """Return a network with other names, states, parents or tables."""
    if not isinstance(name, str | None):
        raise bad_parameter("name", "replace", "a str", name)
    parts = {"names": names, "states": states, "parents": parents, "tables": tables}
    for part, given in parts.items():
        if not isinstance(given, Mapping | None):
            raise bad_parameter(part, "replace", "a mapping by variable", given)
        for node in given or ():
            network.variable(node)  # raises for an unknown name
    names, states, parents, tables = names or {}, states or {}, parents or {}, tables or {}
    for node in states:
        if not isinstance(network.variable(node), Discrete):
            raise NetworkError(f"{node!r} holds numbers, and has no states to replace.")
    # First the new families and tables, in the old names and states; then the order of the states;
    # then the new names: each step needs the names of the one before.
    distributions = {}
    for variable in network.variables:
        node = variable.name
        is_other = node in parents and tuple(parents[node]) != network.parents(node)
        if is_other and node not in tables:
            raise NetworkError(
                f"{node!r} gets other parents, so its table does not fit. Give the new one in "
                "'tables', or use add_arc, remove_arc or reverse_arc."
            )
        distributions[node] = tables.get(node, network.distribution(node))
    known = {v.name: network.parents(v.name) for v in network.variables}
    title = network.name if name is None else name
    edited = BayesianNetwork(network.variables, {**known, **parents}, distributions, title)
    edited = _reorder_states(edited, states)
    return _rename(edited, names, {n: s for n, s in states.items() if isinstance(s, Mapping)})


def _reorder_states(
    network: BayesianNetwork, states: Mapping[str, Mapping[str, str] | Sequence[str]]
) -> BayesianNetwork:
    """Return the network with the states of some variables in another order."""
    orders = dict[str, list[int]]()
    for node, wanted in states.items():
        if isinstance(wanted, Mapping):
            continue
        variable = network.variable(node)
        if isinstance(wanted, str) or sorted(wanted) != sorted(variable.states):
            raise NetworkError(
                f"A list of states of {node!r} is a new order of {format_list(variable.states)}; "
                f"got {wanted!r}. To rename states, give a mapping of old to new."
            )
        orders[node] = [variable.states.index(state) for state in wanted]
    if not orders:
        return network

    def reorder(variable: Variable) -> Variable:
        if variable.name not in orders:
            return variable
        texts = tuple(variable.states[i] for i in orders[variable.name])
        return dataclasses.replace(variable, states=texts)

    distributions = {}
    for variable in network.variables:
        old = network.distribution(variable.name)
        if not any(each.name in orders for each in old.family):
            distributions[variable.name] = old
            continue
        cube = _make_cube(network, variable.name)
        for axis, each in enumerate(old.family):
            if each.name in orders:
                cube = cube.take(orders[each.name], axis)
        distributions[variable.name] = TableDistribution(
            reorder(variable), map(reorder, old.parents), cube
        )
    known = {v.name: network.parents(v.name) for v in network.variables}
    return BayesianNetwork(map(reorder, network.variables), known, distributions, network.name)


def _rename(
    network: BayesianNetwork, names: Mapping[str, str], states: Mapping[str, Mapping[str, str]]
) -> BayesianNetwork:
    """Return the network with other names of variables and of states; its numbers stay."""
    for node, renamed in states.items():
        for state in renamed:
            known = network.variable(node).states
            if state not in known:
                hint = suggest_match(state, known)
                raise NetworkError(f"{node!r} has no state {state!r} to rename.{hint}")
        twice = find_duplicate(renamed.get(state, state) for state in network.variable(node).states)
        if twice is not None:
            raise NetworkError(
                f"Two states of {node!r} would have the name {twice!r}. States cannot be merged."
            )
    twice = find_duplicate(names.get(v.name, v.name) for v in network.variables)
    if twice is not None:
        raise NetworkError(f"Two variables would have the name {twice!r}.")
    renamed_variables = {}
    for v in network.variables:
        renamed_variables[v.name] = dataclasses.replace(v, name=names.get(v.name, v.name))
        if v.name in states:
            texts = tuple(states[v.name].get(state, state) for state in v.states)
            renamed_variables[v.name] = dataclasses.replace(renamed_variables[v.name], states=texts)
    parents, distributions = {}, {}
    for node, variable in renamed_variables.items():
        family = [renamed_variables[parent] for parent in network.parents(node)]
        parents[variable.name] = [parent.name for parent in family]
        distributions[variable.name] = network.distribution(node).rename(variable, family)
    return BayesianNetwork(renamed_variables.values(), parents, distributions, network.name)


def _make_cube(network: BayesianNetwork, node: str) -> Cube:
    """Return the table of a variable with one axis for each member of its family."""
    family = network.distribution(node).family
    return network.table(node).reshape([each.arity for each in family])


def _replace_family(
    network: BayesianNetwork, changes: Mapping[str, tuple[Sequence[str], ArrayLike]]
) -> BayesianNetwork:
    """Return the network with other parents and tables of some variables."""
    parents = {v.name: network.parents(v.name) for v in network.variables}
    tables: dict[str, Any] = {name: network.distribution(name) for name in parents}
    for node, (names, table) in changes.items():
        parents[node], tables[node] = tuple(names), table
    return BayesianNetwork(network.variables, parents, tables, network.name)


def add_arc(
    network: BayesianNetwork, parent: str, child: str, table: ArrayLike | None = None
) -> BayesianNetwork:
    """Return the network with a further arc."""
    arity = network.variable(parent).arity
    if parent in network.parents(child):
        raise NetworkError(f"There is an arc {parent!r} -> {child!r} already.")
    names = (*network.parents(child), parent)
    _check_table_size(network, child, names)
    if table is None:  # each row once for each state of the new parent, which varies fastest
        table = np.repeat(network.table(child), arity, axis=0)
    return _replace_family(network, {child: (names, table)})


def remove_arc(
    network: BayesianNetwork,
    parent: str,
    child: str,
    table: ArrayLike | None = None,
    exact: bool = False,
) -> BayesianNetwork:
    """Return the network without an arc."""
    check_exact(exact, "remove_arc")
    _check_arc(network, parent, child)
    parents = network.parents(child)
    names = tuple(name for name in parents if name != parent)
    if table is not None:
        if exact:
            raise ParameterError(
                "'exact' of remove_arc is about a table that is computed. "
                "Leave it out, or the table."
            )
        return _replace_family(network, {child: (names, table)})
    # P(child | the others) is the sum over the parent of P(child | all) P(parent | the others).
    limit = WorkLimit(f"The table of {child!r} without {parent!r}", exact, "Give the table")
    shares = query(network, parents, limit=limit).probabilities
    axis = parents.index(parent)
    totals = shares.sum(axis=axis, keepdims=True)
    rest = tuple(i for i in range(len(parents)) if i != axis)
    marginal = shares.sum(axis=rest, keepdims=True)
    # A configuration of the others that is impossible says nothing about the parent.
    weights = np.where(totals > 0, shares / np.where(totals > 0, totals, 1.0), marginal)
    cube = (weights[..., None] * _make_cube(network, child)).sum(axis=axis)
    return _replace_family(network, {child: (names, cube)})


def reverse_arc(network: BayesianNetwork, parent: str, child: str) -> BayesianNetwork:
    """Return the network with an arc reversed, and the same joint distribution."""
    _check_arc(network, parent, child)
    others = [name for name in network.dag.children(parent) if name != child]
    if child in network.dag.descendants(others) or child in others:
        raise NetworkError(
            f"The arc {parent!r} -> {child!r} cannot be reversed: there is another directed path "
            f"from {parent!r} to {child!r}, so that there would be a cycle."
        )
    return _replace_family(network, _reverse(network, parent, child))


def _reverse(
    network: BayesianNetwork, parent: str, child: str
) -> dict[str, tuple[Sequence[str], Cube]]:
    """Return the new families and tables of both ends of an arc that is reversed."""
    above = network.parents(parent)
    shared = (*above, *(n for n in network.parents(child) if n not in above and n != parent))
    _check_table_size(network, parent, (*shared, child))

    def align(node: str) -> Cube:
        """Return a table with the axes of the shared parents, the parent and the child."""
        family = [each.name for each in network.distribution(node).family]
        axes = [*shared, parent, child]
        order = [family.index(name) for name in axes if name in family]
        cube = _make_cube(network, node).transpose(order)
        shape = [network.variable(name).arity if name in family else 1 for name in axes]
        return cube.reshape(shape)

    prior = align(parent)
    joint = prior * align(child)
    joint = np.broadcast_to(
        joint, [network.variable(name).arity for name in (*shared, parent, child)]
    )
    of_child = joint.sum(axis=-2)
    totals = of_child[..., None, :]
    # A state of the child that is impossible says nothing: the parent keeps its distribution.
    of_parent = np.where(totals > 0, joint / np.where(totals > 0, totals, 1.0), prior)
    return {
        child: (shared, of_child),
        parent: ((*shared, child), of_parent.swapaxes(-1, -2)),
    }


def marginalise(network: BayesianNetwork, names: str | Iterable[str]) -> BayesianNetwork:
    """Return the network of the other variables."""
    if not isinstance(names, Iterable):
        raise bad_parameter("names", "marginalise", "a variable, or a list of variables", names)
    waiting = {names} if isinstance(names, str) else set(names)
    for name in waiting:
        network.variable(name)
    if len(waiting) == len(network.variables):
        raise NetworkError("No variable would be left. Keep at least one.")
    while waiting:
        # The one whose reversals make the smallest table goes next; a barren one makes none.
        node = min(waiting, key=lambda name: (_count_cells(network, name), name))
        waiting.remove(node)
        if network.dag.children(node):  # its last table before it is dropped
            blanket = [network.variable(each) for each in network.dag.markov_blanket(node)]
            check_size([*blanket, network.variable(node)], f"Keep {node!r}.")
        position = {name: i for i, name in enumerate(network.dag.topological_order)}
        for child in sorted(network.dag.children(node), key=position.__getitem__):
            network = _replace_family(network, _reverse(network, node, child))
        rest = [v for v in network.variables if v.name != node]
        network = BayesianNetwork(
            rest,
            {v.name: network.parents(v.name) for v in rest},
            {v.name: network.distribution(v.name) for v in rest},
            network.name,
        )
    return network


def _count_cells(network: BayesianNetwork, node: str) -> int:
    """Return the cells of the table of a variable once it has no children; 0 if it has none now."""
    children = network.dag.children(node)
    blanket = network.dag.markov_blanket(node) if children else ()
    return math.prod(network.variable(name).arity for name in blanket) if children else 0


def _check_arc(network: BayesianNetwork, parent: str, child: str) -> None:
    network.variable(parent)
    if parent not in network.parents(child):
        way_out = ""
        if child in network.parents(parent):
            way_out = f" There is one from {child!r} to {parent!r}."
        raise NetworkError(f"There is no arc {parent!r} -> {child!r}.{way_out}")


def _check_table_size(network: BayesianNetwork, child: str, parents: Sequence[str]) -> None:
    family = [network.variable(name) for name in (*parents, child)]
    check_size(family, "Keep these arcs as they are.")


@check_keywords()
def random_network(
    variables: int | Sequence[str] | Sequence[Variable],
    *,
    arcs: int | None = None,
    max_parents: int = 3,
    states: int | tuple[int, int] = (2, 4),
    alpha: float = 1.0,
    random_state: RandomState = 0,
    name: str = "",
) -> BayesianNetwork:
    """Return a random network, for experiments and tests.

    A random order of the variables is drawn; then how many parents each one has; then which, among
    those before it. Each row of a table is drawn from a symmetric Dirichlet distribution. Networks
    are not uniform over all DAGs.

    Parameters
    ----------
    variables : int, or sequence of str or Variable
        The number of variables, which are called ``v1``, ``v2`` and so on; or their names; or
        variables with their states.
    arcs : int, optional
        Number of arcs (default: 1.5 for each variable, or as many as `max_parents` allows).
    max_parents : int
        Maximum number of parents (default: 3).
    states : int or tuple of two ints
        Number of states of each variable, or the smallest and the largest number (default: 2 to 4).
        Not used for a `Variable`.
    alpha : float
        The parameter of the Dirichlet distribution (default: 1, uniform). A small one gives strong
        dependences: with 0.1 most rows have one probable state.
    random_state : int, numpy Generator or None
        The same int gives the same network (default: 0). None gives another one each time.
    name : str
        The name of the network (default: empty).

    Examples
    --------
    >>> network = random_network(5, arcs=6, random_state=1)
    >>> network
    <BayesianNetwork 5 variables, 6 arcs, 57 parameters>
    >>> random_network(["a", "b"], arcs=1, states=2, random_state=1).dag.arcs
    (('a', 'b'),)
    """
    if not is_int(max_parents, 0):
        raise bad_parameter("max_parents", "random_network", "an int >= 0", max_parents)
    if not (is_number(alpha) and alpha > 0):
        raise bad_parameter("alpha", "random_network", "a number above 0", alpha)
    rng = np.random.default_rng(resolve_seed(random_state, "random_network"))
    declared = _declare_variables(variables, states, rng)
    n = len(declared)
    order = [declared[i] for i in rng.permutation(n).tolist()]
    slots = np.repeat(np.arange(n), np.minimum(np.arange(n), max_parents))
    n_arcs = min(len(slots), round(1.5 * n)) if arcs is None else arcs
    if not is_int(n_arcs, 0) or n_arcs > len(slots):
        expected = f"an int from 0 to {len(slots):,} (the most with max_parents={max_parents})"
        raise bad_parameter("arcs", "random_network", expected, arcs)
    n_parents = np.bincount(rng.permutation(slots)[:n_arcs], minlength=n)
    parents, tables = dict[str, list[str]](), dict[str, CPT]()
    for i, child in enumerate(order):
        chosen = sorted(rng.choice(i, n_parents[i], replace=False).tolist()) if i else []
        family = [order[j] for j in chosen]
        check_size([*family, child], "Ask for fewer states or parents.")
        n_rows = math.prod(parent.arity for parent in family)
        parents[child.name] = [parent.name for parent in family]
        tables[child.name] = rng.dirichlet(np.full(child.arity, float(alpha)), n_rows)
    return BayesianNetwork(declared, parents, tables, name)


def _declare_variables(
    variables: int | Sequence[str] | Sequence[Variable],
    states: int | tuple[int, int],
    rng: np.random.Generator,
) -> list[Variable]:
    """Return the variables of a random network, with their states."""
    low, high = states if isinstance(states, tuple) and len(states) == 2 else (states, states)
    if not (is_int(low, 1) and is_int(high, 1) and low <= high <= MAX_STATES):
        expected = f"an int from 1 to {MAX_STATES:,}, or a tuple of the least and the most"
        raise bad_parameter("states", "random_network", expected, states)
    given: Sequence[Any]
    if is_int(variables, 1):
        width = len(str(variables))
        given = [f"v{i:0{width}}" for i in range(1, int(variables) + 1)]  # type: ignore[arg-type]
    elif isinstance(variables, Sequence) and not isinstance(variables, str) and len(variables):
        given = variables
    else:
        expected = "an int >= 1, or a list of names or variables"
        raise bad_parameter("variables", "random_network", expected, variables)
    declared = []
    for each in given:
        n_states = int(rng.integers(low, high, endpoint=True))
        if not isinstance(each, str | Variable):
            expected = "a list of names or variables"
            raise bad_parameter("variables", "random_network", expected, variables)
        labels = tuple(f"s{k}" for k in range(1, n_states + 1))
        declared.append(each if isinstance(each, Variable) else Variable(each, labels))
    return declared


@check_keywords()
def kl_divergence(p: BayesianNetwork, q: BayesianNetwork, *, exact: bool = False) -> float:
    """Return the Kullback-Leibler divergence of `q` from `p`: the mean of log(p / q) under p.

    In nats. It is 0 if both are the same distribution, whatever their arcs, and infinite if `q`
    gives probability 0 to something that is possible under `p`. It is not symmetric. It is exact:
    the mean log-probability of each variable given its parents needs the joint distribution of its
    family under `p`, which inference gives. More than about a minute of work raises
    `ParameterError`, unless ``exact=True`` asks for it.

    Parameters
    ----------
    p, q : BayesianNetwork
        Two networks with the same variables and states, in any order.
    exact : bool, default: False
        Compute the divergence however long it takes.

    Examples
    --------
    >>> from coevo.bundled import load_network
    >>> from coevo.network import fit_network, sample
    >>> asia = load_network("asia")
    >>> fitted = fit_network(asia.dag, sample(asia, 1000, random_state=1))
    >>> round(kl_divergence(asia, fitted), 4)
    0.0185
    >>> round(kl_divergence(asia, asia.reverse_arc("smoke", "lung")), 12)
    0.0
    """
    for label, network in (("p", p), ("q", q)):
        if not isinstance(network, BayesianNetwork):
            raise bad_parameter(label, "kl_divergence", "a BayesianNetwork", network)
    check_exact(exact, "kl_divergence")
    _check_same_variables(p, q)
    limit = WorkLimit("The divergence", exact, "Compare smaller networks")
    terms = []
    for variable in p.variables:
        # The terms of a variable with the same parents in both come from one joint distribution.
        own, other = ([*each.parents(variable.name), variable.name] for each in (p, q))
        joint = query(p, own, limit=limit).probabilities
        terms.append(_average_logs(_make_cube(p, variable.name), joint))
        if set(own) == set(other):
            joint = joint.transpose([own.index(name) for name in other])
        else:
            joint = query(p, other, limit=limit).probabilities
        terms.append(-_average_logs(_align_states(q, p, variable.name), joint))
    return max(0.0, math.fsum(terms))  # round-off can make it negative


def _average_logs(table: Cube, joint: Cube) -> float:
    """Return the mean of the logarithm of a table; impossible cells do not count."""
    possible = joint > 0
    with np.errstate(divide="ignore"):
        logs = np.log(table[possible])
    return math.fsum(joint[possible] * logs)


def _align_states(network: BayesianNetwork, other: BayesianNetwork, node: str) -> Cube:
    """Return the table of a variable with all states in the order of another network."""
    cube = _make_cube(network, node)
    for axis, each in enumerate(network.distribution(node).family):
        order = [each.states.index(state) for state in other.variable(each.name).states]
        cube = cube.take(order, axis)
    return cube


def _check_same_variables(p: BayesianNetwork, q: BayesianNetwork) -> None:
    known = {v.name: v for v in q.variables}
    for variable in p.variables:
        found = known.pop(variable.name, None)
        if found is None:
            raise NetworkError(f"'q' of kl_divergence has no variable {variable.name!r}.")
        if sorted(found.states) != sorted(variable.states):
            raise NetworkError(
                f"{variable.name!r} has the states {format_list(variable.states)} in 'p' of "
                f"kl_divergence, and {format_list(found.states)} in 'q'."
            )
    if known:
        raise NetworkError(f"'p' of kl_divergence has no variable {min(known)!r}.")
