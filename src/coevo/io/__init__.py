"""Read and write networks, structures, prior knowledge and runs, in all formats."""

from typing import TYPE_CHECKING

from coevo.lazy_names import import_lazily

if TYPE_CHECKING:
    from coevo.io.bif_reader import parse_bif, read_bif
    from coevo.io.bif_writer import format_bif, write_bif
    from coevo.io.csv_structures import Model
    from coevo.io.formats import (
        FORMATS,
        Format,
        format_model,
        parse_model,
        read_model,
        read_network,
        write_model,
        write_network,
    )
    from coevo.io.knowledge import (
        Knowledge,
        open_knowledge,
        parse_knowledge,
        read_knowledge,
        write_knowledge,
    )
    from coevo.io.run_folder import (
        SavedRun,
        check_run_folder,
        format_json_line,
        make_run_folder,
        read_run,
        write_json,
        write_run,
    )
else:
    __getattr__, __dir__ = import_lazily(
        __name__,
        bif_reader="parse_bif read_bif",
        bif_writer="format_bif write_bif",
        csv_structures="Model",
        formats=(
            "FORMATS Format format_model parse_model read_model read_network write_model "
            "write_network"
        ),
        knowledge="Knowledge open_knowledge parse_knowledge read_knowledge write_knowledge",
        run_folder=(
            "SavedRun check_run_folder format_json_line make_run_folder read_run write_json "
            "write_run"
        ),
    )

__all__ = [
    "FORMATS",
    "Format",
    "Knowledge",
    "Model",
    "SavedRun",
    "check_run_folder",
    "format_bif",
    "format_json_line",
    "format_model",
    "make_run_folder",
    "open_knowledge",
    "parse_bif",
    "parse_knowledge",
    "parse_model",
    "read_bif",
    "read_knowledge",
    "read_model",
    "read_network",
    "read_run",
    "write_bif",
    "write_json",
    "write_knowledge",
    "write_model",
    "write_network",
    "write_run",
]
