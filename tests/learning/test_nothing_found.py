"""A network without arcs says why, and what came close."""

import numpy as np
import pandas as pd
import pytest

import coevo
from coevo.learning.nothing_found import estimate_visible_correlation
from helpers.values import as_values


def learn(columns, **options):
    return coevo.learn(pd.DataFrame(columns), bootstraps=0, **as_values(options))


def draw_arthritis():
    """Return a trial: 84 rows, an outcome that depends on the treatment, weakly."""
    cells = {("p", "n"): 29, ("p", "s"): 7, ("p", "m"): 7, ("t", "n"): 13, ("t", "s"): 7}
    rows = [cell for cell, n in {**cells, ("t", "m"): 21}.items() for _ in range(n)]
    return {"arm": [a for a, _ in rows], "outcome": [b for _, b in rows]}


def test_a_near_miss_has_the_probability_of_the_exact_posterior():
    found = learn(draw_arthritis())
    assert found.gains == {}
    (miss,) = found.near_misses
    assert {miss.parent, miss.child} == {"arm", "outcome"}
    assert miss.gain == pytest.approx(found.best_rejected.gain)
    posterior = coevo.posterior(pd.DataFrame(draw_arthritis()))
    assert miss.probability == pytest.approx(posterior.edge_probability("arm", "outcome"))
    assert found.no_arcs_reason == (
        f"The best network has no arcs, but {miss.parent} -- {miss.child} is close: with a "
        f"probability of {miss.probability:.2f}, if nothing else changes. More rows would decide. "
        "coevo posterior weighs all networks, and coevo test looks at the pair."
    )
    written = found.as_dict()
    assert written["near_misses"] == [
        {"from": miss.parent, "to": miss.child, "gain": miss.gain, "probability": miss.probability}
    ]
    assert written["no_arcs_reason"] == found.no_arcs_reason


def test_the_reason_is_few_rows_for_many_states():
    rng = np.random.default_rng(1)
    found = learn({f"c{i}": [f"s{v}" for v in rng.integers(15, size=60)] for i in range(4)})
    assert found.no_arcs_reason == (
        "60 rows are few for columns of 15 states: a table of two of them has 225 cells. Merge "
        "rare states, use fewer bins (--bins 2), or collect more rows."
    )


def test_the_reason_is_no_strong_dependence():
    column = np.arange(200)
    found = learn({"a": column % 2, "b": column // 2 % 2})
    assert found.no_arcs_reason == (
        "No dependence is strong enough for 200 rows: two yes/no columns, for example, need a "
        "correlation of about 0.26. Weaker dependences need more rows; coevo test looks at one "
        "pair."
    )


@pytest.mark.parametrize("n_rows", [60, 200, 1000])
def test_the_correlation_that_shows(n_rows):
    """Two even yes/no columns with a correlation around the estimate: below it no arc."""
    limit = estimate_visible_correlation(n_rows, 4.0)
    n_arcs = []
    for correlation in (0.8 * limit, 1.2 * limit):
        same = round(n_rows * (1 + correlation) / 2)
        a = np.arange(n_rows) % 2
        b = np.where(np.arange(n_rows) < same, a, 1 - a)
        n_arcs.append(len(learn({"a": a, "b": b}).gains))
    assert n_arcs == [0, 1]


def test_the_reason_names_columns_that_were_left_out():
    column = np.arange(80)
    left_out = {f"k{i}": ["x"] * 80 for i in range(3)}
    with pytest.warns(coevo.CoevoWarning, match="every row"):
        found = learn({"a": column % 2, "b": column // 2 % 2, **left_out})
    assert found.no_arcs_reason.endswith(
        "3 columns of 5 were left out; the decisions above say why, and how to keep them."
    )


def test_constraints_and_early_ends_are_reasons():
    same = {"a": [0, 1] * 40, "b": [0, 1] * 40, "c": [0, 0, 1, 1] * 20}
    types = {"b": "categorical"}
    forbidden = coevo.Constraints(roots=["a", "b", "c"])
    found = learn(same, constraints=forbidden, read={"types": types})
    assert found.no_arcs_reason == (
        "The constraints allow no arc, or there are not two variables to join."
    )
    found = learn(same, budget={"max_generations": 0}, read={"types": types})
    assert found.no_arcs_reason == (
        "The search ended early: an arc would raise the score. Give it more time."
    )
    assert learn(same, read={"types": types}).no_arcs_reason is None
