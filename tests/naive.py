"""Slow and obvious versions of the kernels, as oracles: plain Python, one idea for each line.

This module does not import coevo, so that the two cannot share a mistake.
"""

import decimal
import functools
import itertools
import math
import random
from collections import Counter
from fractions import Fraction


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


def exact_dirichlet(table, ess, n_configurations, digits=60):
    """Return the marginal likelihood as a sum of logarithms with many digits.

    ``gamma(a + n) / gamma(a)`` is the product of a, a + 1, ..., a + n - 1. `ess` is spread over
    `n_configurations` configurations.
    """
    with decimal.localcontext(prec=digits):
        prior = decimal.Decimal(ess) / n_configurations
        total = decimal.Decimal(0)
        for counts in table.values():
            total -= sum((prior + i).ln() for i in range(sum(counts)))
            total += sum((prior / len(counts) + i).ln() for n in counts for i in range(n))
        return float(total)


def likelihood(table):
    total = 0.0
    for counts in table.values():
        total += sum(n * math.log(n / sum(counts)) for n in counts if n)
    return total


@functools.cache
def log_regret(n_states, n):
    """Return the log of the sum of maximum likelihoods over all samples of n observations.

    The sum over count vectors of n! / prod(n_k!) * prod(n_k ** n_k) is a convolution over the
    states, because the summand is a product: K states are two groups of states. It is computed
    by repeated doubling with integers. For many observations, one state is added at a time by
    the recurrence of Kontkanen and Myllymaki.
    """
    if n == 0:
        return 0.0
    if n <= 60:
        return math.log(convolve_states([k**k for k in range(n + 1)], n_states)[n]) - n * math.log(
            n
        )
    before, last = 0.0, two_state_log_regret(n)
    for k in range(1, n_states):
        before, last = last, last + math.log1p(n / k * math.exp(before - last))
    return before


def two_state_log_regret(n):
    """Return the regret of two states by its definition."""

    def log_term(k):
        likelihood = sum(m * math.log(m / n) for m in (k, n - k) if m)
        return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) + likelihood

    return math.log(math.fsum(math.exp(log_term(k)) for k in range(n + 1)))


def convolve_states(one_state, n_states):
    """Return the sum over the counts of `n_states` states, for each total count."""
    total = [1] + [0] * (len(one_state) - 1)
    while n_states:
        if n_states % 2:
            total = convolve(total, one_state)
        n_states //= 2
        one_state = convolve(one_state, one_state) if n_states else one_state
    return total


def convolve(one, two):
    return [
        sum(math.comb(n, i) * one[i] * two[n - i] for i in range(n + 1)) for n in range(len(one))
    ]


def size_penalty(name, n_rows, q, r):
    """Return the penalty of a score that depends only on the size of the table."""
    if name == "qnml":
        return log_regret(q * r, n_rows) - log_regret(q, n_rows)
    return {"bic": 0.5 * math.log(n_rows), "aic": 1.0, "loglik": 0.0}[name] * q * (r - 1)


def local_score(name, rows, arities, child, parents, ess=1.0, weights=None):
    """Return a local score by a direct sum over all configurations."""
    table = count_family(rows, arities, child, parents, weights)
    n_rows = len(rows) if weights is None else sum(weights)
    r, q = arities[child], len(table)
    if name == "k2":
        return dirichlet(table, 1.0)
    if name == "bdeu":
        return dirichlet(table, ess / (q * r))
    if name == "bds":
        seen = sum(1 for counts in table.values() if sum(counts))
        return dirichlet(
            {key: counts for key, counts in table.items() if sum(counts)}, ess / (seen * r)
        )
    if name == "fnml":
        return likelihood(table) - sum(log_regret(r, sum(counts)) for counts in table.values())
    return likelihood(table) - size_penalty(name, n_rows, q, r)


def toggled(child, parents, others):
    """Return the family of a child for each other variable: added, or removed if it is there."""
    return [(child, tuple(sorted({*parents} ^ {other}))) for other in others]


def independence_test(test, rows, x, y, given, weights=None):
    """Return the statistic and the degrees of freedom of a test, stratum by stratum."""
    strata = {}
    for i, row in enumerate(rows):
        times = 1 if weights is None else weights[i]
        stratum = strata.setdefault(tuple(row[z] for z in given), {})
        stratum[row[x], row[y]] = stratum.get((row[x], row[y]), 0) + times
    statistic, freedom = 0.0, 0
    for stratum in strata.values():
        total = sum(stratum.values())
        xs, ys = ({cell[axis] for cell in stratum} for axis in (0, 1))
        freedom += (len(xs) - 1) * (len(ys) - 1)
        for a in xs:
            for b in ys:
                n = stratum.get((a, b), 0)
                n_a = sum(count for cell, count in stratum.items() if cell[0] == a)
                n_b = sum(count for cell, count in stratum.items() if cell[1] == b)
                expected = n_a * n_b / total
                if test == "x2":
                    statistic += (n - expected) ** 2 / expected
                elif n:
                    statistic += 2 * n * math.log(n / expected)
    return statistic, freedom


def pair_gain(rows, x, y):
    """Return the number of rows times the mutual information of two columns."""
    n, both = len(rows), Counter((row[x], row[y]) for row in rows)
    one, other = Counter(row[x] for row in rows), Counter(row[y] for row in rows)
    return sum(c * math.log(c * n / (one[a] * other[b])) for (a, b), c in both.items())


def available_score(name, rows, missing, arities, child, parents, ess=1.0):
    """Return the score of a family on its available cases, scaled to all rows.

    With parents, compute one score for each parent: the score without this parent, plus the gain
    of this parent on the rows that show all members. Return the lowest of these scores.
    """
    members = [child, *parents]
    seen = [
        r
        for r, is_missing in zip(rows, missing, strict=True)
        if not any(is_missing[v] for v in members)
    ]

    def on_seen(others):
        if name in ("k2", "bdeu", "bds", "fnml"):
            return len(rows) / len(seen) * local_score(name, seen, arities, child, others, ess)
        table = count_family(seen, arities, child, others)
        penalty = size_penalty(name, len(rows), len(table), arities[child])
        return len(rows) / len(seen) * likelihood(table) - penalty

    if not parents:
        return on_seen(parents)
    found = []
    for parent in parents:
        others = tuple(p for p in parents if p != parent)
        without = available_score(name, rows, missing, arities, child, others, ess)
        found.append(without + on_seen(parents) - on_seen(others))
    return min(found)


def weigh_states(rows, arities, arcs, row, v):
    """Return the probability of each state of one value, given all other values of the table.

    It is proportional to the probability of the table: the exponential of its BDeu score (ess 1).
    """
    scores = []
    for state in range(arities[v]):
        changed = [list(other) for other in rows]
        changed[row][v] = state
        scores.append(structure_score("bdeu", changed, arities, arcs))
    weights = [math.exp(score - max(scores)) for score in scores]
    return [weight / sum(weights) for weight in weights]


def topological_orders(nodes, arcs):
    """Return every order of the nodes in which parents come before their children."""
    return [
        order
        for order in itertools.permutations(nodes)
        if all(order.index(parent) < order.index(child) for parent, child in arcs)
    ]


def fitted_row(counts, prior):
    """Return the posterior mean of one row of a table; uniform without counts and prior."""
    total = sum(counts) + prior * len(counts)
    if total == 0:
        return [1 / len(counts)] * len(counts)
    return [(n + prior) / total for n in counts]


def repaired(n, arcs, required, max_parents, tables=None):
    """Return the arcs that can be inserted in this order, after the required ones."""
    kept = set(required)
    for parent, child in arcs:
        family = [*parents_in(kept, child), parent]
        is_small = len(family) <= max_parents
        if tables is not None:
            sizes = [tables[0][v] for v in (child, *family)]
            is_small = is_small and math.prod(sizes) <= tables[1]
        if is_small and topological_orders(range(n), kept | {(parent, child)}):
            kept.add((parent, child))
    return kept


