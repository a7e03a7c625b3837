"""The checkpoints that are fuzzed: each kind of state is read from a file, and its run resumes.

A state that passes its schema reaches kernels, which trust it. So each target takes one more step
from the state and makes the answer: a wrong index would end the process.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import coevo
from coevo.bundled import load_network
from coevo.data import IncompleteDataset
from coevo.exact import ProofTask, find_families, make_certificate, run_proof
from coevo.exact.run import ProofCheckpointFile
from coevo.files.checkpoints import CHECKPOINT
from coevo.missing import learn_incomplete
from coevo.posteriors import PosteriorSettings
from coevo.posteriors.run import compute_posterior, make_chain_method
from coevo.problems.champion import ChampionOrderings, ChampionTours
from coevo.problems.literal import LiteralSolver
from coevo.problems.problem import OrderingProblem, TourProblem
from coevo.problems.solver import SolveCheckpointFile, run_solver
from coevo.score import FamilyScorer
from coevo.search import Budget, Problem, StoredCheckpoint, make_spec, run_search, write_checkpoint
from coevo.search.registry import METHODS, make_method
from fuzz.archives import mutate_arrays, pack_arrays, unpack_arrays
from fuzz.target import Target

SMALL = {
    "ccga": {"population": 4},
    "ga": {"population": 4},
    "k2ga": {"population": 4},
    "mdlep": {"population": 4},
    "wong": {"population": 4},
    "naive_bayes": {"class_variable": "Cancer"},
    "tan": {"class_variable": "Cancer"},
}
POLICIES = ("evolve", "em", "available", "state", "drop")
FACTS = {"version": "1"}


def make_state_targets(folder):
    """Yield a target for each kind of checkpoint."""
    folder.mkdir()
    table = coevo.sample(load_network("cancer"), 60, random_state=1)
    yield _make_search_target(folder / "search", FamilyScorer(table, "k2"))
    yield _make_missing_target(folder / "missing", table.expand())
    yield _make_posterior_target(folder / "posterior", FamilyScorer(table, "bdeu"))
    yield _make_solve_target(folder / "solve")
    yield _make_proof_target(folder / "proof", FamilyScorer(table, "bic"))


def _make_target(name, folder, seeds, resume):
    """Return a target that writes a checkpoint file and resumes from it."""
    path = folder / CHECKPOINT
    packed = [pack_arrays(unpack_arrays(seed)) for seed in seeds]

    def read(data):
        path.write_bytes(data)
        return resume(path)

    return Target(f"checkpoint-{name}", packed, read, mutate_arrays)


def _store(checkpoint, facts, folder):
    """Return the bytes of the checkpoint file of a search."""
    folder.mkdir(exist_ok=True)
    write_checkpoint(checkpoint, facts, folder / CHECKPOINT)
    return (folder / CHECKPOINT).read_bytes()


def _choose(stored, name, known):
    """Return what the facts of a file name; the first one if they name nothing known."""
    found = stored.facts.get(name)
    return found if isinstance(found, str) and found in known else next(iter(known))


def _make_search_target(folder, scorer):
    methods = {name: make_method(name, "fuzz", **SMALL.get(name, {})) for name in METHODS}

    def search(name, n, checkpoint=None):
        budget = Budget(max_generations=n, max_time=5.0)
        return run_search(methods[name], scorer, budget=budget, random_state=1, state=checkpoint)

    def resume(path):
        stored = StoredCheckpoint(path)
        name = _choose(stored, "method", methods)
        checkpoint = stored.to_checkpoint(methods[name].state_type)
        return search(name, checkpoint.state.generation + 1, checkpoint)

    seeds = [_store(search(name, 2).checkpoint, {"method": name}, folder) for name in methods]
    return _make_target("search", folder, seeds, resume)


def _make_missing_target(folder, rows):
    holes = np.random.default_rng(3).random(rows.codes.shape) < 0.1
    table = IncompleteDataset(rows, holes)
    method = make_method("ccma", "fuzz")

    def learn(policy, n, checkpoint=None):
        budget = Budget(max_generations=n, max_time=5.0)
        return learn_incomplete(
            table, policy, state=checkpoint, method=method, budget=budget, random_state=1
        )

    def resume(path):
        stored = StoredCheckpoint(path)
        policy = _choose(stored, "policy", POLICIES)
        checkpoint = stored.to_checkpoint(method.state_type)
        return learn(policy, checkpoint.state.generation + 1, checkpoint)

    seeds = [_store(learn(name, 3).checkpoint, {"policy": name}, folder) for name in POLICIES]
    return _make_target("missing", folder, seeds, resume)


def _make_posterior_target(folder, scorer):
    spec = make_spec("fuzz", method="k2", score="bdeu", random_state=1)
    found = run_search("k2", scorer, random_state=1)
    asked = PosteriorSettings(sampler="chains", chains=2, networks=20, max_steps=2)
    settings = {prior: replace(asked, prior=prior) for prior in ("uniform", "order")}
    settings["tempered"] = replace(asked, temperatures=2)

    def resume(path):
        stored = StoredCheckpoint(path)
        chosen = settings[_choose(stored, "prior", settings)]
        checkpoint = stored.to_checkpoint(make_chain_method(chosen, None).state_type)
        more = replace(chosen, max_steps=max(1, checkpoint.state.generation + 1))
        answer = compute_posterior(scorer, spec, more, found, max_time=5.0, state=checkpoint)
        return answer.as_dict(), answer.edges

    seeds = []
    for prior, one in settings.items():
        ends = []
        compute_posterior(scorer, spec, one, found, on_end=lambda last, why, e=ends: e.append(last))
        seeds.append(_store(ends[0], {"prior": prior}, folder))
    return _make_target("posterior", folder, seeds, resume)


def _make_solve_target(folder):
    folder.mkdir()
    matrix = np.abs(np.random.default_rng(2).integers(1, 50, (7, 7)))
    tour = TourProblem.from_matrix((matrix + matrix.T) * (1 - np.eye(7, dtype=int)))
    ordering = OrderingProblem.from_matrix(matrix.tolist())
    solvers = {
        "tour": ChampionTours(tour),
        "ordering": ChampionOrderings(ordering),
        "literal tour": LiteralSolver(tour),
        "literal ordering": LiteralSolver(ordering),
    }
    seeds, files = [], {}
    for name, solver in solvers.items():
        files[name] = SolveCheckpointFile(folder, {**FACTS, "solver": name}, solver)
        last, reason = run_solver(solver, Budget(max_generations=2), 1)
        assert files[name].finish(last, reason) is None
        seeds.append((folder / CHECKPOINT).read_bytes())

    def resume(path):
        stored = files["tour"]._open(path)[0].get("solver")
        name = stored if isinstance(stored, str) and stored in files else "tour"
        checkpoint = files[name].load()
        budget = Budget(max_generations=checkpoint.state.generation + 1, max_time=5.0)
        return run_solver(solvers[name], budget, 1, (), checkpoint)

    return _make_target("solve", folder, seeds, resume)


def _make_proof_target(folder, scorer):
    folder.mkdir()
    problem = Problem.from_scorer(scorer)
    task = ProofTask(problem, find_families(problem), problem.make_dag(problem.start))
    file = ProofCheckpointFile(folder, FACTS, task.families)
    seeds = []
    for n in (1, 2, 100):
        last, reason = run_proof(task, budget=Budget(max_generations=n))
        assert file.finish(last, reason) is None
        seeds.append((folder / CHECKPOINT).read_bytes())

    def resume(path):
        checkpoint = file.load()
        budget = Budget(max_generations=checkpoint.state.generation + 1, max_time=5.0)
        last, _ = run_proof(task, budget=budget, resume_from=checkpoint)
        return make_certificate(task, last.state)

    return _make_target("proof", folder, seeds, resume)
