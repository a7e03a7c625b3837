"""A scikit-learn classifier: the class is one variable of a network, the features are the others.

The table of the features and the column of the class are learned from together. The probability of
a class is its exact posterior probability, given the known cells of a row. By default several
networks are averaged (`coevo.estimators.stacking`).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from coevo.checks import is_choice, is_number
from coevo.data import Dataset, Variable
from coevo.data.measurements import read_measurements
from coevo.data.reader import DeclaredStates
from coevo.errors import CoevoWarning, ParameterError, bad_choice, bad_parameter, warn_caller
from coevo.estimators.base import (
    FeatureTable,
    NetworkEstimator,
    choose_class_name,
    encode_classes,
    open_features,
    read_labels,
)
from coevo.estimators.stacking import MIN_ROWS, SMOOTHINGS, BinDensity, Member, Stack, fit_stack
from coevo.learning import LearnResult
from coevo.network import BayesianNetwork, fit_network
from coevo.options import EstimatorOptions, get_defaults
from coevo.score import Score
from coevo.search import TAN, HillClimb, NaiveBayes
from coevo.signatures import accept_options, document_options

__all__ = ["BayesianNetworkClassifier", "BayesianNetworkLearner"]

AUTO, FREE = "auto", "free"
SMOOTHING = 10.0
STRUCTURES = {"tan": TAN, "naive_bayes": NaiveBayes}


@document_options(EstimatorOptions)
class BayesianNetworkClassifier(NetworkEstimator):
    """Predict a class with a Bayesian network, as a scikit-learn classifier.

    Parameters
    ----------
    structure : str
        The form of the network. ``'auto'`` (default): an average of the other three, with weights
        and shrinkage from an inner five-fold cross-validation, which takes five times as long as
        the others together. Numbers are cut in two ways if neither `discretise` nor `bins` is
        given. Fewer than 20 rows are learned with ``'naive_bayes'``. ``'free'``: any structure,
        found by `method`. Only the Markov blanket of the class counts for a prediction; if it is
        empty, a warning says so, and every prediction is the most frequent class. ``'tan'``:
        tree-augmented naive Bayes. ``'naive_bayes'``: the class is the only parent of every
        feature. These two use all features.
    smoothing : float, optional
        Equivalent sample size of the prior of the tables (default: 10; ``'auto'`` tries 2, 10 and
        40). `learn` takes 1, which makes probabilities too extreme: ``benchmarks/README.md``
        compares them.
    scoring : str or Score, optional
        The parameter `score` of `learn`. Here ``score`` is a method.
    **options
        As for `learn`. `method` is for the structure ``'free'``; the inner cross-validation uses
        hill climbing in place of ``'ccma'``. In constraints the class has the name
        `class_variable_`.
    progress : bool, optional
        As for `learn`, but the default is False.

    Attributes
    ----------
    classes_ : array
        The classes in ascending order, in the type of `y`.
    class_variable_ : str
        The name of the class in the network: the name of `y`, else ``'class'``; underscores are
        added until no feature has this name.
    network_ : BayesianNetwork
        The structure with smoothed tables; the class is one of the variables. With ``'auto'``, that
        of the heaviest member.
    members_ : tuple of Member
        With ``'auto'``, the networks that are averaged, the heaviest first: structure, bins,
        smoothing, shrinkage and weight.
    dag_, cpdag_, score_, adjacency_, history_, result_
        As for `BayesianNetworkLearner`.
    feature_names_in_, n_features_in_ : array of str, int
        The names and the number of the features, in the order of the table.

    Notes
    -----
    In new rows a missing value, a label that the training data do not have, and a column that is
    absent are unknown: they are summed out.

    Examples
    --------
    >>> import coevo
    >>> codes = coevo.sample(coevo.load_network("asia"), 2000, random_state=1).expand().codes
    >>> X, y = np.delete(codes, 2, axis=0).T, np.array(["normal", "short"])[codes[2]]
    >>> model = BayesianNetworkClassifier(structure="tan").fit(X[:1500], y[:1500])
    >>> model.classes_.tolist(), model.class_variable_
    (['normal', 'short'], 'class')
    >>> model.predict(X[1500:1503]).tolist()
    ['short', 'normal', 'short']
    >>> model.score(X[1500:], y[1500:])
    0.848
    """

    classes_: NDArray[Any]
    class_variable_: str
    members_: tuple[Member, ...]
    _networks: dict[float, BayesianNetwork]  # by smoothing
    _smoothing: float
    _stack: Stack | None

    @accept_options(EstimatorOptions)
    def __init__(
        self,
        *,
        structure: str = AUTO,
        smoothing: float | None = None,
        scoring: str | Score | None = None,
        progress: bool | None = False,
        **options: Unpack[EstimatorOptions],
    ) -> None:
        self.structure, self.smoothing = structure, smoothing
        self.scoring, self.progress = scoring, progress
        for name, value in options.items():
            setattr(self, name, value)

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        """Learn a network of the features and the class.

        `X` is a data frame, an array or a list of rows; `y` has one label for each row.
        """
        owner = type(self).__name__
        if self.smoothing is not None and not (is_number(self.smoothing) and self.smoothing > 0):
            raise bad_parameter("smoothing", owner, "a number > 0 or None", self.smoothing)
        if not is_choice(self.structure, (AUTO, FREE, *STRUCTURES)):
            raise bad_choice("structure", owner, (AUTO, FREE, *STRUCTURES), self.structure)
        features = open_features(X, owner)
        if features.names is None:
            raise ParameterError(
                f"'X' of {owner}.fit must be a data frame, an array or a list of rows, so that 'y' "
                "can be added to it. Read the file first, for example with pandas."
            )
        labels = read_labels(y, features.n_rows, owner)
        name = choose_class_name(y, features.names)
        n_classes = len(encode_classes(labels)[0])
        if self.structure == AUTO and len(labels) >= MIN_ROWS and n_classes > 1:
            return self._fit_average(features, labels, name)
        return self.fit_network(features, labels, name)

    def fit_network(self, features: FeatureTable, labels: NDArray[Any], name: str) -> Self:
        """Learn one network from checked rows; the class has this name."""
        params = self.get_params()
        structure, smoothing = params.pop("structure"), params.pop("smoothing")
        if structure == AUTO:
            structure = NaiveBayes.name
        classes, codes, states = encode_classes(labels)
        if structure in STRUCTURES:
            params["method"] = STRUCTURES[structure](class_variable=name)
        params["states"] = _declare(params["states"], Variable(name, states))
        with warnings.catch_warnings():
            # It predicts: whether age can have parents does not matter here.
            warnings.filterwarnings("ignore", ".* ha(s|ve) parents here", CoevoWarning)
            self._learn(features, features.add_labels(name, np.array(states)[codes]), params)
        self.classes_, self.class_variable_ = classes, name
        self._smoothing, self._networks, self._stack = float(smoothing or SMOOTHING), {}, None
        if len(classes) > 1 and not self.dag_.markov_blanket(name):
            warn_caller(
                f"No feature is connected to the class {name!r}, so every prediction is "
                f"{states[int(np.bincount(codes).argmax())]!r}. Try structure='tan', or more rows."
            )
        return self

    def _fit_average(self, features: FeatureTable, labels: NDArray[Any], name: str) -> Self:
        """Learn the members of the structure ``'auto'``, and take the results of the heaviest."""
        params = self.get_params()

        def fit_member(
            structure: str, bins: Mapping[str, Any], rows: NDArray[np.intp] | None
        ) -> BayesianNetworkClassifier:
            chosen = {**params, "structure": structure, **bins}
            part, known = features, labels
            if rows is not None:  # of the inner cross-validation
                part, known = features.select(rows), labels[rows]
                if params["method"] == get_defaults(EstimatorOptions)["method"]:
                    chosen["method"] = HillClimb.name
                if params["missing"] is None:
                    chosen["missing"] = "available"  # the fastest policy
            model = BayesianNetworkClassifier(**chosen)
            if rows is None and not bins and structure == NaiveBayes.name:
                return model.fit_network(part, known, name)  # one fit tells what was decided
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CoevoWarning)
                return model.fit_network(part, known, name)

        stack = fit_stack(
            fit_member,
            features,
            encode_classes(labels)[1],
            structures=(*STRUCTURES, FREE),
            smoothings=SMOOTHINGS if params["smoothing"] is None else (float(params["smoothing"]),),
            can_choose_bins=params["discretise"] is None and params["bins"] is None,
        )
        first, model = stack.first
        fitted = {key: value for key, value in vars(model).items() if key not in params}
        vars(self).update(fitted, _stack=stack, members_=stack.members, _smoothing=first.smoothing)
        return self

    @property
    def network_(self) -> BayesianNetwork:
        """The structure with smoothed tables."""
        self._get_result()
        return self._get_network(self._smoothing)

    def _get_network(self, smoothing: float) -> BayesianNetwork:
        """Return the network with tables of this smoothing; it is made once."""
        if smoothing not in self._networks:
            self._networks[smoothing] = _fit_tables(self.result_, smoothing)
        return self._networks[smoothing]

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """Return the most probable class of each row; ties go to the first class."""
        codes = self.predict_proba(X).argmax(axis=1)
        predicted: NDArray[Any] = self.classes_[codes]
        return predicted

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Return the probability of each class in each row, in the order of `classes_`."""
        features = self._open(X)
        if self._stack is not None:
            return self._stack.predict(features)
        return self.predict_smoothed(features, self._smoothing)

    def predict_smoothed(self, features: FeatureTable, smoothing: float) -> NDArray[np.float64]:
        """Return the probability of each class by one network with tables of this smoothing."""
        rows = self._read(features, without=self.class_variable_)
        return self._get_network(smoothing).predict(rows, self.class_variable_).probabilities

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Return the natural logarithm of each probability."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def score(self, X: Any, y: Any) -> float:  # noqa: N803
        """Return the accuracy: the share of rows whose predicted class is the true one."""
        predicted = self.predict(X)
        true = read_labels(y, len(predicted), type(self).__name__)
        return float(np.mean([a == b for a, b in zip(predicted, true, strict=True)]))

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        tags.target_tags.required = True
        return tags


