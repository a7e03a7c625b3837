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

from coevo.errors import FileError, FormatError, bad_choice, suggestion
from coevo.graph import DAG
from coevo.io import Model, read_bif, read_model
from coevo.network import BayesianNetwork

__all__ = [
    "NetworkInfo",
    "list_networks",
    "load_network",
    "network_index",
    "open_model",
    "open_network",
    "open_structure",
]


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


def list_networks() -> tuple[str, ...]:
    """Return the names of the bundled networks, the smallest network first.

    Examples
    --------
    >>> list_networks()[:4]
    ('cancer', 'earthquake', 'survey', 'asia')
    """
    return tuple(info.name for info in network_index())


def load_network(name: str) -> BayesianNetwork:
    """Load a bundled network.

    Parameters
    ----------
    name : str
        One of `list_networks`.

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
    if name not in list_networks():
        raise bad_choice("name", "load_network", list_networks(), name)
    with as_file(files(__name__).joinpath(f"{name}.bif.gz")) as path:
        return read_bif(path)


def open_network(source: str | os.PathLike[str], format_name: str | None = None) -> BayesianNetwork:
    """Open a network file of any format, or load a bundled network by its name.

    Parameters
    ----------
    source : str or path
        The path of a file, or one of `list_networks`. A file goes first, a folder does not.
    format_name : str, optional
        One of `coevo.io.FORMATS`; without it the ending of the file decides.

    Raises
    ------
    FormatError
        When the file is malformed, or holds a structure without tables.

    Examples
    --------
    >>> open_network("asia")
    <BayesianNetwork 'asia': 8 variables, 8 arcs, 18 parameters>
    >>> open_network("alrm")
    Traceback (most recent call last):
    coevo.errors.FileError: There is no file and no bundled network 'alrm'. Did you mean 'alarm'?
    """
    model = open_model(source, format_name)
    if isinstance(model, DAG):
        raise FormatError(
            f"{str(source)!r} holds a structure without tables, and a network is needed. Name "
            "a file with tables, such as BIF, or fit tables to the structure first."
        )
    return model


def open_structure(source: str | os.PathLike[str], format_name: str | None = None) -> DAG:
    """Open a structure: that of a file of any format, or of a bundled network.

    Parameters
    ----------
    source, format_name
        As for `open_network`; a file need not have tables.

    Examples
    --------
    >>> open_structure("asia")
    <DAG: 8 variables, 8 arcs>
    """
    model = open_model(source, format_name)
    return model if isinstance(model, DAG) else model.dag


def open_model(source: str | os.PathLike[str], format_name: str | None = None) -> Model:
    """Open what there is: a network, or a structure where the file has no tables.

    Parameters
    ----------
    source, format_name
        As for `open_network`.
    """
    path = Path(source)
    if str(source) in list_networks() and not path.is_file():
        return load_network(str(source))
    if path.exists() or path.suffix or len(path.parts) > 1:
        return read_model(path, format_name)
    raise FileError(
        f"There is no file and no bundled network {str(source)!r}."
        f"{suggestion(source, list_networks())}"
    )
