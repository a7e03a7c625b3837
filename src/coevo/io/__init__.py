"""Networks and runs as files: the Bayesian Interchange Format (BIF), folders of a run."""

from coevo.io.bif_reader import parse_bif, read_bif
from coevo.io.bif_writer import format_bif, write_bif
from coevo.io.run_folder import (
    check_run_folder,
    json_line,
    make_run_folder,
    write_json,
    write_run,
)

__all__ = [
    "check_run_folder",
    "format_bif",
    "json_line",
    "make_run_folder",
    "parse_bif",
    "read_bif",
    "write_bif",
    "write_json",
    "write_run",
]
