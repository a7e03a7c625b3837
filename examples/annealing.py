"""Simulated annealing: a search method of your own, for `coevo learn` and `coevo bench`.

Run it from the root of the repository: ``python examples/annealing.py``, or give it to a command:
``coevo learn examples/patients.csv -m examples/annealing.py:Annealing:moves=200``.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import coevo
from coevo.score import FamilyBatch
from coevo.search import Budget, Method, Search, SearchState

FROZEN = 0.1  # nats: the search ends at this temperature


@dataclass(frozen=True)
class AnnealingState(SearchState):
    """All that the next step needs. The best structure so far is in the fields of the base."""

    current: np.ndarray  # bool, (n, n), [parent, child]
    local: np.ndarray  # float, (n,), the local score of each variable of `current`
    temperature: float


@dataclass(frozen=True)
class Annealing(Method):
    """The settings of the method; they can be set as in ``Annealing:moves=200``."""

    name: ClassVar[str] = "annealing"
    state_type: ClassVar[type[SearchState]] = AnnealingState
    default_budget: ClassVar[Budget] = Budget()  # it ends by itself

    moves: int = 100  # in each generation
    temperature: float = 20.0  # of the first generation, in nats
    cooling: float = 0.9

    def __post_init__(self):
        self.check_counts(moves=1)

    def make_search(self, problem):
        """Return the search on a problem: a scorer, the constraints and a start structure."""
        return AnnealingSearch(self, problem)


class AnnealingSearch(Search[AnnealingState]):
    """A generation makes some random moves, and then lowers the temperature."""

    def __init__(self, method, problem):
        self.method, self.problem = method, problem

    def start(self, rng):
        """Return the state of generation 0: the start structure with its score."""
        adjacency = self.problem.start
        local = self.problem.local_scores(adjacency)
        state = AnnealingState(
            generation=0,
            evaluations=len(local),
            improved=0,
            score=math.fsum(local),
            adjacency=adjacency,
            current=adjacency,
            local=local,
            temperature=self.method.temperature,
        )
        return state, {"temperature": state.temperature}

    def step(self, rng, state):
        """Return the state of the next generation. The old state must not change."""
        current, local = state.current.copy(), state.local.copy()
        best, score, n_scored = None, state.score, 0
        for _ in range(self.method.moves):
            after = self.draw_move(rng, current)
            if after is None:
                continue
            children = np.flatnonzero((after != current).any(axis=0))  # one, or two for a reversal
            families = [(child, np.flatnonzero(after[:, child])) for child in children]
            new = self.problem.scorer.local_scores(FamilyBatch.from_pairs(families))
            n_scored += len(children)
            gain = math.fsum(new - local[children])
            if rng.random() < math.exp(min(0.0, gain / state.temperature)):
                current, local[children] = after, new
                if math.fsum(local) > score:
                    best, score = current, math.fsum(local)
        better = None if best is None else (best, self.problem.score(best))
        colder = state.temperature * self.method.cooling
        fields = {"current": current, "local": local, "temperature": colder}
        return state.advance(n_scored, better, **fields), {"temperature": colder}

    def is_finished(self, state):
        """Return whether the search has ended."""
        return state.temperature < FROZEN

    def draw_move(self, rng, adjacency):
        """Add, delete or reverse a random arc; return None if the new structure is not allowed."""
        parent, child = rng.integers(len(adjacency), size=2)
        if parent == child:
            return None
        after = adjacency.copy()
        after[parent, child] = not after[parent, child]
        after[child, parent] = False
        closes_cycle = after[parent, child] and is_reachable(after, child, parent)
        if closes_cycle or not self.problem.rules.is_satisfied_by(after):
            return None
        return after


def is_reachable(adjacency, start, end):
    """Return whether there is a directed path from one variable to another."""
    reached = np.zeros(len(adjacency), dtype=bool)
    reached[start] = True
    while not reached[end]:
        more = reached | adjacency[reached].any(axis=0)
        if (more == reached).all():
            return False
        reached = more
    return True


if __name__ == "__main__":
    asia = coevo.load_network("asia")
    rows = coevo.sample(asia, 2000, random_state=1)
    for method in (Annealing(), Annealing(moves=400), "hill_climb"):
        found = coevo.learn(rows, score="bdeu", method=method, bootstraps=0)
        distance = coevo.compare(found.dag, asia.dag)
        print(f"{found.search.score:.2f}  SHD {distance.shd_cpdag}  SID {distance.sid}  {method}")
