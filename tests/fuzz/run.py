"""Fuzz everything that coevo reads, until a number of inputs or a time is reached.

    make fuzz                                  ten minutes
    python -m fuzz.run --inputs 1000000        from the folder tests; when all have had their time,
                                               the fastest targets continue up to this number
    python -m fuzz.run --target bif --seconds 60 --seed 7

An input is a fault if it ends otherwise than in a result or in an error of coevo, if it takes more
than a second for each 100 kB, if its message is longer than 2,000 characters, or if it ends the
process. Each fault is
written to ``tests/corpus/TARGET/``, where the tests read it ever after.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import mmap
import os
import random
import resource
import signal
import struct
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterable
from pathlib import Path

from coevo.errors import CoevoError
from fuzz.target import Target
from fuzz.targets import make_targets

CORPUS = Path(__file__).parents[1] / "corpus"
SECONDS, BYTES = 1.0, 100_000  # CPU time for each so many bytes, at least for one part
LONGEST_MESSAGE = 2000
LONGEST = 60.0  # seconds of an input that does not end
MEMORY = 12 << 30  # bytes of the process that reads
N_FASTEST = 4  # targets that continue to the number of inputs
HEADER = struct.Struct("4q")  # number of inputs and of faults, bytes of the input, is it read now
LARGEST = 1 << 20  # bytes of an input


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
        yield target.mutate(rng.choice(target.seeds), rng, target.seeds)


def list_corpus(target: Target) -> list[Path]:
    """Return the files of earlier faults."""
    folder = CORPUS / target.name
    return sorted(folder.iterdir()) if folder.is_dir() else []


def main() -> None:
    """Parse the options, fuzz, and print the number of inputs and faults of each target."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=0, help="smallest number of inputs in all")
    parser.add_argument("--seconds", type=float, default=600.0, help="time, shared by all targets")
    parser.add_argument("--target", action="append", help="a target (default: all)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the mutations")
    options = parser.parse_args()
    os.fsync = lambda descriptor: None  # it takes longer than all the rest
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        targets = [
            target
            for target in make_targets(Path(folder))
            if not options.target or target.name in options.target
        ]
        runs = {target.name: Run(target, str(options.seed)) for target in targets}
        for run in runs.values():
            run.fuzz(10**9, options.seconds / len(runs))
            print(f"{run.target.name}: {run.n:,} inputs", file=sys.stderr, flush=True)
        missing = options.inputs - sum(run.n for run in runs.values())
        fastest = sorted(runs.values(), key=lambda run: run.n)[-N_FASTEST:]
        for run in fastest if missing > 0 else ():
            run.fuzz(-(-missing // len(fastest)), 1e9)
    counts = {name: run.as_dict() for name, run in runs.items()}
    print(json.dumps({**counts, "all": sum(run.n for run in runs.values())}, indent=2))
    sys.exit(any(run.n_faults for run in runs.values()))


class Run:
    """The fuzzing of one target, in processes of its own: an input may end its process."""

    def __init__(self, target: Target, seed: str) -> None:
        self.target, self._seed = target, seed
        self.n, self.n_faults, self.seconds = 0, 0, 0.0
        self._shared = mmap.mmap(-1, HEADER.size + LARGEST)  # what the process reads now

    def as_dict(self) -> dict[str, float]:
        """Return the number of inputs and of faults, and the time."""
        return {"inputs": self.n, "faults": self.n_faults, "seconds": round(self.seconds, 1)}

    def fuzz(self, n_inputs: int, seconds: float) -> None:
        """Try so many more inputs, or as many as the time allows."""
        began, last = time.monotonic(), self.n + n_inputs
        while self.n < last and time.monotonic() < began + seconds:
            pid = os.fork()
            if not pid:
                try:
                    self._work(last, began + seconds)
                finally:
                    os._exit(0)
            self._watch(pid)
        self.seconds += time.monotonic() - began

    def _work(self, last: int, end: float) -> None:
        """Try inputs from number `n` on, in the new process."""
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        n_faults, kinds = 0, set[str]()
        for n, data in enumerate(generate(self.target, self._seed)):
            if n < self.n:
                continue
            if n >= last or time.monotonic() > end:
                break
            packed = HEADER.pack(n + 1, n_faults, len(data), 1) + data
            self._shared[: len(packed)] = packed
            fault = find_fault(self.target, data)
            kind = fault.splitlines()[-1][:80] if fault else ""
            if kind and kind not in kinds:
                kinds.add(kind)
                n_faults += 1
                self._keep(data, fault)
            HEADER.pack_into(self._shared, 0, n + 1, n_faults, len(data), 0)

    def _watch(self, pid: int) -> None:
        """Wait for the process; what it read when it died or did not end is a fault."""
        before, since = -1, time.monotonic()
        while os.waitpid(pid, os.WNOHANG)[0] == 0:
            time.sleep(0.05)
            n = HEADER.unpack_from(self._shared)[0]
            if n != before:
                before, since = n, time.monotonic()
            elif time.monotonic() > since + LONGEST:
                os.kill(pid, signal.SIGKILL)
        self.n, n_faults, size, is_reading = HEADER.unpack_from(self._shared)
        self.n_faults += n_faults + is_reading
        if is_reading:
            self._keep(self._shared[HEADER.size : HEADER.size + size], "the process ended")

    def _keep(self, data: bytes, fault: str) -> None:
        """Write a fault to the corpus."""
        path = CORPUS / self.target.name / hashlib.sha256(data).hexdigest()[:12]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        print(f"{self.target.name}: {path}\n{fault}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