def _declare(states: DeclaredStates | None, variable: Variable) -> DeclaredStates:
    """Return declared states with those of the class, so that nothing is decided about them."""
    if states is None:
        return {variable.name: variable.states}
    if isinstance(states, list | tuple):
        return [*states, variable]
    return {**dict(states), variable.name: variable.states}  # type: ignore[arg-type]


def _fit_tables(result: LearnResult, smoothing: float) -> BayesianNetwork:
    """Return the network with tables of this equivalent sample size."""
    imputation, rows, n_imputations = result.imputation, result.dataset, 1
    if imputation is not None:  # fitted to all imputed tables, one below the other
        rows = imputation.fitted_to
        if imputation.imputed_table is not None:
            n_imputations = rows.n_rows // imputation.imputed_table.dataset.n_rows
    assert isinstance(rows, Dataset)
    return fit_network(result.dag, rows, ess=smoothing * n_imputations)


# A scikit-learn estimator of the density of a table: a network, learned by `learn`.


MIN_FEATURES = 2  # of a network


@document_options(EstimatorOptions)
class BayesianNetworkLearner(NetworkEstimator):
    """Learn a Bayesian network from a table, as a scikit-learn estimator.

    Parameters
    ----------
    scoring : str or Score, optional
        The parameter `score` of `learn`. Here ``score`` is a method.
    **options
        As for `learn`, but without the quick bootstrap.
    progress : bool, optional
        As for `learn`, but the default is False: a grid search calls `fit` many times.

    Attributes
    ----------
    dag_, cpdag_ : DAG, CPDAG
        The learned structure, and its equivalence class.
    score_ : float
        The score of the structure, a natural logarithm; higher is better.
    network_ : BayesianNetwork
        The structure with tables fitted to the data.
    adjacency_ : pandas DataFrame of int
        The adjacency matrix: a 1 in row i and column j is the arc i -> j.
    history_ : tuple of HistoryRow
        The progress of the search.
    result_ : LearnResult
        The complete result, as `learn` returns it.
    feature_names_in_, n_features_in_ : array of str, int
        The names and the number of the columns of the table, in its order.

    Notes ----- `score` and `score_samples` measure the density of the raw numbers, not the
    probability of their bins, so that networks with different bins can be compared
    (`coevo.estimators.stacking`). In new rows a missing value, a label that the training data do
    not have, and a column that is absent are unknown: they are summed out.

    Examples
    --------
    >>> import coevo
    >>> rows = coevo.sample(coevo.load_network("asia"), 2000, random_state=1)
    >>> learner = BayesianNetworkLearner(max_generations=20, random_state=7).fit(rows)
    >>> learner.dag_, learner.cpdag_
    (<DAG: 8 variables, 7 arcs>, <CPDAG: 8 variables, 5 arcs, 2 edges>)
    >>> int(learner.adjacency_.loc["tub", "either"])
    1
    >>> round(learner.score(rows), 3)
    -2.172
    >>> learner
    BayesianNetworkLearner(random_state=7, max_generations=20)
    """

    _densities: dict[str, BinDensity]  # of the columns that were cut into bins

    @accept_options(EstimatorOptions)
    def __init__(
        self,
        *,
        scoring: str | Score | None = None,
        progress: bool | None = False,
        **options: Unpack[EstimatorOptions],
    ) -> None:
        self.scoring, self.progress = scoring, progress
        for name, value in options.items():
            setattr(self, name, value)

    def fit(self, X: Any, y: object = None) -> Self:  # noqa: N803
        """Learn a network from a table of any type that `read_data` accepts.

        The columns of an array get the names x0, x1, and so on. `y` is ignored: a network has
        no target variable.
        """
        features = open_features(X, type(self).__name__, MIN_FEATURES)
        self._learn(features, features.table, self.get_params())
        cuts = {column.name: column.cuts for column in self.result_.columns if column.cuts}
        self._densities = {
            name: BinDensity.from_numbers(cuts[name], numbers)
            for name, numbers in self._read_numbers(features, cuts).items()
        }
        return self

    def predict(self, X: Any, target: str | None = None) -> NDArray[np.str_]:  # noqa: N803
        """Return the most probable state of a variable in each row, given the other columns.

        A network has no single target, so `target` must name the variable. `X` does not need its
        column. Ties go to the first state. `BayesianNetworkClassifier` has one target.
        """
        probabilities = self.predict_proba(X, target)
        states = np.array(self.network_.variable(str(target)).states)
        predicted: NDArray[np.str_] = states[probabilities.argmax(axis=1)]
        return predicted

    def predict_proba(
        self,
        X: Any,  # noqa: N803
        target: str | None = None,
    ) -> NDArray[np.float64]:
        """Return the probability of each state, in the order of ``network_.variable(target)``."""
        features = self._open(X)
        if target is None:
            raise ParameterError(
                f"'target' of {type(self).__name__} must name the variable to predict: a network "
                "has no single target. BayesianNetworkClassifier has one."
            )
        self.network_.variable(target)  # raises if there is no such variable
        return self._predict(self._read(features, without=target), target)

    def score_samples(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Return the log density of each row: of its numbers, and of its labels."""
        features = self._open(X)
        logs = self._log_likelihood(self._read(features))
        for name, numbers in self._read_numbers(features, self._densities).items():
            logs = logs + self._densities[name].log_density(numbers)
        return logs

    def score(self, X: Any, y: object = None) -> float:  # noqa: N803
        """Return the mean log density of the rows; higher is better. `y` is ignored."""
        return float(self.score_samples(X).mean())

    def _read_numbers(self, features: FeatureTable, columns: Any) -> dict[str, NDArray[np.float64]]:
        """Return the numbers of some columns."""
        wanted = [variable for variable in self._variables if variable.name in columns]
        if features.names is not None:
            wanted = [variable for variable in wanted if variable.name in features.names]
        if not wanted:
            return {}
        params = self.get_params()
        return read_measurements(
            features.table,
            wanted,
            names=features.array_names,
            decimal=params["decimal"],
            missing_labels=params["missing_labels"],
            keep_labels=params["keep_labels"],
            merge=params["merge"],
        )
