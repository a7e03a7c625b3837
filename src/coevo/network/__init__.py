"""Bayesian networks: a DAG with tables; fitting them and sampling from them."""

from coevo.network.bayesian_network import BayesianNetwork, Table
from coevo.network.fit import fit
from coevo.network.sample import sample

__all__ = ["BayesianNetwork", "Table", "fit", "sample"]
