"""Searching for structures: one contract, and the methods that obey it."""

from coevo.search.base import Info, Method, Problem, Search, SearchState
from coevo.search.budget import Budget, StopReason
from coevo.search.ccga import CCGA, CCGAState
from coevo.search.ccma import CCMA, CCMAState
from coevo.search.checkpoint_file import StoredCheckpoint, read_state, write_checkpoint, write_state
from coevo.search.encoding import (
    Mask,
    Order,
    dag_of,
    decode,
    n_bits,
    pair_of,
    solution_string,
)
from coevo.search.hill_climb import HillClimb, HillClimbState
from coevo.search.islands import Islands, IslandsState
from coevo.search.k2 import K2, K2State
from coevo.search.registry import METHODS, make_method
from coevo.search.result import Checkpoint, HistoryRow, SearchResult
from coevo.search.run import Callback, Keep, run_search
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
    "HillClimb",
    "HillClimbState",
    "HistoryRow",
    "Info",
    "Islands",
    "IslandsState",
    "K2State",
    "Keep",
    "Mask",
    "Method",
    "Order",
    "Problem",
    "Search",
    "SearchResult",
    "SearchState",
    "StopReason",
    "StoredCheckpoint",
    "Tabu",
    "TabuState",
    "dag_of",
    "decode",
    "make_method",
    "n_bits",
    "pair_of",
    "read_state",
    "run_search",
    "solution_string",
    "write_checkpoint",
    "write_state",
]
