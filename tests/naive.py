"""Slow, obvious twins of the kernels: plain Python, one idea a line, no cleverness.

Nothing here imports coevo, so that no mistake can be shared.
"""

import itertools
import math


def count_family(rows, arities, child, parents, weights=None):
    """Return {parent configuration: [count of each child state]} for *all* configurations."""
    configurations = itertools.product(*(range(arities[parent]) for parent in parents))
    table = {configuration: [0] * arities[child] for configuration in configurations}
    for i, row in enumerate(rows):
        times = 1 if weights is None else weights[i]
        table[tuple(row[parent] for parent in parents)][row[child]] += times
    return table


def dirichlet(table, alpha, log_gamma=math.lgamma):
    """Return the marginal likelihood with the same hyperparameter in every cell."""
    total = 0.0
    for counts in table.values():
        total += log_gamma(len(counts) * alpha) - log_gamma(sum(counts) + len(counts) * alpha)
        total += sum(log_gamma(n + alpha) - log_gamma(alpha) for n in counts)
    return total


def likelihood(table):
    total = 0.0
    for counts in table.values():
        total += sum(n * math.log(n / sum(counts)) for n in counts if n)
    return total


def local_score(name, rows, arities, child, parents, ess=1.0, weights=None):
    """Return a local score by a direct sum over all configurations."""
    table = count_family(rows, arities, child, parents, weights)
    n_rows = len(rows) if weights is None else sum(weights)
    r, q = arities[child], len(table)
    free = q * (r - 1)
    if name == "k2":
        return dirichlet(table, 1.0)
    if name == "bdeu":
        return dirichlet(table, ess / (q * r))
    if name == "bds":
        seen = sum(1 for counts in table.values() if sum(counts))
        return dirichlet(
            {key: counts for key, counts in table.items() if sum(counts)}, ess / (seen * r)
        )
    price = {"bic": 0.5 * math.log(n_rows), "aic": 1.0, "loglik": 0.0}[name]
    return likelihood(table) - price * free


def topological_orders(nodes, arcs):
    """Return every order of the nodes in which parents come first."""
    return [
        order
        for order in itertools.permutations(nodes)
        if all(order.index(parent) < order.index(child) for parent, child in arcs)
    ]


def fitted_row(counts, prior):
    """Return the posterior mean of one row of a table; uniform if nothing is known."""
    total = sum(counts) + prior * len(counts)
    if total == 0:
        return [1 / len(counts)] * len(counts)
    return [(n + prior) / total for n in counts]


def cycles(first, second):
    """Return the cycles of two permutations as lists of positions, as algorithm 3 finds them."""
    unused = list(range(len(first)))
    found = []
    while unused:
        start = position = unused[0]
        cycle = []
        while True:
            cycle.append(position)
            unused.remove(position)
            position = first.index(second[position])
            if position == start:
                break
        found.append(cycle)
    return found
