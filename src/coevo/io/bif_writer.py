"""Write the Bayesian Interchange Format (BIF), in one fixed layout.

The layout is that of R's bnlearn: the network, the variables in their order, then the
tables, with one row for each configuration of the parents. Reading a file back gives the
same network, bit for bit: the writer gives each number all the digits that it needs. A network
without a name is called `unknown`.

pyAgrum, pgmpy and R's bnlearn read what `format_bif` writes: names and states that one of them
could not read have a portable spelling, and the original stands in a property that coevo reads
back (`coevo.io.portable_names`). `format_bif_document` keeps all names, and quotes those that
are not plain words; it rewrites published files.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from coevo.data.variable import Variable
from coevo.io.bif_reader import BifDocument, quote_name
from coevo.io.portable_names import (
    NAME_PROPERTY,
    STATES_PROPERTY,
    make_portable,
    quote_original,
)
from coevo.io.scanner import write_text_file
from coevo.network import BayesianNetwork

__all__ = ["format_bif", "format_bif_document", "write_bif"]


def write_bif(network: BayesianNetwork, path: str | os.PathLike[str]) -> None:
    """Write a network to a BIF file.

    A failure leaves no partial file. The same network gives the same bytes.

    Parameters
    ----------
    network : BayesianNetwork
        The network to write.
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
    write_text_file(Path(path), format_bif(network))


def format_bif(network: BayesianNetwork) -> str:
    """Return a network as a BIF text.

    Parameters
    ----------
    network : BayesianNetwork
        The network to write.

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
      type discrete [ 2 ] { dry, very_wet };
      property coevo_labels = ["dry", "very wet"];
    }
    probability ( rain ) {
      table 0.8, 0.2;
    }
    probability ( wet | rain ) {
      (no) 0.9, 0.1;
      (yes) 0.05, 0.95;
    }
    """
    portable = make_portable(network)
    document = BifDocument(portable.name, portable.variables, portable.parents, portable.tables)
    return "\n".join(_format_lines(document, portable.originals, network.name)) + "\n"


def format_bif_document(document: BifDocument) -> str:
    """Return a document as a BIF text, with unchanged numbers and names."""
    originals = {variable.name: variable for variable in document.variables}
    return "\n".join(_format_lines(document, originals, document.name)) + "\n"


def _format_lines(
    document: BifDocument, originals: Mapping[str, Variable], title: str
) -> Iterator[str]:
    """Yield the lines of a document; `originals` has the variables by their names in it."""
    states = {v.name: [quote_name(state) for state in v.states] for v in document.variables}
    yield f"network {quote_name(document.name) if document.name else 'unknown'} {{"
    if title != document.name or title == "unknown":
        yield f"  property {NAME_PROPERTY} = {quote_original(title)};"
    yield "}"
    for variable in document.variables:
        name, labels = variable.name, states[variable.name]
        yield f"variable {quote_name(name)} {{"
        yield f"  type discrete [ {len(labels)} ] {{ {', '.join(labels)} }};"
        original = originals[name]
        if original.name != name:
            yield f"  property {NAME_PROPERTY} = {quote_original(original.name)};"
        if original.states != variable.states:
            listed = ", ".join(map(quote_original, original.states))
            yield f"  property {STATES_PROPERTY} = [{listed}];"
        yield "}"
    for name in states:
        parents = document.parents[name]
        given = f" | {', '.join(map(quote_name, parents))}" if parents else ""
        yield f"probability ( {quote_name(name)}{given} ) {{"
        rows = (", ".join(map(repr, row)) for row in document.tables[name].tolist())
        for configuration in itertools.product(*(states[parent] for parent in parents)):
            label = f"({', '.join(configuration)})" if parents else "table"
            yield f"  {label} {next(rows)};"
        yield "}"
