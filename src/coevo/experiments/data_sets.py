"""Data sets that experiments draw from networks: which, by what seed, and how to draw again.

A seed belongs to names and numbers, never to a place in a list. So runs and data sets can
be added, left out or spread over processes without a change to any other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from coevo.checks import is_int
from coevo.errors import ParameterError, bad_parameter, first_repeated
from coevo.randomness import stream

__all__ = ["check_no_repeats", "check_sources", "file_name", "named_seed", "sample_command"]


def named_seed(seed: int, *key: str | int) -> int:
    """Return the seed of a data set or a run; 32 bits, so that people can type it.

    >>> named_seed(0, "alarm", 1000) == named_seed(0, "alarm", 1000)
    True
    """
    return int(stream(seed, *map(_number, key)).integers(2**32))


def _number(part: str | int) -> int:
    if isinstance(part, int):
        return part
    return int.from_bytes(hashlib.sha256(part.encode()).digest()[:8], "big")


def check_sources(owner: str, networks: Sequence[str], rows: Sequence[int]) -> None:
    """Raise `ParameterError` unless these can be the networks and sizes of data sets."""
    if not rows or not all(is_int(n, 1) for n in rows):
        raise bad_parameter("rows", owner, "ints >= 1", rows)
    check_no_repeats(owner, networks=networks, rows=[str(n) for n in rows])
    if not networks:
        raise bad_parameter("networks", owner, "names of networks", networks)


def check_no_repeats(owner: str, **lists: Sequence[str]) -> None:
    """Raise `ParameterError` if a list names something twice."""
    for name, values in lists.items():
        twice = first_repeated(values)
        if twice is not None:
            raise ParameterError(f"{name!r} of {owner} names {twice} twice.")


def file_name(network: str) -> str:
    """Return a name that a file can have, for a bundled network or a BIF file.

    >>> file_name("alarm"), file_name("../my networks/one.bif")
    ('alarm', 'my-networks-one.bif')
    """
    kept = "".join(c if c.isalnum() or c in "-_." else "-" for c in network)
    return kept.strip("-.")


def sample_command(network: str, rows: int, seed: int, name: str) -> str:
    """Return the command that draws a data set again, into a file of this name."""
    return f"coevo sample {network} --rows {rows} --seed {seed} -o {name}.csv"
