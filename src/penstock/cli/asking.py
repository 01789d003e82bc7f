"""The question before something is deleted."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

Yes = Annotated[bool, typer.Option("-y", "--yes", help="Do not ask.")]


def ask(question: str, *, yes: bool) -> None:
    """Ask on a terminal, unless told ``yes``; a no ends the command. A script is never asked."""
    if not yes and on_a_terminal():
        typer.confirm(question, abort=True, err=True)


def on_a_terminal() -> bool:
    """Whether there is a person to be asked."""
    return sys.stdin.isatty() and sys.stdout.isatty()
