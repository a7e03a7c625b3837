"""The systems that the 2011 paper names, and CCMA: what each is, and how it runs here.

A system is a method of `coevo.search` with its settings. Some need an order of the variables: a
*random* order, drawn anew for each run, or the *true* order, which is a topological order of the
network that the data come from. No user has the true order. It shows what the order is worth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from coevo.search import CCGA, CCMA, GA, GES, K2, K2GA, MDLEP, MMHC, PC, HillClimb, Method, Wong

__all__ = ["SYSTEMS", "Order", "System"]

Order = tuple[str, ...] | None  # all variables, possible parents first


@dataclass(frozen=True)
class System:
    """A system of the comparison.

    Attributes
    ----------
    name : str
        The name on the command line and in the files.
    label : str
        The name in sentences.
    description : str
        What it is and where it comes from.
    make_method : callable
        Returns the method for a population size of CCGA and an order.
    order : str or None
        The order that it needs: ``'random'``, ``'true'`` or None.
    evolves : bool
        Whether it uses all evaluations that it may. The others end by themselves, early.
    has_randomness : bool
        Whether runs differ. One run is enough for the others.
    patience : int or None
        The number of generations without a better structure after which it has converged.
    """

    name: str
    label: str
    description: str
    make_method: Callable[[int, Order], Method]
    order: str | None = None
    evolves: bool = True
    has_randomness: bool = True
    patience: int | None = None


_ALL = (
    System(
        "ccga",
        "CCGA",
        "the algorithm of the paper: orders and masks, CCGA-2 (Carvalho 2011)",
        lambda size, order: CCGA(population=size),
    ),
    System(
        "ccga-1",
        "CCGA-1",
        "the same with the more greedy credit: only the best partner (Potter and De Jong 1994)",
        lambda size, order: CCGA(population=size, random_partners=0),
    ),
    System(
        "ga",
        "GA",
        "graphs as connectivity matrices; repair removes random arcs of cycles (Larrañaga et "
        "al. 1996)",
        lambda size, order: GA(),
    ),
    System(
        "ga-information",
        "GA with repair by information",
        "the same; repair removes the weakest arc of a cycle (Delaplace et al. 2007)",
        lambda size, order: GA(repair="information"),
    ),
    System(
        "ga-random-order",
        "GA under a random order",
        "the same without repair: only arcs along a fixed order, drawn anew for each run",
        lambda size, order: GA(order=order),
        order="random",
    ),
    System(
        "ga-true-order",
        "GA under the true order",
        "the same with an order of the true network, which no user has",
        lambda size, order: GA(order=order),
        order="true",
    ),
    System(
        "k2ga",
        "K2GA",
        "orders, each completed by K2 (Larrañaga et al. 1996)",
        lambda size, order: K2GA(),
    ),
    System(
        "wong",
        "Wong's hybrid",
        "independence tests, then one species for each variable, and a belief factor (Wong et "
        "al. 2004)",
        lambda size, order: Wong(),
        patience=200,
    ),
    System(
        "mdlep",
        "MDLEP",
        "evolutionary programming over graphs: mutations and tournaments, no crossover (Wong et "
        "al. 1999)",
        lambda size, order: MDLEP(),
        patience=200,
    ),
    System(
        "ccma",
        "CCMA",
        "the method of coevo: orders and masks with local search and an archive of families",
        lambda size, order: CCMA(),
        patience=25,
    ),
    System(
        "k2",
        "K2",
        "the baseline of the paper: K2 with random orders, at most ten parents (Cooper and "
        "Herskovits 1992)",
        lambda size, order: K2(),
        evolves=False,
    ),
    System(
        "k2-true-order",
        "K2 with the true order",
        "the same with an order of the true network, which no user has",
        lambda size, order: K2(order=order),
        order="true",
        evolves=False,
        has_randomness=False,
    ),
    System(
        "hill_climb",
        "hill climbing",
        "the simplest score-based method: the best change of one arc, until none helps",
        lambda size, order: HillClimb(),
        evolves=False,
        has_randomness=False,
    ),
    System(
        "ges",
        "GES",
        "score-based, over equivalence classes (Chickering 2002)",
        lambda size, order: GES(),
        evolves=False,
        has_randomness=False,
    ),
    System(
        "mmhc",
        "MMHC",
        "tests find the neighbours, hill climbing the arcs (Tsamardinos et al. 2006)",
        lambda size, order: MMHC(),
        evolves=False,
        has_randomness=False,
    ),
    System(
        "pc",
        "PC",
        "constraint-based: independence tests only (PC-stable, Colombo and Maathuis 2014)",
        lambda size, order: PC(),
        evolves=False,
        has_randomness=False,
    ),
)
SYSTEMS = {system.name: system for system in _ALL}
