"""Writing the Bayesian Interchange Format (BIF), in one fixed layout.

The layout is that of R's bnlearn: the network, the variables in their order, then the
tables, with one row for each configuration of the parents. Reading a file back gives the
same network, bit for bit: numbers are written with all the digits that they need, and
names that are not plain words are quoted. A network without a name is called `unknown`.

Names made of letters, digits, `_`, `-` and `.` are read by every tool that we know.
R's bnlearn and pgmpy also take the other plain characters (`<5`, `12+`, `a/b`); quoted
names with blanks or braces in them are for coevo.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path

from coevo.io.bif_document import Document
from coevo.io.bif_scanner import quote
from coevo.io.text_files import write_encoded
from coevo.network import BayesianNetwork

__all__ = ["format_bif", "format_document", "write_bif"]


def write_bif(network: BayesianNetwork, path: str | os.PathLike[str]) -> None:
    """Write a network to a BIF file.

    The file appears complete or not at all. The same network gives the same bytes.

    Parameters
    ----------
    network : BayesianNetwork
        What to write.
    path : str or path-like
        The file; it is compressed with gzip when its name ends in ``.gz``.

    Raises
    ------
    OSError
        When the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from coevo.io import read_bif
    >>> from coevo.bundled import load_network
    >>> asia = load_network("asia")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_bif(asia, f"{folder}/asia.bif.gz")
    ...     read_bif(f"{folder}/asia.bif.gz") == asia
    True
    """
    write_encoded(Path(path), format_bif(network))


def format_bif(network: BayesianNetwork) -> str:
    """Return a network as a BIF text.

    Parameters
    ----------
    network : BayesianNetwork
        What to write.

    Returns
    -------
    str
        A text that `coevo.io.parse_bif` turns into the same network.

    Examples
    --------
    >>> from coevo.data.variable import Variable
    >>> wet = BayesianNetwork(
    ...     [Variable("rain", ("no", "yes")), Variable("wet", ("dry", "very wet"))],
    ...     {"wet": ["rain"]},
    ...     {"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.05, 0.95]]},
    ... )
    >>> print(format_bif(wet), end="")
    network unknown {
    }
    variable rain {
      type discrete [ 2 ] { no, yes };
    }
    variable wet {
      type discrete [ 2 ] { dry, "very wet" };
    }
    probability ( rain ) {
      table 0.8, 0.2;
    }
    probability ( wet | rain ) {
      (no) 0.9, 0.1;
      (yes) 0.05, 0.95;
    }
    """
    return format_document(Document.of(network))


def format_document(document: Document) -> str:
    """Return a document as a BIF text, its numbers as they are."""
    return "\n".join(_lines(document)) + "\n"


def _lines(document: Document) -> Iterator[str]:
    states = {v.name: [quote(state) for state in v.states] for v in document.variables}
    yield f"network {_network_name(document.name)} {{"
    yield "}"
    for name, listed in states.items():
        yield f"variable {quote(name)} {{"
        yield f"  type discrete [ {len(listed)} ] {{ {', '.join(listed)} }};"
        yield "}"
    for name in states:
        parents = document.parents[name]
        given = f" | {', '.join(map(quote, parents))}" if parents else ""
        yield f"probability ( {quote(name)}{given} ) {{"
        rows = (", ".join(map(repr, row)) for row in document.tables[name].tolist())
        for configuration in itertools.product(*(states[parent] for parent in parents)):
            label = f"({', '.join(configuration)})" if parents else "table"
            yield f"  {label} {next(rows)};"
        yield "}"


def _network_name(name: str) -> str:
    """Return the name as written; a network that is really called unknown is quoted."""
    if name == "unknown":
        return '"unknown"'
    return quote(name) if name else "unknown"
