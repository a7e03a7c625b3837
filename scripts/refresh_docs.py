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
    """Return an output with the shown lines that still match it."""
    old, new = shown.splitlines(), [line.rstrip() for line in real.strip("\n").splitlines()]
    kept = []
    for line in new:
        same = next((one for one in old if "..." in one and is_match(one, line)), None)
        near = difflib.get_close_matches(line, [one for one in old if "in ... s" in one], n=1)
        kept.append(same or (TIME.sub("in ... s", line) if near else line))
    return "\n".join(kept)


if __name__ == "__main__":
    paths = [Path(name).resolve() for name in sys.argv[1:]]
    for path in paths:
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(ROOT / "examples", Path(folder, "examples"))
            os.chdir(folder)
            print(path.name)
            refresh(path)
            os.chdir(ROOT)
