"""The code blocks of README.md and of every page in docs/ run as they are written."""

from pathlib import Path

import pytest

from helpers.documents import read_blocks, run_document

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [
    path
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if read_blocks(path)
]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_blocks_run(workspace, path):
    run_document(path)


def test_the_documents_are_found():
    names = {path.relative_to(ROOT).as_posix() for path in DOCUMENTS}
    assert {"README.md", "docs/quickstart.md"} <= names
