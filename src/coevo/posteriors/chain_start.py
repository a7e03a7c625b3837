"""Start chains within a time limit: with the best choice of families that the time allows.

The choice of families gets better from stage to stage (`ChainSearch.improve_choice`). Three
quarters of the time are for it and for the warm-up of the chains. If they end too early, or at
Ctrl-C, the last complete stage is used, with a short warm-up. What the chains then sample is the
posterior over fewer families, and the answer says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from coevo.interrupts import defer_interrupts, is_interrupt
from coevo.posteriors.chain_search import (
    ChainMethod,
    FamilyChoice,
    PosteriorState,
    draw_chain_seed,
)
from coevo.posteriors.chain_state import LEAST_WARM_UP
from coevo.randomness import random_stream
from coevo.search.base import Problem
from coevo.work_time import OutOfTime, limit_work_time, measure_work_time

__all__ = ["ChainStart", "start_in_time"]

SHARE_OF_TIME = 0.75


@dataclass(frozen=True)
class ChainStart:
    """Chains that have made no step, and what ended the choice of their families.

    Attributes
    ----------
    state : PosteriorState
        The chains.
    seconds : float
        The time that the start took.
    ended_by : {'time', 'interrupt'} or None
        What ended the choice early; None if it is complete.
    n_candidates : int or None
        Number of candidates of each child if the choice ended early.
    """

    state: PosteriorState
    seconds: float
    ended_by: Literal["time", "interrupt"] | None = None
    n_candidates: int | None = None


def start_in_time(
    method: ChainMethod, problem: Problem, random_seed: int, max_time: float
) -> ChainStart:
    """Return chains that have made no step, soon after three quarters of the time at most.

    Raises
    ------
    KeyboardInterrupt
        If Ctrl-C comes before the first stage ends.
    """
    began, search = measure_work_time(), method.make_search(problem)
    seed = draw_chain_seed(random_stream(random_seed, 0))
    choice: FamilyChoice | None = None
    ended_by: Literal["time", "interrupt"]
    try:
        with limit_work_time(began + SHARE_OF_TIME * max_time):
            for better in search.improve_choice(seed):
                choice = better
            assert choice is not None
            return ChainStart(search.make_first(choice, seed), measure_work_time() - began)
    except OutOfTime:
        ended_by = "time"
    except (KeyboardInterrupt, SystemError) as error:
        if not is_interrupt(error):
            raise
        if choice is None:
            raise KeyboardInterrupt from None
        ended_by = "interrupt"
    with defer_interrupts():  # it is short
        least = search.choose_least() if choice is None else choice
        state = search.make_first(least, seed, LEAST_WARM_UP)
    return ChainStart(state, measure_work_time() - began, ended_by, least.n_candidates)
