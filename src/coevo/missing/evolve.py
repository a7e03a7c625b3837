"""The third species: completions of the table, which evolve with orders and masks.

The 2011 paper proposes a third subpopulation for missing cells, judged like the other two by
the score of the completed table. Maximised, that score rewards completions that are too
regular (`coevo.missing.plain` does it, and measures it). So the third species is *drawn*: a
completion is redrawn, cell by cell, as often as it is probable given its partner, a structure
(`coevo.missing.completions`); and a structure is worth its mean score over all completions
(`coevo.missing.expected_scorer`). What one species does wrong another can then undo:

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
import time
from dataclasses import replace

from coevo.interrupts import gentle_interrupts
from coevo.missing.completions import Adjacency, Completions, filled_in, most_common
from coevo.missing.plain import evolve_plain
from coevo.missing.question import Found, Question
from coevo.randomness import stream
from coevo.score import FamilyScorer
from coevo.search import CCGA, CCMA, Budget, CCMAState, HillClimb, Problem, SearchResult
from coevo.search.ccma import CCMASearch

__all__ = ["COMPLETIONS", "evolve"]

COMPLETIONS = 10  # individuals of the third species
EPOCHS = 8  # how often they are redrawn
SWEEPS = 10  # over all missing cells, each time
FIRST_ROUNDS = 3  # of filling with the most probable states, before any are drawn
FIRST_GENERATIONS = 5  # of the other species, in the first of them
GENERATIONS = 3  # between two redrawings
STREAM = 2  # first key of the random streams between two redrawings
EARLY_SHARE = 0.5  # of a limit, for all that comes before the last completions
LAST = Budget(patience=15)  # on the last completions, where no limit is given


def evolve(question: Question) -> Found:
    """Let completions evolve with structures; end with a search on the last completions.

    Under the paper's own method, CCGA, they take the paper's own form.
    """
    if isinstance(question.method, CCGA):
        return evolve_plain(question, question.method)
    with gentle_interrupts() as interrupts:
        asked = replace(question, callbacks=(*question.callbacks, lambda row: interrupts.asked))
        stages = _Species(asked) if isinstance(question.method, CCMA) else _Climber(asked)
        completions = Completions(question.table, COMPLETIONS, question.seed, question.threads())
        scorer, result = _first(question, stages, completions)
        for epoch in range(1, EPOCHS + 1):
            if result.stop_reason in ("callback", "interrupt"):
                break
            completions.redraw(stages.partners(scorer, result), SWEEPS)
            scorer = question.expected(completions.datasets())
            if epoch == EPOCHS or stages.is_late(result):
                result = stages.last(scorer, result)
                break
            result = stages.early(scorer, result)
        stopped = interrupts.asked
    whole = replace(
        result,
        seconds=stages.seconds(),
        stop_reason="interrupt" if stopped else result.stop_reason,
    )
    return Found(whole, scorer, completions, stages.partners(scorer, result))


def _first(
    question: Question, stages: _Climber, completions: Completions
) -> tuple[FamilyScorer, SearchResult]:
    """Return the first structures: of a table filled with the most probable states, in rounds."""
    table = question.table
    scorer = question.scorer(table.completed(most_common(table)))
    result = stages.early(scorer)
    for _ in range(FIRST_ROUNDS - 1):
        if result.stop_reason in ("callback", "interrupt") or stages.is_late(result):
            break
        filled = completions.fill(stages.partners(scorer, result)[:1], SWEEPS)
        scorer = question.scorer(table.completed(filled_in(table, filled)))
        result = stages.early(scorer, result)
    return scorer, result


class _Climber:
    """What completions cooperate with under a method that has no species: hill climbing."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self._began = time.perf_counter()

    def seconds(self) -> float:
        """Return the time since the start."""
        return time.perf_counter() - self._began

    def is_late(self, result: SearchResult) -> bool:
        """Return whether the share of the budget is spent that comes before the last search."""
        limit = self.question.budget
        most_time = math.inf if limit.max_time is None else limit.max_time
        most = math.inf if limit.max_generations is None else limit.max_generations
        spent = max(self.seconds() / max(most_time, 1e-9), result.generations / max(most, 1))
        return spent >= EARLY_SHARE

    def early(self, scorer: FamilyScorer, before: SearchResult | None = None) -> SearchResult:
        """Find a structure on completions that will be redrawn under it."""
        budget = Budget(max_time=self._left().max_time)
        return replace(self.question, method=HillClimb(), budget=budget).run(scorer)

    def last(self, scorer: FamilyScorer, before: SearchResult) -> SearchResult:
        """Search with the method that was asked for."""
        return self.question.after(self.seconds()).run(scorer)

    def partners(self, scorer: FamilyScorer, result: SearchResult) -> list[Adjacency]:
        """Return the structures to draw completions under."""
        return [result.dag.adjacency()]

    def _left(self) -> Budget:
        """Return what is left of the budget."""
        return self.question.after(self.seconds()).budget


class _Species(_Climber):
    """Orders and masks, which go on from where they were on the completions before."""

    def early(self, scorer: FamilyScorer, before: SearchResult | None = None) -> SearchResult:
        """Evolve for a few generations."""
        left = self._left()
        n = FIRST_GENERATIONS if before is None else before.generations + GENERATIONS
        most = n if left.max_generations is None else min(n, left.max_generations)
        budget = Budget(max_time=left.max_time, max_generations=most)
        return self._evolved(scorer, budget, before)

    def last(self, scorer: FamilyScorer, before: SearchResult) -> SearchResult:
        """Evolve until a limit is reached."""
        left = self._left()
        budget = left if left.ends else replace(LAST, target=left.target)
        return self._evolved(scorer, budget, before)

    def partners(self, scorer: FamilyScorer, result: SearchResult) -> list[Adjacency]:
        """Return the structures of the orders, the best first."""
        if not isinstance(result.state, CCMAState):  # interrupted before it began
            return super().partners(scorer, result)
        return self._search(scorer).elite(result.state)

    def _evolved(
        self, scorer: FamilyScorer, budget: Budget, before: SearchResult | None
    ) -> SearchResult:
        state = None
        if before is not None:
            assert isinstance(before.state, CCMAState)
            rng = stream(self.question.seed, STREAM, before.generations)
            state = self._search(scorer).rescored(rng, before.state)
        return replace(self.question, budget=budget).run(scorer, state)

    def _search(self, scorer: FamilyScorer) -> CCMASearch:
        assert isinstance(self.question.method, CCMA)
        return self.question.method.on(Problem.of(scorer, self.question.constraints))
