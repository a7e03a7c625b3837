"""The published numbers that stand beside ours, as differences to the true network in nats.

The paper has CCGA and K2 on the six data sets (`coevo.experiments.paper.published`). The other
systems were published on other data. What is known from a text that could be read is here. The
primary texts of GA, K2GA, MDLEP and Wong's hybrid could not be had.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from coevo.experiments.paper.plan import PaperDataSet
from coevo.experiments.paper.published import PUBLISHED

__all__ = ["ELSEWHERE", "PublishedResult", "find_published_difference"]

LOG_10 = math.log(10)  # those texts have logarithms to base 10
BLANCO = "Blanco, Inza and Larrañaga 2003"
DE_CAMPOS = "de Campos et al. 2002"


class PublishedResult(NamedTuple):
    """A published result on other data: scores to base 10."""

    system: str
    data: str
    score: float
    true_score: float
    source: str
    note: str = ""

    @property
    def difference(self) -> float:
        """The score minus that of the true network, in nats."""
        return LOG_10 * (self.score - self.true_score)


ELSEWHERE = (
    PublishedResult("GA", "Asia 10000", -9813.09, -9802.66, BLANCO, "mean of 10 runs"),
    PublishedResult(
        "GA under the true order", "Asia 10000", -11086.4, -9802.66, BLANCO, "mean of 10 runs"
    ),
    PublishedResult("K2", "Asia 10000", -9804.25, -9802.66, BLANCO, "random orders"),
    PublishedResult("K2 with the true order", "Asia 10000", -9802.66, -9802.66, BLANCO),
    PublishedResult("GA", "Alarm 10000", -47744.4, -47086.57, BLANCO, "mean of 10 runs"),
    PublishedResult(
        "GA under the true order",
        "Alarm 10000",
        -79494.7,
        -47086.57,
        BLANCO,
        "mean of 10 runs; they were stopped early",
    ),
    PublishedResult("K2", "Alarm 10000", -49193.4, -47086.57, BLANCO, "random orders"),
    PublishedResult("K2 with the true order", "Alarm 10000", -47103.5, -47086.57, BLANCO),
    PublishedResult("hill climbing", "Alarm 3000", -14425.62, -14412.69, DE_CAMPOS),
    PublishedResult(
        "the best that was known", "Alarm 3000", -14401.29, -14412.69, DE_CAMPOS, "of any method"
    ),
)


def find_published_difference(data: PaperDataSet, system: str) -> float | None:
    """Return the paper's mean minus its score of the true network; None if it has none.

    >>> round(find_published_difference(PaperDataSet("alarm", 1000, 0), "k2"), 2)
    -657.22
    """
    published = PUBLISHED.get((data.network, data.rows))
    if published is None or system not in ("ccga", "k2"):
        return None
    return float(getattr(published, system).mean - published.original)
