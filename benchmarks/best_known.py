"""The best score that anyone found on each data set of the benchmarks, with its finder.

A benchmark that compares with the best of its own runs flatters itself: a longer run may find more.
`best_known.json` keeps the best score ever found, and every benchmark that meets a better one
writes it there. An entry names the data set (a bundled network, its rows and the seed of the
sample; or a published table), the score, who found it and when, and for which networks it is
proved that none is better. The runs are seeded: the same command finds the same network.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import coevo

__all__ = ["TOLERANCE", "BestKnown", "name_sample"]

PATH = Path(__file__).parent / "best_known.json"
TOLERANCE = 0.01  # nats; published figures have two digits


def name_sample(network: str, n_rows: int, seed: int) -> str:
    """Return the name of a sample of a bundled network.

    >>> name_sample("alarm", 1000, 2)
    'alarm, 1,000 rows, sample 2'
    """
    return f"{network}, {n_rows:,} rows, sample {seed}"


class BestKnown:
    """The entries of `best_known.json`, by data set and score."""

    def __init__(self, path: Path = PATH) -> None:
        self._path = path
        entries = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
        self._entries: dict[tuple[str, str], dict[str, Any]] = {
            (entry["data_set"], entry["score"]): entry for entry in entries
        }

    def get(self, data_set: str, score: str) -> float | None:
        """Return the best known score, or None."""
        entry = self._entries.get((data_set, score))
        return None if entry is None else float(entry["best"])

    def get_proof(self, data_set: str, score: str) -> str | None:
        """Return for which networks it is proved that none is better, or None."""
        entry = self._entries.get((data_set, score))
        return None if entry is None else entry["proved"]

    def offer(self, data_set: str, score: str, value: float, finder: str) -> bool:
        """Keep a score if it is better than the one known; say whether it is."""
        known = self.get(data_set, score)
        if known is not None and value <= known + TOLERANCE:
            return False
        self._entries[data_set, score] = {
            "data_set": data_set,
            "score": score,
            "best": value,
            "finder": finder,
            "version": coevo.__version__,
            "date": datetime.now(UTC).date().isoformat(),
            "proved": None,
        }
        return True

    def set_proof(self, data_set: str, score: str, scope: str) -> None:
        """Note that no network of this scope is better than the one known."""
        self._entries[data_set, score]["proved"] = scope

    def save(self) -> None:
        """Write the file, one entry on each line."""
        lines = (json.dumps(entry) for _, entry in sorted(self._entries.items()))
        self._path.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
