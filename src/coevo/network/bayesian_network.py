"""A Bayesian network: a DAG and one table of probabilities for each variable.

A network is an immutable value: the constructor validates it, and its arrays are read-only.
Tables (CPTs) are two-dimensional. They have one row for each configuration of the parents
(the first parent varies slowest, as in BIF and R), and one column for each state of the
variable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coevo.data.variable import Variable
from coevo.errors import NetworkError, find_duplicate, format_list, suggest_match
from coevo.graph import DAG, Arc
from coevo.signatures import check_keywords

if TYPE_CHECKING:  # these modules import this one
    from coevo.network.distribution import Distribution
    from coevo.network.explanation import TargetExplanation
    from coevo.network.inference import EvidenceProbability, Explanation
    from coevo.network.numbered_network import NumberedNetwork
    from coevo.network.rows import Prediction, RowLikelihood
    from coevo.picture import Picture

__all__ = ["CPT", "BayesianNetwork", "Evidence"]

# The state of each observed variable, a number for its bin, or weights of its states.
Evidence = Mapping[str, Any]
CPT = NDArray[np.float64]  # (parent configurations, states), rows sum to 1

TOLERANCE = 1e-6
ROUNDOFF = 1e-12  # far above the round-off error of a sum of 65,535 floats


class BayesianNetwork:
    """Variables, parents and conditional probability tables.

    Parameters
    ----------
    variables : iterable of Variable
        Every variable with its states, in the order used for output.
    parents : mapping of str to sequence of str
        The parents of each variable, in the order of its table. A variable that is not in
        the mapping has no parents.
    tables : mapping of str to array
        For each variable an array that can be reshaped to (configurations, states).
        Rows must sum to 1 within 1e-6. Rows that are off by more than 1e-12 are normalised.
    name : str
        The name of the network (default: empty).

    Examples
    --------
    >>> network = BayesianNetwork(
    ...     [Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))],
    ...     {"wet": ["rain"]},
    ...     {"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.05, 0.95]]},
    ... )
    >>> network.dag.arcs
    (('rain', 'wet'),)
    >>> network.table("wet")[1].tolist()
    [0.05, 0.95]
    """

    __slots__ = ("__dict__", "_name", "_parents", "_tables", "_variables")

    def __init__(
        self,
        variables: Iterable[Variable],
        parents: Mapping[str, Sequence[str]],
        tables: Mapping[str, ArrayLike],
        name: str = "",
    ) -> None:
        declared = tuple(variables)
        self._name = name
        self._variables = {variable.name: variable for variable in declared}
        duplicate = find_duplicate(variable.name for variable in declared)
        if duplicate is not None:
            raise NetworkError(f"The variable {duplicate!r} is declared twice.")
        _check_names(self._variables, parents, "Parents are")
        _check_names(self._variables, tables, "A table is")
        self._parents = {node: tuple(parents.get(node, ())) for node in self._variables}
        self.dag  # noqa: B018  # raises GraphError for unknown parents and cycles
        self._tables = {node: self._check_table(node, tables) for node in self._variables}

    def _check_table(self, node: str, tables: Mapping[str, ArrayLike]) -> CPT:
        """Validate the table of `node`; return it as a read-only matrix whose rows sum to 1."""
        if node not in tables:
            raise NetworkError(f"The variable {node!r} has no table.")
        try:
            given = np.array(tables[node], dtype=np.float64)
        except (TypeError, ValueError):
            raise NetworkError(
                f"The table of {node!r} must be numbers, with rows of equal length."
            ) from None
        shape = (self.n_configurations(node), self._variables[node].arity)
        if given.size != shape[0] * shape[1]:
            raise NetworkError(
                f"The table of {node!r} has {given.size:,} probabilities; its {shape[1]} states "
                f"and {shape[0]:,} parent configurations need {shape[0] * shape[1]:,}."
            )
        table = given.reshape(shape)
        if not (np.isfinite(table).all() and (table >= 0).all()):
            raise NetworkError(
                f"The table of {node!r} has an entry that is not a number of 0 or above."
            )
        with np.errstate(over="ignore"):
            sums = table.sum(axis=1)
        worst = int(np.abs(sums - 1).argmax())
        if abs(sums[worst] - 1) > TOLERANCE:
            raise NetworkError(
                f"Row {worst + 1} of the table of {node!r} sums to {sums[worst]:.9g}; "
                f"each row must sum to 1 within {TOLERANCE:g}."
            )
        # Normalise only the rows that need it. Dividing twice could change the last bit, and a
        # network that is written and read back must be the same network.
        is_off = np.abs(sums - 1) > ROUNDOFF
        table[is_off] /= sums[is_off, None]
        table.flags.writeable = False
        return table

    @property
    def name(self) -> str:
        """The name of the network; may be empty."""
        return self._name

    @property
    def variables(self) -> tuple[Variable, ...]:
        """All variables, in the order used for output."""
        return tuple(self._variables.values())

    def variable(self, node: str) -> Variable:
        """Return the variable with the name `node`."""
        if node not in self._variables:
            hint = suggest_match(node, self._variables)
            raise NetworkError(f"There is no variable {node!r} in the network.{hint}")
        return self._variables[node]

    def parents(self, node: str) -> tuple[str, ...]:
        """Return the parents of `node` in the order of its table: the first varies slowest."""
        return self._parents[self.variable(node).name]

    def table(self, node: str) -> CPT:
        """Return the table of `node`: (parent configurations, states), read-only."""
        return self._tables[self.variable(node).name]

    def n_configurations(self, node: str) -> int:
        """Return the number of configurations of the parents of `node`."""
        count = 1
        for parent in self.parents(node):
            count *= self._variables[parent].arity
        return count

    @cached_property
    def dag(self) -> DAG:
        """The structure."""
        return DAG.from_parents(self._parents)

    @cached_property
    def numbered(self) -> NumberedNetwork:
        """The network as arrays, which exact inference reads."""
        from coevo.network.numbered_network import NumberedNetwork

        return NumberedNetwork(self)

    @property
    def n_parameters(self) -> int:
        """Number of free parameters."""
        return sum(table.shape[0] * (table.shape[1] - 1) for table in self._tables.values())

    def find_configurations(
        self, node: str, codes: Mapping[str, NDArray[np.integer]]
    ) -> NDArray[np.intp]:
        """Return for each row of data the row of the table of `node` that applies to it.

        `codes` holds one array for each parent: the number of its state in each row of data.
        """
        joint = np.zeros((), dtype=np.intp)
        for parent in self.parents(node):
            joint = joint * self._variables[parent].arity + codes[parent]
        return joint

    @check_keywords()
    def query(
        self, targets: str | Iterable[str], given: Evidence | None = None, *, exact: bool = False
    ) -> Distribution:
        """Return the joint distribution of one or several variables, given evidence.

        The answer is exact, unless no elimination order is found whose tables fit into memory and
        take about a minute of work at most. Then likelihood weighting estimates it, a
        `CoevoWarning` says so, `is_exact` of the answer is False, and `standard_errors` has the
        error of each probability. With ``exact=True`` the exact answer is computed, however long it
        takes; one that does not fit into memory raises `ParameterError`. So does evidence that is
        too improbable for an estimate. Impossible evidence raises `NetworkError`.

        Evidence (`given`) is a mapping of variable to its state, or to a number, which falls into
        its bin. Soft evidence is a mapping of variable to weights of its states,
        ``{"smoke": {"yes": 0.7, "no": 0.3}}``: an uncertain finding that is 0.7 / 0.3 times as
        probable if the state is ``yes``. Equal weights say nothing.

        Examples
        --------
        John calls Mr. Holmes because the burglar alarm rings. Then Mary calls too:

        >>> from coevo.bundled import load_network
        >>> holmes = load_network("earthquake")
        >>> round(holmes.query("Burglary", {"JohnCalls": "True"})["True"], 4)
        0.1333
        >>> both = holmes.query("Burglary", {"JohnCalls": "True", "MaryCalls": "True"})
        >>> round(both["True"], 4)
        0.5565
        >>> round(holmes.query(["Burglary", "Earthquake"])["True", "False"], 4)
        0.0098
        >>> heard = {"Alarm": {"True": 0.8, "False": 0.2}}  # perhaps it rang
        >>> round(holmes.query("Burglary", heard)["True"], 4)
        0.0364
        """
        from coevo.network.inference import query

        return query(self, targets, given, exact)

    @check_keywords()
    def marginals(
        self,
        targets: str | Iterable[str] | None = None,
        given: Evidence | None = None,
        *,
        exact: bool = False,
    ) -> dict[str, Distribution]:
        """Return the marginal distribution of each target, given evidence.

        The default for `targets` is all variables without evidence. Computing all of them
        takes hardly longer than computing one. The answers are exact or estimated as for `query`.

        >>> from coevo.bundled import load_network
        >>> marginals = load_network("earthquake").marginals(given={"Alarm": "True"})
        >>> {name: round(marginal["True"], 3) for name, marginal in marginals.items()}
        {'Burglary': 0.583, 'Earthquake': 0.368, 'JohnCalls': 0.9, 'MaryCalls': 0.7}
        """
        from coevo.network.inference import marginals

        return marginals(self, targets, given, exact)

    @check_keywords()
    def log_probability(self, given: Evidence | None = None) -> float:
        """Return the natural logarithm of the probability of the evidence (``-inf`` for 0).

        It is exact. `ParameterError` is raised if no elimination order is found whose tables fit
        into memory; `measure_evidence` then returns an estimate.

        >>> from coevo.bundled import load_network
        >>> round(load_network("earthquake").log_probability({"Earthquake": "True"}), 4)
        -3.912
        """
        from coevo.network.inference import log_probability

        return log_probability(self, given)

    @check_keywords()
    def measure_evidence(
        self, given: Evidence | None = None, *, exact: bool = False
    ) -> EvidenceProbability:
        """Return `log_probability` and its standard error, which is 0 if it is exact.

        It is exact or estimated as for `query`.

        >>> from coevo.bundled import load_network
        >>> found = load_network("earthquake").measure_evidence({"Earthquake": "True"})
        >>> round(found.log_probability, 4), found.is_exact
        (-3.912, True)
        """
        from coevo.network.inference import measure_evidence

        return measure_evidence(self, given, exact)

    @check_keywords()
    def most_probable_explanation(self, given: Evidence | None = None) -> Explanation:
        """Return the jointly most probable states of all variables without evidence (MPE).

        These can differ from the most probable state of each variable by itself. Ties are
        broken by the order of the states.

        >>> from coevo.bundled import load_network
        >>> earthquake = load_network("earthquake")
        >>> earthquake.most_probable_explanation({"Alarm": "True"}).states["Burglary"]
        'True'
        """
        from coevo.network.inference import most_probable_explanation

        return most_probable_explanation(self, given)

    @check_keywords()
    def explain(
        self,
        target: str,
        given: Evidence | None = None,
        *,
        state: str | None = None,
        top: int = 5,
    ) -> TargetExplanation:
        """Explain the probability of a variable: the effect of each finding, and what to ask next.

        For each finding the answer has its effect alone, its contribution given all other
        findings, the shortest active paths to the target, and whether it conflicts with the
        others. It also has the unobserved variables that would tell most about the target, by their
        mutual information given the evidence. All numbers are exact.

        Parameters
        ----------
        target : str
            The variable to explain.
        given : mapping of str to str, optional
            The evidence: the state of each observed variable.
        state : str, optional
            The state of the target that weights and sentences are about (default: the one whose
            probability the evidence changes most).
        top : int, default: 5
            Maximum number of unobserved variables.

        Examples
        --------
        >>> from coevo.bundled import load_network
        >>> asia = load_network("asia")
        >>> found = asia.explain("lung", {"xray": "yes", "smoke": "yes"}, top=1)
        >>> print(found.describe())
        The 2 findings raise P(lung=yes) from 0.055 to 0.646 (+3.45 nats).
        >>> for sentence in found.describe_finding(found.findings[0]):
        ...     print(sentence)
        xray=yes raises P(lung=yes) from 0.100 to 0.646 (+2.80 nats), given the other finding.
        Alone it raises P(lung=yes) from 0.055 to 0.489 (+2.80 nats).
        It reaches lung along xray <- either <- lung.
        """
        from coevo.network.explain import explain

        return explain(self, target, given, state, top)

    def log_likelihood(self, table: Any) -> RowLikelihood:
        """Return the log-likelihood of each row and of all rows, in natural logarithms.

        `table` is a table of any kind that `read_data` accepts. Numbers fall into the bins of the
        network, other columns are ignored. A cell is unknown if its value is missing, if the
        network has no such state, or if the table has no such column; unknown variables are
        summed out. An impossible row has ``-inf``, and a `CoevoWarning` names the first of them.

        >>> from coevo.bundled import load_network
        >>> from coevo.network import sample
        >>> asia = load_network("asia")
        >>> round(asia.log_likelihood(sample(asia, 1000, random_state=1)).total, 3)
        -2200.496
        """
        from coevo.network.rows import log_likelihood

        return log_likelihood(self, table)

    @check_keywords()
    def predict(self, table: Any, target: str) -> Prediction:
        """Return the probability of each state of the target in each row, given the other columns.

        `table` and unknown cells are as for `log_likelihood`; the column of the target is not
        used. A row that is impossible under the network gets the probabilities without evidence,
        and a `CoevoWarning` says so.

        >>> from coevo.bundled import load_network
        >>> from coevo.network import sample
        >>> asia = load_network("asia")
        >>> prediction = asia.predict(sample(asia, 3, random_state=1), "bronc")
        >>> prediction.states, prediction.probabilities[0].round(3).tolist()
        (('yes', 'yes', 'yes'), [0.923, 0.077])
        >>> import numpy as np
        >>> from coevo.network import read_rows
        >>> visitor = read_rows(asia, np.array([["yes", "?"]]), names=["dysp", "smoke"])
        >>> asia.predict(visitor, "bronc").probabilities[0].round(3).tolist()
        [0.834, 0.166]
        """
        from coevo.network.rows import predict

        return predict(self, table, target)

    def plot(self, arc_values: Mapping[Arc, float] | None = None) -> Picture:
        """Draw the structure. The states of a variable appear while the pointer is on it.

        The parameter and the result are those of `DAG.plot`.
        """
        from coevo.picture import draw_graph, list_links

        states = {variable.name: format_list(variable.states) for variable in self.variables}
        links = list_links(self.dag.arcs, (), arc_values)
        return draw_graph(list(self._variables), links, states)

    def __eq__(self, other: object) -> bool:
        """Return whether variables, states, parents and tables are equal."""
        if not isinstance(other, BayesianNetwork):
            return NotImplemented
        return (
            self.variables == other.variables
            and self._parents == other._parents
            and all(np.array_equal(self._tables[n], other._tables[n]) for n in self._tables)
        )

    __hash__ = None  # type: ignore[assignment]  # it holds arrays

    def __reduce__(self) -> tuple[Any, ...]:
        # Unpickled arrays are writeable, so rebuild the network: its tables are read-only.
        return BayesianNetwork, (self.variables, self._parents, self._tables, self._name)

    def __repr__(self) -> str:
        label = f"{self._name!r}: " if self._name else ""
        return (
            f"<BayesianNetwork {label}{len(self._variables)} variables, "
            f"{len(self.dag.arcs)} arcs, {self.n_parameters:,} parameters>"
        )

    def _repr_html_(self) -> str:
        from coevo.picture.notebook import Table, render_block, render_graph

        arcs = Table(["parent", "child"], self.dag.arcs)
        graph = render_graph(len(self._variables), self.plot, arcs)
        return render_block(repr(self)[1:-1], graph)


def _check_names(known: Mapping[str, Variable], given: Iterable[str], what: str) -> None:
    for node in given:
        if node not in known:
            raise NetworkError(
                f"{what} given for {node!r}, which is not a variable.{suggest_match(node, known)}"
            )
