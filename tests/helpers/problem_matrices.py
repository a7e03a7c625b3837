"""Random matrices for the tests of tours and orderings."""

import numpy as np


def random_distances(rng, n, top=100):
    """Return symmetric whole distances."""
    matrix = rng.integers(1, top, (n, n)).astype(float)
    matrix = np.triu(matrix, k=1)
    return matrix + matrix.T


def random_weights(rng, n):
    """Return whole weights of orderings."""
    weights = rng.integers(0, 101, (n, n)).astype(float)
    np.fill_diagonal(weights, 0.0)
    return weights
