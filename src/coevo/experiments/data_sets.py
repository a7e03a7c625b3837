"""Data sets that experiments sample from networks: sizes, seeds, and commands to sample again.

A seed is derived from names and numbers, never from a position in a list. So runs and data sets
can be added, left out or distributed over processes without changing any other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from coevo.bundled import list_networks, open_network
from coevo.checks import is_int
from coevo.errors import ParameterError, bad_parameter, find_duplicate
from coevo.io import format_bif
from coevo.randomness import random_stream

__all__ = [
    "check_data_sources",
    "check_no_repeats",
    "derive_seed",
    "format_sample_command",
    "hash_networks",
    "make_file_name",
]


def derive_seed(seed: int, *key: str | int) -> int:
    """Return the seed of a data set or a run. It has 32 bits, so people can type it.

    >>> derive_seed(0, "alarm", 1000) == derive_seed(0, "alarm", 1000)
    True
    """
    return int(random_stream(seed, *map(_to_number, key)).integers(2**32))


def _to_number(part: str | int) -> int:
    if isinstance(part, int):
        return part
    return int.from_bytes(hashlib.sha256(part.encode()).digest()[:8], "big")


def hash_networks(networks: Sequence[str]) -> dict[str, str]:
    """Return a hash of the content of each network that is a file. A version has all the others.

    >>> hash_networks(["alarm"])
    {}
    """
    files = [name for name in networks if name not in list_networks()]
    return {
        name: hashlib.sha256(format_bif(open_network(name)).encode()).hexdigest()[:32]
        for name in files
    }


def check_data_sources(owner: str, networks: Sequence[str], rows: Sequence[int]) -> None:
    """Raise `ParameterError` unless these are valid networks and sizes of data sets."""
    if not rows or not all(is_int(n, 1) for n in rows):
        raise bad_parameter("rows", owner, "ints >= 1", rows)
    check_no_repeats(owner, networks=networks, rows=[str(n) for n in rows])
    if not networks:
        raise bad_parameter("networks", owner, "names of networks", networks)


def check_no_repeats(owner: str, **lists: Sequence[str]) -> None:
    """Raise `ParameterError` if a list has an item twice."""
    for name, values in lists.items():
        repeated = find_duplicate(values)
        if repeated is not None:
            raise ParameterError(f"{name!r} of {owner} names {repeated} twice.")


def make_file_name(network: str) -> str:
    """Return a valid file name for a bundled network or a BIF file.

    >>> make_file_name("alarm"), make_file_name("../my networks/one.bif")
    ('alarm', 'my-networks-one.bif')
    """
    safe = "".join(c if c.isalnum() or c in "-_." else "-" for c in network)
    return safe.strip("-.")


def format_sample_command(network: str, rows: int, seed: int, name: str) -> str:
    """Return the command that samples a data set again, into the file ``name.csv``."""
    return f"coevo sample {network} --rows {rows} --seed {seed} -o {name}.csv"
