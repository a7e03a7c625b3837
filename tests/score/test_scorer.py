"""Local scores equal the direct sum, for every shape of table and every counting method."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from coevo.data import Dataset
from coevo.errors import DataError, ParameterError
from coevo.graph import DAG
from coevo.score import SCORES, FamilyBatch, FamilyScorer, make_score
from coevo.score import counting as counting_module
from coevo.score import scorer as scorer_module
from coevo.score.kernels import BEGIN, KEY, SPARSE
from helpers.random_tables import SHAPES, dataset_of, random_codes, random_families

TIGHT = {"rel": 1e-11, "abs": 1e-9}


def expected(name, arities, codes, families, ess=1.0, weights=None):
    rows = codes.T.tolist()
    return [
        naive.local_score(name, rows, arities, child, parents, ess, weights)
        for child, parents in families
    ]


@pytest.mark.kernel
@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("shape", ["skewed", "even", "mixed", "many states"])
def test_scores_equal_the_direct_sum(shape, name, seed):
    arities, codes = random_codes(shape, seed, n_rows=90)
    families = random_families(len(arities), 25, 3, seed)
    small = [f for f in families if math.prod(arities[p] for p in f[1]) < 5000]
    scorer = FamilyScorer(dataset_of(arities, codes), name)
    scores = scorer.local_scores(FamilyBatch.from_pairs(small))
    assert scores.tolist() == pytest.approx(expected(name, arities, codes, small), **TIGHT)


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("shape", ["skewed", "even"])
@pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 700, 4100, 40_000])
def test_scores_equal_the_direct_sum_for_any_number_of_rows(shape, name, n_rows, seed):
    arities, codes = random_codes(shape, seed, n_rows)
    n_families = 5 if n_rows > 5000 else 15 if n_rows > 1000 else 40  # the oracle is slow
    families = random_families(len(arities), n_families, 5, seed)
    scorer = FamilyScorer(dataset_of(arities, codes), name)
    scores = scorer.local_scores(FamilyBatch.from_pairs(families))
    assert scores.tolist() == pytest.approx(expected(name, arities, codes, families), **TIGHT)


@pytest.mark.kernel
@pytest.mark.parametrize("name", SCORES)
def test_a_table_larger_than_the_data_is_counted_sparsely(name, seed, monkeypatch):
    arities, codes = random_codes("wide", seed, n_rows=200)
    families = [(0, (1, 2)), (4, (0, 6, 7)), (5, (2, 3)), (7, (6,))]
    done = []
    sparse = scorer_module.evaluate_sparse

    def noted(index, spec, batch, *rest):
        done.extend(batch.method == SPARSE)
        sparse(index, spec, batch, *rest)

    monkeypatch.setattr(scorer_module, "evaluate_sparse", noted)
    scores = FamilyScorer(dataset_of(arities, codes), name).local_scores(
        FamilyBatch.from_pairs(families)
    )
    assert sum(done) == 3
    assert scores.tolist() == pytest.approx(expected(name, arities, codes, families), **TIGHT)


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("shape", SHAPES)
def test_no_score_exceeds_its_upper_bound(shape, name, seed):
    arities, codes = random_codes(shape, seed, n_rows=80)
    families = random_families(len(arities), 60, 4, seed)
    scorer = FamilyScorer(dataset_of(arities, codes), name)
    scores = scorer.local_scores(FamilyBatch.from_pairs(families))
    q = np.array([math.prod(float(arities[p]) for p in parents) for _, parents in families])
    r = np.array([float(arities[child]) for child, _ in families])
    bound = scorer.scoring.compute_upper_bound(80, q, r)
    assert (scores <= bound + 1e-9).all()
    assert (bound < 0).any() == (name in ("bic", "aic", "qnml"))


@pytest.mark.kernel
@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("n_rows", [50, 30_000])
def test_counts_of_every_size_are_summed_whatever_the_order_of_the_rows(name, n_rows, seed):
    """Few states occur in a wide table: some counts are large, and most cells are empty."""
    rng = np.random.default_rng(seed)
    arities = [60] * 3
    codes = np.minimum(rng.geometric(0.7, (3, n_rows)) - 1, 59)
    family = FamilyBatch.from_pairs([(2, (0, 1))])
    score = FamilyScorer(dataset_of(arities, codes), name).local_scores(family)[0]
    again = FamilyScorer(dataset_of(arities, codes[:, rng.permutation(n_rows)]), name)
    assert score == again.local_scores(family)[0]
    assert score == pytest.approx(*expected(name, arities, codes, [(2, (0, 1))]), **TIGHT)


@pytest.mark.kernel
@pytest.mark.parametrize("name", SCORES)
def test_a_table_beyond_every_integer_type(name, seed):
    """120 parents of two states: 2**120 configurations, of which at most 50 occur."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, (121, 50))
    scorer = FamilyScorer(dataset_of([2] * 121, codes), name)
    score = scorer.local_scores(FamilyBatch.from_pairs([(60, set(range(121)) - {60})]))[0]
    rows = {}
    for row in codes.T.tolist():
        rows.setdefault(tuple(row[:60] + row[61:]), [0, 0])[row[60]] += 1
    if name == "k2":
        assert score == pytest.approx(naive.dirichlet(rows, 1.0), **TIGHT)
    elif name == "bds":
        assert score == pytest.approx(naive.dirichlet(rows, 1 / (2 * len(rows))), **TIGHT)
    elif name == "bdeu":
        assert score == pytest.approx(50 * math.log(0.5), rel=1e-9)
    elif name == "fnml":
        regret = sum(naive.log_regret(2, sum(counts)) for counts in rows.values())
        assert score == pytest.approx(naive.likelihood(rows) - regret, **TIGHT)
    else:
        penalty = naive.size_penalty(name, 50, 2**120, 2)
        assert score == pytest.approx(naive.likelihood(rows) - penalty, rel=1e-11)


