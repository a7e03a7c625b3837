"""Search for structures: one interface for all methods, and the methods themselves.

- ``ccga``: the cooperative coevolutionary genetic algorithm of Carvalho (GECCO 2011)
- ``ccma``: a cooperative coevolutionary memetic algorithm, the default of `coevo.learn`
- ``islands``: several populations of ``ccma`` with migration
- ``hill_climb``, ``tabu``, ``k2``: the classical greedy methods
"""

from coevo.search.base import Info, Method, Problem, Search, SearchState
from coevo.search.budget import Budget, StopReason
from coevo.search.ccga import CCGA, CCGAState
from coevo.search.ccma import CCMA, CCMAState
from coevo.search.checkpoint_file import StoredCheckpoint, read_state, write_checkpoint, write_state
from coevo.search.cooperation import Cooperation, Generation, Species
from coevo.search.encoding import (
    Mask,
    Order,
    decode,
    decode_dag,
    encode_dag,
    format_solution,
    n_bits,
)
from coevo.search.hill_climb import HillClimb, HillClimbState
from coevo.search.islands import Islands, IslandsState
from coevo.search.k2 import K2, K2State
from coevo.search.registry import METHODS, make_method
from coevo.search.result import Checkpoint, HistoryRow, SearchResult
from coevo.search.run import Callback, CheckpointCallback, run_search
from coevo.search.spec import SearchSpec, SpecOptions, describe_difference, make_spec
from coevo.search.tabu import Tabu, TabuState

__all__ = [
    "CCGA",
    "CCMA",
    "K2",
    "METHODS",
    "Budget",
    "CCGAState",
    "CCMAState",
    "Callback",
    "Checkpoint",
    "CheckpointCallback",
    "Cooperation",
    "Generation",
    "HillClimb",
    "HillClimbState",
    "HistoryRow",
    "Info",
    "Islands",
    "IslandsState",
    "K2State",
    "Mask",
    "Method",
    "Order",
    "Problem",
    "Search",
    "SearchResult",
    "SearchSpec",
    "SearchState",
    "SpecOptions",
    "Species",
    "StopReason",
    "StoredCheckpoint",
    "Tabu",
    "TabuState",
    "decode",
    "decode_dag",
    "describe_difference",
    "encode_dag",
    "format_solution",
    "make_method",
    "make_spec",
    "n_bits",
    "read_state",
    "run_search",
    "write_checkpoint",
    "write_state",
]
