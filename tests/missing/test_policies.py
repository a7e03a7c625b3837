"""Every policy learns and imputes. The order of rows and the threads do not change the result."""

import csv
from dataclasses import replace

import numpy as np
import pytest

from coevo.bundled import load_network
from coevo.data import Dataset, IncompleteDataset, Variable, read_data
from coevo.errors import DataError, FileError, ParameterError
from coevo.graph import Constraints
from coevo.missing import POLICIES, ImputedTable, learn_incomplete, write_imputed
from coevo.missing.evolve import N_IMPUTATIONS
from coevo.missing.imputations import Imputations
from coevo.network import sample
from coevo.score import FamilyScorer
from coevo.search import Budget, run_search
from helpers.problems import MovedClock, random_table

FEW = Budget(max_generations=12)


def sample_asia(seed, n_rows=300, share=0.1):
    rows = sample(load_network("asia"), n_rows, seed).expand()
    missing = np.random.default_rng(seed).random(rows.codes.shape) < share
    missing[:, :5] = False
    return rows, IncompleteDataset(rows, missing)


@pytest.mark.parametrize("method", ["ccga", "ccma", "hill_climb", "k2"])
@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_result_of_each_policy(policy, method, seed):
    rows, table = sample_asia(seed)
    budget = FEW if method in ("ccga", "ccma") else None
    found = learn_incomplete(table, policy, method=method, budget=budget, random_state=seed)
    assert found.imputation.policy == policy
    assert found.search.method == method
    assert found.search.score == found.scorer.score(found.search.dag)
    assert found.imputation.network.dag == found.search.dag
    imputed_table = found.imputation.imputed_table
    assert (imputed_table is None) == (policy == "state")
    if imputed_table is not None:
        assert (imputed_table.dataset.codes == rows.codes)[~table.missing].all()
        probability = imputed_table.probability
        assert (probability[~table.missing] == 1).all()
        assert (probability[table.missing] < 1).all()
        assert (probability >= 1 / rows.arities[:, None]).all()
        assert imputed_table.missing is table.missing


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_neither_row_order_nor_threads_change_the_result(policy, seed):
    _, table = sample_asia(seed, n_rows=120)
    order = np.random.default_rng(seed).permutation(table.n_rows)
    moved = IncompleteDataset(
        table.make_dataset(table.dataset.codes[:, order]), table.missing[:, order]
    )
    first = learn_incomplete(table, policy, budget=FEW, random_state=3)
    again = learn_incomplete(moved, policy, budget=FEW, random_state=3, n_jobs=2)
    assert first.search.dag == again.search.dag
    assert first.search.score == again.search.score
    one, two = first.imputation.imputed_table, again.imputation.imputed_table
    assert (one is None) == (two is None)
    if one is not None:
        assert (one.probability[:, order] == two.probability).all()
        assert (one.dataset.codes[:, order] == two.dataset.codes).all()


def test_codes_of_missing_values_do_not_matter(seed):
    rows, table = sample_asia(seed, n_rows=120)
    blank = np.where(table.missing, 0, rows.codes)
    other = IncompleteDataset(table.make_dataset(blank), table.missing)
    for policy in POLICIES:
        one, two = (learn_incomplete(t, policy, budget=FEW, random_state=3) for t in (table, other))
        assert one.search.dag == two.search.dag
        assert one.search.score == two.search.score


def test_a_complete_table_is_learned_as_by_run_search(seed):
    rows, _ = sample_asia(seed)
    table = IncompleteDataset(rows, np.zeros(rows.codes.shape, dtype=bool))
    best = run_search("ccma", FamilyScorer(rows, "k2"), random_state=0).score
    for policy in POLICIES:
        found = learn_incomplete(table, policy, score="k2", random_state=seed)
        assert found.search.score == pytest.approx(best, rel=1e-11)


