"""A network of two variables whose every number can be worked out by hand."""

from coevo.data import Variable
from coevo.network import BayesianNetwork

GARDEN = BayesianNetwork(
    [Variable("rain", ("no", "yes")), Variable("wet", ("dry", "wet"))],
    {"wet": ["rain"]},
    {"rain": [0.75, 0.25], "wet": [[0.5, 0.5], [0.0, 1.0]]},
)
