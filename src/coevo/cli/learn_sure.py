"""How ``coevo learn --bootstraps`` goes on once there is a network: what it does, and says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coevo.cli.bootstrap import bootstraps_progress, said_of_interrupt
from coevo.cli.experiments import say_stopping

if TYPE_CHECKING:
    from coevo.bootstrap import Work
    from coevo.learning import LearnResult

__all__ = ["ended_by_hand", "measured"]


def measured(learned: LearnResult, work: Work) -> LearnResult:
    """Do the bootstraps of a network that was learned, telling of each."""
    from coevo.learning import with_strength

    with bootstraps_progress() as tell:
        return with_strength(learned, work, tell, say_stopping)


def ended_by_hand(learned: LearnResult, work: Work | None, output: str | None) -> str:
    """Return what is to be said of Ctrl-C, if anyone pressed it."""
    if learned.search.stop_reason == "interrupt":
        return "Interrupted; this is the best network so far."
    if work is None or (learned.strength is not None and learned.strength.is_complete):
        return ""
    if learned.strength is None:
        return "Interrupted; this is the network, without bootstraps."
    return said_of_interrupt(learned.strength, output, "this is the network; its strengths rest")