ANY_ESS = [1e-300, 1e-40, 1.0, 300.0, 9999.0, 1e4, 3e4, 1e8, 1e15, 1e20, 1e40, 1e155, 1e300]


@pytest.mark.parametrize("ess", ANY_ESS)
@pytest.mark.parametrize("name", ["bdeu", "bds"])
def test_any_prior_gives_the_exact_score(name, ess):
    """Counts on both sides of 256, where the terms of a dense table are computed differently."""
    rng = np.random.default_rng(5)
    arities = [2, 3, 40, 40, 40]
    codes = np.minimum(rng.geometric(0.7, (5, 700)) - 1, np.array(arities)[:, None] - 1)
    families = [(0, ()), (1, (0,)), (2, (0, 1)), (4, (1, 2, 3))]  # the last one is sparse
    scorer = FamilyScorer(dataset_of(arities, codes), name, ess=ess)
    for child, parents in families:
        table = {}
        for row in codes.T.tolist():
            counts = table.setdefault(tuple(row[p] for p in parents), [0] * arities[child])
            counts[row[child]] += 1
        q = len(table) if name == "bds" else math.prod(arities[p] for p in parents)
        score = scorer.local_scores(FamilyBatch.from_pairs([(child, parents)]))[0]
        assert score == pytest.approx(naive.exact_dirichlet(table, ess, q), rel=1e-11, abs=3e-9)


@pytest.mark.parametrize("ess", [1e-301, 1e301])
@pytest.mark.parametrize("name", ["bdeu", "bds"])
def test_a_prior_beyond_the_range_is_refused(name, ess):
    with pytest.raises(ParameterError) as caught:
        make_score(name, ess)
    assert str(caught.value) == (
        f"'ess' of {name} must be a number from 1e-300 to 1e+300; got {ess}."
    )


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("shape", SHAPES)
def test_weights_count_as_repeated_rows_to_the_last_bit(shape, name, seed):
    arities, codes = random_codes(shape, seed, n_rows=150)
    weights = np.random.default_rng(seed).integers(1, 6, 150)
    families = FamilyBatch.from_pairs(random_families(len(arities), 40, 4, seed))
    weighted = FamilyScorer(dataset_of(arities, codes, weights), name)
    repeated = FamilyScorer(dataset_of(arities, np.repeat(codes, weights, axis=1)), name)
    assert weighted.local_scores(families).tolist() == repeated.local_scores(families).tolist()