def test_evolve_loses_less_than_drop_and_mode():
    """Nats lost on the complete rows, summed over three masks to reduce the noise."""
    lost = {"evolve": 0.0, "drop": 0.0, "mode": 0.0}
    for mask in range(3):
        rows, table = sample_asia(mask, n_rows=800, share=0.2)
        scorer = FamilyScorer(rows, "k2")
        best = run_search("ccma", scorer, random_state=0).score
        codes = table.dataset.codes.copy()
        for column, missing in zip(codes, table.missing, strict=True):
            column[missing] = np.bincount(column[~missing]).argmax()
        mode = FamilyScorer(table.make_dataset(codes), "k2")
        found = {
            "evolve": learn_incomplete(table, "evolve", score="k2").search.dag,
            "drop": learn_incomplete(table, "drop", score="k2").search.dag,
            "mode": run_search("ccma", mode, random_state=0).dag,
        }
        for policy, dag in found.items():
            lost[policy] += best - scorer.score(dag)
    assert lost["evolve"] < 0.7 * min(lost["drop"], lost["mode"])


def test_constraints_and_weights_hold(seed):
    _, table = sample_asia(seed)
    known = Constraints(required=[("smoke", "xray")], forbidden=[("either", "xray")], max_parents=2)
    for policy in POLICIES:
        found = learn_incomplete(table, policy, constraints=known, budget=FEW)
        assert ("smoke", "xray") in found.search.dag.arcs
        assert ("either", "xray") not in found.search.dag.arcs
        favoured = learn_incomplete(table, policy, weights={("asia", "xray"): 500.0}, budget=FEW)
        assert ("asia", "xray") in favoured.search.dag.arcs


def test_each_imputation_has_its_own_partner(seed, monkeypatch):
    """Values are drawn under the structures of the orders, not under one of them."""
    drawn = []
    redraw = Imputations.redraw

    def keep(self, structures, n_sweeps):
        drawn.append([structure.tobytes() for structure in structures])
        redraw(self, structures, n_sweeps)

    monkeypatch.setattr(Imputations, "redraw", keep)
    _, table = sample_asia(seed, n_rows=60)
    learn_incomplete(table, "evolve", method="ccma", score="bdeu", random_state=seed)
    assert len(drawn) == 8  # epochs
    for structures in drawn:
        assert len(structures) == 20  # one for each order
        assert len(set(structures[:N_IMPUTATIONS])) > 1


def test_a_limit_holds_for_all_searches_together(seed):
    _, table = sample_asia(seed)
    for n in (1, 4, 9):
        found = learn_incomplete(table, "evolve", budget=Budget(max_generations=n))
        assert found.search.generations == n
        assert found.search.stop_reason == "generations"
    at_once = learn_incomplete(table, "evolve", budget=Budget(max_time=0))
    assert at_once.search.stop_reason == "time"


@pytest.mark.parametrize("method", ["ccma", "ccga", "hill_climb", "tabu"])
@pytest.mark.parametrize("policy", ["evolve", "em", "available", "drop"])
def test_time_that_ends_before_the_first_generation(policy, method, seed, monkeypatch):
    """Each part of a batch takes a second: no search of the policy has a state."""
    clock, real = MovedClock(monkeypatch), FamilyScorer._compute_within_limit

    def compute(scorer, families, n_cells):
        clock.now += 1
        return real(scorer, families, n_cells)

    monkeypatch.setattr(FamilyScorer, "_compute_within_limit", compute)
    _, table = sample_asia(seed)
    found = learn_incomplete(table, policy, method=method, budget=Budget(max_time=0.1))
    assert found.search.stop_reason == "time"
    assert found.imputation.dataset.n_rows > 0


@pytest.mark.parametrize("method", ["ccma", "hill_climb"])
def test_a_callback_stops_the_policy(method, seed):
    _, table = sample_asia(seed)
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
        "Of 30 rows, no row is without missing values, too few to learn from (missing='drop'). "
        "Use another policy, such as missing='evolve', or leave out the columns with the most "
        "missing values: 'v000' (20), 'v001' (20)."
    )


