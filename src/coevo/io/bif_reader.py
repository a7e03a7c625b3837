"""Reading the Bayesian Interchange Format (BIF), in all its dialects.

BIF is what the field has for exchanging networks: R's bnlearn and its repository, pgmpy,
pyAgrum and JavaBayes all write it, each in its own way. The reader takes them all:

- blocks in any order, a network block or none, stray semicolons;
- names quoted or not, lists with commas, blanks or both, a missing bar after the child;
- `//`, `/* */` and (at the start of a line) `#` comments; `property` lines anywhere;
- rows, a `table` or a `default`, as `coevo.io.bif_tables` explains.

A network called `unknown` (unquoted) has no name: that is what R writes for want of one.
Rows that miss 1 by up to 0.002 were rounded; they are normalised with a warning. All else
is a `FormatError` with line and column, whatever the text holds.
"""

from __future__ import annotations

import os
from pathlib import Path

from coevo.io.bif_blocks import BlockReader
from coevo.io.bif_document import Document
from coevo.io.bif_scanner import BifScanner
from coevo.io.text_files import decode_text, read_bytes
from coevo.network import BayesianNetwork

__all__ = ["parse_bif", "parse_document", "read_bif"]


def read_bif(path: str | os.PathLike[str]) -> BayesianNetwork:
    """Read a network from a BIF file, compressed with gzip or not.

    Parameters
    ----------
    path : str or path-like
        The file. Whether it is compressed is seen from its content, not its name.

    Returns
    -------
    BayesianNetwork
        Variables, states and parents in the order of the file.

    Raises
    ------
    FileError
        When the file cannot be read.
    FormatError
        When it is malformed; the message has the line and the column.

    Examples
    --------
    >>> read_bif("no_such_file.bif")
    Traceback (most recent call last):
    coevo.errors.FileError: There is no file 'no_such_file.bif'.
    """
    return parse_bif(decode_text(read_bytes(Path(path)), str(path)), str(path))


def parse_bif(text: str, source: str = "<text>") -> BayesianNetwork:
    """Read a network from a BIF text.

    Parameters
    ----------
    text : str
        The content of a BIF file.
    source : str
        What messages call the text: usually the name of the file.

    Returns
    -------
    BayesianNetwork
        Variables, states and parents in the order of the text.

    Raises
    ------
    FormatError
        When the text is malformed; the message has the line and the column.

    Notes
    -----
    A row lists the probabilities of the child's states for one configuration of the
    parents. A ``table`` of a variable with parents runs the other way: the child varies
    slowest and the last parent fastest, as in the Interchange Format 0.15.

    Examples
    --------
    >>> network = parse_bif('''
    ... network weather { }
    ... variable rain { type discrete [ 2 ] { no, yes }; }
    ... variable wet { type discrete [ 2 ] { no, yes }; }
    ... probability ( rain ) { table 0.8, 0.2; }
    ... probability ( wet | rain ) { (no) 0.9, 0.1; (yes) 0.05, 0.95; }
    ... ''')
    >>> network
    <BayesianNetwork 'weather': 2 variables, 1 arcs, 3 parameters>
    >>> parse_bif("variable rain { type discrete [ 3 ] { no, yes }; }", "rain.bif")
    Traceback (most recent call last):
    coevo.errors.FormatError: rain.bif, line 1, column 33: 'rain' lists 2 of 3 states.
    """
    return parse_document(text, source).network()


def parse_document(text: str, source: str = "<text>") -> Document:
    """Read a BIF text without normalising its tables; otherwise as `parse_bif`."""
    return BlockReader(BifScanner(text, source)).document()
