"""Helpers for tests of the comparison of reviewed systems: small plans and invented numbers."""

from coevo.experiments import Reviewed
from coevo.experiments.paper.plan import PaperDataSet
from coevo.experiments.related_methods.plan import SYSTEMS, ReviewedRecord
from coevo.experiments.related_methods.summary import make_results
from helpers.papers import JOURNAL, KINDS

# Asia is large enough for runs to differ. Few generations leave the systems different scores.
SMALL = Reviewed(networks=("asia",), rows=(60, 120), runs=3, generations=10, population=12)
N_RUNS = 76  # two sizes, eleven systems with three runs, five systems with one
FEW = Reviewed(
    networks=("asia",),
    rows=(60,),
    runs=3,
    generations=6,
    population=8,
    systems=("ccga", "ga-random-order", "k2ga", "ccma", "k2", "ges"),
)
N_FEW = 16

TABLES = ("scores", "shd", "evaluations", "tests-ccga", "tests-ccma", "times")


def arguments_of(reviewed):
    """Return the options of ``coevo paper --reviewed`` for a comparison."""
    systems = (
        [] if reviewed.systems == tuple(SYSTEMS) else ["--systems", ",".join(reviewed.systems)]
    )
    return [
        "--reviewed",
        "--networks", ",".join(reviewed.networks),
        "--rows", ",".join(map(str, reviewed.rows)),
        "--runs", reviewed.runs,
        "--max-generations", reviewed.generations,
        "--population", reviewed.population,
        *systems,
        "--seed", reviewed.seed,
    ]  # fmt: skip


def file_names(*networks):
    """Return the names of all files of a folder; figures are of these networks."""
    names = {*JOURNAL, "README.md", "results.csv"}
    names |= {f"{table}.{kind}" for table in TABLES for kind in KINDS["table"]}
    stems = [f"figure-{kind}-{network}" for kind in ("scores", "curves") for network in networks]
    return names | {f"{stem}.{kind}" for stem in stems for kind in KINDS["figure"]}


def make_invented(scores, shd=None, limit=1000, improvements=None):
    """Return results with these scores of the runs: {rows: {system: [score, ...]}}.

    The true network has the score -1000 on each data set.
    """
    data_sets = [PaperDataSet("asia", rows, rows) for rows in scores]
    systems = [name for name in SYSTEMS if name in next(iter(scores.values()))]
    records = [
        ReviewedRecord(
            network="asia",
            rows=data.rows,
            system=system,
            run=run,
            seed=run,
            score=score,
            shd=(shd or {}).get(system, 9),
            n_arcs=8,
            generations=5,
            evaluations=500,
            improvements=(improvements or {}).get(system, ((10, score),)),
            seconds=0.5,
        )
        for data in data_sets
        for system in systems
        for run, score in enumerate(scores[data.rows][system])
    ]
    true_scores = dict.fromkeys(data_sets, -1000.0)
    return make_results(data_sets, systems, true_scores, {"asia": limit}, records)
