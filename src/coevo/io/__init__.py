"""Networks, prior knowledge and runs as files: BIF, JSON, CSV, the folder of a run."""

from coevo.io.bif_reader import parse_bif, read_bif
from coevo.io.bif_writer import format_bif, write_bif
from coevo.io.knowledge import Knowledge, open_knowledge, read_knowledge, write_knowledge
from coevo.io.run_folder import (
    Run,
    check_run_folder,
    json_line,
    make_run_folder,
    read_run,
    write_json,
    write_run,
)

__all__ = [
    "Knowledge",
    "Run",
    "check_run_folder",
    "format_bif",
    "json_line",
    "make_run_folder",
    "open_knowledge",
    "parse_bif",
    "read_bif",
    "read_knowledge",
    "read_run",
    "write_bif",
    "write_json",
    "write_knowledge",
    "write_run",
]
