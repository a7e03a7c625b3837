"""The command line: parse, call, print. No algorithm lives here.

Answers go to stdout, everything else to stderr. Exit codes: 0 success, 1 failure, 2 bad
input or usage, 130 interrupted. The module of a command is imported when the command runs,
so that ``coevo --help`` does not import NumPy.
"""

from __future__ import annotations

import errno
import os
import sys
from importlib import import_module

import click

from coevo import __version__
from coevo.cli.output import protect_output
from coevo.errors import CoevoError, WorkerError, describe_shortage, is_shortage, suggest_match
from coevo.names import announce_readings, find_slip, match_name, note_reading
from coevo.runtime.deadline import is_interrupt, treat_signals_as_interrupts
from coevo.runtime.memory import check_address_space

__all__ = ["main"]

# Each command with its summary. The module of a command has the same name, except for these.
MODULES = {"test": "independence"}
COMMANDS = {
    "bench": "Compare methods and other libraries on the same data sets.",
    "compare": "Compare a structure with the true one.",
    "convert": "Write a network or a structure in another format.",
    "evaluate": "Compute how well a network describes a table.",
    "explain": "Show what matters for a variable, and explain its probability.",
    "inspect": "Show what a table holds, and its problems, without learning.",
    "learn": "Learn a network from a table.",
    "networks": "List the bundled networks.",
    "paper": "Reproduce the experiments of the 2011 paper.",
    "posterior": "Compute the posterior probability of every arc.",
    "predict": "Predict a variable in each row of a table.",
    "prove": "Prove how far from the best network a network can be.",
    "query": "Compute probabilities of variables, given evidence.",
    "report": "Write an HTML report of a run or a network.",
    "sample": "Sample rows from a network.",
    "score": "Score a structure on a table.",
    "solve": "Find a short tour or a heavy ordering.",
    "strength": "Measure the strength of each arc over bootstrap samples.",
    "studio": "Work in a browser: tables, knowledge, searches, networks.",
    "test": "Test whether two columns of a table are dependent.",
    "warmup": "Do nothing; earlier versions compiled here.",
}

# The address space that commands need, in bytes; measured on small inputs: below these, compiled
# libraries abort or hang. The commands that are not listed read tables.
ADDRESS_SPACE_OF_TABLES = 700_000_000
ADDRESS_SPACE = {
    "networks": 200_000_000,
    "convert": 200_000_000,
    "compare": 400_000_000,
    "explain": 400_000_000,
    "query": 400_000_000,
    "report": 400_000_000,
}

# Words for which people look, and the command that they mean.
HABITS = {
    "explain": "importance matters why drivers influence factors sensitivity shap",
    "learn": "fit train discover structure build",
    "query": "infer inference ask probability",
    "report": "plot draw html view show",
    "inspect": "eda profile describe summary summarise summarize check",
    "strength": "bootstrap stability",
    "predict": "classify",
    "networks": "examples datasets",
}


class _Commands(click.Group):
    """A group that imports the module of a command when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(
            f"coevo.cli.{MODULES.get(cmd_name, cmd_name)}"
        ).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that was meant. No command deletes anything, so a slip is harmless."""
        given = args[0]
        if given in COMMANDS or given.startswith("-"):
            _check_address_space(given, args)
            return super().resolve_command(ctx, args)
        meant = match_name(given, COMMANDS)
        if meant is None and (meant := find_slip(given, COMMANDS)) is not None:
            note_reading(given, meant)
        if meant is None:
            near = suggest_match(given, COMMANDS)
            for command, words in HABITS.items():
                if given.lower() in words.split():
                    near = f" Did you mean {command!r}?"
            ctx.fail(f"There is no command {given!r}.{near}")
        _check_address_space(meant, args)
        return super().resolve_command(ctx, [meant, *args[1:]])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))


def _check_address_space(command: str, args: list[str]) -> None:
    """Refuse a command that compiled libraries would abort; help needs none of them."""
    if command in COMMANDS and not {"-h", "--help"} & set(args):
        needed = ADDRESS_SPACE.get(command, ADDRESS_SPACE_OF_TABLES)
        check_address_space(needed, f"coevo {command}")


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="coevo %(version)s")
def cli() -> None:
    """Learn Bayesian networks from data, by cooperative coevolution."""


def main() -> None:
    """Run the command line and exit. SIGTERM and SIGHUP save the work, as Ctrl-C does."""
    # NumPy starts threads of OpenBLAS when it is imported. Each of them waits in a loop for work
    # that coevo seldom has: that was 40 % of the CPU time of a query. Under a limit of addresses,
    # each reserves 40 MB.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with protect_output(), treat_signals_as_interrupts():
        _run()


def _describe(error: OSError) -> str:
    """Return a failure of the system that nothing else has explained, as a sentence.

    >>> import errno
    >>> _describe(OSError(errno.ENAMETOOLONG, "File name too long", "xx.csv"))
    "'xx.csv' cannot be read or written: File name too long."
    >>> _describe(OSError(errno.EMFILE, "Too many open files"))
    'Too many open files. Allow more with ulimit -n.'
    """
    reason = (error.strerror or str(error)).rstrip(".")
    if error.errno == errno.EMFILE:
        return f"{reason}. Allow more with ulimit -n."
    if error.filename is not None:
        return f"{str(error.filename)!r} cannot be read or written: {reason}."
    if error.errno == errno.ENOSPC:
        return f"The output cannot be written: {reason}."
    return f"{reason}."


def _drop_output() -> None:
    """Drop what cannot be written, or Python would try again at its end and say so."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run() -> None:
    try:
        with announce_readings(lambda sentence: print(sentence, file=sys.stderr)):
            code = cli.main(prog_name="coevo", standalone_mode=False)
        if sys.stdout is not None:  # it is None if the caller closed it
            sys.stdout.flush()
        if code:  # click returns some exit codes instead of raising
            sys.exit(code)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except CoevoError as error:
        print(f"Error: {error}", file=sys.stderr)
        sys.exit(1 if isinstance(error, WorkerError) else 2)
    except UnicodeEncodeError as error:
        character = error.object[error.start]
        print(
            f"Error: The output cannot hold {character!a}, because its encoding is "
            f"{error.encoding}. Set PYTHONIOENCODING=utf-8.",
            file=sys.stderr,
        )
        sys.exit(1)
    except BrokenPipeError:  # the reader of the output closed the pipe
        sys.stderr.close()
        sys.exit(1)
    except (KeyboardInterrupt, SystemError, click.Abort) as error:
        if not (is_interrupt(error) or isinstance(error, click.Abort)):
            raise
        print("Interrupted.", file=sys.stderr)
        sys.exit(130)
    except (MemoryError, ImportError, OSError, RuntimeError) as error:
        if is_shortage(error):
            detail = str(error) if isinstance(error, MemoryError) else ""
            print(f"Error: {describe_shortage(detail=detail)}", file=sys.stderr)
            sys.exit(1)
        if not isinstance(error, OSError):
            raise
        print(f"Error: {_describe(error)}", file=sys.stderr)
        _drop_output()
        sys.exit(1 if error.filename is None else 2)
