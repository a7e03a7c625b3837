"""Networks as files, both ways: the Bayesian Interchange Format (BIF)."""

from coevo.io.bif_reader import parse_bif, read_bif
from coevo.io.bif_writer import format_bif, write_bif

__all__ = ["format_bif", "parse_bif", "read_bif", "write_bif"]
