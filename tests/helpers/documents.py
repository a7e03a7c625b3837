"""Run the code blocks of a Markdown document.

`run_document` runs the blocks of one document from top to bottom, in one namespace and in
the current working directory. The language of a block decides what happens to it:

- ``python`` runs; a block with ``>>>`` prompts is a doctest;
- ``console`` and ``sh`` run the lines that start with ``$``, and compare the lines below
  such a line with the output; ``...`` stands for any text;
- all other blocks are not code.

A document is one test, not one test a block: the blocks share a namespace, and pytest-xdist
sends tests of one file to different processes.
"""

import doctest
import io
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from sybil import Document, Example, Region
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.markdown.lexers import FencedCodeBlockLexer
from sybil.parsers.myst import CodeBlockParser

from coevo.cli import main

PYTHON_LANGUAGES = ("python",)
SHELL_LANGUAGES = ("console", "sh")
SYSTEM_COMMANDS = ("cat", "head", "ls")
SKIP = re.compile(r"^[ \t]*(?:% skip:(?P<myst>.*)|<!-- skip:(?P<html>.*?)-->[ \t]*)$")


@dataclass(frozen=True)
class Block:
    """A block that the tests know how to run."""

    language: str
    line: int  # of its fence, from 1
    source: str
    skip_reason: str | None
    example: Example


@dataclass(frozen=True)
class Command:
    """A command of a shell block, and the output that the document shows for it."""

    text: str
    line: int
    shown: str


def read_blocks(path: Path) -> list[Block]:
    """Return the blocks of a document that the tests run or skip."""
    parsers = [
        CodeBlockParser(language, run_python if language in PYTHON_LANGUAGES else run_shell)
        for language in (*PYTHON_LANGUAGES, *SHELL_LANGUAGES)
    ]
    document = Document.parse(str(path), *parsers)
    lines = document.text.splitlines()
    literals = list(FencedCodeBlockLexer(r"[\w-]+")(document))
    return [
        Block(
            example.region.lexemes["arguments"],
            example.line,
            str(example.parsed),
            read_skip_reason(lines[: example.line - 1], f"{path.name}:{example.line}"),
            example,
        )
        for example in document.examples()
        if not any(is_inside(example.region, literal) for literal in literals)
    ]


def is_inside(region: Region, other: Region) -> bool:
    """Return whether a block is part of another one, as in an example of Markdown."""
    return other.start < region.start and region.end < other.end


def read_skip_reason(lines_above: list[str], place: str) -> str | None:
    """Return the reason in the comment above a block, or None without such a comment."""
    above = next((line for line in reversed(lines_above) if line.strip()), "")
    found = SKIP.match(above)
    if found is None:
        return None
    reason = (found["myst"] or found["html"] or "").strip()
    assert reason, f"{place}: Give a reason: '% skip: reason'."
    return reason


def run_document(path: Path) -> list[Block]:
    """Run a document in the current working directory; return the blocks that ran."""
    done = []
    for block in read_blocks(path):
        if block.skip_reason is None:
            block.example.evaluate()
            done.append(block)
        else:
            print(f"{path.name}:{block.line} skipped: {block.skip_reason}")
    return done


def run_python(example: Example) -> str | None:
    """Run a Python block; return what is wrong with its output, if it shows one."""
    source = str(example.parsed)
    if not source.lstrip().startswith(">>>"):
        return PythonEvaluator()(example)
    line = example.line  # doctest counts from 0, and the fence takes one line
    test = doctest.DocTestParser().get_doctest(source, {}, example.path, example.path, line)
    test.globs = example.namespace
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    runner.run(test, out=report.write, clear_globs=False)
    return report.getvalue() or None


def run_shell(example: Example) -> str | None:
    """Run the commands of a shell block; return the first difference."""
    for command in read_commands(str(example.parsed), example.line + 1):
        problem = check_command(command)
        if problem is not None:
            return f"line {command.line}: $ {command.text}\n{problem}"
    return None


def read_commands(source: str, first_line: int) -> list[Command]:
    r"""Split a shell block into its commands and their shown output.

    >>> read_commands("$ coevo networks\nasia\n", first_line=4)
    [Command(text='coevo networks', line=4, shown='asia')]
    """
    found: list[tuple[str, int, list[str]]] = []
    continues = False
    for number, line in enumerate(source.splitlines(), first_line):
        if continues:
            text, start, _ = found[-1]
            line = line.strip().removeprefix("> ")
            found[-1] = (f"{text} {line.removesuffix(chr(92)).rstrip()}", start, [])
        elif line.startswith("$ "):
            found.append((line[2:].removesuffix("\\").strip(), number, []))
        elif found:
            found[-1][2].append(line.rstrip())
            continue
        else:
            continue  # a block without prompts does not run
        continues = line.endswith("\\")
    return [Command(text, line, "\n".join(shown).strip("\n")) for text, line, shown in found]


def check_command(command: Command) -> str | None:
    """Run a command; return what differs from the document."""
    code, output, errors = run_command(shlex.split(command.text))
    must_fail = re.search(r"^Error: ", command.shown, flags=re.MULTILINE) is not None
    if must_fail != (code != 0):
        expected = "another exit code than 0" if must_fail else "exit code 0"
        return f"Expected {expected}; got {code}.\n{output}{errors}"
    real = errors if must_fail else output
    if not command.shown or is_match(command.shown, real):
        return None
    return f"Expected:\n{indent(command.shown)}\nGot:\n{indent(real)}"


def run_command(arguments: list[str]) -> tuple[int, str, str]:
    """Run a command; return its exit code, standard output and standard error.

    coevo runs in this process, which saves a second a command.
    """
    if arguments[0] in SYSTEM_COMMANDS:
        done = subprocess.run(arguments, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr
    assert arguments[0] == "coevo", (
        f"Documents run coevo, {', '.join(SYSTEM_COMMANDS)}; got {arguments[0]!r}. Write other "
        "commands in an 'sh' block without '$'."
    )
    output, errors = TextBuffer(), TextBuffer()
    code = 0
    with (
        mock.patch.object(sys, "argv", arguments),
        redirect_stdout(output),
        redirect_stderr(errors),
    ):
        try:
            main()
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    return code, output.text(), errors.text()


class TextBuffer(io.TextIOWrapper):
    """A stream that keeps what is written, as text or as bytes."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", newline="", write_through=True)

    def text(self) -> str:
        """Return all that was written."""
        self.flush()
        return self.buffer.getvalue().decode("utf-8")


def is_match(shown: str, real: str) -> bool:
    r"""Return whether an output is as shown, where ``...`` stands for any text.

    >>> is_match("a 1.5 s\nb", "a 1.5 s  \nb\n"), is_match("a ... s", "a 2.5 s\n")
    (True, True)
    >>> is_match("a 1.5 s", "a 2.5 s"), is_match("...", "")
    (False, True)
    """
    wanted, found = (
        "\n".join(line.rstrip() for line in text.strip("\n").splitlines()) for text in (shown, real)
    )
    return doctest.OutputChecker().check_output(wanted, found, doctest.ELLIPSIS)


def indent(text: str) -> str:
    """Return a text with four spaces before each line."""
    return "\n".join(f"    {line}" for line in text.strip("\n").splitlines())
