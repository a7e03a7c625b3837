"""Run several search methods on the same rows and compare the results.

Run it from the root of the repository: ``python examples/compare_methods.py``.
"""

import coevo

# The distance to the true network is known, because the rows come from one.
insurance = coevo.load_network("insurance")
rows = coevo.sample(insurance, 2000, random_state=1)

# One scorer for all methods: a family that one method has scored is known to the next.
scorer = coevo.FamilyScorer(rows, "bdeu")
print(f"true network: score {scorer.score(insurance.dag):.1f}, arcs {len(insurance.dag.arcs)}")
print("method          score  arcs  distance of the CPDAGs")
for name in ("k2", "hill_climb", "tabu", "ccga", "ccma"):
    found = coevo.run_search(name, scorer, random_state=0)  # with the default budget of the method
    distance = coevo.compare(found.dag, insurance.dag).shd_cpdag
    print(f"{name:<11} {found.score:>9.1f}  {len(found.dag.arcs):>4}  {distance:>4}")
