"""The classifier predicts the posterior probability of a class, for every type of table."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import coevo
from coevo.errors import CoevoWarning, DataError, NotFittedError, ParameterError
from coevo.estimators import BayesianNetworkClassifier
from coevo.graph import Constraints

pandas = pytest.importorskip("pandas")


def make_table(seed, n=400, n_classes=3):
    """Return features of several types, and a class that depends on them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    frame = pandas.DataFrame(
        {
            "size": rng.normal(size=n) + y,
            "colour": np.where(rng.random(n) < 0.7, y, rng.integers(0, 3, n)).astype(str),
            "count": rng.integers(0, 5, n) + y,
            "noise": rng.normal(size=n),
        }
    )
    frame["colour"] = frame["colour"].map({"0": "red", "1": "green", "2": "blue"})
    return frame, y


def make_classifier(**options):
    return BayesianNetworkClassifier(**{"method": "hill_climb", "structure": "free", **options})


@pytest.mark.parametrize("structure", ["auto", "free", "tan", "naive_bayes"])
def test_the_classifier_is_better_than_the_prior(structure, seed):
    x, y = make_table(seed)
    model = make_classifier(structure=structure).fit(x[:300], y[:300])
    assert model.classes_.tolist() == [0, 1, 2]
    probabilities = model.predict_proba(x[300:])
    assert probabilities.shape == (100, 3)
    assert probabilities.sum(axis=1) == pytest.approx(np.ones(100))
    assert np.array_equal(model.predict(x[300:]), model.classes_[probabilities.argmax(axis=1)])
    assert model.score(x[300:], y[300:]) == np.mean(model.predict(x[300:]) == y[300:]) > 0.6
    assert np.exp(model.predict_log_proba(x[300:])) == pytest.approx(probabilities)
    assert model.class_variable_ == "class"
    assert list(model.feature_names_in_) == list(x.columns)
    assert model.n_features_in_ == 4


def test_the_structures(seed):
    x, y = make_table(seed)
    star = {("class", name) for name in x.columns}
    bayes = make_classifier(structure="naive_bayes").fit(x, y)
    assert set(bayes.dag_.arcs) == star
    tan = make_classifier(structure="tan", scoring="loglik").fit(x, y)
    assert set(tan.dag_.arcs) > star
    assert len(tan.dag_.arcs) == 4 + 3
    free = make_classifier(random_state=1).fit(x, y)
    joined = x.assign(**{"class": y.astype(str)})
    assert free.dag_ == coevo.learn(joined, method="hill_climb", bootstraps=0).dag


