"""Add prior knowledge to a search: tiers, required and forbidden arcs.

Run it from the root of the repository: ``python examples/constraints.py``.
"""

from pathlib import Path

import coevo

TABLE = Path(__file__).parent / "patients.csv"

known = coevo.Constraints(
    tiers=[["age", "sex"], ["smoker", "ward"], ["crp", "temperature"], ["ill"]],
    required=[("smoker", "crp")],
    forbidden=[("ward", "ill")],
    max_parents=3,
)

# A claim that the rows contradict: inflammation and illness are not neighbours.
wrong = coevo.Constraints(forbidden=[("crp", "ill"), ("ill", "crp")])

results = {
    name: coevo.learn(
        TABLE,
        constraints=constraints,
        random_state=0,
        read=coevo.ReadOptions(drop=["patient_id"]),
        budget=coevo.Budget(max_generations=5),
    )
    for name, constraints in (("free", None), ("known", known), ("wrong", wrong))
}
for name, result in results.items():
    arcs = ", ".join(f"{parent} -> {child}" for parent, child in result.dag.arcs)
    print(f"{name:<6} {result.score:.2f}  {arcs}")

# Knowledge that agrees with the rows costs little of the score. A wrong claim costs much.
for name in ("known", "wrong"):
    print(f"{name} costs {results['free'].score - results[name].score:.2f} of the score.")

# The same knowledge may stand in a file: coevo.learn(TABLE, constraints="examples/known.csv").
