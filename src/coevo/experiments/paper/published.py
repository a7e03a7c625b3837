"""The published numbers: tables 3 and 4 of the paper, and the generations of crossing."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["CROSSING", "FIGURE", "PUBLISHED", "TABLE", "Published", "Spread"]


class Spread(NamedTuple):
    """The distribution of the scores of the runs (100 in the paper)."""

    mean: float
    sd: float
    min: float
    max: float


class Published(NamedTuple):
    """The published numbers of one data set."""

    original: float  # the score of the DAG from which the data were sampled
    ccga: Spread
    k2: Spread
    p_value: str


PUBLISHED = {
    ("alarm", 1000): Published(
        -11569.02,
        Spread(-12166.21, 178.23, -12663.12, -11850.92),
        Spread(-12226.24, 161.33, -12597.60, -11827.39),
        "0.0067",
    ),
    ("alarm", 3000): Published(
        -33759.28,
        Spread(-35020.31, 396.06, -36275.13, -34093.27),
        Spread(-35138.41, 341.31, -36291.70, -34491.62),
        "0.0125",
    ),
    ("alarm", 5000): Published(
        -55575.11,
        Spread(-57282.66, 548.55, -58636.40, -56185.14),
        Spread(-57574.12, 492.94, -58884.39, -56111.89),
        "<0.0001",
    ),
    ("insurance", 1000): Published(
        -15397.00,
        Spread(-15787.28, 279.19, -16581.80, -15180.42),
        Spread(-16107.61, 293.06, -16928.16, -15458.19),
        "<0.0001",
    ),
    ("insurance", 3000): Published(
        -43508.63,
        Spread(-45142.37, 722.67, -47530.71, -43789.77),
        Spread(-45778.39, 721.08, -47753.82, -44465.06),
        "<0.0001",
    ),
    ("insurance", 5000): Published(
        -72183.51,
        Spread(-74624.88, 995.01, -77083.61, -72526.31),
        Spread(-75837.82, 1249.83, -79275.45, -73011.77),
        "<0.0001",
    ),
}
CROSSING = {"alarm": 230, "insurance": 150}  # read from its figures, approximate
TABLE = {"alarm": 3, "insurance": 4}  # the numbers of the tables in the paper
FIGURE = {"alarm": 5, "insurance": 6}