@pytest.mark.kernel
@pytest.mark.parametrize("shape", SHAPES)
def test_order_of_asking_batches_and_threads_change_no_bit(shape, seed):
    arities, codes = random_codes(shape, seed, n_rows=130)
    dataset = dataset_of(arities, codes)
    families = random_families(len(arities), 200, 4, seed)
    at_once = FamilyScorer(dataset).local_scores(FamilyBatch.from_pairs(families))
    threaded = FamilyScorer(dataset, n_jobs=3).local_scores(FamilyBatch.from_pairs(families))
    assert threaded.tolist() == at_once.tolist()
    one_by_one = FamilyScorer(dataset)
    for family, score in list(zip(families, at_once, strict=True))[::-1]:
        assert one_by_one.local_scores(FamilyBatch.from_pairs([family]))[0] == score


@pytest.mark.parametrize("name", SCORES)
def test_the_order_of_the_table_changes_no_bit(name, seed):
    """Columns, rows and states in another order: the same score for the same arcs."""
    arities, codes = random_codes("skewed", seed, n_rows=300)
    dataset = dataset_of(arities, codes)
    rng = np.random.default_rng(seed)
    names = list(dataset.names)
    dag = DAG(names, [(names[i], names[j]) for i in range(8) for j in range(i) if (i + j) % 3])
    rows, order = rng.permutation(300), rng.permutation(8)
    variables, columns = [], []
    for i in order:
        variable, states = dataset.variables[i], rng.permutation(arities[i])
        variables.append(type(variable)(variable.name, tuple(variable.states[s] for s in states)))
        columns.append(np.argsort(states)[codes[i][rows]])
    shuffled = Dataset(variables, columns)
    assert FamilyScorer(shuffled, name).score_per_variable(dag) == (
        FamilyScorer(dataset, name).score_per_variable(dag)
    )


def test_large_counts_beyond_the_tables(seed):
    """Counts above 65,536 are computed, not looked up."""
    arities, codes = [2, 3], np.array([[0, 0, 1, 1, 1], [0, 2, 0, 1, 2]])
    weights = np.array([70_000, 20_001, 3, 66_001, 20_000])
    for name in SCORES:
        scorer = FamilyScorer(dataset_of(arities, codes, weights), name)
        families = [(0, ()), (1, ()), (0, (1,)), (1, (0,))]
        scores = scorer.local_scores(FamilyBatch.from_pairs(families))
        assert scores.tolist() == pytest.approx(
            expected(name, arities, codes, families, weights=weights.tolist()), **TIGHT
        )


def test_the_store_of_shared_tables_may_overflow(seed, monkeypatch):
    arities, codes = random_codes("skewed", seed, n_rows=200)
    families = FamilyBatch.from_pairs(random_families(8, 300, 4, seed))
    plenty = FamilyScorer(dataset_of(arities, codes)).local_scores(families)
    monkeypatch.setattr(scorer_module, "SHARED_CELLS", 200)
    scarce = FamilyScorer(dataset_of(arities, codes)).local_scores(families)
    assert scarce.tolist() == plenty.tolist()


@pytest.mark.kernel
@pytest.mark.parametrize("n_rows", [1, 150, 5000, 40_000])  # 625 words: more than one block
@pytest.mark.parametrize("shape", SHAPES)
def test_all_counting_methods_give_the_same_scores(shape, n_rows, seed, monkeypatch):
    """With compact columns, with bit sets, and with neither, as in large tables."""
    arities, codes = random_codes(shape, seed, n_rows)
    families = FamilyBatch.from_pairs(random_families(len(arities), 60, 4, seed))
    plenty = FamilyScorer(dataset_of(arities, codes)).local_scores(families)
    for room, max_arity in ((1, 0), (0, 16), (0, 0)):
        monkeypatch.setattr(counting_module, "MIN_COMPACT_BYTES", room << 26)
        monkeypatch.setattr(counting_module, "COMPACT_SHARE", room)
        monkeypatch.setattr(counting_module, "MAX_BIT_SET_ARITY", max_arity)
        scarce = FamilyScorer(dataset_of(arities, codes)).local_scores(families)
        assert scarce.tolist() == plenty.tolist()


