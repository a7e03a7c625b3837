"""Searching for structures: the two species, and the methods that use them."""

from coevo.search.encoding import (
    Mask,
    Order,
    dag_of,
    decode,
    n_bits,
    pair_of,
    solution_string,
)

__all__ = ["Mask", "Order", "dag_of", "decode", "n_bits", "pair_of", "solution_string"]
