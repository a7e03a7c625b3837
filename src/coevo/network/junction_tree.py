"""A calibrated junction tree: marginals of all variables, updated when the evidence changes.

One query is best answered by elimination (`coevo.network.inference`). A person who explores a
network asks for all marginals again and again, and changes one finding at a time. The junction
tree [1]_ finds the cliques once, multiplies the tables into them once, and keeps the messages
between them. A new finding changes only the messages that lead away from it.

The tables of a clique are restricted to the observed states, so evidence makes them smaller. A
message is the product of a table and of the other messages into its clique, in a fixed order. It is
summed to the separator and divided by its largest number; the logarithms of these divisors give the
probability of the evidence. No message is divided by another one. Each message is therefore a
function of the evidence alone, and answers do not depend, to the last bit, on earlier questions.

Tables hold probabilities, not logarithms, which is several times as fast. If a product falls below
the smallest float, the answer comes from elimination, which uses logarithms.

.. [1] G. Shafer and P. P. Shenoy, Probability propagation, Annals of Mathematics and Artificial
   Intelligence 2, 1990.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coevo.errors import NetworkError
from coevo.network.bayesian_network import BayesianNetwork, Evidence
from coevo.network.clique_tree import make_clique_tree
from coevo.network.distribution import Distribution
from coevo.network.elimination import make_point
from coevo.network.evidence import encode_evidence, make_impossible_evidence_error
from coevo.network.inference import log_probability, marginals

__all__ = ["Beliefs", "JunctionTree"]

Table = NDArray[np.float64]
Edge = tuple[int, int]  # two neighbouring cliques: from, to


@dataclass(frozen=True)
class Beliefs:
    """What a network says about each variable, given evidence.

    Parameters
    ----------
    marginals : mapping of str to Distribution
        The distribution of each variable, in the order of the network. An observed variable has
        probability 1 for its state.
    log_probability : float
        The natural logarithm of the probability of the evidence. A soft finding counts with its
        weights, divided by their sum.
    log_probability_error : float
        The standard error of `log_probability`; 0 if it is exact.
    """

    marginals: Mapping[str, Distribution]
    log_probability: float
    log_probability_error: float = 0.0


@dataclass(frozen=True, slots=True)
class _Message:
    table: Table  # axes: the unobserved variables of the separator; its largest number is 1
    log_divisor: float


class JunctionTree:
    """The cliques of a network and the messages between them, kept for the next question.

    Threads may share a tree; they take turns.

    Parameters
    ----------
    network : BayesianNetwork
        The network. A network whose cliques do not fit into memory raises `ParameterError`.
    is_limited : bool
        Raise it also if the first answer takes more than about a minute of work (default: False).

    Examples
    --------
    >>> from coevo.bundled import load_network
    >>> tree = JunctionTree(load_network("earthquake"))
    >>> beliefs = tree.compute_beliefs({"JohnCalls": "True"})
    >>> round(beliefs.marginals["Burglary"]["True"], 4), round(beliefs.log_probability, 4)
    (0.1333, -2.7536)
    >>> both = tree.compute_beliefs({"JohnCalls": "True", "MaryCalls": "True"})
    >>> round(both.marginals["Burglary"]["True"], 4)
    0.5565
    """

    def __init__(self, network: BayesianNetwork, is_limited: bool = False) -> None:
        self.network = network
        self._tree = make_clique_tree(network, is_limited)
        self._lock = threading.Lock()
        self._forget()

    @property
    def n_cliques(self) -> int:
        """Number of cliques."""
        return len(self._tree.cliques)

    @property
    def n_cells(self) -> int:
        """Number of cells in the tables of all cliques."""
        return sum(potential.size for potential in self._tree.potentials)

    def compute_beliefs(self, given: Evidence | None = None) -> Beliefs:
        """Return the marginals of all variables and the probability of the evidence.

        Evidence is hard or soft, as for `BayesianNetwork.query`. Impossible evidence raises
        `NetworkError`.
        """
        codes, findings = encode_evidence(self.network, given, "compute_beliefs")
        with self._lock:
            try:
                with np.errstate(under="raise"):
                    log_total = self._propagate(codes, findings)
                    if log_total == -math.inf:
                        raise make_impossible_evidence_error(self.network, codes)
                    self._update_marginals()
                return Beliefs(self._copy_marginals(), log_total)
            except FloatingPointError:
                self._forget()
            except NetworkError:
                self._forget()
                raise
        return self._eliminate(given, codes)

    def measure_information(self, target: str, given: Evidence | None = None) -> dict[str, float]:
        """Return what each unobserved variable would tell about a target, given the evidence.

        That is the mutual information in nats: the expected loss of entropy of the target. The
        target itself would tell its entropy. The largest numbers come first.

        >>> from coevo.bundled import load_network
        >>> told = JunctionTree(load_network("asia")).measure_information("lung", {"smoke": "yes"})
        >>> [(name, round(nats, 3)) for name, nats in told.items()][:3]
        [('lung', 0.325), ('either', 0.293), ('xray', 0.212)]
        """
        variable = self.network.variable(target)
        now = self.compute_beliefs(given).marginals
        shares = now[target].probabilities
        told = {name: 0.0 for name in now if not given or name not in given or name == target}
        for state, share in zip(variable.states, shares.tolist(), strict=True):
            if share == 0:
                continue
            then = self.compute_beliefs({**(given or {}), target: state}).marginals
            for name in told:
                told[name] += share * _measure_divergence(then[name], now[name])
        rounded = {name: max(0.0, nats) for name, nats in told.items()}
        return dict(sorted(rounded.items(), key=lambda pair: (-round(pair[1], 9), pair[0])))

    def _eliminate(self, given: Evidence | None, codes: Mapping[str, int]) -> Beliefs:
        """Answer by elimination with logarithms."""
        found = marginals(self.network, None, given, exact=True)
        for variable in self.network.variables:
            if variable.name in codes:
                point = make_point(variable.arity, codes[variable.name])
                found[variable.name] = Distribution((variable,), point)
        ordered = {variable.name: found[variable.name] for variable in self.network.variables}
        return Beliefs(ordered, log_probability(self.network, given))

    # -- propagation; the lock is held

    def _forget(self) -> None:
        """Start again without messages and without evidence."""
        self._codes: dict[str, int] = {}
        self._findings: dict[str, list[float]] = {}
        self._messages: dict[Edge, _Message] = {}
        self._marginals: dict[str, Distribution] = {}
        self._stale: set[int] = set(range(len(self._tree.cliques)))
        self._tables: dict[int, Table] = {}

    def _propagate(self, codes: dict[str, int], findings: dict[str, list[float]]) -> float:
        """Renew all messages; return the logarithm of the probability of the evidence."""
        tree = self._tree
        changed = self._find_changed_cliques(codes, findings)
        self._codes, self._findings = codes, findings
        for i in changed:
            self._tables[i] = self._restrict(i)
        for component in tree.components:
            touched = [i for i in component if i in changed]
            if touched:
                self._send_messages(touched[0], changed)
        return self._measure_evidence()

    def _find_changed_cliques(
        self, codes: Mapping[str, int], findings: Mapping[str, list[float]]
    ) -> set[int]:
        """Return the cliques of all variables whose evidence differs from the last one."""
        if not self._tables:
            return set(range(len(self._tree.cliques)))
        before = {**self._codes, **self._findings}
        now = {**codes, **findings}
        names = {name for name in before.keys() | now.keys() if before.get(name) != now.get(name)}
        return {i for name in names for i in self._tree.holders.get(name, ())}

    def _restrict(self, i: int) -> Table:
        """Return the table of a clique for the observed states, with its soft findings."""
        tree = self._tree
        clique = tree.cliques[i]
        table = tree.potentials[i][tuple(self._codes.get(name, slice(None)) for name in clique)]
        free = self._list_free(clique)
        for name in clique:
            if name in self._findings and tree.holders[name][0] == i:
                shape = [-1 if name == other else 1 for other in free]
                table = table * np.array(self._findings[name]).reshape(shape)
        return np.asarray(table)

    def _list_free(self, names: tuple[str, ...]) -> list[str]:
        return [name for name in names if name not in self._codes]

    def _send_messages(self, root: int, changed: set[int]) -> None:
        """Renew the messages of the component of `root` that changed cliques can affect.

        Messages towards the root change if a changed clique is behind them. Messages away from it
        change if a table or a message on their way did.
        """
        order, above = self._tree.walk(root)
        renewed = {i: i in changed for i in order}  # whether something behind the clique changed
        for i in reversed(order[1:]):
            if renewed[i]:
                self._stale.add(i)
                if self._renew_messages(i, [above[i]]):
                    renewed[above[i]] = True
        for i in order:
            if not renewed[i]:
                continue
            self._stale.add(i)
            below = [j for j in self._tree.neighbours[i] if above.get(j) == i]
            for j in self._renew_messages(i, below):
                renewed[j] = True
                self._stale.add(j)

    def _renew_messages(self, i: int, receivers: list[int]) -> list[int]:
        """Compute the messages from clique i to some neighbours; return those that get another."""
        known: list[int] = []
        for j in receivers:
            message = self._compute_message(i, j)
            before = self._messages.get((i, j))
            self._messages[i, j] = message
            if before is None or not np.array_equal(before.table, message.table):
                known.append(j)
        return known

    def _compute_message(self, i: int, j: int) -> _Message:
        """Return the message from clique i to its neighbour j."""
        others = [k for k in self._tree.neighbours[i] if k != j]
        product = self._multiply(i, others)
        free = self._list_free(self._tree.cliques[i])
        separator = self._tree.separators[i, j]
        axes = tuple(at for at, name in enumerate(free) if name not in separator)
        table = product.sum(axis=axes) if axes else product
        top = float(table.max())
        if top == 0.0:
            return _Message(np.zeros_like(table), -math.inf)
        return _Message(table / top, math.log(top))

    def _multiply(self, i: int, senders: list[int]) -> Table:
        """Return the table of a clique times messages into it."""
        product = self._tables[i]
        free = self._list_free(self._tree.cliques[i])
        for k in senders:
            table = self._messages[k, i].table
            if table.ndim or not table:  # the message of observed variables is 1, or impossible
                separator = self._tree.separators[k, i]
                shape = [
                    n if name in separator else 1
                    for name, n in zip(free, product.shape, strict=True)
                ]
                product = product * table.reshape(shape)
        return product

    def _measure_evidence(self) -> float:
        """Return the logarithm of the probability of the evidence."""
        logs = [self._messages[edge].log_divisor for edge in self._tree.towards_roots]
        for component in self._tree.components:
            root = component[0]
            total = float(self._multiply(root, self._tree.neighbours[root]).sum())
            logs.append(math.log(total) if total > 0 else -math.inf)
        return -math.inf if -math.inf in logs else math.fsum(logs)

    # -- marginals

    def _update_marginals(self) -> None:
        """Compute the marginals of the variables that live in cliques with a new message."""
        tree = self._tree
        for variable in self.network.variables:
            name = variable.name
            if name in self._codes or variable.arity == 1:
                point = make_point(variable.arity, self._codes.get(name, 0))
                self._marginals[name] = Distribution((variable,), point)
        stale = {edge: names for i in sorted(self._stale) for edge, names in tree.residents[i]}
        for edge, names in stale.items():
            wanted = [name for name in names if name not in self._codes]
            if wanted:
                self._compute_marginals(edge, wanted)
        self._stale = set()

    def _compute_marginals(self, edge: Edge, names: list[str]) -> None:
        """Compute the marginals of variables of a separator, or of a clique: the edge (i, i)."""
        i, j = edge
        if i == j:
            product = self._multiply(i, self._tree.neighbours[i])
            free = self._list_free(self._tree.cliques[i])
        else:
            product = self._messages[i, j].table * self._messages[j, i].table
            free = self._list_free(self._tree.separators[i, j])
        for name in names:
            axes = tuple(at for at, other in enumerate(free) if other != name)
            sums = product.sum(axis=axes)
            variable = self.network.variable(name)
            self._marginals[name] = Distribution((variable,), sums / sums.sum())

    def _copy_marginals(self) -> dict[str, Distribution]:
        return {
            variable.name: self._marginals[variable.name] for variable in self.network.variables
        }


def _measure_divergence(one: Distribution, two: Distribution) -> float:
    """Return the Kullback-Leibler divergence of two distributions of a variable, in nats."""
    p, q = one.probabilities, two.probabilities
    occurs = p > 0
    return float((p[occurs] * np.log(p[occurs] / q[occurs])).sum())