def mutated_graph(arcs, free, gains, kind, draws):
    """Return a graph after one mutation of MDLEP; `free` are the arcs that may change, in order."""
    present = [arc for arc in free if arc in arcs]
    absent = [arc for arc in free if arc not in arcs]
    levels = sorted({gains[arc] for arc in free})
    to_add = {arc: 1 + levels.index(gains[arc]) for arc in free}
    to_delete = {arc: len(levels) - levels.index(gains[arc]) for arc in free}
    if kind in ("simple", "guided"):
        is_guided = kind == "guided"
        pool, weights, draw = (
            (absent, to_add, draws[2]) if draws[0] < 0.5 else (present, to_delete, draws[1])
        )
        return set(arcs) ^ set(drawn(pool, weights if is_guided else None, draw))
    if kind == "reverse":
        for parent, child in drawn([(a, b) for a, b in present if (b, a) in free], None, draws[1]):
            return set(arcs) - {(parent, child)} | {(child, parent)}
    else:
        for parent, child in drawn(present, None, draws[1]):
            for other in drawn([arc for arc in absent if arc[1] == child], None, draws[2]):
                return set(arcs) - {(parent, child)} | {other}
    return set(arcs)


def drawn(pool, weights, draw):
    """Return a list with the element that a number from [0, 1) draws; empty if there is none."""
    left = draw * sum(1 if weights is None else weights[one] for one in pool)
    for one in pool:
        left -= 1 if weights is None else weights[one]
        if left < 0:
            return [one]
    return []


def cycles(first, second):
    """Return the cycles of two permutations as lists of positions, as in algorithm 3."""
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


def crossed(name, a, b, segment, chosen, ranks, third):
    """Return the child of a and b by a crossover of orders, one variable at a time.

    `segment` is (begin, end), `chosen` are positions, `ranks` is a number for each variable.
    """
    n, (begin, end) = len(a), segment
    child = [None] * n
    if name == "cx":
        for number, cycle in enumerate(cycles(a, b)):
            for position in cycle:
                child[position] = (b if number % 2 else a)[position]
    elif name == "pmx":
        child[begin:end] = b[begin:end]
        for position in [*range(begin), *range(end, n)]:
            variable = a[position]
            while variable in b[begin:end]:
                variable = a[b.index(variable)]
            child[position] = variable
    elif name == "ox1":
        child[begin:end] = a[begin:end]
        rest = [v for v in b[end:] + b[:end] if v not in a[begin:end]]
        for position in [*range(end, n), *range(begin)]:
            child[position] = rest.pop(0)
    elif name == "ox2":
        moved = [b[position] for position in chosen]
        child = [moved.pop(0) if v in {b[p] for p in chosen} else v for v in a]
    elif name == "pos":
        kept = {b[position] for position in chosen}
        rest = [v for v in a if v not in kept]
        child = [b[p] if p in chosen else rest.pop(0) for p in range(n)]
    elif name == "ap":
        child = list(dict.fromkeys(v for pair in zip(a, b, strict=True) for v in pair))
    elif name == "vr":
        for position, votes in enumerate(zip(a, b, third, strict=True)):
            winner = max(votes, key=votes.count)
            child[position] = winner if votes.count(winner) >= 2 else None
        rest = sorted({*a} - {*child}, key=lambda v: ranks[v])
        child = [rest.pop(0) if v is None else v for v in child]
    return child


def mutated(name, order, segment, place, ranks, pair):
    """Return an order after a mutation; `place` is where a segment begins among the others."""
    begin, end = segment
    part, rest = order[begin:end], order[:begin] + order[end:]
    if name == "exchange":
        one, two = pair
        swapped = {order[one]: order[two], order[two]: order[one]}
        return [swapped.get(v, v) for v in order]
    if name == "simple_inversion":
        return order[:begin] + part[::-1] + order[end:]
    if name == "scramble":
        shuffled = sorted(range(begin, end), key=lambda position: ranks[position])
        return order[:begin] + [order[position] for position in shuffled] + order[end:]
    if name == "inversion":
        part = part[::-1]
    return rest[:place] + part + rest[place:]


def all_dags(n):
    """Return every DAG of n nodes as a set of arcs: each pair has an arc, its reverse or none."""
    pairs = list(itertools.combinations(range(n), 2))
    choices = itertools.product(*[[(), ((i, j),), ((j, i),)] for i, j in pairs])
    graphs = [frozenset(itertools.chain(*choice)) for choice in choices]
    return [arcs for arcs in graphs if topological_orders(range(n), arcs)]


def parents_in(arcs, child):
    return tuple(sorted(parent for parent, other in arcs if other == child))


def structure_score(name, rows, arities, arcs):
    """Return the score of a set of arcs over numbered variables."""
    return sum(
        local_score(name, rows, arities, child, parents_in(arcs, child))
        for child in range(len(arities))
    )


# The posterior over structures. A table of weights maps (child, parents) to a log weight, where
# parents is a frozenset; what it lacks has the weight zero.


def log_sum(logs):
    """Return the log of the sum of the exponentials."""
    logs = list(logs)
    high = max(logs, default=-math.inf)
    if high == -math.inf:
        return high
    return high + math.log(math.fsum(math.exp(value - high) for value in logs))


def all_subsets(members):
    """Return all subsets, as frozensets."""
    return [frozenset(some) for some in subsets(sorted(members), len(members))]


def sum_parent_sets(table, child, inside, touching=None):
    """Return the log weight of the parent sets within a set, of those that touch another one."""
    return log_sum(
        table.get((child, parents), -math.inf)
        for parents in all_subsets(inside)
        if touching is None or parents & touching
    )


