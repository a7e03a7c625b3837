"""Measure the confidence in each arc with bootstrap samples.

Run it from the root of the repository: ``python examples/bootstrap_confidence.py``.
"""

import coevo

N_BOOTSTRAPS = 40  # take 200 or more for a publication

# Rows from a published network, so that the true arcs are known.
true = coevo.load_network("asia").dag
rows = coevo.sample(coevo.load_network("asia"), 1000, random_state=1)
result = coevo.learn(
    rows, bootstraps=N_BOOTSTRAPS, random_state=0, budget=coevo.Budget(max_generations=3)
)

bootstrap = result.bootstrap
true_pairs = {frozenset(arc) for arc in true.arcs}
print(f"{bootstrap.n_bootstraps} bootstrap samples, threshold {bootstrap.threshold:.2f}")
print("strength  direction")
for arc in bootstrap.arcs:
    if arc.strength >= 0.05:
        note = "" if {arc.parent, arc.child} in true_pairs else "  (not in the true network)"
        print(
            f"    {arc.strength:.2f}       {arc.direction:.2f}  {arc.parent} -> {arc.child}{note}"
        )
print("Consensus network:", bootstrap.consensus)
