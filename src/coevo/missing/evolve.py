"""The third species: completions of the table, which evolve with orders and masks.

The 2011 paper proposes a third subpopulation for missing cells, judged like the other two by
the score of the completed table. Maximised, that score rewards completions that are too
regular (`coevo.missing.evolve_maximising` does it, and measures it). So the third species is
*drawn*: a completion is redrawn, cell by cell, as often as it is probable given its partner, a
structure (`coevo.missing.imputations`); and a structure is worth its mean score over all
completions (`coevo.missing.expected_scorer`). What one species does wrong another can then undo:

- Each completion has another partner, from the best structures of the orders. An arc that one
  of them lacks is faint in the cells drawn under it, not in all.
- The tables of a structure are averaged over what the rows leave open, so that a completion
  is as irregular as the rest of the table.
- They start from structures that have rather too many arcs than too few: what was drawn
  without an arc cannot show it, and a structure that lacks one keeps lacking it (with 20 % of
  the cells of Insurance missing by another column, seven masks, 102 nats below the best in
  place of 42).
  So the first structures are those of tables filled as they are most probable, which
  overstates arcs; drawn cells then take away what was overstated.
- Both other species survive a redrawing: the families of the archive are scored anew on the
  new completions, and the search goes on from the orders that it had (`CCMASearch.rescored`).
- The last completions stay, and the search ends on them: all structures are compared on the
  same cells.

Methods without species (hill climbing, tabu, K2) cooperate with completions in the same way,
through the structure that hill climbing finds on them; the method itself runs at the end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from coevo.missing.evolve_maximising import evolve_plain
from coevo.missing.imputations import Adjacency, Imputations, most_common, with_cells
from coevo.missing.policy_checkpoint import Cells, Clock, Stage
from coevo.missing.policy_input import PolicyInput, PolicyOutput
from coevo.randomness import random_stream
from coevo.score import FamilyScorer
from coevo.search import CCGA, CCMA, Budget, CCMAState, Checkpoint, HillClimb, Problem, SearchResult
from coevo.search.ccma import CCMASearch

__all__ = ["N_IMPUTATIONS", "evolve"]

N_IMPUTATIONS = 10  # individuals of the third species
FIRST_ROUNDS = 3  # of filling with the most probable states, before any are drawn
EPOCHS = 8  # how often they are redrawn
SWEEPS = 10  # over all missing cells, each time
FIRST_GENERATIONS = 5  # of the other species, in the first of them
GENERATIONS = 3  # between two redrawings
STREAM = 2  # first key of the random streams between two redrawings
EARLY_SHARE = 0.5  # of a limit, for all that comes before the last completions
LAST = Budget(patience=15)  # on the last completions, where no limit is given
NOTHING = -1  # the generation that a search begins with which has nothing to go on from


def evolve(inputs: PolicyInput) -> PolicyOutput:
    """Let completions evolve with structures; end with a search on the last completions.

    Under the paper's own method, CCGA, they take the paper's own form.
    """
    if isinstance(inputs.spec.method, CCGA):
        return evolve_plain(inputs, inputs.spec.method)
    kind = _Species if isinstance(inputs.spec.method, CCMA) else _Climber
    return kind(inputs).found()


@dataclass(frozen=True)
class _Epoch(Stage):
    """The rounds of filling, then the redrawings; `filled` is empty where the search is on these.

    `generation` is the one that its search begins with.
    """

    policy = "evolve"

    generation: int
    is_last: bool
    filled: Cells


class _Climber:
    """What completions cooperate with under a method that has no species: hill climbing."""

    def __init__(self, inputs: PolicyInput) -> None:
        table = inputs.table
        self.inputs, self._clock = inputs, Clock(inputs.resume_from)
        self._completions = Imputations(table, N_IMPUTATIONS, inputs.seed, inputs.make_threads())

    def found(self) -> PolicyOutput:
        """Go from stage to stage; return what the last one finds."""
        before: SearchResult | Checkpoint | None
        stage, before = self._begin()
        while True:
            scorer = self._scorer(stage)
            result = self._searched(stage, scorer, before)
            if stage.is_last or result.stop_reason in ("callback", "interrupt"):
                break
            later = self._after(stage, scorer, result)
            if self.inputs.is_stopped():  # where nothing is found yet
                break
            stage, before = later, result
        method = self.inputs.spec.method
        result = replace(result, method=method.name, settings=method.settings)
        return PolicyOutput(
            result, scorer, self._completions, self._partners(scorer, result), stage
        )

    def _begin(self) -> tuple[_Epoch, Checkpoint | None]:
        """Return the first stage, or the one to go on with."""
        reached = self.inputs.resume_from
        if reached is None:
            codes, holes = most_common(self.inputs.table), self._completions.holes
            return self._epoch(0, NOTHING, filled=codes[holes.variables, holes.rows]), None
        stage = _Epoch.of(reached.extra_arrays)
        self._completions.put(stage.cells, stage.n_drawn)
        return stage, reached

    def _after(self, stage: _Epoch, scorer: FamilyScorer, result: SearchResult) -> _Epoch:
        """Draw cells under what was found; return the stage that this begins."""
        partners, generation = self._partners(scorer, result), result.generations
        if stage.number < FIRST_ROUNDS - 1 and not self._is_late(result):
            filled = self._completions.fill(partners[:1], SWEEPS)
            return self._epoch(stage.number + 1, generation, filled=filled.codes)
        number = max(stage.number + 1, FIRST_ROUNDS)
        self._completions.redraw(partners, SWEEPS)
        is_last = number == FIRST_ROUNDS + EPOCHS - 1 or self._is_late(result)
        return self._epoch(number, generation, is_last)

    def _epoch(
        self, number: int, generation: int, is_last: bool = False, filled: Cells | None = None
    ) -> _Epoch:
        own, dtype = self._completions, self.inputs.table.dataset.codes.dtype
        return _Epoch(
            number=number,
            n_drawn=own.n_drawn,
            cells=own.cells,
            generation=generation,
            is_last=is_last,
            filled=np.empty(0, dtype) if filled is None else filled.astype(dtype),
        )

    def _scorer(self, stage: _Epoch) -> FamilyScorer:
        """Return what judges structures in a stage."""
        if stage.number >= FIRST_ROUNDS:
            return self.inputs.make_expected_scorer(self._completions.datasets())
        table = self.inputs.table
        codes = with_cells(table, self._completions.holes, stage.filled)
        return self.inputs.make_scorer(table.make_dataset(codes))

    def _is_late(self, result: SearchResult) -> bool:
        """Return whether the share of the budget is spent that comes before the last search."""
        limit = self.inputs.spec.budget
        most_time = math.inf if limit.max_time is None else limit.max_time
        most = math.inf if limit.max_generations is None else limit.max_generations
        seconds = self._clock.seconds()
        spent = max(seconds / max(most_time, 1e-9), result.generations / max(most, 1))
        return spent >= EARLY_SHARE

    def _searched(
        self, stage: _Epoch, scorer: FamilyScorer, before: SearchResult | Checkpoint | None
    ) -> SearchResult:
        """Climb on completions that will be redrawn; on the last search as was asked for."""
        asked, seconds = self.inputs, self._clock.seconds()
        reached = before if isinstance(before, Checkpoint) else None
        if stage.is_last:
            return asked.run(scorer, reached, stage, seconds)
        budget = Budget(max_time=asked.spec.budget.max_time)
        climb = asked.with_search(method=HillClimb(), budget=budget)
        return climb.run(scorer, reached, stage, seconds)

    def _partners(self, scorer: FamilyScorer, result: SearchResult) -> list[Adjacency]:
        """Return the structures to draw completions under."""
        return [result.dag.adjacency()]


class _Species(_Climber):
    """Orders and masks, which go on from where they were on the completions before."""

    def _searched(
        self, stage: _Epoch, scorer: FamilyScorer, before: SearchResult | Checkpoint | None
    ) -> SearchResult:
        """Evolve for a few generations; on the last completions until a limit is reached."""
        state: CCMAState | Checkpoint | None = None
        if isinstance(before, Checkpoint):
            state = before
        elif before is not None:
            assert isinstance(before.state, CCMAState)
            rng = random_stream(self.inputs.seed, STREAM, before.generations)
            state = self._search(scorer).rescore(rng, before.state)
        asked = self.inputs.with_search(budget=self._limits(stage))
        return asked.run(scorer, state, stage, self._clock.seconds())

    def _limits(self, stage: _Epoch) -> Budget:
        """Return when the search of a stage ends."""
        limit = self.inputs.spec.budget
        if stage.is_last:
            return limit if limit.is_bounded else replace(LAST, target=limit.target)
        is_first = stage.generation == NOTHING
        n = FIRST_GENERATIONS if is_first else stage.generation + GENERATIONS
        most = n if limit.max_generations is None else min(n, limit.max_generations)
        return Budget(max_time=limit.max_time, max_generations=most)

    def _partners(self, scorer: FamilyScorer, result: SearchResult) -> list[Adjacency]:
        """Return the structures of the orders, the best first."""
        if not isinstance(result.state, CCMAState):  # interrupted before it began
            return super()._partners(scorer, result)
        return self._search(scorer).rank_structures(result.state)

    def _search(self, scorer: FamilyScorer) -> CCMASearch:
        assert isinstance(self.inputs.spec.method, CCMA)
        return self.inputs.spec.method.make_search(
            Problem.from_scorer(scorer, self.inputs.spec.constraints)
        )