@pytest.mark.kernel
def test_a_shared_table_is_counted_when_enough_families_would_use_it(seed):
    """A pass over the rows for the shared table and a short level cost more than one pass."""
    rng = np.random.default_rng(seed)
    codes = np.vstack([rng.random(20_000) < 0.1, rng.integers(0, 10, (3, 20_000))]).astype(int)
    families = [(child, set(range(4)) - {child}) for child in range(4)]

    def count_shared(scorer):
        slots = scorer._shared.slots
        return int(((slots[:, KEY] >= 0) & (slots[:, BEGIN] >= 0)).sum())

    together, alone = (FamilyScorer(dataset_of([2, 10, 10, 10], codes), "bic") for _ in range(2))
    scores = together.local_scores(FamilyBatch.from_pairs(families))
    assert count_shared(together) == 1
    for n, family in enumerate(families):
        assert alone.local_scores(FamilyBatch.from_pairs([family])) == scores[n]
        assert count_shared(alone) == (n > 0)


@pytest.mark.kernel
def test_the_cache_is_exact_and_counted(seed):
    arities, codes = random_codes("even", seed, n_rows=60)
    dataset = dataset_of(arities, codes)
    families = FamilyBatch.from_pairs(random_families(8, 500, 4, seed))
    free = FamilyScorer(dataset)
    scores = free.local_scores(families)
    distinct = len({tuple(f) for f in random_families(8, 500, 4, seed)})
    assert free.local_scores(families).tolist() == scores.tolist()
    statistics = free.cache_statistics
    assert statistics.requested == 1000
    assert statistics.scored == statistics.stored == distinct
    assert statistics.hit_rate == 1 - distinct / 1000
    assert statistics.emptied == 0


def test_scores_without_the_cache_are_the_same(seed):
    arities, codes = random_codes("even", seed, n_rows=60)
    families = FamilyBatch.from_pairs(random_families(8, 500, 4, seed))
    dataset = dataset_of(arities, codes)
    options = {"max_table": 10, "weights": {dataset.names[:2]: 1.5}, "parent_penalty": 0.5}
    scorer = FamilyScorer(dataset, "bic", **options)
    scores = scorer.score_once(families)
    assert scorer.cache_statistics.requested == 0
    assert (
        scores.tolist() == FamilyScorer(dataset, "bic", **options).local_scores(families).tolist()
    )
    assert -np.inf in scores
    with pytest.raises(ParameterError):
        scorer.score_once(FamilyBatch(np.array([0, 9], dtype=np.int32), np.array([0, 2])))


def test_the_cache_grows_to_its_limit_and_starts_over(seed):
    rng = np.random.default_rng(seed)
    dataset = dataset_of([2] * 40, rng.integers(0, 2, (40, 100)))
    families = [
        (c, (a, b)) for c in range(40) for a in range(40) for b in range(a) if c not in (a, b)
    ]
    batch = FamilyBatch.from_pairs(families)
    scorer = FamilyScorer(dataset, "k2")
    scores = scorer.local_scores(batch)
    assert scorer.cache_statistics.stored == len(families) == 29_640
    assert scorer.local_scores(batch).tolist() == scores.tolist()
    assert scorer.cache_statistics.scored == 29_640
    tight = FamilyScorer(dataset, "k2", cache_bytes=400_000)
    parts = [
        tight.local_scores(FamilyBatch.from_pairs(families[i : i + 1000]))
        for i in range(0, len(families), 1000)
    ]
    assert np.concatenate(parts).tolist() == scores.tolist()
    assert tight.cache_statistics.emptied > 0
    assert tight.cache_statistics.n_bytes <= 400_000 < scorer.cache_statistics.n_bytes


