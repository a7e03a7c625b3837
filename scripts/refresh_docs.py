"""Rewrite the outputs that README and docs show, where commands now print something else.

    python scripts/refresh_docs.py README.md docs/quickstart.md

Each block runs as in `tests/docs`. Lines that still match, with ``...`` for any text, stay as they
are. Python examples are not changed: their differences are printed. Read the difference before you
commit it, because the text around an output may name its numbers.
"""

from __future__ import annotations

import difflib
import os
import re
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from helpers.documents import (  # type: ignore[import-not-found]  # noqa: E402
    Block,
    is_match,
    read_blocks,
    read_commands,
    run_command,
)

MIN_RATIO = 0.5  # of the texts of a line then and now
TIME = re.compile(r"\bin [\d.,]+ s\b")  # differs from run to run


def refresh(path: Path) -> None:
    """Run the blocks of a document, and replace the outputs of commands that differ."""
    text = path.read_text(encoding="utf-8")
    for block in read_blocks(path):
        if block.skip_reason is not None:
            continue
        if block.language == "python":
            try:
                block.example.evaluate()
            except Exception as error:
                print(f"{path.name}:{block.line}: {error}")
            continue
        text = refresh_block(text, block)
    path.write_text(text, encoding="utf-8")


def refresh_block(text: str, block: Block) -> str:
    """Return a document with the outputs of one block renewed."""
    for command in read_commands(block.source, block.line + 1):
        _, output, errors = run_command(shlex.split(command.text))
        real = errors if command.shown.startswith("Error: ") else output
        if command.shown and not is_match(command.shown, real):
            assert text.count(command.shown), f"line {command.line}: the output is not found"
            text = text.replace(command.shown, merge(command.shown, real), 1)
            print(f"line {command.line}: $ {command.text}")
    return text


def merge(shown: str, real: str) -> str:
    """Return an output with the lines that are shown, as they are now.

    A line ``...`` stays, and hides what it hid. Where two shown lines follow each other, everything
    that is now between them is shown, too.
    """
    old, new = shown.splitlines(), [line.rstrip() for line in real.strip("\n").splitlines()]
    kept: list[str] = []
    place, is_open = 0, False  # the next line of the output; whether lines before it are hidden
    for line in old:
        if line.strip() == "...":
            kept += [] if kept and kept[-1] == line else [line]
            is_open = True
            continue
        found = _find(line, new, place)
        if found is None:
            continue
        first = found if is_open else place
        kept += [_renew(line if i == found else "", new[i]) for i in range(first, found + 1)]
        place, is_open = found + 1, False
    if not is_open:
        kept += [_renew("", line) for line in new[place:]]
    return "\n".join(kept)


def _find(line: str, new: list[str], start: int) -> int | None:
    """Return the place of the line of an output that a shown line stands for, or None."""
    for i in range(start, len(new)):
        if is_match(line, new[i]):
            return i
    words = _strip_figures(line)
    ratios = [difflib.SequenceMatcher(None, words, _strip_figures(one)).ratio() for one in new]
    best = max(range(start, len(new)), key=lambda i: (ratios[i], -i), default=None)
    return best if best is not None and ratios[best] > MIN_RATIO else None


def _strip_figures(line: str) -> str:
    return re.sub(r"[\d.,]+", "0", line)


def _renew(shown: str, line: str) -> str:
    """Return a line as it is now; one that still matches stays, and times are left open."""
    if shown and is_match(shown, line):
        return shown
    return TIME.sub("in ... s", line)


if __name__ == "__main__":
    paths = [Path(name).resolve() for name in sys.argv[1:]]
    for path in paths:
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(ROOT / "examples", Path(folder, "examples"))
            os.chdir(folder)
            print(path.name)
            refresh(path)
            os.chdir(ROOT)
