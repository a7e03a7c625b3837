"""The published networks that the field measures itself on, bundled as data.

They come from the Bayesian Network Repository of R's bnlearn; `SOURCES.md` beside this
file says where each was published, and `scripts/bundle_networks.py` made the files. What
is known about a network stands in `index.json`, so that listing them reads no tables.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

from coevo.errors import FileError, bad_choice, suggestion
from coevo.io import read_bif
from coevo.network import BayesianNetwork

__all__ = ["NetworkInfo", "load_network", "network_index", "network_names", "open_network"]


@dataclass(frozen=True, slots=True)
class NetworkInfo:
    """What is known about a bundled network without loading it."""

    name: str
    n_variables: int
    n_arcs: int
    n_parameters: int  # free parameters
    max_parents: int
    min_states: int
    max_states: int
    domain: str  # what it is about, in a line
    reference: str  # where it was published


@cache
def network_index() -> tuple[NetworkInfo, ...]:
    """Return what is known about each bundled network, the smallest first.

    Returns
    -------
    tuple of NetworkInfo
        Ordered by the number of variables, then by name.

    Examples
    --------
    >>> [info.name for info in network_index() if info.n_parameters > 100_000]
    ['mildew', 'barley', 'diabetes']
    """
    text = files(__name__).joinpath("index.json").read_text(encoding="utf-8")
    return tuple(NetworkInfo(**entry) for entry in json.loads(text))


def network_names() -> tuple[str, ...]:
    """Return the names of the bundled networks, the smallest network first.

    Examples
    --------
    >>> network_names()[:4]
    ('cancer', 'earthquake', 'survey', 'asia')
    """
    return tuple(info.name for info in network_index())


def load_network(name: str) -> BayesianNetwork:
    """Load a bundled network.

    Parameters
    ----------
    name : str
        One of `network_names`.

    Returns
    -------
    BayesianNetwork
        The network as published, its rows normalised.

    Raises
    ------
    ParameterError
        When there is no such network.

    Examples
    --------
    >>> load_network("alarm")
    <BayesianNetwork 'alarm': 37 variables, 46 arcs, 509 parameters>
    """
    if name not in network_names():
        raise bad_choice("name", "load_network", network_names(), name)
    with as_file(files(__name__).joinpath(f"{name}.bif.gz")) as path:
        return read_bif(path)


def open_network(source: str | os.PathLike[str]) -> BayesianNetwork:
    """Open a network file, or load a bundled network by its name.

    Parameters
    ----------
    source : str or path
        The path of a BIF file, or one of `network_names`. A file goes first, a folder does not.

    Examples
    --------
    >>> open_network("asia")
    <BayesianNetwork 'asia': 8 variables, 8 arcs, 18 parameters>
    >>> open_network("alrm")
    Traceback (most recent call last):
    coevo.errors.FileError: There is no file and no bundled network 'alrm'. Did you mean 'alarm'?
    """
    path = Path(source)
    if str(source) in network_names() and not path.is_file():
        return load_network(str(source))
    if path.exists() or path.suffix or len(path.parts) > 1:
        return read_bif(path)
    raise FileError(
        f"There is no file and no bundled network {str(source)!r}."
        f"{suggestion(source, network_names())}"
    )
