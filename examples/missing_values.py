"""Learn from a table with missing values, and compare the policies.

Run it from the root of the repository: ``python examples/missing_values.py``.
"""

from pathlib import Path

import coevo

TABLE = Path(__file__).parent / "incomplete.csv"

# The default policy is evolve. With 'refuse', missing values are an error.
try:
    coevo.learn(TABLE, missing="refuse", read=coevo.ReadOptions(drop=["patient_id"]))
except coevo.CoevoError as error:
    print("Error:", error)

# evolve: a third species imputes the values.     em: structural EM.
# available: each family uses the rows that observe it.     drop: leave out incomplete rows.
# Nothing in this table is a cause of the age or the sex of a patient: they are roots.
options = {
    "read": coevo.ReadOptions(drop=["patient_id"]),
    "constraints": coevo.Constraints(roots=["age", "sex"]),
    "budget": coevo.Budget(max_generations=5),
    "random_state": 0,
}
results = {
    policy: coevo.learn(TABLE, missing=policy, **options)
    for policy in ("evolve", "em", "available", "drop")
}
for policy, result in results.items():
    arcs = ", ".join(f"{parent} -> {child}" for parent, child in result.dag.arcs)
    print(f"{policy:<9} {arcs}")

# Every imputed value has a probability.
print("The least certain imputed values of 'evolve':")
values = results["evolve"].imputation.imputed_table.iter_imputed_values()
for value in sorted(values, key=lambda value: value.probability)[:3]:
    print(f"  row {value.row}, {value.column}: {value.state} ({value.probability:.2f})")
