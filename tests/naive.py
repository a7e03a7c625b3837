"""Slow and obvious versions of the kernels, as oracles: plain Python, one idea for each line.

This module does not import coevo, so that the two cannot share a mistake.
"""

import functools
import itertools
import math
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


def d_separated(arcs, one, other, given):
    """Return whether every path between two sets has a node that blocks it.

    A collider blocks a path unless it or one of its descendants is given. Any other node
    blocks a path if it is given.
    """

    def blocks(before, node, after):
        if (before, node) in arcs and (after, node) in arcs:
            return not reachable(arcs, node) & set(given)
        return node in given

    return all(
        any(blocks(*path[i : i + 3]) for i in range(len(path) - 2))
        for a in one
        for b in other
        for path in paths(arcs, a, b)
    )


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