@functools.cache
def dags_with_orders(n):
    """Return each DAG as the parent sets of all variables, and its number of orders."""
    found = {}
    for arcs in itertools.product([None, 0, 1], repeat=n * (n - 1) // 2):
        parents = [set() for _ in range(n)]
        for (i, j), direction in zip(itertools.combinations(range(n), 2), arcs, strict=True):
            if direction is not None:
                parents[(i, j)[direction]].add((j, i)[direction])
        n_orders = count_orders(tuple(map(frozenset, parents)), frozenset(range(n)))
        if n_orders:
            found[tuple(map(frozenset, parents))] = n_orders
    return found


def count_orders(parents, left):
    """Return the number of orders of the variables that are left, parents first."""
    if not left:
        return 1
    return sum(count_orders(parents, left - {v}) for v in left if not parents[v] & left)


def weigh_dags(n, table, prior):
    """Return {parent sets of all variables: log weight} of all possible DAGs."""
    weights = {}
    for parents, n_orders in dags_with_orders(n).items():
        weight = sum(table.get(family, -math.inf) for family in enumerate(parents))
        if weight > -math.inf:
            weights[parents] = weight + (math.log(n_orders) if prior == "order" else 0.0)
    return weights


def posterior(n, table, prior):
    """Return the log evidence and the matrix of arc probabilities, by enumeration."""
    weights = weigh_dags(n, table, prior)
    total = log_sum(weights.values())
    terms = [[[] for _ in range(n)] for _ in range(n)]
    for parents, weight in weights.items():
        share = math.exp(weight - total)
        for child in range(n):
            for parent in parents[child]:
                terms[parent][child].append(share)
    return total, [[math.fsum(some) for some in row] for row in terms]


def count_exactly(rows, prior):
    """Return the sum over all DAGs, or pairs of a DAG and an order, of the products of weights.

    ``rows[v][S]`` is an integer, the weight of the parent set S of v. For DAGs this is inclusion
    and exclusion over the variables without children (Tian and He 2009). Integers lose no digits.
    """
    n = len(rows)
    sums = [
        [sum(row[p] for p in range(1 << n) if p & s == p) for s in range(1 << n)] for row in rows
    ]
    totals = [1]
    for s in range(1, 1 << n):
        total = 0
        for last in range(1, s + 1):
            members = [v for v in range(n) if last >> v & 1]
            if last & s == last and (prior == "uniform" or len(members) == 1):
                product = math.prod(sums[v][s ^ last] for v in members)
                total += (-1) ** (len(members) + 1) * totals[s ^ last] * product
        totals.append(total)
    return totals[-1]


def sum_orders(table, inside, before=frozenset()):
    """Return the log weight of all orders of a set that follow the set `before`."""
    logs = []
    for order in itertools.permutations(sorted(inside)):
        weight, earlier = 0.0, before
        for v in order:
            weight += sum_parent_sets(table, v, earlier)
            earlier = earlier | {v}
        logs.append(weight)
    return log_sum(logs)


def split_layers(parents):
    """Return the layers of a DAG: each variable comes one layer after its last parent."""
    layers, placed = [], frozenset()
    while len(placed) < len(parents):
        layers.append(
            frozenset(v for v in range(len(parents)) if v not in placed and parents[v] <= placed)
        )
        placed |= layers[-1]
    return layers


def sum_layers_after(n, table, placed, last):
    """Return the log weight of all ways to place the other variables, layer by layer.

    A variable of the next layer has its parents among the placed variables, at least one of them
    in the last layer.
    """
    free = frozenset(range(n)) - placed
    if not free:
        return 0.0
    return log_sum(
        sum(sum_parent_sets(table, v, placed, last) for v in layer)
        + sum_layers_after(n, table, placed | layer, layer)
        for layer in all_subsets(free)
        if layer
    )


def share_states(n, table):
    """Return {(placed, last): probability} of the layers of a DAG so far and of the last one."""
    weights = weigh_dags(n, table, "uniform")
    total = log_sum(weights.values())
    shares = {}
    for parents, weight in weights.items():
        placed = frozenset()
        for layer in split_layers(parents):
            placed |= layer
            shares[placed, layer] = shares.get((placed, layer), 0.0) + math.exp(weight - total)
    return shares


def share_pieces(n, table):
    """Return {(child, t, S): probability}: the last parent of a child in the last layer is t.

    S has all variables of earlier layers, and those of the last layer that are below t.
    """
    weights = weigh_dags(n, table, "uniform")
    total = log_sum(weights.values())
    shares = {}
    for parents, weight in weights.items():
        layers = split_layers(parents)
        for i, layer in enumerate(layers[1:]):
            for child in layer:
                t = max(parents[child] & layers[i])
                below = {u for u in layers[i] if u < t}
                key = child, t, frozenset(below.union(*layers[:i]))
                shares[key] = shares.get(key, 0.0) + math.exp(weight - total)
    return shares


def draw_by_weight(items, log_weights, lot):
    """Return the first item whose cumulated share of the weight is above a lot."""
    total = log_sum(log_weights)
    cumulated = 0.0
    for item, weight in zip(items, log_weights, strict=True):
        cumulated += math.exp(weight - total)
        if cumulated > lot:
            return item
    raise ValueError(lot)


def read_order(order, required):
    """Return the order after repair: take repeatedly the first variable with all required parents.

    A variable can be taken once all its required parents are taken.
    """
    taken = []
    while len(taken) < len(order):
        for variable in order:
            if variable not in taken and all(p in taken for p in parents_in(required, variable)):
                taken.append(variable)
                break
    return taken


def read_pair(order, mask, required, allowed, max_parents, tables=None):
    """Return the arcs of an order and a mask, decoded so that all constraints hold.

    `required` and `allowed` are sets of arcs. The bits are read in the order of the mask. `tables`
    are the arities and the limit on the cells of a table with parents, if there is one.
    """

    def fits(parents, child):
        if tables is None:
            return True
        arities, limit = tables
        return math.prod(arities[v] for v in [*parents, child]) <= limit

    read = read_order(order, required)
    arcs = set(required)
    bits = iter(mask)
    for i in range(len(read)):
        for j in range(i + 1, len(read)):
            arc = (read[i], read[j])
            if (
                next(bits)
                and arc in allowed
                and arc not in required
                and len(parents_in(arcs, read[j])) < max_parents
                and fits([*parents_in(arcs, read[j]), read[i]], read[j])
            ):
                arcs.add(arc)
    return arcs


def possible_credits(scores, best, n_random):
    """Return the possible scores of a new individual.

    `scores` are its scores with each partner, and `best` is the position of the best partner.
    The best partner always counts; a random partner may be any of them.
    """
    return {max(scores[best], score) for score in scores} if n_random else {scores[best]}


def next_population(old, old_scores, children, earned):
    """Return (individual, score) of the elite and of all new individuals except the worst."""
    elite = old_scores.index(max(old_scores))
    worst = earned.index(min(earned))
    kept = [pair for i, pair in enumerate(zip(children, earned, strict=True)) if i != worst]
    return [(old[elite], old_scores[elite]), *kept]


def k2(name, rows, arities, order, max_parents, required=(), allowed=None):
    """Return the arcs that K2 adds, one child after another; a tie goes to the first parent."""
    read = read_order(order, required)
    arcs = set(required)
    for place, child in enumerate(read):
        current = local_score(name, rows, arities, child, parents_in(arcs, child))
        while len(parents_in(arcs, child)) < max_parents:
            gains = {
                parent: local_score(
                    name, rows, arities, child, parents_in(arcs | {(parent, child)}, child)
                )
                - current
                for parent in sorted(read[:place])
                if (parent, child) not in arcs and (allowed is None or (parent, child) in allowed)
            }
            most = max(gains.values(), default=0.0)
            if most < 1e-9:
                break
            best = min(parent for parent in gains if gains[parent] > most - 1e-9)
            arcs.add((best, child))
            current += gains[best]
    return arcs


def is_acyclic(arcs):
    """Return whether no arc leads to an ancestor of its parent."""
    return not any(parent in reachable(arcs, child) for parent, child in arcs)


def all_forests(nodes, allowed=None):
    """Yield the arcs of every forest over some nodes in which each has at most one parent."""
    choices = [
        [None, *(p for p in nodes if p != child and (allowed is None or (p, child) in allowed))]
        for child in nodes
    ]
    for parents in itertools.product(*choices):
        arcs = {(p, child) for p, child in zip(parents, nodes, strict=True) if p is not None}
        if is_acyclic(arcs):
            yield arcs


def best_tree(name, rows, arities, fixed=(), in_tree=None, allowed=None):
    """Return the highest score of a forest of some variables, added to fixed arcs."""
    nodes = range(len(arities)) if in_tree is None else in_tree
    return max(
        structure_score(name, rows, arities, {*fixed, *arcs})
        for arcs in all_forests(nodes, allowed)
    )


def class_arcs(n, class_variable):
    """Return the arcs of naive Bayes."""
    return {(class_variable, child) for child in range(n) if child != class_variable}


def mutual_information(rows, one, two, given=()):
    """Return the mutual information of two columns, given others, in nats."""
    total = 0.0
    for joint in sorted({(r[one], r[two], *(r[g] for g in given)) for r in rows}):
        first, second, rest = joint[0], joint[1], joint[2:]
        matching = [r for r in rows if tuple(r[g] for g in given) == rest]
        n_one = sum(r[one] == first for r in matching)
        n_two = sum(r[two] == second for r in matching)
        n_both = sum((r[one], r[two]) == (first, second) for r in matching)
        total += n_both / len(rows) * math.log(n_both * len(matching) / (n_one * n_two))
    return total


def allowed_sizes(n_neighbours, most, max_sets):
    """Return the sizes up to the first one above two that has, or passed, too many sets."""
    counts = [math.comb(n_neighbours, size) for size in range(most + 1)]
    is_small = [size <= 2 or max(counts[: size + 1]) <= max_sets for size in range(most + 1)]
    return list(itertools.takewhile(is_small.__getitem__, range(most + 1)))


def pc_stable(p_value, n, alpha, max_given=None, max_sets=math.inf):
    """Return the edges and the separators of PC-stable, one test after another."""
    pairs = list(itertools.combinations(range(n), 2))
    edges, separators, level = set(pairs), {}, 0
    while max_given is None or level <= max_given:
        near = {v: [w for w in range(n) if {(v, w), (w, v)} & edges] for v in range(n)}
        if all(len(others) <= level for others in near.values()):
            break
        for x, y in sorted(edges):
            sets = [*itertools.combinations([z for z in near[x] if z != y], level)]
            sets += itertools.combinations([z for z in near[y] if z != x], level)
            larger = max(len(near[x]), len(near[y])) - 1
            for given in sets if level in allowed_sizes(larger, level, max_sets) else []:
                if p_value(x, y, given) > alpha:
                    separators[x, y] = given
                    edges.discard((x, y))
                    break
        level += 1
    return {frozenset(edge) for edge in edges}, separators


def collider_votes(p_value, n, edges, separators, alpha, most, max_sets=math.inf):
    """Return {(a, c, b): (votes without c, votes with c, largest p without c, with c)}.

    All sets of at most `most` neighbours of a, or of b, vote, and so does the separator.
    """
    near = {v: [w for w in range(n) if {(v, w), (w, v)} & set(edges)] for v in range(n)}
    found = {}
    for (a, b), separator in separators.items():
        largest = allowed_sizes(max(len(near[a]), len(near[b])), most, max_sets)[-1]
        sets = {*subsets(near[a], largest), *subsets(near[b], largest), separator}
        for c in set(near[a]) & set(near[b]):
            sides = [[], []]
            for given in sets:
                sides[c in given].append(p_value(a, b, given))
            votes = [sum(p > alpha for p in side) for side in sides]
            found[a, c, b] = (*votes, *(max(side, default=0) for side in sides))
    return found


def subsets(members, most):
    sizes = range(min(len(members), most) + 1)
    return [s for size in sizes for s in itertools.combinations(members, size)]


def mmpc(run_test, n, alpha, most):
    """Return {target: neighbours} of MMPC, before the two sides are compared.

    `run_test` returns (statistic, p). The dependence of a candidate is the least over all subsets.
    """
    found = {}
    for t in range(n):
        near = []
        while True:
            best = None
            for x in range(n):
                if x == t or x in near:
                    continue
                tests = [run_test(x, t, given) for given in subsets(sorted(near), most)]
                rank = (max(p for _, p in tests), -min(s for s, _ in tests), x)
                if rank[0] <= alpha and (best is None or rank < best):
                    best = rank
            if best is None:
                break
            near.append(best[2])
        for x in sorted(near):
            others = sorted(v for v in near if v != x)
            if any(run_test(x, t, given)[1] > alpha for given in subsets(others, most)):
                near.remove(x)
        found[t] = set(near)
    return found


def undominated(families):
    """Return the (parents, score) whose subsets all have lower scores, best first."""
    kept = [
        (parents, score)
        for parents, score in families.items()
        if not any(
            other < parents and other_score >= score for other, other_score in families.items()
        )
    ]
    return sorted(kept, key=lambda family: -family[1])


def best_response(order, families):
    """Return, for each child, the score of its best family among the variables before it."""
    found = {}
    for place, child in enumerate(order):
        before = set(order[:place])
        found[child] = max(score for parents, score in families[child] if parents <= before)
    return found


def moved(order, variable, place):
    """Return an order after one variable is removed and inserted at a place."""
    rest = [other for other in order if other != variable]
    return [*rest[:place], variable, *rest[place:]]


def respond(order, families):
    """Return, for each child, the first of its (parents, score) that the order allows."""
    found = {}
    for place, child in enumerate(order):
        before = set(order[:place])
        found[child] = next(family for family in families[child] if family[0] <= before)
    return found


def score_order(order, families):
    """Return the score of the best response, added up by child."""
    response, total = respond(order, families), 0.0
    for child in range(len(order)):
        total += response[child][1]
    return total


def climb_from_queue(order, families, queue, least_gain):
    """Return the order after the best moves of the variables in the queue.

    After a move the queue gets all whose response has changed, and their old and new parents.
    """
    queue = list(queue)
    while queue:
        v = queue.pop(0)
        home, before = order.index(v), respond(order, families)
        target, best = None, least_gain
        for place in [*range(home + 1, len(order)), *range(home - 1, -1, -1)]:
            after = respond(moved(order, v, place), families)
            gain = sum(after[w][1] - before[w][1] for w in range(len(order)))
            if gain > best + 1e-12:  # the same gain may be added up in another sequence
                target, best = place, gain
        if target is None:
            continue
        order = moved(order, v, target)
        after = respond(order, families)
        changed = [w for w in range(len(order)) if after[w] != before[w] and w != v]
        for w in [*changed, v]:
            for parents, _ in (before[w], after[w]):
                queue += [u for u in [w, *sorted(parents)] if u not in queue]
    return order


def climb_order(order, families, visits, least_gain):
    """Return the order after rounds over all variables, until no move gains."""
    while True:
        after = climb_from_queue(order, families, visits, least_gain)
        if after == order:
            return order
        order = after


def draw_order(parents, lots):
    """Return the topological order that takes the smallest lot of those that are ready."""
    placed = []
    for _ in lots:
        ready = [v for v in parents if v not in placed and parents[v] <= set(placed)]
        placed.append(min(ready, key=lots.__getitem__))
    return placed


def move_block(order, draws):
    """Return an order of which a block of neighbours is in another place, maybe reversed."""
    n = len(order)
    length = 1 + int(draws[0] * max(1, n // 3))
    begin, target = int(draws[1] * (n - length + 1)), int(draws[2] * (n - length + 1))
    block, others = order[begin : begin + length], order[:begin] + order[begin + length :]
    return others[:target] + (block[::-1] if draws[3] < 0.5 else block) + others[target:]


def perturb_globally(order, families, visits, draws, least_gain):
    """Return the best order of a climb and of climbs from perturbations of it."""
    n = len(order)
    order = climb_order(order, families, visits, least_gain)
    highest = score_order(order, families)
    for row in draws:
        response = respond(order, families)
        drawn = draw_order({v: response[v][0] for v in range(n)}, row[:n])
        other = climb_order(move_block(drawn, row[n:]), families, visits, least_gain)
        if score_order(other, families) >= highest:
            order, highest = other, score_order(other, families)
    return order


def choose_group(parents, draws, largest):
    """Return variables that arcs connect: each is a neighbour of one before it."""
    group = [int(draws[1] * len(parents))]
    for i in range(1, 2 + int(draws[0] * (largest - 1))):
        base = int(draws[1 + i] * len(group))
        v, draw = group[base], draws[1 + i] * len(group) - base
        near = sorted(parents[v]) + [w for w in range(len(parents)) if v in parents[w]]
        if near and near[int(draw * len(near))] not in group:
            group.append(near[int(draw * len(near))])
    return group


def exchange_places(order, group, draws):
    """Return an order in which the variables of a group have exchanged their places.

    The second answer is the group in its new sequence.
    """
    slots, group, after = [order.index(v) for v in group], list(group), list(order)
    for i in range(len(group) - 1, 0, -1):
        j = int(draws[i] * (i + 1))
        group[i], group[j] = group[j], group[i]
    for slot, v in zip(slots, group, strict=True):
        after[slot] = v
    return after, group


def queue_changed(order, after, families, group):
    """Return the group, and after each of its variables those whose response it has changed."""
    old, new = respond(order, families), respond(after, families)
    waiting = {w for w in range(len(order)) if old[w] != new[w]}
    queue = []
    for v in group:
        low, high = sorted((order.index(v), after.index(v)))
        waiting.discard(v)
        passed = [
            w
            for w in sorted(waiting)
            if low < after.index(w) < high and any(v in parents for parents, _ in families[w])
        ]
        waiting -= set(passed)
        queue += [w for w in [v, *passed] if w not in queue]
    return queue


def perturb_locally(order, families, draws, largest, least_gain):
    """Return the order after exchanges of a few places that do not lower the score."""
    highest = score_order(order, families)
    for row in draws:
        response = respond(order, families)
        group = choose_group({v: response[v][0] for v in range(len(order))}, row, largest)
        if len(group) < 2:
            continue
        after, group = exchange_places(order, group, row[1 + largest :])
        queue = queue_changed(order, after, families, group)
        after = climb_from_queue(after, families, queue, least_gain)
        score = score_order(after, families)
        if score >= highest - least_gain:
            order, highest = after, max(highest, score)
    return order


def single_moves(n, arcs, fulfils):
    """Yield (kind, parent, child, arcs after the move) of each legal change of one arc.

    `fulfils` returns whether a set of arcs satisfies the constraints.
    """
    for kind in ("delete", "add", "reverse"):
        for parent, child in itertools.permutations(range(n), 2):
            if ((parent, child) in arcs) == (kind == "add"):
                continue
            after = set(arcs) ^ {(parent, child)}
            if kind == "reverse":
                after.add((child, parent))
            elif kind == "add" and (child, parent) in arcs:
                continue
            if topological_orders(range(n), after) and fulfils(after):
                yield kind, parent, child, after


def make_moves(ranked, arcs, n_moves):
    """Make the first legal moves of a list of (kind, parent, child), each child changed once.

    Return the arcs after them, the changed children, and the number of moves.
    """
    made, changed, n_made = set(arcs), set(), 0
    for kind, parent, child in ranked:
        children = {parent, child} if kind == "reverse" else {child}
        after = made ^ {(parent, child)} | ({(child, parent)} if kind == "reverse" else set())
        if n_made < n_moves and not children & changed and is_acyclic(after):
            made, changed, n_made = after, changed | children, n_made + 1
    return made, changed, n_made


def rank_moves(moves, arcs, gain, max_parents, least_gain, tie):
    """Return those of (kind, parent, child) that gain, the best first.

    ``gain(child, parent)`` is what toggling an arc adds to the score of the child.
    """

    def n_parents(child):
        return sum(one[1] == child for one in arcs)

    ranked = []
    for kind, parent, child in moves:
        if kind == "add" and n_parents(child) >= max_parents:
            continue
        if kind == "reverse" and n_parents(parent) >= max_parents:
            continue
        total = gain(child, parent) + (gain(parent, child) if kind == "reverse" else 0.0)
        if total > least_gain:
            place = ("delete", "add", "reverse").index(kind)
            ranked.append((-round(total / tie), place, parent, child, (kind, parent, child)))
    return [move for *_, move in sorted(ranked)]


def list_toggles(children, candidates, arcs, may_change, max_parents):
    """Return the family after each toggle: (child, *parents), and the candidate that is toggled."""
    families = []
    for child in children:
        parents = {parent for parent, other in arcs if other == child}
        for candidate in candidates[child]:
            after = parents ^ {candidate}
            if (candidate, child) in may_change and len(after) <= max(max_parents, len(parents)):
                families.append(((child, *sorted(after)), candidate))
    return families


def merge_families(old, added, limit):
    """Return the (parents, score) of a child that an archive keeps, the best first.

    Of equal scores the smaller family comes first, then the first parent by name; then what was
    there before.
    """
    ranked = sorted(
        [(*one, False) for one in old] + [(*one, True) for one in added],
        key=lambda one: (-one[1], len(one[0]), one[0][:1]),
    )
    kept = []
    for parents, score, is_new in ranked:
        is_dominated = any(
            set(other) <= set(parents) and (is_new or was_new) for other, _, was_new in kept
        )
        if not is_dominated:
            kept.append((parents, score, is_new))
    if len(kept) > limit:
        kept = kept[: limit - 2] + kept[-2:]
    return [(parents, score) for parents, score, _ in kept]


def climb_with_tabu_list(score, n, start, fulfils, length, max_stalled):
    """Return the best structure of a climb that never returns to its last structures.

    `length` structures before the current one are on the list. Each move is the best one, even if
    the score falls. Among equally good ones the first is made.
    """
    current, visited = frozenset(start), [frozenset(start)]
    best, n_stalled = current, 0
    while n_stalled < max_stalled:
        moves = [frozenset(after) for *_, after in single_moves(n, current, fulfils)]
        moves = [after for after in moves if after not in visited[:-1][-length:]]
        if not moves:
            break
        top = max(map(score, moves))
        current = next(after for after in moves if score(after) > top - 1e-9)
        visited.append(current)
        n_stalled += 1
        if score(current) > score(best) + 1e-9:
            best, n_stalled = current, 0
    return best


def v_structures(arcs):
    """Return every a -> c <- b without an arc between a and b, as ({a, b}, c)."""
    joined = {frozenset(arc) for arc in arcs}
    return {
        (frozenset((a, b)), c)
        for a, c in arcs
        for b, other in arcs
        if c == other and a != b and frozenset((a, b)) not in joined
    }


def equivalent(one, two):
    """Return whether two sets of arcs have the same edges and the same v-structures."""
    if {frozenset(arc) for arc in one} != {frozenset(arc) for arc in two}:
        return False
    return v_structures(one) == v_structures(two)


def class_key(arcs):
    """Return what equivalent DAGs share: the edges and the v-structures."""
    return frozenset(frozenset(arc) for arc in arcs), frozenset(v_structures(arcs))


@functools.cache
def equivalence_classes(n):
    """Return the members of every equivalence class of n nodes, by its key."""
    classes = {}
    for arcs in all_dags(n):
        classes.setdefault(class_key(arcs), []).append(arcs)
    return classes


def neighbour_classes(n, members):
    """Return {kind: keys}: the other classes that a change of one arc of some member leads to."""
    reached = {"add": set(), "delete": set(), "reverse": set()}
    for arcs in members:
        for kind, _, _, after in single_moves(n, arcs, lambda _: True):
            reached[kind].add(class_key(after))
    return {kind: keys - {class_key(members[0])} for kind, keys in reached.items()}


def essential_graph(arcs, dags):
    """Return the CPDAG: the arcs that all equivalent DAGs share, and the other arcs as edges."""
    members = [other for other in dags if equivalent(arcs, other)]
    compelled = {arc for arc in arcs if all(arc in other for other in members)}
    return compelled, {frozenset(arc) for arc in arcs if arc not in compelled}


def oriented(nodes, arcs):
    """Return the same two sets by Meek's rules: direct v-structures, then the forced edges."""
    joined = {frozenset(arc) for arc in arcs}
    compelled = {(parent, child) for pair, child in v_structures(arcs) for parent in pair}
    edges = {edge for edge in joined if not any(frozenset(arc) == edge for arc in compelled)}

    def is_forced(a, b):
        into = [c for c in nodes if (c, b) in compelled]
        return (
            any((c, a) in compelled and {c, b} not in joined for c in nodes)
            or any((a, c) in compelled for c in into)
            or any(
                {a, c} in edges and {a, d} in edges and {c, d} not in joined
                for c, d in itertools.combinations(into, 2)
            )
        )

    while True:
        pairs = itertools.permutations(nodes, 2)
        forced = [(a, b) for a, b in pairs if {a, b} in edges and is_forced(a, b)]
        if not forced:
            return compelled, edges
        compelled.add(forced[0])
        edges.remove(frozenset(forced[0]))


def forced_by_meek(n, directions):
    """Return the directions of edges that Meek's four rules force; an edge has both directions."""
    arcs = {(a, b) for a, b in directions if (b, a) not in directions}
    edges = directions - arcs

    def is_apart(a, b):
        return a != b and not {(a, b), (b, a)} & directions

    def is_near(a, b):
        return bool({(a, b), (b, a)} & directions)

    def is_forced(a, b):
        into = [c for c in range(n) if (c, b) in arcs]
        return (
            any((c, a) in arcs and is_apart(c, b) for c in range(n))
            or any((a, c) in arcs for c in into)
            or any(
                (a, c) in edges and (a, d) in edges and is_apart(c, d)
                for c, d in itertools.combinations(into, 2)
            )
            or any(
                (c, d) in arcs and is_apart(b, c) and is_near(a, c) and is_near(a, d)
                for c in range(n)
                for d in into
            )
        )

    return {(a, b) for a, b in edges if is_forced(a, b)}


def closed_under_meek(n, directions):
    """Return the directions after Meek's rules, applied in rounds.

    Of two opposite directions the one from the lower number holds. A direction that closes a
    cycle is left out, unless the arcs have a cycle already.
    """

    def has_cycle(some):
        return not is_acyclic({(a, b) for a, b in some if (b, a) not in some})

    was_cyclic, left_out = has_cycle(directions), set()
    while True:
        forced = forced_by_meek(n, directions) - left_out
        forced -= {(a, b) for a, b in forced if a > b and (b, a) in forced}
        if not forced:
            return directions
        after = directions - {(b, a) for a, b in forced}
        if was_cyclic or not has_cycle(after):
            directions = after
            continue
        for a, b in sorted(forced):
            if has_cycle(directions - {(b, a)}):
                left_out.add((a, b))
            else:
                directions = directions - {(b, a)}


def hamming(nodes, one, two):
    """Return the number of pairs on which two graphs differ; each is (arcs, edges)."""

    def relation(graph, a, b):
        arcs, edges = graph
        if (a, b) in arcs:
            return "->"
        if (b, a) in arcs:
            return "<-"
        return "--" if frozenset((a, b)) in edges else "none"

    pairs = itertools.combinations(nodes, 2)
    return sum(relation(one, a, b) != relation(two, a, b) for a, b in pairs)


def joint_distribution(arities, parents, tables):
    """Return {states of all variables: probability}, from the product of all tables.

    All mappings have names as keys. The rows of a table run over the states of the parents,
    the first parent slowest. The states are in the order of `arities`.
    """
    found = {}
    for states in itertools.product(*map(range, arities.values())):
        state = dict(zip(arities, states, strict=True))
        product = 1.0
        for name in arities:
            row = 0
            for parent in parents[name]:
                row = row * arities[parent] + state[parent]
            product *= tables[name][row][state[name]]
        found[states] = product
    return found


def paths(arcs, start, end):
    """Return every path between two nodes that visits no node twice, in any arc direction."""
    found, waiting = [], [[start]]
    while waiting:
        path = waiting.pop()
        if path[-1] == end:
            found.append(path)
            continue
        near = {b for a, b in arcs if a == path[-1]} | {a for a, b in arcs if b == path[-1]}
        waiting.extend([*path, node] for node in near if node not in path)
    return found


def reachable(arcs, node):
    """Return a node and all its descendants."""
    found = {node}
    while more := {b for a, b in arcs if a in found} - found:
        found |= more
    return found


def blocks_path(arcs, before, node, after, given):
    """Return whether a node blocks a path, on which it stands between two others.

    A collider blocks a path unless it or one of its descendants is given. Any other node
    blocks a path if it is given.
    """
    if (before, node) in arcs and (after, node) in arcs:
        return not reachable(arcs, node) & set(given)
    return node in given


def active_paths(arcs, start, end, given):
    """Return every path between two nodes that no node blocks, by length and then by name."""
    found = [
        path
        for path in paths(arcs, start, end)
        if not any(blocks_path(arcs, *path[i : i + 3], given) for i in range(len(path) - 2))
    ]
    return sorted(found, key=lambda path: (len(path), path))


def d_separated(arcs, one, other, given):
    """Return whether every path between two sets has a node that blocks it."""
    return not any(active_paths(arcs, a, b, given) for a in one for b in other)


def cut_sets(values, n_cuts):
    """Return every way to split sorted distinct values with `n_cuts` cuts, as lists of bins."""
    ways = itertools.combinations(range(1, len(values)), n_cuts)
    return [
        [values[a:b] for a, b in itertools.pairwise([0, *starts, len(values)])] for starts in ways
    ]


def bin_of(value, bins):
    return next(i for i, members in enumerate(bins) if value in members)


def squared_distances(rows, bins):
    """Return the sum of the squared distances of all rows to the means of their bins."""
    total = 0.0
    for members in bins:
        inside = [row for row in rows if row in members]
        mean = sum(inside) / len(inside)
        total += sum((row - mean) ** 2 for row in inside)
    return total


def even_bins(rows, n_bins):
    """Return bins with equal numbers of rows, as far as possible.

    The k-th cut has as near as possible to ``k / n_bins`` of all rows below it. A tie goes to
    the lower cut.
    """
    values = sorted(set(rows))
    if n_bins >= len(values):
        return [[value] for value in values]
    starts = set()
    for k in range(1, n_bins):
        off = [abs(n_bins * sum(r < v for r in rows) - k * len(rows)) for v in values[1:]]
        starts.add(1 + off.index(min(off)))
    return [values[a:b] for a, b in itertools.pairwise([0, *sorted(starts), len(values)])]


def conditional_nats(given, encoded):
    """Return the nats that encode one column row by row, given another column."""
    nats = 0.0
    for state in set(given):
        inside = [t for g, t in zip(given, encoded, strict=True) if g == state]
        nats -= sum(math.log(inside.count(t) / len(inside)) for t in inside)
    return nats


def relatives(rows, others, most):
    """Return the columns that BIC connects to a column in four even bins, strongest first."""
    bins = even_bins(rows, 4)
    coarse = [bin_of(row, bins) for row in rows]
    gains = {}
    for name, other in others.items():
        free = (len(bins) - 1) * (len(set(other)) - 1)
        shared = conditional_nats([0] * len(rows), other) - conditional_nats(coarse, other)
        gains[name] = shared - free * math.log(len(rows)) / 2
    joined = [name for name in sorted(gains) if gains[name] > 1e-9]
    return sorted(joined, key=lambda name: -gains[name])[:most]


def description_length(rows, bins, others):
    """Return the nats of the two-part code of other columns, given one column in bins."""
    binned = [bin_of(row, bins) for row in rows]
    values = set(rows)
    length = math.log(math.comb(len(values) - 1, len(bins) - 1))
    for other in others:
        length += conditional_nats(binned, other)
        length += (len(bins) - 1) * (len(set(other)) - 1) * math.log(len(rows)) / 2
    return length


def follows(one, other):
    """Return whether each state of a column occurs with only one state of the other column."""
    return len(set(zip(one, other, strict=True))) == len(set(one))


def flat_heights(strengths):
    """Return the threshold for every height that is nearest to the distribution of the strengths.

    The distance is the area between the height and the distribution function. The function is
    constant between knots, and the distance is a sum over these intervals. The distance is
    lowest at one of the values of the function.
    """
    share = lambda x: Fraction(sum(s <= x for s in strengths), len(strengths))  # noqa: E731
    knots = sorted({0, 1, *strengths})
    pieces = [(b - a, share(a)) for a, b in itertools.pairwise(knots)]
    area = lambda p: sum(length * abs(height - p) for length, height in pieces)  # noqa: E731
    heights = [0, 1, *(height for _, height in pieces)]
    least = min(map(area, heights))
    return [
        min([s for s in strengths if share(s) >= p], default=0) if p else 0
        for p in heights
        if area(p) == least
    ]


def information_terms(pairs):
    """Return {(x, y): n(x, y) log(P(y | x) / P(y))} of a list of pairs of states."""
    terms = {}
    for x, y in sorted(set(pairs)):
        both = pairs.count((x, y))
        with_x = sum(1 for one, _ in pairs if one == x)
        with_y = sum(1 for _, other in pairs if other == y)
        terms[x, y] = both * math.log(Fraction(both * len(pairs), with_x * with_y))
    return terms


def first_largest(values):
    """Return the key of the largest value; the first in the order of keys if several are equal."""
    most = max(values.values())
    return min(key for key, value in values.items() if most - value < 1e-9)


def arc_effect(rows, child, parents, parent, gain):
    """Return the effect of an arc: other parents, parent state, child state and two shares.

    The other parents are {} if all rows are meant. The effect is None if there is none.
    """
    others = sorted(other for other in parents if other != parent)
    kept, given = rows, {}
    information = sum(information_terms([(row[parent], row[child]) for row in rows]).values())
    if others and gain >= 3 and information < gain / 4:
        by_configuration = {}
        for row in rows:
            by_configuration.setdefault(tuple(row[other] for other in others), []).append(row)
        totals = {
            key: sum(information_terms([(row[parent], row[child]) for row in part]).values())
            for key, part in by_configuration.items()
        }
        chosen = first_largest(totals)
        kept, given = by_configuration[chosen], dict(zip(others, chosen, strict=True))
    pairs = [(row[parent], row[child]) for row in kept]
    terms = information_terms(pairs)
    if sum(terms.values()) < 1e-9:
        return None
    x, y = first_largest(terms)
    with_x = [b for a, b in pairs if a == x]
    without_x = [b for a, b in pairs if a != x]
    return (
        given,
        x,
        y,
        Fraction(without_x.count(y), len(without_x)),
        Fraction(with_x.count(y), len(with_x)),
    )


def is_valid_adjustment(arcs, cause, effect, given):
    """Return whether a set is a valid adjustment set for an effect, by looking at every path.

    No member is a variable on a directed path from the cause, or a descendant of one. All paths
    that are not directed are blocked.
    """
    for path in paths(arcs, cause, effect):
        steps = list(itertools.pairwise(path))
        if all(step in arcs for step in steps):
            if any(reachable(arcs, node) & set(given) for node in path[1:]):
                return False
        elif not any(blocks_path(arcs, *path[i : i + 3], given) for i in range(len(path) - 2)):
            return False
    return True


def wrong_effects(nodes, found, true):
    """Return the pairs that the SID counts, by its definition: (cause, effect) inferred wrongly."""
    wrong = set()
    for cause, effect in itertools.permutations(nodes, 2):
        parents = {a for a, b in found if b == cause}
        if effect in parents:
            is_wrong = effect in reachable(true, cause)
        else:
            is_wrong = not is_valid_adjustment(true, cause, effect, parents)
        if is_wrong:
            wrong.add((cause, effect))
    return wrong


def wrong_distributions(arities, found, true, tables):
    """Return the same pairs by numbers: the effects that differ in the network of these tables.

    The true effect is the product of all tables but that of the cause. The inferred effect adjusts
    for the learned parents. The tables belong to the true structure; for almost all tables these
    are all pairs that the SID counts.
    """
    names = list(arities)
    ordered = {name: sorted(a for a, b in true if b == name) for name in names}
    joint = joint_distribution(arities, ordered, tables)

    def total(condition, weights=joint):
        matches = (dict(zip(names, states, strict=True)) for states in weights)
        return sum(
            p
            for state, p in zip(matches, weights.values(), strict=True)
            if all(state[name] == value for name, value in condition.items())
        )

    wrong = set()
    for cause, effect in itertools.permutations(names, 2):
        parents = [a for a, b in found if b == cause]
        for do, value in itertools.product(range(arities[cause]), range(arities[effect])):
            forced = {
                **tables,
                cause: [[float(k == do) for k in range(arities[cause])] for _ in tables[cause]],
            }
            real = total({effect: value}, joint_distribution(arities, ordered, forced))
            if effect in parents:
                inferred = total({effect: value})
            else:
                inferred = 0.0
                for given in itertools.product(*(range(arities[name]) for name in parents)):
                    known = dict(zip(parents, given, strict=True))
                    chance = total({**known, cause: do, effect: value}) / total(
                        {**known, cause: do}
                    )
                    inferred += chance * total(known)
            if abs(real - inferred) > 1e-9:
                wrong.add((cause, effect))
    return wrong


def tour_length(distances, tour):
    """Return the length of a tour: each city, and back to the first."""
    return sum(distances[tour[i - 1]][tour[i]] for i in range(len(tour)))


def ordering_weight(weights, order):
    """Return the sum of the weights of all pairs in the order of an ordering."""
    return sum(weights[i][j] for i, j in itertools.combinations(order, 2))


def run_programme(order, mask, problem):
    """Return an order after the moves of a mask: 2-opt for a tour, insertion for an ordering."""
    made = list(order)
    for bit, (i, j) in zip(mask, itertools.combinations(range(len(order)), 2), strict=True):
        if bit and problem == "tsp":
            made = made[: i + 1] + made[i + 1 : j + 1][::-1] + made[j + 1 :]
        elif bit:
            made.insert(j, made.pop(i))
    return made


def shortest_tour(distances):
    """Return the length of the shortest tour (Held and Karp 1962)."""
    n = len(distances)
    best = {(frozenset([i]), i): distances[0][i] for i in range(1, n)}
    for size in range(2, n):
        for group in map(frozenset, itertools.combinations(range(1, n), size)):
            for end in group:
                rest = group - {end}
                best[group, end] = min(best[rest, k] + distances[k][end] for k in rest)
    everyone = frozenset(range(1, n))
    return min(best[everyone, end] + distances[end][0] for end in everyone)


def heaviest_ordering(weights):
    """Return the weight of the heaviest ordering, by the best weight of each set of first items."""
    n = len(weights)
    best = {frozenset(): 0}
    for size in range(1, n + 1):
        for group in map(frozenset, itertools.combinations(range(n), size)):
            best[group] = max(
                best[group - {last}] + sum(weights[i][last] for i in group - {last})
                for last in group
            )
    return best[frozenset(range(n))]


def layering(n, arcs):
    """Return the layer of each variable: 0 without parents, else one after its last parent."""

    @functools.cache
    def layer_of(v):
        return max((layer_of(u) + 1 for u in parents_in(arcs, v)), default=0)

    return tuple(layer_of(v) for v in range(n))


def dag_weights(n, log_weights):
    """Return {DAG: weight}; ``log_weights[child]`` is {parent set: log weight}.

    A parent set that is not listed has the weight 0.
    """
    weights = {}
    for arcs in all_dags(n):
        families = [frozenset(parents_in(arcs, v)) for v in range(n)]
        if all(family in log_weights[v] for v, family in enumerate(families)):
            weights[arcs] = math.exp(sum(log_weights[v][f] for v, f in enumerate(families)))
    return weights


def shares(weights):
    """Return the weights divided by their sum."""
    total = math.fsum(weights.values())
    return {key: weight / total for key, weight in weights.items()}


def arc_shares(n, weights):
    """Return the probability of each arc, [parent][child]."""
    share = shares(weights)
    return [
        [math.fsum(p for arcs, p in share.items() if (u, v) in arcs) for v in range(n)]
        for u in range(n)
    ]


def grouped(weights, key):
    """Return the sums of the weights of the items with the same key."""
    sums = {}
    for item, weight in weights.items():
        sums[key(item)] = sums.get(key(item), 0.0) + weight
    return sums


def relocation_places(layers, v):
    """Return all layerings with v put elsewhere: gap 0, layer 0, gap 1, layer 1, ..., last gap."""
    others = {w: layer for w, layer in enumerate(layers) if w != v}
    used = sorted(set(others.values()))
    others = {w: used.index(layer) for w, layer in others.items()}
    places = []
    for k in range(len(used) + 1):
        gap = {w: layer + (layer >= k) for w, layer in others.items()} | {v: k}
        places.append(gap)
        if k < len(used):
            places.append(others | {v: k})
    return [tuple(place[w] for w in range(len(layers))) for place in places]


def block_choices(weights, arcs, members):
    """Return the DAGs, with their weights, that differ from `arcs` in families of members only."""
    fixed = {(u, v) for u, v in arcs if v not in members}
    return {
        other: weight
        for other, weight in weights.items()
        if {(u, v) for u, v in other if v not in members} == fixed
    }


def block_layers(arcs, members):
    """Return the layer of each member: i leads to j if a parent of j is i or descends from it.

    Arcs into members do not count for the descent.
    """
    rest = [(u, v) for u, v in arcs if v not in members]
    below = [{member, *reachable(rest, member)} for member in members]
    leads = {
        (i, j)
        for i in range(len(members))
        for j in range(len(members))
        if i != j and below[i] & set(parents_in(arcs, members[j]))
    }
    return layering(len(members), frozenset(leads))


def correct_p_values(p_values):
    """Return p-values corrected by Holm: each is multiplied by the number of those not below it.

    The result of a test is at least that of every test with a smaller p-value, and at most 1.
    """
    return [
        max(min(1.0, q * sum(r >= q for r in p_values)) for q in p_values if q <= p)
        for p in p_values
    ]


def best_network(n, local):
    """Return the best score of a DAG: dynamic programming over subsets (Silander, Myllymäki 2006).

    `local` has the score of each allowed (child, parents), parents as a frozenset.
    """
    best_parents = {}
    for child in range(n):
        for inside in all_subsets([v for v in range(n) if v != child]):
            inside = frozenset(inside)
            values = [local.get((child, inside), -math.inf)]
            values += [best_parents[child, inside - {v}] for v in inside]
            best_parents[child, inside] = max(values)
    best = {frozenset(): 0.0}
    for nodes in sorted(map(frozenset, all_subsets(range(n))), key=len):
        if nodes:
            best[nodes] = max(best[nodes - {v}] + best_parents[v, nodes - {v}] for v in nodes)
    return best[frozenset(range(n))]


def sum_cells(rows, weights, family, value):
    """Return the sum of ``value(n)`` over the cells of a family that n rows are in."""
    counts = Counter()
    for row, times in zip(rows, weights, strict=True):
        counts[tuple(row[member] for member in family)] += times
    return sum(value(n) for n in counts.values())


def cluster_value(families, k, cluster):
    """Return the sum of the shares of families with the child inside, and fewer than k parents."""
    return sum(
        share
        for child, parents, share in families
        if child in cluster and len(cluster & set(parents)) < k
    )


def grow_cluster(n, families, k, start, patience=6):
    """Return a cluster with more than k of n variables and a low value, grown and then shrunk."""
    members, best, cluster = [], math.inf, set(range(n))
    while len(members) < n and len(members) <= len(cluster) + patience:
        others = [v for v in range(n) if v not in members]
        following = min(others, key=lambda v: cluster_value(families, k, {*members, v}))
        members.append(start[len(members)] if len(members) < 2 else following)
        value = cluster_value(families, k, set(members))
        if len(members) > k and value < best:
            best, cluster = value, set(members)
    before = None
    while cluster != before:
        before = set(cluster)
        for v in sorted(before):
            value = cluster_value(families, k, cluster - {v})
            if len(cluster) > k + 1 and value < best:
                best, cluster = value, cluster - {v}
    return cluster, best


def network_masks(n):
    """Return the parents of each variable, as bits, for every DAG."""
    return [[sum(1 << u for u in parents_in(arcs, v)) for v in range(n)] for arcs in all_dags(n)]


def total_points(points, masks):
    return sum(row[mask] for row, mask in zip(points, masks, strict=True))


def lift_points(points, right, places):
    """Return points that are lowered at (variable, parents), while each DAG keeps `right` points.

    They do not become negative.
    """
    lowered = [list(row) for row in points]
    for v, parents in places:
        lowered[v][parents] = 0
        networks = [masks for masks in network_masks(len(points)) if masks[v] == parents]
        missing = right - min(total_points(lowered, masks) for masks in networks)
        lowered[v][parents] = max(0, missing)
    return lowered


def render_rows(codes, rows, columns, texts):
    """Return the bytes of rows; ``texts[c][k]`` is that of code k of variable ``columns[c]``."""
    return b"".join(
        texts[c][codes[variable][row]] for row in rows for c, variable in enumerate(columns)
    )


class InteractionGraph:
    """The variables of some scopes, numbered from 0, and the neighbours of each."""

    def __init__(self, scopes, arities, is_last):
        self.n = len(arities)
        self.arities, self.is_last = arities, is_last
        self.logs = [math.log(arity) for arity in arities]
        self.n_operations = 0
        self.near = [set() for _ in arities]
        for scope in scopes:
            for i in scope:
                self.near[i] |= set(scope) - {i}

    def eliminate_in_order(self, order):
        """Return each variable with its neighbours at that time; the last ones come last."""
        near, steps = [set(own) for own in self.near], []
        for v in sorted(order, key=lambda v: self.is_last[v]):
            steps.append((v, near[v]))
            take_out(near, v)
        return steps

    def eliminate_greedily(self, weights, factors=None):
        """Return each variable with its neighbours at that time, the least fill first.

        Count a pair of a neighbour and a group of equal weights as an operation.
        """
        near, steps = [set(own) for own in self.near], []
        factors = factors or [1.0] * self.n
        n_groups = len(set(weights) - {0.0})

        def compute_cost(i):
            fill = 0.0
            for j in sorted(near[i]):
                fill += weights[j] * sum_by_groups(near[i] - near[j] - {j}, weights)
            self.n_operations += len(near[i]) * (1 + n_groups)
            size = sum_by_groups(near[i] | {i}, self.logs)
            return self.is_last[i], fill * factors[i], size, i

        costs = {i: compute_cost(i) for i in range(self.n)}
        while costs:
            *_, v = min(costs.values())
            del costs[v]
            steps.append((v, near[v]))
            touched = set(near[v])
            for i, j in itertools.combinations(near[v], 2) if n_groups else ():
                if j not in near[i]:
                    touched |= near[i] & near[j]
            take_out(near, v)
            costs |= {i: compute_cost(i) for i in touched - {v}}
        return steps

    def count_cells(self, steps):
        return sum(math.prod(self.arities[i] for i in {v, *own}) for v, own in steps)

    def sweep(self):
        """Return the order of Cuthill and McKee, from a far end of each component."""

        def rank(i):
            return len(self.near[i]), i

        order, left = [], set(range(self.n))
        while left:
            start = min(left, key=rank)
            while True:
                end = min(self.list_levels(start)[-1], key=rank)
                if len(self.list_levels(end)) <= len(self.list_levels(start)):
                    break
                start = end
            queue = [start]
            left -= {start}
            for i in queue:  # it grows during the loop
                queue += sorted(self.near[i] & left, key=rank)
                left -= self.near[i]
            order += queue
        return order

    def list_levels(self, start):
        """Return the variables at each distance from one."""
        levels, seen = [], {start}
        while not levels or levels[-1]:
            reached = set().union(*(self.near[i] for i in levels[-1])) if levels else {start}
            levels.append(reached - seen if levels else reached)
            seen |= reached
        return levels[:-1]


def take_out(near, v):
    """Connect all neighbours of a variable and remove it from their neighbours."""
    for i in near[v]:
        near[i] = (near[i] | near[v]) - {i, v}


def sum_by_groups(members, weights):
    """Return a sum of weights, group by group of equal ones, ascending."""
    total = 0.0
    for weight, n in sorted(Counter(weights[i] for i in members).items()):
        total += weight * n
    return total


def find_order(
    scopes, arities, is_last, sweep, small, cells_per_operation, max_operations, max_restarts, width
):
    """Return the steps with the fewest cells among those of all rules: variables and cliques.

    The members of a clique are in the sequence of axes: what is eliminated last comes first.
    `width` is that of the random factors of the restarts.
    """
    graph = InteractionGraph(scopes, arities, is_last)
    best = graph.eliminate_greedily(graph.logs)
    n_operations = graph.n_operations
    if graph.count_cells(best) > small:
        runs = [graph.eliminate_greedily([weight] * graph.n) for weight in (0.0, 1.0)]
        for order in (graph.sweep(), list(sweep)):
            runs += [graph.eliminate_in_order(order), graph.eliminate_in_order(order[::-1])]
        best = min([best, *runs], key=graph.count_cells)
        for seed in range(max_restarts):
            limit = min(max_operations, graph.count_cells(best) / cells_per_operation)
            if (seed + 1) * n_operations > limit:
                break
            rng = random.Random(seed)
            factors = [1 + width * (rng.random() - 0.5) for _ in arities]
            run = graph.eliminate_greedily(graph.logs, factors)
            best = min(best, run, key=graph.count_cells)
    place = {v: i for i, (v, _) in enumerate(best)}
    return [(v, sorted({v, *own}, key=lambda i: -place[i])) for v, own in best]
