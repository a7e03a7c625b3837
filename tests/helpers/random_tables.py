"""Random tables in all shapes for which the counting kernels use different methods."""

import numpy as np

from coevo.data import Dataset, Variable

# name: (arities, skewness of the states; 0 for even)
SHAPES = {
    "skewed": ((2, 3, 2, 4, 3, 2, 3, 2), 3.0),  # counts levels by rows
    "even": ((2, 2, 2, 2, 2, 3, 2, 2), 0.0),  # counts levels by bits
    "mixed": ((2, 5, 2, 17, 3, 2, 8, 1), 1.0),  # one variable without bit sets, and a constant
    "wide": ((40, 30, 20, 25, 50, 16, 2, 2), 1.0),  # counts sparsely, without shared tables
    "many states": ((300, 2, 3, 2, 260, 2, 3, 2), 1.0),  # two bytes for each value
}


def random_codes(shape, seed, n_rows):
    arities, skewed = SHAPES[shape]
    rng = np.random.default_rng([seed, n_rows])
    columns = []
    for arity in arities:
        weights = np.exp(-skewed * np.arange(arity))
        column = rng.choice(arity, size=n_rows, p=weights / weights.sum())
        if columns and rng.random() < 0.7:  # copy some values, so that columns depend on each other
            copied = rng.random(n_rows) < 0.5
            column = np.where(copied, columns[-1] % arity, column)
        columns.append(column)
    return arities, np.array(columns)


def dataset_of(arities, codes, weights=None):
    """Return a Dataset whose canonical order is the order of the columns."""
    width = max(3, len(str(len(arities))))
    variables = [
        Variable(f"v{i:0{width}d}", tuple(f"s{k:05d}" for k in range(arity)))
        for i, arity in enumerate(arities)
    ]
    return Dataset(variables, list(codes), weights)


def random_families(n_variables, n_families, max_parents, seed):
    rng = np.random.default_rng(seed)
    families = []
    for _ in range(n_families):
        size = int(rng.integers(0, max_parents + 1))
        child, *parents = rng.permutation(n_variables)[: size + 1].tolist()
        families.append((child, tuple(sorted(parents))))
    return families