def test_naive_bayes_by_hand(seed):
    """The probability of a class is the product of one table entry for each feature."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 200)
    x = np.array([(y + rng.integers(0, 3, 200)) % 3 for _ in range(3)]).T
    model = make_classifier(structure="naive_bayes", smoothing=3)
    found = model.fit(x, y).predict_proba(x[:20])
    for row, probabilities in zip(x[:20], found, strict=True):
        weights = []
        for label in (0, 1):
            weight = ((y == label).sum() + 3 / 2) / (200 + 3)
            for i, value in enumerate(row):
                both = ((y == label) & (x[:, i] == value)).sum()
                weight *= (both + 3 / 6) / ((y == label).sum() + 9 / 6)
            weights.append(weight)
        assert probabilities == pytest.approx(np.array(weights) / sum(weights))


LABELS = {
    "int": np.array([3, 7, 11]),
    "negative": np.array([-1, 0, 1]),
    "float": np.array([1.0, 2.0, 3.0]),
    "text": np.array(["a", "b", "c"]),
    "object": np.array(["yes", "no", "NA"], dtype=object),
    "like bins": np.array(["below_2", "from_2", "any"]),
    "like numbers": np.array(["1", "01", "1.0"]),
    "dates": np.array(["2020-01-01", "2020-02-01", "2020-03-01"]),
    "blank": np.array(["", " ", "?"]),
}


@pytest.mark.parametrize("kind", LABELS)
def test_classes_keep_their_type(kind, seed):
    x, codes = make_table(seed)
    y = LABELS[kind][codes]
    model = make_classifier(structure="tan").fit(x, y)
    assert model.classes_.dtype == y.dtype
    assert model.classes_.tolist() == sorted(LABELS[kind].tolist())
    predicted = model.predict(x)
    assert predicted.dtype == y.dtype
    assert set(predicted.tolist()) <= set(y.tolist())
    assert model.score(x, y) > 0.6


def test_two_classes_as_bool(seed):
    x, codes = make_table(seed, n_classes=2)
    y = codes == 1
    model = make_classifier().fit(x, y)
    assert model.classes_.tolist() == [False, True]
    assert model.predict(x).dtype == bool
    assert model.network_.variable("class").states == ("False", "True")


def test_one_class(seed):
    x, _ = make_table(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CoevoWarning)
        model = make_classifier().fit(x, np.full(400, "only"))
    assert set(model.predict(x)) == {"only"}
    assert model.predict_proba(x).shape == (400, 1)


def test_every_type_of_table_gives_the_same_probabilities(seed):
    polars = pytest.importorskip("polars")
    x, y = make_table(seed)
    expected = make_classifier(structure="tan").fit(x, y).predict_proba(x)
    shifted = x.set_index(np.arange(1000, 1400)[::-1])  # rows are matched by place
    series = pandas.Series(y, index=np.arange(400))
    objects, rows = x.to_numpy(object), x.to_numpy(object).tolist()
    for table, labels in (
        (shifted, series),
        (polars.from_pandas(x), polars.Series(y)),
        (objects, y),
        (objects, y.tolist()),
        (x.astype(str), y),
        (x.to_records(index=False), y),
    ):
        model = make_classifier(structure="tan").fit(table, labels)
        assert model.predict_proba(table) == pytest.approx(expected)
    assert len(rows) == 400


def test_arrays_of_numbers(seed):
    x, y = make_table(seed)
    numbers = x[["size", "count", "noise"]]
    expected = make_classifier(structure="tan").fit(numbers, y).predict_proba(numbers)
    for array in (numbers.to_numpy(), numbers.to_numpy().tolist(), np.asfortranarray(numbers)):
        model = make_classifier(structure="tan").fit(array, y)
        assert list(model.feature_names_in_) == ["x0", "x1", "x2"]
        assert model.predict_proba(array) == pytest.approx(expected)


def test_the_name_of_the_class():
    x = pandas.DataFrame({"class": [*"ab"] * 20, "ill": [*"xy"] * 20, "class_": [*"uvwv"] * 10})
    x = x.assign(ill=[*"xyyx"] * 10)
    for y, name in (
        (pandas.Series([0, 1] * 20, name="target"), "target"),
        (pandas.Series([0, 1] * 20, name="ill"), "ill_"),
        (pandas.Series([0, 1] * 20, name=3), "class__"),
        ([0, 1] * 20, "class__"),
    ):
        model = make_classifier(structure="naive_bayes").fit(x, y)
        assert model.class_variable_ == name
        assert model.predict(x.assign(target=5)).tolist() == [0, 1] * 20  # other columns: ignored


def test_missing_cells_unseen_labels_and_absent_columns(seed):
    x, y = make_table(seed)
    hidden = x.mask(np.random.default_rng(seed).random(x.shape) < 0.1)
    for policy in ("available", "drop", "state", "em"):
        model = make_classifier(structure="tan", missing=policy)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CoevoWarning)
            model.fit(hidden[:300], y[:300])
        assert model.score(hidden[300:], y[300:]) > 0.5
    model = make_classifier(structure="tan").fit(x, y)
    absent = model.predict_proba(x.drop(columns="colour"))
    assert model.predict_proba(x.assign(colour="violet")) == pytest.approx(absent)
    assert model.predict_proba(x.assign(colour=None)) == pytest.approx(absent)
    assert not np.allclose(model.predict_proba(x), absent)
    nothing = model.predict_proba(x.head(2).assign(**dict.fromkeys(x.columns)))
    prior = model.network_.query("class").probabilities
    assert nothing == pytest.approx(np.array([prior, prior]))


def test_the_order_of_rows_is_kept(seed):
    x, y = make_table(seed)
    model = make_classifier().fit(x, y)
    order = np.random.default_rng(seed).permutation(len(x))
    assert np.array_equal(model.predict_proba(x.iloc[order]), model.predict_proba(x)[order])
    assert model.predict_proba(x.iloc[[3, 3, 3]]) == pytest.approx(
        np.repeat(model.predict_proba(x.iloc[[3]]), 3, axis=0)
    )


def test_the_options_of_learn_apply(seed):
    x, y = make_table(seed)
    known = Constraints(
        required=[("class", "noise")], forbidden=[("class", "size"), ("size", "class")]
    )
    model = make_classifier(constraints=known, max_parents=1, types={"count": "continuous"}).fit(
        x, y
    )
    assert ("class", "noise") in model.dag_.arcs
    assert {"class", "size"} not in [set(arc) for arc in model.dag_.arcs]
    assert max(len(model.dag_.parents(node)) for node in model.dag_.nodes) == 1
    declared = make_classifier(states={"colour": ["red", "green", "blue", "pink"]}).fit(x, y)
    assert declared.network_.variable("colour").arity == 4
    again = make_classifier(states=declared.network_.variables[:4]).fit(x, y)
    assert again.network_.variable("size").states == declared.network_.variable("size").states


@pytest.mark.parametrize("policy", ["em", "available", "state"])
def test_smoothing(policy, seed):
    """A table fitted to several imputed tables is smoothed as if it were one."""
    x, y = make_table(seed, n=120)
    hidden = x.mask(np.random.default_rng(seed).random(x.shape) < 0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CoevoWarning)
        model = make_classifier(structure="tan", missing=policy, smoothing=1.0).fit(hidden, y)
    expected = model.result_.network
    for variable in expected.variables:
        assert model.network_.table(variable.name) == pytest.approx(expected.table(variable.name))
    smooth = make_classifier(structure="tan", smoothing=1e9).fit(x, y)
    assert smooth.predict_proba(x) == pytest.approx(np.full((120, 3), 1 / 3), abs=1e-3)


def test_a_class_without_neighbours_is_said(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 2, (60, 3)), np.array(["no"] * 40 + ["yes"] * 20)
    rng.shuffle(y)
    with pytest.warns(CoevoWarning) as caught:
        model = make_classifier(scoring="bic", parent_penalty=9).fit(x, y)
    assert str(caught[0].message) == (
        "No feature is connected to the class 'class', so every prediction is 'no'. Try "
        "structure='tan', or more rows."
    )
    assert set(model.predict(x)) == {"no"}


def refuse(x, y, **options):
    with pytest.raises((DataError, ParameterError)) as caught:
        make_classifier(**options).fit(x, y)
    return str(caught.value)


def test_refusals(seed, tmp_path):
    x, y = make_table(seed, n=30)
    assert refuse(x, y, structure="tann") == (
        "'structure' of BayesianNetworkClassifier must be one of 'auto', 'free', 'naive_bayes', "
        "'tan'; got 'tann'. Did you mean 'tan'?"
    )
    assert refuse(x, y, smoothing=0) == (
        "'smoothing' of BayesianNetworkClassifier must be a number > 0 or None; got 0."
    )
    assert refuse(x, None) == (
        "BayesianNetworkClassifier requires y to be passed, but the target y is None."
    )
    assert refuse(x, y[:20]) == (
        "X has 30 rows and y has 20 labels, which are inconsistent numbers of samples. Give one "
        "label for each row."
    )
    assert refuse(x, np.where(y == 0, np.nan, y)).startswith("Input y contains NaN: ")
    assert refuse(x, pandas.Series(["a", None] * 15)) == (
        "Input y contains NaN: 15 labels are missing, the first in row 2. Leave these rows out."
    )
    assert refuse(x, y + 0.5) == (
        "Unknown label type: continuous. y has numbers that are not whole, and a classifier needs "
        "classes. Discretise y first."
    )
    assert refuse(x, np.array(["a", 1] * 15, dtype=object)) == (
        "Unknown label type: y has labels of the types int, str, which have no order. Give labels "
        "of one type."
    )
    assert refuse(x, np.eye(30)) == (
        "y should be a 1d array, got an array of shape (30, 30) instead. Give one label for each "
        "row."
    )
    assert refuse(np.zeros((0, 3)), []) == (
        "X has 0 sample(s) (shape=(0, 3)) while a minimum of 1 is required."
    )
    assert refuse(str(tmp_path / "x.csv"), y) == (
        "'X' of BayesianNetworkClassifier.fit must be a data frame, an array or a list of rows, so "
        "that 'y' can be added to it. Read the file first, for example with pandas."
    )
    assert refuse(np.zeros((4, 2), dtype=complex), y[:4]) == (
        "Complex data not supported. Give the real and the imaginary parts as two columns."
    )
    assert refuse(np.zeros(4), y[:4]) == (
        "Expected 2D array, got an array of the shape (4,). Reshape your data to rows and columns."
    )


def test_before_fit():
    model = make_classifier()
    for ask in (lambda: model.predict([[1]]), lambda: model.network_):
        with pytest.raises(NotFittedError) as caught:
            ask()
        assert str(caught.value) == (
            "This BayesianNetworkClassifier is not fitted yet. Call fit first."
        )
        copy = pickle.loads(pickle.dumps(caught.value))
        assert isinstance(copy, NotFittedError)
        assert str(copy) == str(caught.value)
    assert not hasattr(model, "classes_")


def test_a_fitted_classifier_can_be_pickled(seed):
    x, y = make_table(seed)
    model = make_classifier(structure="tan").fit(x, y)
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.predict_proba(x), model.predict_proba(x))
    assert repr(copy) == "BayesianNetworkClassifier(method='hill_climb', structure='tan')"


def test_the_classifier_works_without_scikit_learn():
    look = (
        "import sys; sys.modules['sklearn'] = None; sys.modules['pandas'] = None\n"
        "import numpy as np, coevo\n"
        "table = np.array([[0, 0, 1], [1, 1, 0], [1, 0, 0]] * 20)\n"
        "model = coevo.BayesianNetworkClassifier(method='k2').fit(table[:, :2], table[:, 2])\n"
        "assert model.predict(table[:, :2]).tolist() == [1, 0, 0] * 20\n"
        "assert model._repr_html_() is None\n"
    )
    subprocess.run([sys.executable, "-c", look], check=True)
