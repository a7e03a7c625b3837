"""Bayesian networks: a DAG with tables; fitting them and sampling from them."""

from coevo.network.bayesian_network import BayesianNetwork, Table

__all__ = ["BayesianNetwork", "Table"]
