r"""Store the answers of this version, or compare them with those of another: the same bits.

Every search with every score, weights, constraints, missing values, chains, exact sums, a proof,
strengths, tests, tours and orderings, on small tables. An answer is a hash of all its numbers.

    PYTHONPATH=../before/src python benchmarks/same_answers.py --write before.json
    python benchmarks/same_answers.py --compare before.json

It says for each case whether the bits are the same, and exits with 1 if one differs.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

SCORES = ("bdeu", "bds", "k2", "bic", "aic", "fnml", "qnml", "loglik")
METHODS = (
    "ccma", "ccga", "islands", "hill_climb", "tabu", "ges", "k2", "k2ga", "ga", "mdlep", "wong",
    "mmhc", "chow_liu",
)  # fmt: skip
Answer = Callable[[], Any]


def list_cases() -> Iterator[tuple[str, Answer]]:
    """Yield each case: its name, and a function that computes the answer."""
    from coevo import load_network, sample

    asia, alarm = load_network("asia"), load_network("alarm")
    small, large = sample(asia, 400, 1), sample(alarm, 800, 2)
    wide = sample(load_network("andes"), 300, 3)
    yield from _list_searches(small, large, wide)
    yield from _list_limited_searches(large)
    yield from _list_incomplete_tables(small)
    yield from _list_posteriors(small, large)
    yield from _list_others(small, large)


def _search(dataset: Any, method: Any, score: str, limit: int, **options: Any) -> Answer:
    from coevo import Budget, FamilyScorer, run_search

    def answer() -> Any:
        result = run_search(
            method,
            FamilyScorer(dataset, score),
            budget=Budget(max_generations=limit),
            random_state=5,
            **options,
        )
        rows = [(row.generation, row.score) for row in result.history]
        return result.score, sorted(result.dag.arcs), rows

    return answer


def _list_searches(small: Any, large: Any, wide: Any) -> Iterator[tuple[str, Answer]]:
    from coevo import PC

    for score in SCORES:
        for method in METHODS:
            if score == "loglik" and method in ("tabu", "hill_climb", "ges", "mmhc"):
                continue  # all parents at once: nothing to compare
            yield f"{method} {score} asia", _search(small, method, score, 6)
        yield f"ccma {score} alarm", _search(large, "ccma", score, 4)
        yield f"ccga {score} alarm", _search(large, "ccga", score, 4)
    for method in ("hill_climb", "tabu", "ges", "mmhc", "k2", "wong", "k2ga"):
        yield f"{method} bic alarm", _search(large, method, "bic", 6)
    yield "ccma bdeu andes", _search(wide, "ccma", "bdeu", 2)
    yield "hill_climb k2 andes", _search(wide, "hill_climb", "k2", 400)
    for test in ("g2", "x2"):
        yield f"pc {test} alarm", _search(large, PC(test=test), "bic", 6)


def _list_limited_searches(large: Any) -> Iterator[tuple[str, Answer]]:
    from coevo import Constraints

    names = large.names
    constraints = Constraints(
        max_parents=3,
        required=[(names[0], names[5])],
        forbidden=[(names[3], names[4]), (names[9], names[2])],
        tiers=[list(names[:10]), list(names[10:20])],
        roots=[names[22]],
    )
    for method in ("ccma", "ccga", "hill_climb", "ges", "ga", "mdlep"):
        yield (
            f"{method} k2 alarm, constraints",
            _search(large, method, "k2", 4, constraints=constraints),
        )


def _list_incomplete_tables(small: Any) -> Iterator[tuple[str, Answer]]:
    import pandas

    import coevo

    rng = np.random.default_rng(4)
    frame = pandas.DataFrame(
        {
            variable.name: [variable.states[code] if rng.random() > 0.1 else None for code in codes]
            for variable, codes in zip(small.variables, small.codes, strict=True)
        }
    )

    def learn(**options: Any) -> Answer:
        def answer() -> Any:
            result = coevo.learn(frame, random_state=3, bootstraps=0, **options)
            network = result.network
            return (
                result.score,
                sorted(result.dag.arcs),
                [network.table(name) for name in network.dag.nodes],
            )

        return answer

    for missing in ("evolve", "em", "available", "state", "drop"):
        yield (
            f"ccma, missing={missing}",
            learn(missing=missing, budget=coevo.Budget(max_generations=5)),
        )
    yield (
        "ccga, missing=evolve",
        learn(missing="evolve", method="ccga", budget=coevo.Budget(max_generations=5)),
    )


def _list_posteriors(small: Any, large: Any) -> Iterator[tuple[str, Answer]]:
    import coevo

    def posterior(dataset: Any, **options: Any) -> Answer:
        def answer() -> Any:
            result = coevo.posterior(dataset, random_state=2, **options)
            return result.arcs, result.errors, result.score, result.trace, result.sample

        return answer

    for prior in ("uniform", "order"):
        for sampler in ("exact", "chains"):
            limits = {"max_steps": 400} if sampler == "chains" else {}
            yield (
                f"posterior {prior} {sampler}",
                posterior(small, prior=prior, sampler=sampler, **limits),
            )
    yield "posterior alarm", posterior(large, max_steps=300, chains=2)
    yield "posterior tempered", posterior(small, sampler="chains", temperatures=3, max_steps=300)


def _list_others(small: Any, large: Any) -> Iterator[tuple[str, Answer]]:
    import coevo
    from coevo.problems import OrderingProblem, TourProblem
    from coevo.problems.task import solve_ordering, solve_tour

    def prove() -> Any:
        proof = coevo.prove(small, score="bic", max_parents=3, random_state=0)
        return proof.score, proof.gap, proof.arcs, proof.n_families, proof.n_leaves

    def strength() -> Any:
        result = coevo.bootstrap_strength(small, bootstraps=5, random_state=1)
        return result.arcs, result.threshold, result.score

    def dependence() -> Any:
        names = large.names
        return [coevo.measure_dependence(large, names[0], name) for name in names[1:8]]

    rng = np.random.default_rng(8)
    weights = rng.integers(0, 50, (25, 25)).astype(float)
    distances = np.triu(weights, 1) + np.triu(weights, 1).T

    def solve(function: Any, problem: Any, form: str) -> Answer:
        def answer() -> Any:
            limit = coevo.Budget(max_generations=6)
            result = function(problem, form=form, budget=limit, random_state=3)
            return result.value, result.order

        return answer

    yield "prove", prove
    yield "strength", strength
    yield "dependence", dependence
    for form in ("champion", "literal"):
        yield f"solve tsp {form}", solve(solve_tour, TourProblem("random", distances), form)
        yield f"solve lop {form}", solve(solve_ordering, OrderingProblem("random", weights), form)


def hash_answer(answer: Any) -> str:
    """Return a hash of an answer that keeps every bit of its numbers."""

    def write(value: Any) -> str:
        if isinstance(value, float | np.floating):
            return float(value).hex()
        if dataclasses.is_dataclass(value):
            return write([getattr(value, field.name) for field in dataclasses.fields(value)])
        if isinstance(value, Mapping):
            return write(sorted(value.items()))
        if isinstance(value, list | tuple | np.ndarray):
            return "[" + ",".join(write(one) for one in value) + "]"
        return str(value)

    return hashlib.sha256(write(answer).encode()).hexdigest()[:16]


def compute_answers() -> dict[str, str]:
    """Return a hash for each case, or the error that it ended with."""
    answers = {}
    for name, answer in list_cases():
        began = time.process_time()
        try:
            answers[name] = hash_answer(answer())
        except Exception as error:  # the versions may differ in what they refuse
            answers[name] = f"{type(error).__name__}: {error}"
        print(f"{time.process_time() - began:7.2f} s  {answers[name]:16}  {name}", file=sys.stderr)
    return answers


def main() -> int:
    """Store the answers, or compare them."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", type=Path, help="File for the answers.")
    parser.add_argument("--compare", type=Path, help="File with answers of another version.")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    answers = compute_answers()
    if options.write:
        options.write.write_text(json.dumps(answers, indent=1) + "\n")
    if not options.compare:
        return 0
    before = json.loads(options.compare.read_text())
    other = [
        name for name in answers.keys() | before.keys() if answers.get(name) != before.get(name)
    ]
    print(f"{len(answers) - len(other)} of {len(answers)} answers have the same bits.")
    for name in sorted(other):
        print(f"  differs: {name}: {before.get(name)} -> {answers.get(name)}")
    return 1 if other else 0


if __name__ == "__main__":
    sys.exit(main())
