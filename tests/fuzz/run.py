"""Fuzz everything that coevo reads, until a number of inputs or a time is reached.

    make fuzz                                  ten minutes
    python -m fuzz.run --inputs 1000000        from the folder tests
    python -m fuzz.run --target bif --seconds 60 --seed 7

An input is a fault if it ends otherwise than in a result or in an error of coevo, if it takes more
than a second for each 100 kB, or if its message is longer than 2,000 characters. Each fault is
written to ``tests/corpus/TARGET/``, where the tests read it ever after.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterable
from pathlib import Path

from coevo.errors import CoevoError
from fuzz.mutate import mutate
from fuzz.targets import Target, make_targets

CORPUS = Path(__file__).parents[1] / "corpus"
SECONDS, BYTES = 1.0, 100_000  # CPU time for each so many bytes, at least for one part
LONGEST_MESSAGE = 2000


def find_fault(target: Target, data: bytes) -> str:
    """Return what is wrong with the reading of an input; an empty text if nothing is."""
    began = time.process_time()
    message = ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            target.read(data)
    except CoevoError as error:
        message = str(error)
    except Exception:
        return traceback.format_exc()
    seconds = time.process_time() - began
    if seconds > SECONDS * max(1.0, len(data) / BYTES):
        return f"{seconds:.1f} s for {len(data):,} bytes"
    if len(message) > LONGEST_MESSAGE:
        return f"a message of {len(message):,} characters: {message[:200]}"
    return ""


def generate(target: Target, seed: str) -> Iterable[bytes]:
    """Yield mutated inputs without end; the same for the same seed."""
    rng = random.Random(f"{target.name} {seed}")
    while True:
        yield mutate(rng.choice(target.seeds), rng, target.seeds)


def list_corpus(target: Target) -> list[Path]:
    """Return the files of earlier faults."""
    folder = CORPUS / target.name
    return sorted(folder.iterdir()) if folder.is_dir() else []


def main() -> None:
    """Parse the options, fuzz, and print the number of inputs and faults of each target."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=10**9, help="number of inputs in all")
    parser.add_argument("--seconds", type=float, default=600.0, help="time in all")
    parser.add_argument("--target", action="append", help="a target (default: all)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the mutations")
    options = parser.parse_args()
    os.fsync = lambda descriptor: None  # it takes longer than all the rest
    with tempfile.TemporaryDirectory() as folder:
        targets = [
            target
            for target in make_targets(Path(folder))
            if not options.target or target.name in options.target
        ]
        counts = {target.name: fuzz(target, options, len(targets)) for target in targets}
    print(json.dumps(counts, indent=2))
    sys.exit(any(count["faults"] for count in counts.values()))


def fuzz(target: Target, options: argparse.Namespace, n_targets: int) -> dict[str, float]:
    """Fuzz one target with its share of the inputs and of the time."""
    end = time.monotonic() + options.seconds / n_targets
    n, faults = 0, set[str]()
    began = time.monotonic()
    for data in generate(target, str(options.seed)):
        if n >= options.inputs / n_targets or time.monotonic() > end:
            break
        n += 1
        fault = find_fault(target, data)
        kind = fault.splitlines()[-1][:80] if fault else ""
        if kind and kind not in faults:
            faults.add(kind)
            path = CORPUS / target.name / hashlib.sha256(data).hexdigest()[:12]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            print(f"{target.name}: {path}\n{fault}", file=sys.stderr, flush=True)
    seconds = round(time.monotonic() - began, 1)
    return {"inputs": n, "faults": len(faults), "seconds": seconds}


if __name__ == "__main__":
    main()
