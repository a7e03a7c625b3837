"""Other libraries that learn networks, behind one contract, to be compared with.

They are an extra (``pip install 'coevo[bench]'``), and each is imported only when it
learns. What they get wrong is worked around here, so that a comparison shows the best of
each of them.
"""

from coevo.experiments.peers.base import Peer
from coevo.experiments.peers.causal_learn import CausalLearn
from coevo.experiments.peers.pgmpy import Pgmpy
from coevo.experiments.peers.pyagrum import PyAgrum
from coevo.experiments.peers.pybnesian import PyBNesian
from coevo.experiments.peers.tables import categorical_frame

__all__ = ["PEERS", "Peer", "categorical_frame"]

PEERS: dict[str, Peer] = {
    peer.name: peer for peer in (PyAgrum(), PyBNesian(), Pgmpy(), CausalLearn())
}
