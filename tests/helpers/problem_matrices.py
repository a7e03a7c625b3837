"""Random matrices for the tests of tours."""

import numpy as np


def random_distances(rng, n, top=100):
    """Return symmetric whole distances."""
    matrix = rng.integers(1, top, (n, n)).astype(float)
    matrix = np.triu(matrix, k=1)
    return matrix + matrix.T
