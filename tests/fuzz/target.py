"""What a target of the fuzzer is."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from fuzz.mutate import mutate


@dataclass(frozen=True)
class Target:
    """A kind of input: its name, valid files, a function that reads one, and one that changes it.

    The reader returns normally, or raises an error of coevo. Anything else is a fault.
    """

    name: str
    seeds: list[bytes]
    read: Callable[[bytes], object]
    mutate: Callable[[bytes, random.Random, list[bytes]], bytes] = mutate
