"""Every policy learns, fills, and gives the same answer however the table is laid out."""

import csv

import numpy as np
import pytest

from coevo.bundled import load_network
from coevo.data import IncompleteDataset, read_data
from coevo.errors import DataError, FileError, ParameterError
from coevo.graph import Constraints
from coevo.missing import POLICIES, learn_incomplete, write_imputed
from coevo.network import sample
from coevo.score import FamilyScorer
from coevo.search import Budget, run_search
from helpers.problems import random_table

FEW = Budget(max_generations=12)


def asia(seed, n_rows=300, share=0.1):
    rows = sample(load_network("asia"), n_rows, seed).unfolded()
    missing = np.random.default_rng(seed).random(rows.codes.shape) < share
    missing[:, :5] = False
    return rows, IncompleteDataset(rows, missing)


@pytest.mark.parametrize("method", ["ccga", "ccma", "hill_climb", "k2"])
@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_what_a_policy_returns(policy, method, seed):
    rows, table = asia(seed)
    budget = FEW if method in ("ccga", "ccma") else None
    found = learn_incomplete(table, policy, method=method, budget=budget, random_state=seed)
    assert found.policy == policy
    assert found.search.method == method
    assert found.search.score == found.scorer.score(found.search.dag)
    assert found.network.dag == found.search.dag
    assert (found.completed is None) == (policy == "state")
    if found.completed is not None:
        codes = found.completed.dataset.codes
        assert (codes == rows.codes)[~table.missing].all()
        sure = found.completed.probability
        assert (sure[~table.missing] == 1).all()
        assert (sure[table.missing] < 1).all()
        assert (sure >= 1 / rows.arities[:, None]).all()
        assert found.completed.missing is table.missing


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_neither_rows_nor_columns_nor_threads_change_the_answer(policy, seed):
    _, table = asia(seed, n_rows=120)
    order = np.random.default_rng(seed).permutation(table.n_rows)
    moved = IncompleteDataset(
        table.completed(table.dataset.codes[:, order]), table.missing[:, order]
    )
    first = learn_incomplete(table, policy, budget=FEW, random_state=3)
    again = learn_incomplete(moved, policy, budget=FEW, random_state=3, n_jobs=2)
    assert first.search.dag == again.search.dag
    assert first.search.score == again.search.score
    if first.completed is not None:
        assert (first.completed.probability[:, order] == again.completed.probability).all()
        codes = first.completed.dataset.codes[:, order]
        assert (codes == again.completed.dataset.codes).all()


def test_what_missing_cells_hold_does_not_matter(seed):
    rows, table = asia(seed, n_rows=120)
    blank = np.where(table.missing, 0, rows.codes)
    other = IncompleteDataset(table.completed(blank), table.missing)
    for policy in POLICIES:
        one, two = (learn_incomplete(t, policy, budget=FEW, random_state=3) for t in (table, other))
        assert one.search.dag == two.search.dag
        assert one.search.score == two.search.score


def test_a_complete_table_is_learned_as_ever(seed):
    rows, _ = asia(seed)
    table = IncompleteDataset(rows, np.zeros(rows.codes.shape, dtype=bool))
    best = run_search("ccma", FamilyScorer(rows, "k2"), random_state=0).score
    for policy in POLICIES:
        found = learn_incomplete(table, policy, score="k2", random_state=seed)
        assert found.search.score == pytest.approx(best, rel=1e-11)


def test_evolve_finds_more_than_dropping_and_modes():
    """Nats on the complete rows; summed over three masks, so that no draw decides."""
    lost = {"evolve": 0.0, "drop": 0.0, "mode": 0.0}
    for mask in range(3):
        rows, table = asia(mask, n_rows=800, share=0.2)
        scorer = FamilyScorer(rows, "k2")
        best = run_search("ccma", scorer, random_state=0).score
        codes = table.dataset.codes.copy()
        for own, missing in zip(codes, table.missing, strict=True):
            own[missing] = np.bincount(own[~missing]).argmax()
        mode = FamilyScorer(table.completed(codes), "k2")
        found = {
            "evolve": learn_incomplete(table, "evolve", score="k2").search.dag,
            "drop": learn_incomplete(table, "drop", score="k2").search.dag,
            "mode": run_search("ccma", mode, random_state=0).dag,
        }
        for policy, dag in found.items():
            lost[policy] += best - scorer.score(dag)
    assert lost["evolve"] < 0.7 * min(lost["drop"], lost["mode"])


