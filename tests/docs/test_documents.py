"""The code blocks of README.md and of every page in docs/ run as they are written.

A page that names an extra (``coevo[excel]``) is marked, so that `scripts/fresh` can run the other
pages in an environment without extras.
"""

import re
from pathlib import Path

import pytest

from helpers.documents import read_blocks, run_document

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [
    path
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if read_blocks(path)
]


EXTRA = re.compile(r"coevo\[[a-z,]+\]")


def mark_document(path):
    """Return a document as a parameter, marked if it names an extra."""
    marks = [pytest.mark.extras] if EXTRA.search(path.read_text(encoding="utf-8")) else []
    return pytest.param(path, id=path.relative_to(ROOT).as_posix(), marks=marks)


@pytest.mark.parametrize("path", [mark_document(path) for path in DOCUMENTS])
def test_the_blocks_run(workspace, path):
    run_document(path)


def test_the_documents_are_found():
    names = {path.relative_to(ROOT).as_posix() for path in DOCUMENTS}
    assert {"README.md", "docs/quickstart.md"} <= names