def test_more_than_64_variables(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (200, 80))
    families = random_families(200, 60, 4, seed)
    scorer = FamilyScorer(dataset_of([3] * 200, codes), "bdeu", ess=2)
    scores = scorer.local_scores(FamilyBatch.from_pairs(families))
    assert scores.tolist() == pytest.approx(
        expected("bdeu", [3] * 200, codes, families, ess=2), **TIGHT
    )


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("where", ["find_or_add", "plan_families", "_evaluate", "store_scores"])
@pytest.mark.parametrize("after", [0, 1, 2])
def test_an_interrupt_anywhere_leaves_the_scorer_right(where, after, n_jobs, seed, monkeypatch):
    arities, codes = random_codes("skewed", seed, n_rows=300)
    batch = FamilyBatch.from_pairs(random_families(8, 400, 4, seed))
    right = FamilyScorer(dataset_of(arities, codes)).local_scores(batch)
    scorer = FamilyScorer(dataset_of(arities, codes), n_jobs=n_jobs)
    owners = {
        "find_or_add": scorer._cache,
        "store_scores": scorer._cache,
        "plan_families": counting_module,
    }
    owner = owners.get(where, scorer)
    original = getattr(owner, where)
    calls = []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) > after:
            original(
                *arguments
            ) if where == "find_or_add" else None  # the store has changed already
            raise KeyboardInterrupt
        return original(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(owner, where, interrupted)
        for _ in range(3):
            try:
                scorer.local_scores(batch)
            except KeyboardInterrupt:
                break
    assert scorer.local_scores(batch).tolist() == right.tolist()


def test_threads_may_share_a_scorer(seed):
    arities, codes = random_codes("skewed", seed, n_rows=300)
    batches = [FamilyBatch.from_pairs(random_families(8, 100, 4, [seed, i])) for i in range(40)]
    right = [FamilyScorer(dataset_of(arities, codes)).local_scores(b).tolist() for b in batches]
    shared = FamilyScorer(dataset_of(arities, codes))
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda batch: shared.local_scores(batch).tolist(), batches))
    assert found == right


