"""One registry of all formats: what each is called, holds and does; reading by ending.

The ending of a name decides, without ``.gz``, unless a format is named. Endings that could
mean two things are settled by what stands in the file when it is read (``.xml``: XMLBIF or
GraphML by the outermost element; ``.csv``: a list of arcs if its header is from,to, else an
adjacency matrix); when a file is written, ``.xml`` is XMLBIF, and ``.csv`` wants the format
to be named or the ending ``.edges.csv`` or ``.adjacency.csv``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coevo.errors import FormatError, ParameterError, bad_choice
from coevo.io.bif_reader import parse_bif
from coevo.io.bif_writer import format_bif
from coevo.io.csv_structures import (
    format_adjacency,
    format_edges,
    is_edge_list,
    parse_adjacency,
    parse_edges,
)
from coevo.io.dot import format_dot, parse_dot
from coevo.io.graphml import format_graphml, parse_graphml
from coevo.io.json_model import format_json, parse_json
from coevo.io.model_string import format_modelstring, parse_modelstring
from coevo.io.net import format_net, parse_net
from coevo.io.structures import Model
from coevo.io.text_files import decode_text, read_bytes, write_encoded
from coevo.io.xml_tree import decode_xml
from coevo.io.xmlbif import format_xmlbif, parse_xmlbif
from coevo.network import BayesianNetwork

__all__ = [
    "FORMATS",
    "Format",
    "check_format",
    "format_for",
    "format_model",
    "parse_model",
    "read_model",
    "write_model",
]


NETWORK, STRUCTURE, EITHER = "network", "structure", "either"


@dataclass(frozen=True, slots=True)
class Format:
    """What is known about a format."""

    name: str  # as options and parameters call it
    label: str  # as sentences call it
    endings: tuple[str, ...]  # of file names, the usual one first
    holds: str  # a network, with states and tables; a structure only; or either
    parse: Callable[[str, str], Model]  # from a text, and what messages call the text
    write: Callable[[Any], str]  # of what it holds
    decode: Callable[[bytes, str], str] = decode_text

    @property
    def has_tables(self) -> bool:
        """Whether tables can be written."""
        return self.holds != STRUCTURE

    @property
    def needs_tables(self) -> bool:
        """Whether a structure without tables cannot be written."""
        return self.holds == NETWORK


_XMLBIF = (".xmlbif", ".bifxml", ".xml")
_ALL = (
    Format("bif", "BIF", (".bif",), NETWORK, parse_bif, format_bif),
    Format("xmlbif", "XMLBIF", _XMLBIF, NETWORK, parse_xmlbif, format_xmlbif, decode_xml),
    Format("net", "NET", (".net",), NETWORK, parse_net, format_net),
    Format("json", "JSON", (".json",), EITHER, parse_json, format_json),
    Format("dot", "DOT", (".dot", ".gv"), STRUCTURE, parse_dot, format_dot),
    Format(
        "graphml", "GraphML", (".graphml",), STRUCTURE, parse_graphml, format_graphml, decode_xml
    ),
    Format(
        "adjacency",
        "an adjacency matrix",
        (".adjacency.csv",),
        STRUCTURE,
        parse_adjacency,
        format_adjacency,
    ),
    Format("edges", "a list of arcs", (".edges.csv",), STRUCTURE, parse_edges, format_edges),
    Format(
        "modelstring", "a model string", (".txt",), STRUCTURE, parse_modelstring, format_modelstring
    ),
)
FORMATS: dict[str, Format] = {known.name: known for known in _ALL}
_BY_ENDING = {ending: known for known in _ALL for ending in known.endings}
_OUTERMOST = re.compile(r"<(?:[A-Za-z]\w*:)?(BIF|graphml)\b")


def read_model(path: str | os.PathLike[str], format_name: str | None = None) -> Model:
    """Read a network, or a structure where the file has no tables, in any format.

    Parameters
    ----------
    path : str or path-like
        The file, compressed with gzip or not.
    format_name : str, optional
        One of `FORMATS`. Without it the ending of the name decides.

    Returns
    -------
    BayesianNetwork or DAG
        Variables in the order of the file.

    Raises
    ------
    FileError
        When the file cannot be read.
    FormatError
        When it is malformed; the message has the place.
    ParameterError
        When neither the ending nor `format_name` names a format.

    Examples
    --------
    >>> import tempfile
    >>> from coevo.bundled import load_network
    >>> asia = load_network("asia")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_model(asia, f"{folder}/asia.json")
    ...     write_model(asia, f"{folder}/asia.dot")
    ...     read_model(f"{folder}/asia.json") == asia, read_model(f"{folder}/asia.dot")
    (True, <DAG: 8 variables, 8 arcs>)
    """
    source = str(path)
    data = read_bytes(Path(path))
    if format_name is not None:
        known = check_format(format_name, "format_name", "read_model")
        return known.parse(known.decode(data, source), source)
    ending = _ending(source)
    if ending == ".csv":
        text = decode_text(data, source)
        known = FORMATS["edges" if is_edge_list(text, source) else "adjacency"]
        return known.parse(text, source)
    if ending == ".xml":
        text = decode_xml(data, source)
        outermost = _OUTERMOST.search(text)
        known = FORMATS["graphml" if outermost and outermost[1] == "graphml" else "xmlbif"]
        return known.parse(text, source)
    known = format_for(source)
    return known.parse(known.decode(data, source), source)


def write_model(model: Model, path: str | os.PathLike[str], format_name: str | None = None) -> None:
    """Write a network or a structure in any format; a format without tables leaves them out.

    The file appears complete or not at all, and is compressed with gzip when its name ends
    in ``.gz``. The same model gives the same bytes.

    Parameters
    ----------
    model : BayesianNetwork or DAG
        What to write.
    path : str or path-like
        The file.
    format_name : str, optional
        One of `FORMATS`. Without it the ending of the name decides.

    Raises
    ------
    FormatError
        When the format cannot hold a name, or needs tables that the model has not.
    OSError
        When the file cannot be written.
    """
    known = format_for(str(path), format_name, "write_model")
    write_encoded(Path(path), format_model(model, known.name))


def parse_model(text: str, format_name: str, source: str = "<text>") -> Model:
    """Read a network or a structure from a text; `source` is what messages call it.

    >>> parse_model("[rain][wet|rain]", "modelstring").arcs
    (('rain', 'wet'),)
    """
    return check_format(format_name, "format_name", "parse_model").parse(text, source)


def format_model(model: Model, format_name: str) -> str:
    """Return a network or a structure as a text.

    >>> from coevo.bundled import load_network
    >>> print(format_model(load_network("cancer"), "modelstring"), end="")
    [Pollution][Smoker][Cancer|Pollution:Smoker][Xray|Cancer][Dyspnoea|Cancer]
    """
    known = check_format(format_name, "format_name", "format_model")
    if known.needs_tables and not isinstance(model, BayesianNetwork):
        others = ", ".join(other.name for other in _ALL if not other.needs_tables)
        raise FormatError(
            f"{known.label} needs states and tables, and a structure has none. Write one of "
            f"{others}, or fit tables to it first."
        )
    return known.write(model)


def check_format(name: str, parameter: str, owner: str) -> Format:
    """Return the format of a name, or raise `ParameterError`."""
    if name not in FORMATS:
        raise bad_choice(parameter, owner, FORMATS, name)
    return FORMATS[name]


def format_for(path: str, name: str | None = None, owner: str = "read_model") -> Format:
    """Return the format that a name, or else the ending of a file, stands for.

    >>> format_for("a.dot.gz").name, format_for("a.csv", "edges").name
    ('dot', 'edges')
    >>> format_for("a.csv")
    Traceback (most recent call last):
    coevo.errors.ParameterError: 'a.csv' could be an adjacency matrix or a list of arcs. End it \
in .adjacency.csv or .edges.csv, or name the format: adjacency or edges.
    """
    if name is not None:
        return check_format(name, "format_name", owner)
    ending = _ending(path)
    if ending in _BY_ENDING:
        return _BY_ENDING[ending]
    if ending == ".csv":
        raise ParameterError(
            f"{path!r} could be an adjacency matrix or a list of arcs. End it in .adjacency.csv "
            "or .edges.csv, or name the format: adjacency or edges."
        )
    endings = ", ".join(known.endings[0] for known in _ALL)
    names = ", ".join(FORMATS)
    raise ParameterError(
        f"The ending of {path!r} names no format. End it in one of {endings}, or name the "
        f"format: one of {names}."
    )


def _ending(path: str) -> str:
    """Return the longest known ending of a name, without ``.gz``; or nothing."""
    name = os.path.basename(path).lower().removesuffix(".gz")
    known = sorted([*_BY_ENDING, ".csv"], key=len, reverse=True)
    return next((ending for ending in known if name.endswith(ending)), "")