def test_constraints_and_weights_hold(seed):
    _, table = asia(seed)
    known = Constraints(required=[("smoke", "xray")], forbidden=[("either", "xray")], max_parents=2)
    for policy in POLICIES:
        found = learn_incomplete(table, policy, constraints=known, budget=FEW)
        assert ("smoke", "xray") in found.search.dag.arcs
        assert ("either", "xray") not in found.search.dag.arcs
        favoured = learn_incomplete(table, policy, weights={("asia", "xray"): 500.0}, budget=FEW)
        assert ("asia", "xray") in favoured.search.dag.arcs


def test_a_limit_holds_for_all_searches_together(seed):
    _, table = asia(seed)
    for n in (1, 4, 9):
        found = learn_incomplete(table, "evolve", budget=Budget(max_generations=n))
        assert found.search.generations == n
        assert found.search.stop_reason == "generations"
    at_once = learn_incomplete(table, "evolve", budget=Budget(max_time=0))
    assert at_once.search.stop_reason == "time"


@pytest.mark.parametrize("method", ["ccma", "hill_climb"])
def test_a_callback_ends_it(method, seed):
    _, table = asia(seed)
    rows = []

    def stop(row):
        rows.append(row)
        return len(rows) == 3

    found = learn_incomplete(table, "evolve", method=method, callbacks=[stop])
    assert found.search.stop_reason == "callback"
    assert len(rows) == 3


def test_too_few_rows_to_drop(seed):
    dataset = random_table([seed, 0], n_variables=3, n_rows=30)
    missing = np.zeros(dataset.codes.shape, dtype=bool)
    missing[0, :20] = missing[1, 10:] = True
    with pytest.raises(DataError) as caught:
        learn_incomplete(IncompleteDataset(dataset, missing), "drop")
    assert str(caught.value) == (
        "Of 30 rows, no row is without a missing cell, too few to learn from (missing='drop'). "
        "Take another policy, such as missing='evolve', or leave out the columns that miss most: "
        "'v000' (20), 'v001' (20)."
    )


def test_what_is_refused(seed):
    rows, table = asia(seed)
    for arguments, message in (
        (
            (rows,),
            "'table' of learn_incomplete must be an IncompleteDataset (see read_incomplete); got "
            f"{rows!r}.",
        ),
        (
            (table, ["drop"]),
            "'missing' of learn_incomplete must be one of 'available', 'drop', 'em', 'evolve', "
            "'state'; got ['drop']. Did you mean 'drop'?",
        ),
        (
            (table, "evolv"),
            "'missing' of learn_incomplete must be one of 'available', 'drop', 'em', 'evolve', "
            "'state'; got 'evolv'. Did you mean 'evolve'?",
        ),
    ):
        with pytest.raises(ParameterError) as caught:
            learn_incomplete(*arguments)
        assert str(caught.value) == message


def test_the_files_of_a_completed_table(tmp_path):
    rows, table = asia(4, n_rows=400)
    found = learn_incomplete(table, "em", method="hill_climb")
    beside = write_imputed(found.completed, tmp_path / "whole.csv.gz")
    assert beside == tmp_path / "whole.filled.csv"
    again = read_data(tmp_path / "whole.csv.gz", states=rows.source_variables, fold=False)
    assert (again.codes == found.completed.dataset.codes).all()
    lines = list(csv.DictReader(beside.read_text(encoding="utf-8").splitlines()))
    assert len(lines) == table.n_missing
    for line, cell in zip(lines, found.completed.cells(), strict=True):
        place = table.dataset.position(line["column"])
        row = int(line["row"]) - 1
        assert table.missing[place, row]
        assert line["state"] == cell.state
        assert again.variables[place].states[again.codes[place, row]] == line["state"]
        assert float(line["probability"]) == pytest.approx(cell.probability, rel=1e-5)


def test_the_two_files_of_a_completed_table_differ(tmp_path):
    _, table = asia(4, n_rows=100)
    found = learn_incomplete(table, "drop", method="hill_climb")
    with pytest.raises(FileError, match="is where the probabilities of the filled cells go"):
        write_imputed(found.completed, tmp_path / "whole.filled.csv")
    assert not list(tmp_path.iterdir())