@pytest.mark.parametrize("name", SCORES)
def test_more_configurations_than_any_float(name, seed):
    """1,050 parents of two states; all rows are different, so that q hardly matters."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, (1051, 20))
    codes[1050] = 0
    score = FamilyScorer(dataset_of([2] * 1050 + [1], codes), name).local_scores(
        FamilyBatch.from_pairs([(7, set(range(1050)) - {7}), (1050, range(1050))])
    )
    special = {"loglik": 0.0, "bic": -math.inf, "aic": -math.inf}
    assert score[0] == pytest.approx(special.get(name, 20 * math.log(0.5)))
    assert score[1] == 0


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.data())
def test_any_small_table(data):
    arities = data.draw(st.lists(st.integers(1, 5), min_size=2, max_size=6))
    n_rows = data.draw(st.integers(1, 40))
    codes = np.array(
        [
            data.draw(st.lists(st.integers(0, r - 1), min_size=n_rows, max_size=n_rows))
            for r in arities
        ]
    )
    child = data.draw(st.integers(0, len(arities) - 1))
    parents = data.draw(st.sets(st.integers(0, len(arities) - 1)).map(lambda s: s - {child}))
    ess = data.draw(st.floats(0.01, 100))
    for name in SCORES:
        score = make_score(name, ess if name in ("bdeu", "bds") else None)
        scorer = FamilyScorer(dataset_of(arities, codes), score)
        got = scorer.local_scores(FamilyBatch.from_pairs([(child, parents)]))[0]
        want = naive.local_score(name, codes.T.tolist(), arities, child, sorted(parents), ess)
        assert got == pytest.approx(want, rel=1e-10, abs=1e-8)


def test_a_dag_is_the_sum_of_its_families(seed):
    arities, codes = random_codes("skewed", seed, n_rows=100)
    scorer = FamilyScorer(dataset_of(arities, codes), "bic")
    dag = DAG([f"v{i:03d}" for i in range(8)], [("v003", "v001"), ("v002", "v001")])
    per_variable = scorer.score_per_variable(dag)
    assert list(per_variable) == [f"v{i:03d}" for i in range(8)]
    assert per_variable["v001"] == scorer.local_score("v001", ["v002", "v003"])
    assert scorer.score(dag) == math.fsum(per_variable.values())


def test_the_data_are_never_written_to(seed):
    arities, codes = random_codes("even", seed, n_rows=50)
    given_codes = codes.copy()
    batch = FamilyBatch.from_pairs(random_families(8, 30, 3, seed))
    members, start = batch.members.copy(), batch.start.copy()
    FamilyScorer(dataset_of(arities, codes)).local_scores(batch)
    assert np.array_equal(codes, given_codes)
    assert np.array_equal(batch.members, members)
    assert np.array_equal(batch.start, start)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_jobs": 0}, "'n_jobs' of FamilyScorer must be an int >= 1; got 0."),
        ({"n_jobs": True}, "'n_jobs' of FamilyScorer must be an int >= 1; got True."),
        (
            {"score": ["bic"]},
            "'score' of FamilyScorer must be one of 'aic', 'bde', 'bdeu', 'bds', "
            "'bic', 'fnml', 'k2', 'loglik', 'qnml'; got ['bic']. Did you mean 'bic'?",
        ),
        ({"cache_bytes": True}, "'cache_bytes' of FamilyScorer must be an int >= 0; got True."),
        ({"cache_bytes": -1}, "'cache_bytes' of FamilyScorer must be an int >= 0; got -1."),
        ({"ess": 0}, "'ess' of bdeu must be a number > 0; got 0."),
        ({"ess": float("nan")}, "'ess' of bdeu must be a number > 0; got nan."),
        ({"score": "k2", "ess": 1.0}, "'ess' goes with 'bdeu' and 'bds' only; the score is 'k2'."),
        (
            {"score": "BICC"},
            "'score' of FamilyScorer must be one of 'aic', 'bde', 'bdeu', 'bds', 'bic', "
            "'fnml', 'k2', 'loglik', 'qnml'; got 'BICC'. Did you mean 'bic'?",
        ),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ParameterError) as caught:
        FamilyScorer(**{"table": dataset_of([2, 2], np.zeros((2, 3), dtype=int)), **arguments})
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("members", "start", "message"),
    [
        ([0, 9], [0, 2], "A family names variable 9; there are 3, counted from 0."),
        ([-1, 2], [0, 2], "A family names variable -1; there are 3, counted from 0."),
        ([1, -4], [0, 2], "A family names variable -4; there are 3, counted from 0."),
        ([0, 2, 1], [0, 3], "The parents of a family must be distinct and ascending."),
        ([0, 1, 1], [0, 3], "The parents of a family must be distinct and ascending."),
        ([0, 1, 2, 1, 2, 0], [0, 3, 6], "The parents of a family must be distinct and ascending."),
        ([1, 0, 1], [0, 3], "A family has its child among its parents."),
        ([0, 1], [0, 1], "The starts of a family batch do not fit its members."),
        ([0], [0, 0, 1], "The starts of a family batch do not fit its members."),
    ],
)
def test_a_batch_is_checked(members, start, message):
    scorer = FamilyScorer(dataset_of([2, 2, 2], np.zeros((3, 4), dtype=int)))
    batch = FamilyBatch(np.array(members, dtype=np.int32), np.array(start, dtype=np.int64))
    good = FamilyBatch.from_pairs([(0, (1, 2)), (2, ())])
    before = scorer.local_scores(good).tolist()
    with pytest.raises(ParameterError) as caught:
        scorer.local_scores(batch)
    assert str(caught.value) == message
    assert scorer.local_scores(good).tolist() == before


def test_structure_and_data_must_have_the_same_variables():
    scorer = FamilyScorer(dataset_of([2, 2], np.zeros((2, 3), dtype=int)))
    with pytest.raises(DataError) as caught:
        scorer.score(DAG(["v000", "v001", "a", "b"]))
    assert str(caught.value) == (
        "The data have no column 'a' (and 1 more) of the structure. "
        "Both must have the same variables."
    )
    with pytest.raises(DataError) as caught:
        scorer.score(DAG(["v000"]))
    assert str(caught.value) == (
        "The structure has no variable 'v001' of the data. "
        "Leave the column out (drop=['v001'], or --drop v001)."
    )


@pytest.mark.parametrize("pairs", [[(0.7, ())], [(0, (1.0,))], [(2**31, ())], [(0, 1)], ["ab"]])
def test_families_are_numbers_of_variables(pairs):
    with pytest.raises(ParameterError) as caught:
        FamilyBatch.from_pairs(pairs)
    assert str(caught.value) == "A family is a child and its parents, as numbers of variables."


def test_an_empty_batch():
    scorer = FamilyScorer(dataset_of([2, 2], np.zeros((2, 3), dtype=int)))
    assert scorer.local_scores(FamilyBatch.from_pairs([])).tolist() == []
