"""The progress of a proof: one row for each step."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["ProofRow"]


@dataclass(frozen=True, slots=True)
class ProofRow:
    """One step: the score of the best network, and how many nats better another one can be."""

    generation: int
    evaluations: int  # linear programmes
    seconds: float
    improved: int
    score: float
    gap: float
    n_certain: int  # arcs of the network that are in every optimal network
    n_open: int  # nodes

    def as_dict(self) -> dict[str, Any]:
        """Return one flat record."""
        return asdict(self) | {"seconds": round(self.seconds, 6)}
