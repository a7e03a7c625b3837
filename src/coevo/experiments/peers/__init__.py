"""Peers: other libraries that learn Bayesian networks, behind one interface.

They are an optional extra (``pip install 'coevo[bench]'``). Each one is imported only when it
learns. This package works around their known bugs, so a comparison shows each peer at its best.
"""

from coevo.experiments.peers.base import Peer
from coevo.experiments.peers.causal_learn import CausalLearn
from coevo.experiments.peers.pgmpy import Pgmpy
from coevo.experiments.peers.pyagrum import PyAgrum
from coevo.experiments.peers.pybnesian import PyBNesian
from coevo.experiments.peers.tables import make_categorical_frame

__all__ = ["PEERS", "Peer", "make_categorical_frame"]

PEERS: dict[str, Peer] = {
    peer.name: peer for peer in (PyAgrum(), PyBNesian(), Pgmpy(), CausalLearn())
}
