"""``coevo warmup``: a command of earlier versions, for scripts that still call it."""

from __future__ import annotations

import click

__all__ = ["command"]


@click.command("warmup", hidden=True)
def command() -> None:
    """Do nothing; earlier versions compiled here."""
    click.echo("Nothing has to be done: coevo no longer compiles on your machine.")
