"""A search can be resumed after any number of generations, whichever method it is.

Each method runs for 2,000 generations on a tiny table, much longer than the table needs. A number
that grows or fades in each generation has then left its bounds. Every state is checked.
At random places the state goes through a file, and the search resumes from the file for some
generations: it reaches the same states as the run that was never stopped. A step is a function of
the state, so the final answer is the same, too; the last place is near the end and shows it.
"""

from dataclasses import replace

import numpy as np
import pytest

from coevo.errors import FormatError
from coevo.files.checkpoints import write_entries
from coevo.posteriors.chain_search import ChainMethod
from coevo.problems import OrderingProblem, TourProblem
from coevo.problems.solver import SolveCheckpoint, SolveCheckpointFile, run_solver
from coevo.problems.task import FORMS, SolveSettings, open_task
from coevo.score import FamilyScorer
from coevo.search import (
    METHODS,
    Budget,
    Checkpoint,
    StoredCheckpoint,
    read_state,
    run_search,
    write_checkpoint,
    write_state,
)
from coevo.search.base import find_flaw
from helpers.errors import refusal
from helpers.problem_matrices import random_distances
from helpers.problems import find_differing_fields, get_outcome, random_table

N_GENERATIONS = 2000
N_RESUMED = 15  # generations after a file was read
# Small populations, so that a generation takes a millisecond, and no early end.
SETTINGS = {
    "ccga": {"population": 4},
    "ccma": {"orders": 2, "masks": 3},
    "ga": {"population": 4},
    "hill_climb": {"restarts": N_GENERATIONS, "perturbations": 1},
    "islands": {"islands": 2, "epoch": 1, "orders": 2, "masks": 2},
    "k2ga": {"population": 4},
    "mdlep": {"population": 4},
    "mmhc": {"max_stalled": 10 * N_GENERATIONS},
    "naive_bayes": {"class_variable": "v001"},
    "tabu": {"max_stalled": 10 * N_GENERATIONS},
    "tan": {"class_variable": "v001"},
    "wong": {"population": 4},
}


def make_method(name):
    return METHODS[name](**SETTINGS.get(name, {}))


def draw_places(seed, last):
    """Return three generations to resume from: any two, and one near the end."""
    drawn = np.random.default_rng(seed).integers(0, last, 2).tolist()
    return [*drawn, max(0, last - N_RESUMED)]


@pytest.mark.parametrize(
    "method", [*map(make_method, METHODS), ChainMethod()], ids=lambda m: m.name
)
def test_a_search_resumes_after_any_number_of_generations(method, seed, tmp_path):
    table = random_table(seed, n_variables=3, n_rows=30)
    states, histories, path = [], [], tmp_path / "checkpoint.npz"

    def keep(checkpoint):
        assert find_flaw(checkpoint.state) == "", checkpoint.state.generation
        states.append(checkpoint.state)
        histories[:] = [checkpoint.history]

    def run(n_generations, state=None):
        budget = Budget(max_generations=n_generations)
        scorer = FamilyScorer(table, "bdeu")
        save = keep if state is None else None
        return run_search(
            method, scorer, budget=budget, random_state=seed, state=state, on_checkpoint=save
        )

    whole = run(N_GENERATIONS)
    last = whole.generations
    assert last == N_GENERATIONS or whole.stop_reason == "finished"
    for place in draw_places(seed, last + 1):
        checkpoint = Checkpoint(states[place], histories[0][: place + 1])
        write_checkpoint(checkpoint, {}, path)
        read = StoredCheckpoint(path).to_checkpoint(method.state_type)
        end = min(place + N_RESUMED, last)
        resumed = run(N_GENERATIONS if end == last else end, read)
        assert not find_differing_fields(resumed.state, states[end])
    assert get_outcome(resumed) == get_outcome(whole)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", [TourProblem, OrderingProblem])
