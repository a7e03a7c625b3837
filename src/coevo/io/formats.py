"""The registry of all formats: name, file extensions, content, reader and writer of each.

The extension of a file, without ``.gz``, decides about its format, unless the caller names a
format. Two extensions are ambiguous. When a file is read, its content decides: ``.xml`` is
XMLBIF or GraphML by its outermost element; ``.csv`` is a list of arcs if its header is
from,to, else an adjacency matrix. When a file is written, ``.xml`` is XMLBIF; for ``.csv``
the caller must name the format or use the extension ``.edges.csv`` or ``.adjacency.csv``.

Pictures (SVG, PNG, PDF) can be written but not read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coevo.checks import is_choice
from coevo.errors import FormatError, ParameterError, bad_choice, bad_parameter, format_list
from coevo.files.files import check_path
from coevo.io.bif_reader import parse_bif
from coevo.io.bif_writer import format_bif
from coevo.io.csv_structures import (
    Model,
    check_model,
    format_adjacency,
    format_edges,
    is_edge_list,
    parse_adjacency,
    parse_edges,
    require_network,
)
from coevo.io.dot import format_dot, parse_dot
from coevo.io.graphml import format_graphml, parse_graphml
from coevo.io.json_model import format_json, parse_json
from coevo.io.model_string import format_modelstring, parse_modelstring
from coevo.io.net import format_net, parse_net
from coevo.io.scanner import decode_text, read_bytes, write_text_file
from coevo.io.xmlbif import decode_xml, format_xmlbif, parse_xmlbif
from coevo.network import BayesianNetwork
from coevo.view.picture import PICTURE_FORMATS, find_picture_format

__all__ = [
    "FORMATS",
    "Format",
    "find_format",
    "find_picture",
    "format_model",
    "get_format",
    "parse_model",
    "read_model",
    "read_network",
    "write_model",
    "write_network",
]


NETWORK, STRUCTURE, EITHER = "network", "structure", "either"


@dataclass(frozen=True, slots=True)
class Format:
    """A file format: its names, its content, and the functions that read and write it."""

    name: str  # in options and parameters
    label: str  # in messages
    extensions: tuple[str, ...]  # the usual one first
    content: str  # a network (with states and tables), a structure only, or either
    parse: Callable[[str, str], Model]  # arguments: the text, and its name in messages
    format: Callable[[Any], str]  # argument: a network or a structure, according to `content`
    decode: Callable[[bytes, str], str] = decode_text
    kinds: tuple[str, ...] = ("table",)  # of distributions that it can hold, if it holds any

    @property
    def has_tables(self) -> bool:
        """Whether the format can hold tables."""
        return self.content != STRUCTURE

    @property
    def needs_tables(self) -> bool:
        """Whether the format cannot hold a structure without tables."""
        return self.content == NETWORK


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
_BY_EXTENSION = {extension: known for known in _ALL for extension in known.extensions}
_OUTERMOST = re.compile(r"<(?:[A-Za-z]\w*:)?(BIF|graphml)\b")


def read_model(path: str | os.PathLike[str], format_name: str | None = None) -> Model:
    """Read a network, or a structure where the file has no tables, in any format.

    Parameters
    ----------
    path : str or path-like
        The file, compressed with gzip or not.
    format_name : str, optional
        One of `FORMATS` (default: the format of the file extension).

    Returns
    -------
    BayesianNetwork or DAG
        Variables in the order of the file.

    Raises
    ------
    FileError
        When the file cannot be read.
    FormatError
        When the file is malformed; the message has the line.
    ParameterError
        When neither the extension nor `format_name` names a format.

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
        known = get_format(format_name, "format_name", "read_model")
        return known.parse(known.decode(data, source), source)
    extension = _find_extension(source)
    if extension == ".csv":
        text = decode_text(data, source)
        known = FORMATS["edges" if is_edge_list(text, source) else "adjacency"]
        return known.parse(text, source)
    if extension == ".xml":
        text = decode_xml(data, source)
        outermost = _OUTERMOST.search(text)
        known = FORMATS["graphml" if outermost and outermost[1] == "graphml" else "xmlbif"]
        return known.parse(text, source)
    known = find_format(source)
    return known.parse(known.decode(data, source), source)


