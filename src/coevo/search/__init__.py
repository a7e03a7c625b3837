"""Search for structures: one interface for all methods, and the methods themselves.

- ``ccga``: the cooperative coevolutionary genetic algorithm of Carvalho (GECCO 2011)
- ``ccma``: a cooperative coevolutionary memetic algorithm, the default of `coevo.learn`
- ``islands``: several populations of ``ccma`` with migration
- ``hill_climb``, ``tabu``, ``k2``: the classical greedy methods
- ``chow_liu``: the best tree
- ``naive_bayes``, ``tan``: structures for classification, with a class variable
- ``ges``: greedy search over equivalence classes
- ``ga``, ``k2ga``: the genetic algorithms of Larrañaga et al. (1996), over graphs and over orders
- ``mdlep``: evolutionary programming over graphs (Wong, Lam and Leung 1999)
- ``pc``: tests of independence in place of a score
- ``mmhc``: tests of independence, then hill climbing between neighbours
- ``wong``: tests of independence, then one species of parent sets for each variable

Other packages can add methods (`coevo.search.registry`).
"""

from typing import TYPE_CHECKING

from coevo.lazy_names import import_lazily

if TYPE_CHECKING:
    from coevo.search.base import Info, Method, Problem, Search, SearchState
    from coevo.search.ccga import CCGA, CCGAState
    from coevo.search.ccma import CCMA, CCMAState
    from coevo.search.checkpoint_file import (
        StoredCheckpoint,
        read_state,
        write_checkpoint,
        write_state,
    )
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
    from coevo.search.ga import GA, GAState
    from coevo.search.ges import GES, GESState
    from coevo.search.hill_climb import HillClimb, HillClimbState
    from coevo.search.islands import Islands, IslandsState
    from coevo.search.k2 import K2, K2State
    from coevo.search.k2ga import K2GA, K2GAState
    from coevo.search.loop import Budget, GenerationLoop, StopReason
    from coevo.search.mdlep import MDLEP, MDLEPState
    from coevo.search.mmhc import MMHC, MMHCState
    from coevo.search.pc import PC, PCState
    from coevo.search.registry import (
        METHODS,
        ChosenMethod,
        choose_method,
        make_method,
        split_methods,
    )
    from coevo.search.result import Checkpoint, HistoryRow, SearchResult
    from coevo.search.run import Callback, CheckpointCallback, run_search
    from coevo.search.spec import SearchSpec, describe_difference, make_spec
    from coevo.search.tabu import Tabu, TabuState
    from coevo.search.trees import TAN, ChowLiu, NaiveBayes, TreeState
    from coevo.search.wong import Wong, WongState
else:
    __getattr__, __dir__ = import_lazily(
        __name__,
        base="Info Method Problem Search SearchState",
        ccga="CCGA CCGAState",
        ccma="CCMA CCMAState",
        checkpoint_file="StoredCheckpoint read_state write_checkpoint write_state",
        cooperation="Cooperation Generation Species",
        encoding="Mask Order decode decode_dag encode_dag format_solution n_bits",
        ga="GA GAState",
        ges="GES GESState",
        hill_climb="HillClimb HillClimbState",
        islands="Islands IslandsState",
        k2="K2 K2State",
        k2ga="K2GA K2GAState",
        loop="Budget GenerationLoop StopReason",
        mdlep="MDLEP MDLEPState",
        mmhc="MMHC MMHCState",
        pc="PC PCState",
        registry="ChosenMethod METHODS choose_method make_method split_methods",
        result="Checkpoint HistoryRow SearchResult",
        run="Callback CheckpointCallback run_search",
        spec="SearchSpec describe_difference make_spec",
        tabu="Tabu TabuState",
        trees="ChowLiu NaiveBayes TAN TreeState",
        wong="Wong WongState",
    )

__all__ = [
    "CCGA",
    "CCMA",
    "GA",
    "GES",
    "K2",
    "K2GA",
    "MDLEP",
    "METHODS",
    "MMHC",
    "PC",
    "TAN",
    "Budget",
    "CCGAState",
    "CCMAState",
    "Callback",
    "Checkpoint",
    "CheckpointCallback",
    "ChosenMethod",
    "ChowLiu",
    "Cooperation",
    "GAState",
    "GESState",
    "Generation",
    "GenerationLoop",
    "HillClimb",
    "HillClimbState",
    "HistoryRow",
    "Info",
    "Islands",
    "IslandsState",
    "K2GAState",
    "K2State",
    "MDLEPState",
    "MMHCState",
    "Mask",
    "Method",
    "NaiveBayes",
    "Order",
    "PCState",
    "Problem",
    "Search",
    "SearchResult",
    "SearchSpec",
    "SearchState",
    "Species",
    "StopReason",
    "StoredCheckpoint",
    "Tabu",
    "TabuState",
    "TreeState",
    "Wong",
    "WongState",
    "choose_method",
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
    "split_methods",
    "write_checkpoint",
    "write_state",
]
