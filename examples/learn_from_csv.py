"""Learn a network from a CSV file, print its arcs and write a report.

Run it from the root of the repository: ``python examples/learn_from_csv.py``.
"""

from pathlib import Path

import coevo

TABLE = Path(__file__).parent / "patients.csv"

# Columns of numbers are discretised. Without 'drop', coevo leaves out the identifiers by itself,
# and warns.
result = coevo.learn(
    TABLE,
    random_state=0,
    read=coevo.ReadOptions(drop=["patient_id"]),
    budget=coevo.Budget(max_generations=5),
)

print(result)
print("Arc: loss of score if it is removed")
for (parent, child), gain in sorted(result.gains.items(), key=lambda item: -item[1]):
    print(f"  {parent} -> {child}: {gain:.2f}")
edges = ", ".join(f"{a} -- {b}" for a, b in result.cpdag.edges)
print("Data cannot direct:", edges or "none")

files = result.save("build/example-run")
print("Open the report in a browser:", files["report"])
