"""A Bayesian network: a DAG and the distribution of each variable given its parents.

A network is an immutable value: the constructor validates it, and its arrays are read-only.
`BayesianNetwork.distribution` returns the distribution of a variable
(`coevo.network.node_distribution`). Today all of them are tables (CPTs). They are two-dimensional.
They have one row for each configuration of the parents (the first parent varies slowest, as in BIF
and R), and one column for each state of the variable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coevo.data.variable import Discrete, Variable
from coevo.errors import NetworkError, find_duplicate, format_list, suggest_match
from coevo.graph import DAG, Arc
from coevo.network.node_distribution import CPT, NodeDistribution, TableDistribution
from coevo.signatures import check_keywords

if TYPE_CHECKING:  # these modules import this one
    from coevo.network.distribution import Distribution
    from coevo.network.explanation import TargetExplanation
    from coevo.network.inference import EvidenceProbability, Explanation
    from coevo.network.numbered_network import NumberedNetwork
    from coevo.network.rows import Prediction, RowLikelihood
    from coevo.view.picture import Picture

__all__ = ["CPT", "BayesianNetwork", "Evidence"]

# The state of each observed variable, a number for its bin, or weights of its states.
Evidence = Mapping[str, Any]


class BayesianNetwork:
    """Variables, parents and conditional probability tables.

    Parameters
    ----------
    variables : iterable of Variable
        Every variable with its states, in the order used for output.
    parents : mapping of str to sequence of str
        The parents of each variable, in the order of its table. A variable that is not in
        the mapping has no parents.
    tables : mapping of str to array or NodeDistribution
        For each variable an array that can be reshaped to (configurations, states).
        Rows must sum to 1 within 1e-6. Rows that are off by more than 1e-12 are normalised.
        A `NodeDistribution` of the same family is taken as it is.
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
    >>> network.distribution("wet")
    <TableDistribution: wet given rain, 2 parameters>
    """

    __slots__ = ("__dict__", "_distributions", "_name", "_parents", "_variables")

    def __init__(
        self,
        variables: Iterable[Variable],
        parents: Mapping[str, Sequence[str]],
        tables: Mapping[str, ArrayLike | NodeDistribution],
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
        self._distributions = {
            node: self._make_distribution(node, tables) for node in self._variables
        }

    def _make_distribution(
        self, node: str, tables: Mapping[str, ArrayLike | NodeDistribution]
    ) -> NodeDistribution:
        """Return the distribution of `node`: the given one, or one of the given numbers."""
        if node not in tables:
            raise NetworkError(f"The variable {node!r} has no table.")
        variable, given = self._variables[node], tables[node]
        parents = tuple(self._variables[parent] for parent in self._parents[node])
        if not isinstance(given, NodeDistribution):
            return TableDistribution(variable, parents, given)
        if given.family != (*parents, variable):
            raise NetworkError(
                f"The distribution of {node!r} is about {given.label}; its states or parents are "
                "not those of the network."
            )
        return given

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

    def distribution(self, node: str) -> NodeDistribution:
        """Return the distribution of `node` given its parents.

        It has `log_density`, `sample`, `fit`, `describe` and `as_dict`.

        >>> from coevo.bundled import load_network
        >>> print(load_network("cancer").distribution("Cancer").describe())
        Cancer given Pollution, Smoker: a table with 4 rows and 2 states
          Pollution=low, Smoker=True: Cancer=True 0.030, Cancer=False 0.970
          Pollution=low, Smoker=False: Cancer=True 0.001, Cancer=False 0.999
          Pollution=high, Smoker=True: Cancer=True 0.050, Cancer=False 0.950
          Pollution=high, Smoker=False: Cancer=True 0.020, Cancer=False 0.980
        """
        return self._distributions[self.variable(node).name]

    def table(self, node: str) -> CPT:
        """Return the table of `node`: (parent configurations, states), read-only.

        `NetworkError` is raised if its distribution is of a kind that has no table.
        """
        return self.distribution(node).to_table()

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
        return sum(each.n_parameters for each in self._distributions.values())

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
    def replace(
        self,
        *,
        name: str | None = None,
        names: Mapping[str, str] | None = None,
        states: Mapping[str, Mapping[str, str] | Sequence[str]] | None = None,
        parents: Mapping[str, Sequence[str]] | None = None,
        tables: Mapping[str, ArrayLike | NodeDistribution] | None = None,
    ) -> BayesianNetwork:
        """Return a network with some parts replaced; this one does not change.

        All other parts stay. Parents and tables are in the old names and states.

        Parameters
        ----------
        name : str, optional
            The name of the network.
        names : mapping of str to str, optional
            New names of variables.
        states : mapping of str to mapping or sequence, optional
            For each variable a mapping of old states to new ones, or a list of its states in a new
            order.
        parents : mapping of str to sequence of str, optional
            New parents of variables, whose new tables must be given.
        tables : mapping of str to array or NodeDistribution, optional
            New tables.

        Examples
        --------
        >>> from coevo.bundled import load_network
        >>> holmes = load_network("earthquake").replace(
        ...     names={"Burglary": "burglar"},
        ...     states={"Burglary": {"True": "yes", "False": "no"}},
        ...     tables={"Burglary": [0.5, 0.5]},
        ... )
        >>> holmes.query("burglar")
        <Distribution of 'burglar': {'yes': 0.5, 'no': 0.5}>
        """
        from coevo.network.editing import replace

        return replace(self, name=name, names=names, states=states, parents=parents, tables=tables)

    def add_arc(self, parent: str, child: str, table: ArrayLike | None = None) -> BayesianNetwork:
        """Return a network with a further arc.

        `table` is the new table of the child: its new parent is the last one, which varies fastest.
        By default the child does not depend on it: the joint distribution stays.

        >>> from coevo.bundled import load_network
        >>> asia = load_network("asia").add_arc("asia", "bronc")
        >>> asia.parents("bronc"), asia.table("bronc").tolist()
        (('smoke', 'asia'), [[0.6, 0.4], [0.6, 0.4], [0.3, 0.7], [0.3, 0.7]])
        """
        from coevo.network.editing import add_arc

        return add_arc(self, parent, child, table)

    @check_keywords()
    def remove_arc(
        self,
        parent: str,
        child: str,
        table: ArrayLike | None = None,
        *,
        exact: bool = False,
    ) -> BayesianNetwork:
        """Return a network without an arc.

        `table` is the new table of the child. The default is its exact distribution given its other
        parents: no other table of this structure is closer to this network
        (`coevo.network.kl_divergence`). Where the other parents have an impossible configuration,
        it is the mean over the parent. More than about a minute of work raises `ParameterError`,
        unless ``exact=True`` asks for it.

        >>> from coevo.bundled import load_network
        >>> load_network("asia").remove_arc("smoke", "lung").table("lung").round(3).tolist()
        [[0.055, 0.945]]
        """
        from coevo.network.editing import remove_arc

        return remove_arc(self, parent, child, table, exact)

    def reverse_arc(self, parent: str, child: str) -> BayesianNetwork:
        """Return a network with an arc reversed, and the same joint distribution.

        Both variables get the parents of both, and their tables by Bayes' rule. A state of the
        child that is impossible leaves the distribution of the parent as it is. `NetworkError` is
        raised if there is another directed path from the parent to the child.

        >>> from coevo.bundled import load_network
        >>> asia = load_network("asia").reverse_arc("smoke", "lung")
        >>> asia.parents("smoke"), asia.table("smoke").round(3).tolist()
        (('lung',), [[0.909, 0.091], [0.476, 0.524]])
        """
        from coevo.network.editing import reverse_arc

        return reverse_arc(self, parent, child)

    def marginalise(self, names: str | Iterable[str]) -> BayesianNetwork:
        """Return the network of the other variables: one or several are summed out.

        The joint distribution of the others stays. The arcs of each variable are reversed until it
        has no children, then it is dropped. Its parents and children can become connected.

        >>> from coevo.bundled import load_network
        >>> asia = load_network("asia").marginalise(["smoke", "either"])
        >>> asia.parents("xray"), round(asia.query("lung", {"xray": "yes"})["yes"], 4)
        (('lung', 'tub', 'bronc', 'dysp'), 0.4887)
        """
        from coevo.network.editing import marginalise

        return marginalise(self, names)

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
    def log_probability(self, given: Evidence | None = None, *, exact: bool = False) -> float:
        """Return the natural logarithm of the probability of the evidence (``-inf`` for 0).

        It is exact. `ParameterError` is raised if no elimination order is found whose tables fit
        into memory, and without ``exact=True`` also if they take more than about a minute of work;
        `measure_evidence` then returns an estimate.

        >>> from coevo.bundled import load_network
        >>> round(load_network("earthquake").log_probability({"Earthquake": "True"}), 4)
        -3.912
        """
        from coevo.network.inference import log_probability

        return log_probability(self, given, exact)

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
    def most_probable_explanation(
        self, given: Evidence | None = None, *, exact: bool = False
    ) -> Explanation:
        """Return the jointly most probable states of all variables without evidence (MPE).

        These can differ from the most probable state of each variable by itself. Ties are
        broken by the order of the states. It is never estimated: more than about a minute of work
        raises `ParameterError`, unless ``exact=True`` asks for it.

        >>> from coevo.bundled import load_network
        >>> earthquake = load_network("earthquake")
        >>> earthquake.most_probable_explanation({"Alarm": "True"}).states["Burglary"]
        'True'
        """
        from coevo.network.inference import most_probable_explanation

        return most_probable_explanation(self, given, exact)

    @check_keywords()
    def most_probable_states(
        self, targets: str | Iterable[str], given: Evidence | None = None, *, exact: bool = False
    ) -> Explanation:
        """Return the jointly most probable states of some variables (marginal MAP).

        All other variables are summed out, which `most_probable_explanation` does not do, so that
        the states can differ. Ties are broken by the order of the states. The answer is never
        estimated: more than about a minute of work raises `ParameterError`, unless ``exact=True``
        asks for it.

        >>> from coevo.bundled import load_network
        >>> asia = load_network("asia")
        >>> found = asia.most_probable_states(["lung", "bronc"], {"xray": "yes", "dysp": "yes"})
        >>> dict(found.states), round(found.log_probability, 4)
        ({'lung': 'yes', 'bronc': 'yes'}, -3.5833)
        """
        from coevo.network.inference import most_probable_states

        return most_probable_states(self, targets, given, exact)

    @check_keywords()
    def explain(
        self,
        target: str,
        given: Evidence | None = None,
        *,
        state: str | None = None,
        top: int = 5,
        exact: bool = False,
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
        exact : bool, default: False
            Compute the numbers however long they take. By default more than about a minute of work
            raises `ParameterError`: nothing is estimated.

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

        return explain(self, target, given, state, top, exact)

    @check_keywords()
    def log_likelihood(self, table: Any, *, exact: bool = False) -> RowLikelihood:
        """Return the log-likelihood of each row and of all rows, in natural logarithms.

        `table` is a table of any kind that `read_data` accepts. Numbers fall into the bins of the
        network, other columns are ignored. A cell is unknown if its value is missing, if the
        network has no such state, or if the table has no such column; unknown variables are
        summed out. An impossible row has ``-inf``, and a `CoevoWarning` names the first of them.
        To sum out is exact: more than about a minute of work for all rows raises `ParameterError`,
        unless ``exact=True`` asks for it.

        >>> from coevo.bundled import load_network
        >>> from coevo.network import sample
        >>> asia = load_network("asia")
        >>> round(asia.log_likelihood(sample(asia, 1000, random_state=1)).total, 3)
        -2200.496
        """
        from coevo.network.rows import log_likelihood

        return log_likelihood(self, table, exact)

    @check_keywords()
    def predict(self, table: Any, target: str, *, exact: bool = False) -> Prediction:
        """Return the probability of each state of the target in each row, given the other columns.

        `table`, unknown cells and `exact` are as for `log_likelihood`; the column of the target is
        not used. A row that is impossible under the network gets the probabilities without
        evidence, and a `CoevoWarning` says so.

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

        return predict(self, table, target, exact)

    def plot(self, arc_values: Mapping[Arc, float] | None = None) -> Picture:
        """Draw the structure. The states of a variable appear while the pointer is on it.

        The parameter and the result are those of `DAG.plot`.
        """
        from coevo.view.picture import draw_graph, list_links

        states = {
            variable.name: format_list(variable.states)
            for variable in self.variables
            if isinstance(variable, Discrete)
        }
        links = list_links(self.dag.arcs, (), arc_values)
        return draw_graph(list(self._variables), links, states)

    def __eq__(self, other: object) -> bool:
        """Return whether variables, states, parents and distributions are equal."""
        if not isinstance(other, BayesianNetwork):
            return NotImplemented
        return self.variables == other.variables and self._distributions == other._distributions

    __hash__ = None  # type: ignore[assignment]  # it holds arrays

    def __reduce__(self) -> tuple[Any, ...]:
        return BayesianNetwork, (self.variables, self._parents, self._distributions, self._name)

    def __repr__(self) -> str:
        label = f"{self._name!r}: " if self._name else ""
        return (
            f"<BayesianNetwork {label}{len(self._variables)} variables, "
            f"{len(self.dag.arcs)} arcs, {self.n_parameters:,} parameters>"
        )

    def _repr_html_(self) -> str:
        from coevo.view.picture.notebook import Table, render_block, render_graph

        arcs = Table(["parent", "child"], self.dag.arcs)
        graph = render_graph(len(self._variables), self.plot, arcs)
        return render_block(repr(self)[1:-1], graph)


def _check_names(known: Mapping[str, Variable], given: Iterable[str], what: str) -> None:
    for node in given:
        if node not in known:
            raise NetworkError(
                f"{what} given for {node!r}, which is not a variable.{suggest_match(node, known)}"
            )
