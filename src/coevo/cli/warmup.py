"""``coevo warmup``: compile the kernels ahead."""

from __future__ import annotations

import click

from coevo.cli.console import print_json
from coevo.cli.options import format_option

__all__ = ["command"]


@click.command("warmup")
@format_option
def command(output_format: str) -> None:
    """Compile the kernels for this machine.

    The first search on a machine does the same. Run this command ahead where that time
    matters, for example in the build of a container image. The kernels are stored in the
    folder COEVO_CACHE_DIR, or in the user's cache folder. Later runs only read them.

    \b
    coevo warmup
    COEVO_CACHE_DIR=/opt/coevo coevo warmup
    """
    from coevo.errors import format_count
    from coevo.warmup import COMPILING_MESSAGE, is_jit_disabled, warm_up

    if is_jit_disabled():
        if output_format == "json":
            print_json({"kernels": 0, "compiled": 0, "seconds": 0.0, "folder": None})
        else:
            click.echo("NUMBA_DISABLE_JIT is set, so there are no kernels to compile.")
        return
    done = warm_up(lambda: click.echo(COMPILING_MESSAGE, err=True))
    if output_format == "json":
        print_json(
            {
                "kernels": done.n_kernels,
                "compiled": done.n_compiled,
                "seconds": round(done.seconds, 3),
                "folder": str(done.folder),
            }
        )
        return
    if done.n_compiled:
        number = format_count(done.n_compiled, "kernel")
        click.echo(f"Compiled {number} in {done.seconds:.1f} s, in {done.folder}.")
    else:
        click.echo(f"All {done.n_kernels} kernels are compiled, in {done.folder}.")
