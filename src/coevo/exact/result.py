"""The result of a proof: how far from the best network a network can be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coevo.errors import format_count
from coevo.exact.certificate import CERTIFICATE, Certificate, write_certificate
from coevo.exact.good_networks import GoodNetworks
from coevo.exact.rows import ProofRow
from coevo.graph import DAG, Arc
from coevo.run_files import make_run_folder, write_json, write_json_lines

__all__ = ["PROVED", "Proof"]

PROVED = 1e-6  # nats: a smaller gap is no difference


@dataclass(frozen=True, eq=False, repr=False)
class Proof:
    """What is proved about a network.

    Attributes
    ----------
    network : DAG
        The best network known.
    score : float
        Its score.
    gap : float
        No network scores more than this above it, in nats. It is rounded up.
    arcs : tuple of (parent, child)
        The arcs of the network that are in every optimal network.
    gain : float
        How much better the network is than the one that the proof began with; 0 if it is the same.
    certificate : Certificate
        The proof itself. `coevo.check_proof` checks it.
    n_families, n_scored : int
        Number of families that can be in an optimal network, and of those that were scored.
    n_leaves : int
        Number of leaves of the tree.
    max_parents : int or None
        The limit on parents under which it is proved.
    history : tuple of ProofRow
        The progress of the proof.
    stop_reason : str
        Why it ended: ``'finished'``, ``'time'``, ``'memory'``, ``'interrupt'`` or ``'callback'``.
    good : GoodNetworks or None
        All equivalence classes near the best one, if they were asked for.
    files : mapping of str to str
        The files that were written.
    """

    network: DAG
    score: float
    gap: float
    arcs: tuple[Arc, ...]
    gain: float
    certificate: Certificate
    n_families: int
    n_scored: int
    n_leaves: int
    max_parents: int | None
    history: tuple[ProofRow, ...]
    stop_reason: str
    good: GoodNetworks | None = None
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def bound(self) -> float:
        """The score that no network exceeds."""
        return self.score + self.gap

    @property
    def listed(self) -> int | None:
        """The number of parents, beside required ones, of the largest listed families.

        None if all families were listed. Otherwise time or memory ended the list; the other
        families have only a weak bound, and so have all networks.
        """
        return self.certificate.listed

    @property
    def is_proved(self) -> bool:
        """Whether the network is optimal: no other one is better by a millionth of a nat."""
        return self.gap <= PROVED

    @property
    def seconds(self) -> float:
        """The time of the proof, with that of the search and the families."""
        return self.history[-1].seconds if self.history else 0.0

    @property
    def verdict(self) -> str:
        """What is proved, in one sentence."""
        limit = "" if self.max_parents is None else f" with at most {self.max_parents} parents"
        certain = f"{len(self.arcs):,} of its {format_count(len(self.network.arcs), 'arc')}"
        verb = "is" if len(self.arcs) == 1 else "are"
        if self.is_proved:
            best = f"The network is optimal{limit}"
        else:
            best = f"A network{limit} can be at most {self.gap:,.6g} nats better"
        return f"{best}; {certain} {verb} in every optimal network."

    def as_dict(self) -> dict[str, Any]:
        """Return the facts as plain values."""
        facts: dict[str, Any] = {
            "verdict": self.verdict,
            "is_proved": self.is_proved,
            "score": self.score,
            "gap": self.gap,
            "bound": self.bound,
            "gain": self.gain,
            "certain_arcs": [list(arc) for arc in self.arcs],
            "n_arcs": len(self.network.arcs),
            "max_parents": self.max_parents,
            "n_families": self.n_families,
            "n_scored": self.n_scored,
            "listed": self.listed,
            "n_leaves": self.n_leaves,
            "steps": self.history[-1].generation if self.history else 0,
            "seconds": round(self.seconds, 6),
            "stop_reason": self.stop_reason,
        }
        if self.good is not None:
            facts["good_networks"] = self.good.as_dict()
        return facts

    def write(self, folder: Path) -> dict[str, str]:
        """Write certificate.json.gz, proof.json and history.jsonl; return their paths."""
        make_run_folder(folder)
        write_certificate(self.certificate, folder / CERTIFICATE)
        write_json_lines(folder / "history.jsonl", [row.as_dict() for row in self.history])
        write_json(folder / "proof.json", self.as_dict())
        names = {"certificate": CERTIFICATE, "proof": "proof.json", "history": "history.jsonl"}
        return {kind: str(folder / name) for kind, name in names.items()}

    def __repr__(self) -> str:
        best = "optimal" if self.is_proved else f"gap at most {self.gap:,.6g} nats"
        return f"<Proof: {len(self.network.nodes)} variables, score {self.score:.4f}, {best}>"