def write_model(model: Model, path: str | os.PathLike[str], format_name: str | None = None) -> None:
    """Write a network or a structure in any format; omit the tables if the format has none.

    The file is compressed with gzip when its name ends in ``.gz``. A failure leaves no
    partial file. The same model gives the same bytes. The extensions ``.svg``, ``.png`` and
    ``.pdf`` write a picture of the graph; PNG and PDF need matplotlib.

    Parameters
    ----------
    model : BayesianNetwork or DAG
        The model to write.
    path : str or path-like
        The file.
    format_name : str, optional
        One of `FORMATS`, or ``'svg'``, ``'png'`` or ``'pdf'`` (default: the format of the file
        extension).

    Raises
    ------
    FormatError
        When the format cannot hold a name, or needs tables and the model has none.
    OSError
        When the file cannot be written.
    """
    check_model(model, "write_model")
    check_path(path, "path", "write_model")
    picture = find_picture(str(path), format_name)
    if picture is not None:
        model.plot().save(path, picture)
        return
    if format_name is None:
        known = find_format(str(path), is_output=True)
    else:
        known = get_format(format_name, "format_name", "write_model", is_output=True)
    write_text_file(Path(path), format_model(model, known.name))


def read_network(path: str | os.PathLike[str], format_name: str | None = None) -> BayesianNetwork:
    """Read a network from a file of any format that holds tables.

    `read_model` also reads structures, and `coevo.open_network` also opens the folders of runs and
    bundled networks by their names.

    Parameters
    ----------
    path, format_name
        As for `read_model`.

    Raises
    ------
    FormatError
        When the file is malformed, or holds a structure without tables.

    Examples
    --------
    >>> import tempfile
    >>> from coevo.bundled import load_network
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_network(load_network("asia"), f"{folder}/asia.net")
    ...     read_network(f"{folder}/asia.net")
    <BayesianNetwork 'asia': 8 variables, 8 arcs, 18 parameters>
    """
    return require_network(read_model(path, format_name), str(path))


def write_network(
    network: BayesianNetwork, path: str | os.PathLike[str], format_name: str | None = None
) -> None:
    """Write a network in a format that holds its tables, so that `read_network` reads it back.

    `write_model` also writes structures, pictures, and the structure of a network alone.

    Parameters
    ----------
    network : BayesianNetwork
        The network to write.
    path, format_name
        As for `write_model`.
    """
    if not isinstance(network, BayesianNetwork):
        raise bad_parameter("network", "write_network", "a BayesianNetwork", network)
    check_path(path, "path", "write_network")
    picture = find_picture(str(path), format_name)
    if picture is None:
        if format_name is None:
            known = find_format(str(path), is_output=True)
        else:
            known = get_format(format_name, "format_name", "write_network")
        if known.has_tables:
            write_model(network, path, known.name)
            return
    label = known.label if picture is None else picture.upper()
    others = ", ".join(other.name for other in _ALL if other.has_tables)
    raise FormatError(
        f"{label} cannot hold the tables of a network. Write one of {others}, or write the "
        "structure alone with write_model."
    )


def parse_model(text: str, format_name: str, source: str = "<text>") -> Model:
    """Read a network or a structure from a text; `source` is its name in messages.

    >>> parse_model("[rain][wet|rain]", "modelstring").arcs
    (('rain', 'wet'),)
    """
    return get_format(format_name, "format_name", "parse_model").parse(text, source)


