"""Answers of CCGA that must never change, and the script that stored them.

``python tests/helpers/ccga_answers.py`` writes them to ``ccga_answers.json``. The stored file was
made before the generational core moved into `coevo.search.cooperation`. Make it again only if
the algorithm is meant to change.

A hash is of integers and bits only, so that it is the same on every machine; scores may differ
in the last digit and are stored as numbers.
"""

import hashlib
import itertools
import json
import tempfile
from pathlib import Path

import numpy as np

from coevo.bundled import load_network
from coevo.graph import DAG, Constraints
from coevo.network import sample
from coevo.score import FamilyScorer
from coevo.search import CCGA, Budget, CCGAState, read_state, run_search, write_state

FILE = Path(__file__).with_suffix(".json")

# name of a case: network, rows, score, settings, constraints, generations, seed
CASES = {
    "asia, table 2": ("asia", 300, "k2", {}, {}, 30, 0),
    "asia, CCGA-1": ("asia", 300, "k2", {"random_partners": 0}, {}, 30, 1),
    "asia, odd population": ("asia", 200, "bdeu", {"population": 31}, {}, 20, 2),
    "asia, two individuals": ("asia", 200, "bic", {"population": 2}, {}, 20, 3),
    "sachs, three partners": ("sachs", 300, "bdeu", {"random_partners": 3}, {}, 20, 4),
    "survey, probabilities": (
        "survey",
        200,
        "k2",
        {"population": 20, "p_flip": 0.2, "p_swap": 1.0, "p_crossover": 0.9},
        {},
        25,
        5,
    ),
    "child, constraints": (
        "child",
        300,
        "bic",
        {"population": 40},
        {"required": [("Disease", "LVH")], "forbidden": [("LVH", "Age")], "max_parents": 2},
        20,
        6,
    ),
    "insurance, table 2": ("insurance", 300, "k2", {}, {}, 25, 7),
    "alarm, table 2": ("alarm", 200, "k2", {}, {}, 20, 8),
    "alarm, large generation": ("alarm", 100, "bdeu", {"population": 1500}, {}, 2, 9),
}


def make_scorer(name):
    """Return the scorer of a case."""
    network, n_rows, score = CASES[name][:3]
    return FamilyScorer(sample(load_network(network), n_rows, random_state=1), score)


def run_case(name, scorer, **options):
    """Run the search of a case."""
    settings, constraints, generations, seed = CASES[name][3:]
    return run_search(
        CCGA(**settings),
        scorer,
        constraints=Constraints(**constraints),
        budget=options.pop("budget", Budget(max_generations=generations)),
        random_state=seed,
        **options,
    )


def resume_case(name, scorer):
    """Run the search of a case in two parts, with the state in a file between them."""
    half = Budget(max_generations=CASES[name][5] // 2)
    first = run_case(name, scorer, budget=half)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.npz"
        write_state(first.state, path)
        return run_case(name, scorer, state=read_state(path, CCGAState))


def start_case(name, scorer):
    """Run the search of a case from a chain of all its variables."""
    names = scorer.dataset.names
    return run_case(name, scorer, start=DAG(names, list(itertools.pairwise(names))))


def make_hash(*arrays):
    """Return a hash of arrays of integers or bits."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array, dtype="<i8").tobytes())
    return digest.hexdigest()[:16]


def make_answer(result):
    """Return the answer of a search, as JSON holds it."""
    state, history = result.state, result.history
    numbers = [(row.generation, row.evaluations, row.improved, row.n_arcs) for row in history]
    return {
        "arcs": make_hash(state.adjacency),
        "populations": make_hash(state.orders, state.masks),
        "ranks": make_hash(
            # other kinds of sorting break ties by what the processor can do
            state.order_scores.argsort(kind="stable"),
            state.mask_scores.argsort(kind="stable"),
        ),
        "history": make_hash(np.array(numbers)),
        "support": make_hash((np.asarray(result.support) * 2**40).astype("<i8")),
        "score": result.score,
        "scores": [row.score for row in history][::5],
        "details": [value for row in history[::7] for value in row.details.values()],
    }


def make_answers(name):
    """Return the answers of a case: one run, one that resumes, and one from a start."""
    scorer = make_scorer(name)
    answers = {"run": make_answer(run_case(name, scorer))}
    if "table 2" in name or "odd" in name:
        answers["resume"] = make_answer(resume_case(name, scorer))
    if "asia" in name:
        answers["start"] = make_answer(start_case(name, scorer))
    return answers


if __name__ == "__main__":
    FILE.write_text(json.dumps({name: make_answers(name) for name in CASES}, indent=1) + "\n")
