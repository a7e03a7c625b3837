"""The checkpoints of a search for a network (`coevo.files.checkpoints`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from coevo.files.checkpoints import BaseCheckpointFile
from coevo.search import Checkpoint, Method, StoredCheckpoint, write_checkpoint

__all__ = ["CheckpointFile"]


class CheckpointFile(BaseCheckpointFile[Checkpoint]):
    """The checkpoint file of one search.

    Parameters
    ----------
    folder : Path
        The run folder; it is made when the first checkpoint is written.
    fingerprint : mapping
        The fingerprint of the search; see `SearchSpec.fingerprint`.
    *methods : Method
        The method of the search, and others whose states the file may hold.
    """

    def __init__(self, folder: Path, fingerprint: Mapping[str, Any], *methods: Method) -> None:
        super().__init__(folder, fingerprint)
        self._methods = methods

    def _open(self, path: Path) -> tuple[Mapping[str, Any], Callable[[], Checkpoint]]:
        stored = StoredCheckpoint(path)
        state_types = [method.state_type for method in self._methods]
        return stored.facts, lambda: stored.to_checkpoint(*state_types)

    def _write_content(self, content: Checkpoint, facts: Mapping[str, Any], path: Path) -> None:
        write_checkpoint(content, facts, path)
