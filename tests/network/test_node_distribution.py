"""The distribution of a variable: everything a network does with one variable goes through it."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import pytest

import naive
from coevo.data import Continuous, Dataset, Variable, read_data
from coevo.errors import CoevoError, DataError, FormatError, NetworkError
from coevo.io import FORMATS, format_model
from coevo.network import (
    BayesianNetwork,
    NodeDistribution,
    TableDistribution,
    fit_network,
    sample,
)
from helpers.random_networks import random_network
from helpers.tiny_networks import GARDEN

RAIN = Variable("rain", ("no", "light", "heavy"))
HOSE = Variable("hose", ("off", "on"))
WET = Variable("wet", ("no", "yes"))
TABLE = [[0.9, 0.1], [0.2, 0.8], [0.4, 0.6], [0.1, 0.9], [0.05, 0.95], [0.0, 1.0]]


def make_wet():
    return TableDistribution(WET, [RAIN, HOSE], TABLE)


class NoisyOr(NodeDistribution):
    """A second kind, as a later version may have: the parents cause the variable one by one."""

    kind = "noisy_or"

    def __init__(self, variable, parents, shares, has_table=True):
        super().__init__(variable, parents)
        self.shares, self.has_table = tuple(shares), has_table

    @property
    def n_parameters(self):
        return len(self.shares)

    def _no(self, values):
        no = 1.0
        for parent, share in zip(self.parents, self.shares, strict=True):
            no = no * np.where(np.asarray(values[parent.name]) > 0, 1 - share, 1.0)
        return no

    def log_density(self, values):
        no = self._no(values)
        with np.errstate(divide="ignore"):
            return np.log(np.where(np.asarray(values[self.variable.name]) == 0, no, 1 - no))

    def sample(self, values, n_rows, rng):
        return (rng.random(n_rows) >= self._no(values)).astype(np.uint8)

    def fit(self, table, ess=1.0):
        return self

    def describe(self):
        return f"{self.label}: noisy or"

    def as_dict(self):
        return {"kind": self.kind, "name": self.variable.name, "shares": list(self.shares)}

    def to_table(self):
        if not self.has_table:
            return super().to_table()
        cells = np.indices([p.arity for p in self.parents]).reshape(len(self.parents), -1)
        no = self._no(dict(zip([p.name for p in self.parents], cells, strict=True)))
        return np.stack([no, 1 - no], axis=1)


def make_noisy(has_table=True):
    """Return a network with a noisy or, and the same network with a table."""
    lamp = NoisyOr(WET, [RAIN, HOSE], [0.7, 0.4], has_table)
    tables = {"rain": [0.5, 0.3, 0.2], "hose": [0.8, 0.2]}
    parents, variables = {"wet": ["rain", "hose"]}, [RAIN, HOSE, WET]
    table = NoisyOr(WET, [RAIN, HOSE], [0.7, 0.4]).to_table()
    return (
        BayesianNetwork(variables, parents, {**tables, "wet": lamp}),
        BayesianNetwork(variables, parents, {**tables, "wet": table}),
    )


def test_a_network_has_the_distribution_of_each_node():
    found = GARDEN.distribution("wet")
    assert isinstance(found, TableDistribution)
    assert (found.kind, found.variable.name) == ("table", "wet")
    assert [parent.name for parent in found.parents] == ["rain"]
    assert found.to_table() is GARDEN.table("wet")
    assert found.n_parameters == 2
    assert repr(found) == "<TableDistribution: wet given rain, 2 parameters>"
    with pytest.raises(NetworkError):
        GARDEN.distribution("rian")


def test_log_density_is_the_logarithm_of_the_cell(seed):
    network = random_network(seed, zeros=0.2)
    rows = sample(network, 40, random_state=seed)
    column = {v.name: rows.codes[i] for i, v in enumerate(rows.variables)}
    own = {
        v.name: np.array(
            [v.states.index(rows.variables[i].states[c]) for c in column[v.name].tolist()]
        )
        for v, i in ((network.variable(u.name), j) for j, u in enumerate(rows.variables))
    }
    for variable in network.variables:
        name, found = variable.name, network.distribution(variable.name)
        family = {each.name: own[each.name] for each in found.family}
        logs = found.log_density(family)
        for row in range(40):
            place = 0
            for parent in found.parents:
                place = place * parent.arity + int(own[parent.name][row])
            assert logs[row] == math.log(network.table(name)[place][own[name][row]])
        labels = {
            each.name: [each.states[code] for code in own[each.name]] for each in found.family
        }
        assert found.log_density(labels).tolist() == logs.tolist()
        weights = np.random.default_rng(seed).uniform(0, 3, 40)
        assert found.total_log_density(family) == pytest.approx(math.fsum(logs), rel=1e-12)
        assert found.total_log_density(family, weights) == pytest.approx(
            math.fsum(logs * weights), rel=1e-12
        )


def test_an_impossible_row_has_minus_infinity():
    found = make_wet().log_density({"rain": [2], "hose": [1], "wet": [0]})
    assert found.tolist() == [-math.inf]


def test_sample_has_the_shares_of_the_table():
    rain, hose = (np.repeat(codes, 20_000) for codes in ([0, 0, 1, 1, 2, 2], [0, 1] * 3))
    drawn = make_wet().sample({"rain": rain, "hose": hose}, 120_000, np.random.default_rng(4))
    shares = drawn.reshape(6, -1).mean(axis=1)
    np.testing.assert_allclose(shares, [row[1] for row in TABLE], atol=0.012)
    assert shares[5] == 1.0  # a state of probability 0 is never drawn


def test_fit_matches_naive_and_fit_network(seed):
    rng = np.random.default_rng(seed)
    rows = np.stack([rng.integers(0, n, 50) for n in (3, 2, 2)], axis=1)
    data = Dataset([RAIN, HOSE, WET], list(rows.T))
    fitted = make_wet().fit(data, ess=3.0)
    counts = naive.count_family(rows.tolist(), [3, 2, 2], 2, [0, 1], None)
    expected = [naive.fitted_row(row, 3 / 12) for row in counts.values()]
    np.testing.assert_allclose(fitted.to_table(), expected, rtol=1e-12)
    network = BayesianNetwork(
        [RAIN, HOSE, WET],
        {"wet": ["rain", "hose"]},
        {"rain": [1, 0, 0], "hose": [1, 0], "wet": TABLE},
    )
    dag = network.dag
    again = fit_network(dag, data, ess=3.0)
    assert again.distribution("rain") == network.distribution("rain").fit(data, 3.0)
    frame = pd.DataFrame(
        {v.name: np.array(v.states)[rows[:, i]] for i, v in enumerate((RAIN, HOSE, WET))}
    )
    assert make_wet().fit(frame, ess=3.0) == fitted


def test_fit_reads_numbers_into_the_bins_of_the_network():
    age = TableDistribution(Variable("age", ("below_18", "from_18")), (), [0.5, 0.5])
    fitted = age.fit(pd.DataFrame({"age": [3.5, 70.25, 18.0, 44.5]}), ess=0)
    assert fitted.to_table().tolist() == [[0.25, 0.75]]


def test_fit_refuses_other_states():
    data = read_data(np.array([["maybe", "1"], ["no", "0"]]), names=["wet", "hose"])
    with pytest.raises(NetworkError) as caught:
        TableDistribution(WET, (), [0.5, 0.5]).fit(data)
    assert str(caught.value) == (
        "'wet' cannot be fitted. 1 value of 'wet' is unknown, because the network has no such "
        "state: 'maybe' (1)."
    )
    with pytest.raises(NetworkError) as caught:
        make_wet().fit(pd.DataFrame({"wet": ["no", None], "hose": ["on", "off"]}))
    assert str(caught.value) == (
        "'wet' cannot be fitted. 1 variable has no column and is unknown: 'rain'."
    )


def test_describe_and_as_dict():
    assert make_wet().describe().splitlines() == [
        "wet given rain, hose: a table with 6 rows and 2 states",
        "  rain=no, hose=off: wet=no 0.900, wet=yes 0.100",
        "  rain=no, hose=on: wet=no 0.200, wet=yes 0.800",
        "  rain=light, hose=off: wet=no 0.400, wet=yes 0.600",
        "  rain=light, hose=on: wet=no 0.100, wet=yes 0.900",
        "  rain=heavy, hose=off: wet=no 0.050, wet=yes 0.950",
        "  rain=heavy, hose=on: wet=no 0, wet=yes 1",
    ]
    assert make_wet().as_dict() == {
        "kind": "table",
        "name": "wet",
        "states": ["no", "yes"],
        "parents": ["rain", "hose"],
        "table": TABLE,
    }
    many = TableDistribution(
        WET, [Variable("n", tuple(map(str, range(14))))], np.full((14, 2), 0.5)
    )
    assert many.describe().splitlines()[-1] == "  ... 2 more rows"
    assert GARDEN.distribution("rain").describe() == (
        "rain: a table with 1 row and 2 states\n  rain=no 0.750, rain=yes 0.250"
    )


def test_it_is_a_value():
    one = make_wet()
    assert one == make_wet()
    assert one != TableDistribution(WET, [HOSE, RAIN], TABLE)
    assert one != TableDistribution(WET, [RAIN, HOSE], np.full((6, 2), 0.5))
    assert one != "a table"
    copied = pickle.loads(pickle.dumps(one))
    assert copied == one
    assert not copied.to_table().flags.writeable
    with pytest.raises(TypeError):
        hash(one)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"rain": [0], "hose": [0]}, "There are no values of 'wet'."),
        (
            {"rain": [0], "hose": [0], "wet": [2]},
            "A value of 'wet' is no state of it. Its states are 'no', 'yes', or the numbers from "
            "0 to 1.",
        ),
        (
            {"rain": ["hail"], "hose": [0], "wet": [1]},
            "A value of 'rain' is no state of it. Its states are 'no', 'light', 'heavy', or the "
            "numbers from 0 to 2.",
        ),
    ],
)
def test_values_are_validated(values, message):
    with pytest.raises(NetworkError) as caught:
        make_wet().log_density(values)
    assert str(caught.value) == message


def test_a_number_of_rows_is_validated():
    with pytest.raises(CoevoError) as caught:
        make_wet().sample({"rain": [], "hose": []}, -1, np.random.default_rng(1))
    assert str(caught.value) == "'n_rows' of sample must be an int >= 0; got -1."


def test_a_family_names_each_variable_once():
    with pytest.raises(NetworkError) as caught:
        TableDistribution(WET, [RAIN, RAIN], np.full((9, 2), 0.5))
    assert str(caught.value) == "The family of 'wet' names 'rain' twice."


def test_a_network_takes_distributions():
    variables, parents = [RAIN, HOSE, WET], {"wet": ["rain", "hose"]}
    numbers = {"rain": [1, 0, 0], "hose": [1, 0]}
    network = BayesianNetwork(variables, parents, {**numbers, "wet": make_wet()})
    assert network == BayesianNetwork(variables, parents, {**numbers, "wet": TABLE})
    with pytest.raises(NetworkError) as caught:
        BayesianNetwork(variables, {"wet": ["hose", "rain"]}, {**numbers, "wet": make_wet()})
    assert str(caught.value) == (
        "The distribution of 'wet' is about wet given rain, hose; its states or parents are not "
        "those of the network."
    )


def test_another_kind_stands_beside_tables():
    noisy, plain = make_noisy()
    assert noisy != plain
    assert pickle.loads(pickle.dumps(plain)) == plain
    assert noisy.n_parameters == 2 + 1 + 2
    rows = sample(noisy, 500, random_state=5)
    assert rows == sample(plain, 500, random_state=5)
    likelihood = noisy.log_likelihood(rows)
    np.testing.assert_allclose(likelihood.per_row, plain.log_likelihood(rows).per_row, rtol=1e-12)
    assert likelihood.total == pytest.approx(plain.log_likelihood(rows).total, rel=1e-12)
    assert noisy.query("rain", {"wet": "yes"}) == plain.query("rain", {"wet": "yes"})


def test_a_kind_without_a_table_is_refused_where_a_table_is_needed():
    noisy, plain = make_noisy(has_table=False)
    rows = sample(noisy, 500, random_state=5)
    assert rows == sample(plain, 500, random_state=5)
    assert noisy.log_likelihood(rows).total == pytest.approx(plain.log_likelihood(rows).total)
    for ask in (lambda: noisy.table("wet"), lambda: noisy.query("rain", {"wet": "yes"})):
        with pytest.raises(NetworkError) as caught:
            ask()
        assert str(caught.value) == (
            "The distribution of 'wet' is of the kind 'noisy_or', which has no table of "
            "probabilities."
        )


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_formats_say_what_they_can_hold(name):
    noisy, plain = make_noisy()
    if not FORMATS[name].has_tables:
        assert format_model(noisy, name) == format_model(plain, name)
        return
    with pytest.raises(FormatError) as caught:
        format_model(noisy, name)
    label = FORMATS[name].label
    assert str(caught.value) == (
        f"{label} cannot hold the distribution of 'wet': it is of the kind 'noisy_or', and {label} "
        "holds table."
    )


# ---- a node of numbers


class LinearGaussian(NodeDistribution):
    """A number with a mean for each state of one discrete parent, and a standard deviation."""

    kind = "linear_gaussian"

    def __init__(self, variable, parents, means, deviation):
        super().__init__(variable, parents)
        self.means, self.deviation = np.array(means), deviation

    @property
    def n_parameters(self):
        return len(self.means) + 1

    def log_density(self, values):
        off = np.asarray(values[self.variable.name]) - self.means[values[self.parents[0].name]]
        scale = math.log(self.deviation * math.sqrt(2 * math.pi))
        return -0.5 * (off / self.deviation) ** 2 - scale

    def sample(self, values, n_rows, rng):
        return rng.normal(self.means[values[self.parents[0].name]], self.deviation, n_rows)

    def fit(self, table, ess=1.0):
        return self

    def describe(self):
        return f"{self.label}: a normal distribution"

    def as_dict(self):
        return {"kind": self.kind, "name": self.variable.name, "means": self.means.tolist()}


def make_mixed():
    depth = LinearGaussian(Continuous("depth"), [RAIN], [0.0, 1.0, 4.0], 0.5)
    return BayesianNetwork(
        [RAIN, Continuous("depth")],
        {"depth": ["rain"]},
        {"rain": [0.5, 0.3, 0.2], "depth": depth},
    )


def test_a_node_of_numbers_stands_beside_tables():
    network = make_mixed()
    assert network.n_parameters == 2 + 4
    assert [variable.size for variable in network.variables] == [3, 1]
    depth = network.distribution("depth")
    rain = network.distribution("rain").sample({}, 4000, np.random.default_rng(1))
    drawn = depth.sample({"rain": rain}, 4000, np.random.default_rng(2))
    for code, mean in enumerate([0.0, 1.0, 4.0]):
        assert drawn[rain == code].mean() == pytest.approx(mean, abs=0.06)
    assert depth.log_density({"rain": [2], "depth": [4.0]})[0] == pytest.approx(
        -math.log(0.5 * math.sqrt(2 * math.pi))
    )
    assert depth.total_log_density({"rain": [2, 2], "depth": [4.0, 4.0]}, np.array([1, 2])) == (
        pytest.approx(-3 * math.log(0.5 * math.sqrt(2 * math.pi)))
    )
    assert depth.label == "depth given rain"
    assert network.dag.arcs == (("rain", "depth"),)
    renamed = network.replace(names={"depth": "water"})
    assert renamed.variable("water") == Continuous("water")
    assert network.plot().save is not None
    with pytest.raises(NetworkError) as caught:
        network.replace(states={"depth": ["low"]})
    assert str(caught.value) == "'depth' holds numbers, and has no states to replace."
    with pytest.raises(NetworkError) as caught:
        network.query("rain", {})
    assert "linear_gaussian" in str(caught.value)
    with pytest.raises(FormatError) as caught:
        format_model(network, "json")
    assert str(caught.value) == (
        "JSON cannot hold the distribution of 'depth': it is of the kind 'linear_gaussian', and "
        "JSON holds table."
    )


def test_a_table_needs_states():
    for variable, parents in ((Continuous("depth"), [RAIN]), (WET, [Continuous("depth")])):
        with pytest.raises(NetworkError) as caught:
            TableDistribution(variable, parents, [[0.5, 0.5]])
        assert str(caught.value) == (
            f"The table of {variable.name!r} needs states, and 'depth' is "
            "Continuous(name='depth'). Give a distribution of another kind."
        )
    with pytest.raises(DataError) as caught:
        Dataset([Continuous("depth")], [[0, 1]])
    assert str(caught.value) == (
        "A Dataset holds states, and 'depth' is no Discrete variable. Cut numbers into bins with "
        "read_data(discretise='mdl')."
    )