def test_wrong_arguments(seed):
    rows, table = sample_asia(seed)
    for arguments, message in (
        (
            (rows,),
            "'table' of learn_incomplete must be an IncompleteDataset (see "
            f"coevo.data.read_incomplete); got {rows!r}.",
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


def test_files_of_an_imputed_table(tmp_path):
    rows, table = sample_asia(4, n_rows=400)
    found = learn_incomplete(table, "em", method="hill_climb")
    imputed_table = found.imputation.imputed_table
    path = write_imputed(imputed_table, tmp_path / "imputed.csv.gz")
    assert path == tmp_path / "imputed.probabilities.csv"
    again = read_data(tmp_path / "imputed.csv.gz", states=rows.source_variables, deduplicate=False)
    assert (again.codes == imputed_table.dataset.codes).all()
    lines = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    assert len(lines) == table.n_missing
    for line, value in zip(lines, imputed_table.iter_imputed_values(), strict=True):
        variable = table.dataset.find_position(line["column"])
        row = int(line["row"]) - 1
        assert table.missing[variable, row]
        assert line["state"] == value.state
        assert again.variables[variable].states[again.codes[variable, row]] == line["state"]
        assert float(line["probability"]) == pytest.approx(value.probability, rel=1e-5)


def test_probabilities_with_quotes_and_in_several_blocks(tmp_path, monkeypatch):
    """The file with the probabilities has the same lines for any size of a block."""
    dataset = Dataset(
        [Variable('a, "b"', ("no, never", "yes")), Variable("c", ("0", "1"))],
        [[0, 1, 0, 0, 1], [0, 1, 1, 0, 1]],
    )
    missing = np.zeros(dataset.codes.shape, dtype=bool)
    missing[:, 2:] = True
    imputed_table = ImputedTable(dataset, missing, np.where(missing, 0.75, 1.0))
    expected = [
        ["row", "column", "state", "probability"],
        ["3", 'a, "b"', "no, never", "0.75"],
        ["3", "c", "1", "0.75"],
        ["4", 'a, "b"', "no, never", "0.75"],
        ["4", "c", "0", "0.75"],
        ["5", 'a, "b"', "yes", "0.75"],
        ["5", "c", "1", "0.75"],
    ]
    for block_rows in (1, 4, 1000):
        monkeypatch.setattr("coevo.missing.imputed_table.BLOCK_ROWS", block_rows)
        path = write_imputed(imputed_table, tmp_path / f"imputed{block_rows}.csv")
        text = path.read_text(encoding="utf-8")
        assert list(csv.reader(text.splitlines())) == expected


def test_the_two_files_of_an_imputed_table_have_different_names(tmp_path):
    _, table = sample_asia(4, n_rows=100)
    found = learn_incomplete(table, "drop", method="hill_climb")
    path = tmp_path / "imputed.probabilities.csv"
    with pytest.raises(FileError) as caught:
        write_imputed(found.imputation.imputed_table, path)
    assert str(caught.value) == (
        f"{str(path)!r} is the name of the file with the probabilities of the imputed values. Give "
        "the table another name."
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("policy", "field", "forged", "flaw"),
    [
        ("evolve", "imputed_codes", lambda codes: codes + 9, "a state of each missing value"),
        ("evolve", "imputed_codes", lambda codes: codes.astype(float), "a state of each"),
        ("evolve", "imputed_codes", lambda codes: codes[0], "'imputed_codes' must have 2 axes"),
        ("evolve", "most_probable", lambda codes: codes + 9, "'most_probable' must hold a state"),
        ("evolve", "number", lambda number: number + 99, "'number' must be an int >= 0 and <= 10"),
        ("evolve", "n_draws", lambda number: -number - 1, "'n_draws' must be an int >= 0"),
        ("evolve", "is_last", lambda flag: np.array(2), "'is_last' must be True or False"),
        ("em", "structures", lambda one: np.zeros((1, 3, 3), bool), "must have all variables"),
        ("em", "most_probable", lambda codes: codes[:3], "'most_probable' must hold a state"),
    ],
)
def test_a_forged_stage_is_refused(policy, field, forged, flaw, seed):
    """Kernels trust imputed values: a state that does not exist would be an index too large."""
    _, table = sample_asia(seed)
    kept = []
    options = {"method": "hill_climb", "budget": Budget(max_generations=4)}
    learn_incomplete(table, policy, on_checkpoint=kept.append, **options)
    first = kept[0]
    arrays = dict(first.extra_arrays) | {field: forged(first.extra_arrays[field])}
    with pytest.raises(ParameterError) as caught:
        learn_incomplete(table, policy, state=replace(first, extra_arrays=arrays), **options)
    assert flaw in str(caught.value)
    del arrays[field]
    with pytest.raises(ParameterError) as caught:
        learn_incomplete(table, policy, state=replace(first, extra_arrays=arrays), **options)
    assert str(caught.value) == (f"The state is damaged: {field!r} is missing. Start a new search.")