def format_model(model: Model, format_name: str) -> str:
    """Return a network or a structure as a text.

    >>> from coevo.bundled import load_network
    >>> print(format_model(load_network("cancer"), "modelstring"), end="")
    [Pollution][Smoker][Cancer|Pollution:Smoker][Xray|Cancer][Dyspnoea|Cancer]
    """
    known = get_format(format_name, "format_name", "format_model")
    if known.needs_tables and not isinstance(model, BayesianNetwork):
        others = ", ".join(other.name for other in _ALL if not other.needs_tables)
        raise FormatError(
            f"{known.label} needs states and tables, and a structure has none. Write one of "
            f"{others}, or fit tables to it first."
        )
    if known.has_tables and isinstance(model, BayesianNetwork):
        _check_kinds(known, model)
    return known.format(model)


def _check_kinds(known: Format, network: BayesianNetwork) -> None:
    """Raise `FormatError` if a format cannot hold the distribution of a variable."""
    for variable in network.variables:
        kind = network.distribution(variable.name).kind
        if kind in known.kinds:
            continue
        others = [other.name for other in _ALL if other.has_tables and kind in other.kinds]
        way_out = f" Write one of {', '.join(others)}." if others else ""
        raise FormatError(
            f"{known.label} cannot hold the distribution of {variable.name!r}: it is of the kind "
            f"{kind!r}, and {known.label} holds {format_list(known.kinds)}.{way_out}"
        )


def find_picture(path: str, name: str | None = None) -> str | None:
    """Return the format of pictures to write, or None if the name or extension is another one.

    >>> find_picture("a.svg"), find_picture("a.svg", "bif"), find_picture("-", "png")
    ('svg', None, 'png')
    """
    if name is None:
        return find_picture_format(path)
    return name if name in PICTURE_FORMATS else None


def get_format(name: str, parameter: str, owner: str, is_output: bool = False) -> Format:
    """Return the format with a name; raise `ParameterError` if there is none.

    `is_output` says that pictures are possible, too; see `find_picture`.
    """
    if name in PICTURE_FORMATS:
        raise ParameterError(
            f"{parameter!r} of {owner} cannot be {name!r}. coevo writes pictures, but it cannot "
            f"read them. Use one of {', '.join(map(repr, sorted(FORMATS)))}."
        )
    if not is_choice(name, FORMATS):
        choices = (*FORMATS, *PICTURE_FORMATS) if is_output else FORMATS
        raise bad_choice(parameter, owner, choices, name)
    return FORMATS[name]


def find_format(path: str, is_output: bool = False) -> Format:
    """Return the format of a file extension. `is_output` is that of `get_format`.

    >>> find_format("a.dot.gz").name
    'dot'
    >>> find_format("a.csv")
    Traceback (most recent call last):
    coevo.errors.ParameterError: 'a.csv' could be an adjacency matrix or a list of arcs. Use the \
extension .adjacency.csv or .edges.csv, or name the format: adjacency or edges.
    """
    extension = _find_extension(path)
    if extension in _BY_EXTENSION:
        return _BY_EXTENSION[extension]
    if extension == ".csv":
        raise ParameterError(
            f"{path!r} could be an adjacency matrix or a list of arcs. Use the extension "
            ".adjacency.csv or .edges.csv, or name the format: adjacency or edges."
        )
    if find_picture_format(path) is not None:
        raise ParameterError(
            f"{path!r} is a picture. coevo writes pictures, but it cannot read them. Use the file "
            "that the picture was made from, such as a .bif file."
        )
    pictures = PICTURE_FORMATS if is_output else ()
    extensions = ", ".join(
        [*(known.extensions[0] for known in _ALL), *(f".{name}" for name in pictures)]
    )
    names = ", ".join((*FORMATS, *pictures))
    raise ParameterError(
        f"The extension of {path!r} names no format. Use one of {extensions}, or name the "
        f"format: one of {names}."
    )


def _find_extension(path: str) -> str:
    """Return the longest known extension of a file name, without ``.gz``, or an empty string."""
    name = os.path.basename(path).lower().removesuffix(".gz")
    known = sorted([*_BY_EXTENSION, ".csv"], key=len, reverse=True)
    return next((extension for extension in known if name.endswith(extension)), "")
