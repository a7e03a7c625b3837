"""Write the skeletons that PC of causal-learn finds, for the tests of coevo's PC.

The tests cannot import causal-learn, so they compare with this file. Rows are sampled by coevo; the
hash of each table says whether a later version samples the same rows.

    python benchmarks/causal_learn_skeletons.py
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from coevo import load_network, sample
from harness import describe_run

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from causallearn.search.ConstraintBased.PC import pc

OUTPUT = Path(__file__).parents[1] / "tests/search/causal_learn_skeletons.json"
NAMES = {"g2": "gsq", "x2": "chisq"}
CASES = [
    ("asia", 2000, "g2", 0.05),
    ("sachs", 1000, "x2", 0.05),
    ("child", 1000, "g2", 0.01),
    ("insurance", 1000, "g2", 0.05),
    ("insurance", 2000, "x2", 0.05),
    ("alarm", 500, "x2", 0.2),
    ("alarm", 5000, "g2", 0.05),
]


def find_skeleton(network: str, n_rows: int, test: str, alpha: float) -> dict[str, Any]:
    """Return the edges that causal-learn finds in rows of a bundled network."""
    dataset = sample(load_network(network), n_rows, random_state=1)
    rows = np.ascontiguousarray(dataset.expand().codes.T)
    found = pc(rows, alpha, NAMES[test], stable=True, show_progress=False).G.graph != 0
    names = dataset.names
    edges = [[names[i], names[j]] for i, j in np.argwhere(np.triu(found)).tolist()]
    case = {"network": network, "n_rows": n_rows, "test": test, "alpha": alpha}
    return {**case, "data_hash": dataset.content_hash, "edges": edges}


def main() -> None:
    """Write the file."""
    facts = describe_run("causal-learn")
    skeletons = [find_skeleton(*case) for case in CASES]
    text = json.dumps({"versions": facts["versions"], "skeletons": skeletons}, indent=1)
    OUTPUT.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