def test_a_solver_resumes_after_any_number_of_generations(kind, form, seed, tmp_path):
    problem = kind.from_matrix(random_distances(np.random.default_rng(seed), 5))
    task = open_task(problem, SolveSettings(form, random_state=seed), "solve")
    file = SolveCheckpointFile(tmp_path, task.fingerprint, task.solver)
    states = []

    def keep(checkpoint):
        assert task.solver.find_flaw(checkpoint.state) == "", checkpoint.state.generation
        states.append(checkpoint.state)

    whole, _ = run_solver(
        task.solver, Budget(max_generations=N_GENERATIONS), seed, on_checkpoint=keep
    )
    last = whole.state.generation
    for place in draw_places(seed, last + 1):
        end = min(place + N_RESUMED, last)
        assert file.finish(SolveCheckpoint(states[place], whole.history[: place + 1]), "") is None
        budget = Budget(max_generations=end)
        resumed, _ = run_solver(task.solver, budget, seed, resume_from=file.load())
        for one, other in zip(resumed.state.parts, states[end].parts, strict=True):
            assert np.array_equal(one, other)
        assert resumed.state.score == states[end].score
    assert resumed.state.order.tolist() == whole.state.order.tolist()


def rewrite_as_before(path, to, credit):
    """Write a state file as 0.2.0 did: masks of parent sets, and a ranking of all variables."""
    entries = dict(np.load(path))
    prefixes = {name.removesuffix("candidates") for name in entries if name.endswith("candidates")}
    for prefix in prefixes:
        candidates = entries.pop(prefix + "candidates")
        n_masks, n, _ = candidates.shape
        entries[prefix + "masks"] = np.zeros((n_masks, n, n), dtype=bool)
        entries[prefix + "probes"] = candidates[0]
        entries[prefix + "credit"] = np.resize(credit, (n_masks, n))
        entries[prefix + "gains"] = np.empty((0, 0))
        for name in ("values", "hope", "spent", "earned"):
            del entries[prefix + name]
    kind = str(entries.pop("kind"))
    entries.pop("digest", None)
    write_entries(to, {**entries, "kind": kind})


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["ccma", "islands"])
def test_files_of_older_versions_are_accepted(name, seed, tmp_path):
    """In 0.2.0 the credit of a parent set doubled until it overflowed. It is not used any more."""
    method, path, old = make_method(name), tmp_path / "state.npz", tmp_path / "old.npz"
    scorer = FamilyScorer(random_table(seed, n_variables=3, n_rows=30), "bdeu")

    def run(n_generations, state=None):
        budget = Budget(max_generations=n_generations)
        return run_search(method, scorer, budget=budget, random_state=seed, state=state)

    after = run(12)
    write_state(after.state, path)
    rewrite_as_before(path, old, [-8.5e103, -4.3e302, -np.inf, -1.0, 2.0])
    resumed = run(20, read_state(old, method.state_type))
    assert resumed.score >= after.score
    assert find_flaw(resumed.state) == ""


def test_damaged_files_of_older_versions_are_refused(seed, tmp_path):
    method, path, old = make_method("ccma"), tmp_path / "state.npz", tmp_path / "old.npz"
    scorer = FamilyScorer(random_table(seed, n_variables=3, n_rows=30), "bdeu")
    after = run_search(method, scorer, budget=Budget(max_generations=12), random_state=seed)
    for wrong in (7, -1):  # a variable that does not exist
        candidates = after.state.candidates.copy()
        candidates[0, 0, 0] = wrong
        write_state(replace(after.state, candidates=candidates), path)
        rewrite_as_before(path, old, [0.0])
        refusal(FormatError, read_state, old, method.state_type)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -1.0, 1e200])
def test_credit_that_no_row_can_have_is_refused(wrong, seed, tmp_path):
    method, path = make_method("ccma"), tmp_path / "state.npz"
    scorer = FamilyScorer(random_table(seed, n_variables=3, n_rows=30), "bdeu")
    state = run_search(method, scorer, budget=Budget(max_generations=12), random_state=seed).state
    write_state(replace(state, credit=np.full_like(state.credit, wrong)), path)
    assert "'credit' must hold numbers" in refusal(FormatError, read_state, path, method.state_type)
