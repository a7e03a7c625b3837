"""Published scores of public tables, and where they come from.

The proved optima are of exact scores. The numbers of the density tables (UCLA-StarAI,
Density-Estimation-Datasets, training splits) are those of the supplement of Scanagatta, Corani, de
Campos and Zaffalon, "Approximate structure learning for large Bayesian networks", Machine Learning
107 (2018).
They are whole nats of a smoothed BIC (`blip_score`). Their searches used caches of parent sets made
under a time limit, so that large differences partly reflect these caches. The absolute scores of
WINASOBS, MINOBS and INOBS were not found.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DENSITY", "PROVED", "WIDE", "Proved", "Published"]


@dataclass(frozen=True)
class Proved:
    """A proved optimum."""

    table: str
    scoring: str
    max_parents: int | None
    score: float
    source: str

    @property
    def label(self) -> str:
        """The score and the limit on parents."""
        limit = "" if self.max_parents is None else f", at most {self.max_parents} parents"
        return f"{self.scoring}{limit}"


@dataclass(frozen=True)
class Published:
    """The scores of four systems."""

    obs: int
    asobs: int
    asobs_ent: int
    gobnilp: int

    @property
    def best(self) -> tuple[str, int]:
        """The best system and its score."""
        names = ("OBS", "ASOBS", "ASOBS-ENT", "Gobnilp")
        scores = (self.obs, self.asobs, self.asobs_ent, self.gobnilp)
        best = max(scores)
        return names[scores.index(best)], best


NOTEBOOK, TESTS = "pygobnilp, notebook", "pygobnilp, tests"
PROVED = (
    Proved("gobnilp_discrete", "bdeu", None, -24028.0947783535, TESTS),
    Proved("gobnilp_asia_10000", "bdeu", 3, -22466.39654649, "pygobnilp, score file"),
    Proved("gobnilp_alarm_10000", "bdeu", 3, -105226.51191678, NOTEBOOK),
    Proved("bnlearn_alarm", "bic", 3, -218632.31567965, NOTEBOOK),
    Proved("bnlearn_insurance", "bic", 3, -264708.85975078, NOTEBOOK),
    Proved("bnlearn_hailfinder", "bic", 3, -990162.80504007, NOTEBOOK),
    Proved("ebnsl_wine", "bic", None, -1258.445909, "eBNSL, README"),
)
DENSITY = {
    "nltcs": Published(-99714, -99684, -99100, -98489),
    "kdd": Published(-436547, -436061, -435045, -433689),
    "baudio": Published(-622988, -621080, -621815, -619672),
    "bnetflix": Published(-869062, -866212, -868012, -862308),
    "accidents": Published(-362736, -360440, -356032, -357230),
    "tretail": Published(-239474, -239158, -239091, -238930),
    "dna": Published(-130968, -130658, -130694, -129976),
    "book": Published(-317032, -314630, -314139, -314249),
    "cwebkb": Published(-433515, -428644, -427997, -428575),
    "cr52": Published(-657024, -644661, -640792, -643486),
}
WIDE = ("book", "cwebkb", "cr52")  # more than 200 variables
