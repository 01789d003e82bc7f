"""The ``penstock`` command is run here, and its errors come without a traceback.

Exit codes: 0 done, 1 failed, 2 used wrongly, 130 interrupted before it was done. Ctrl-C is how a
`consume` that would go on for ever is ended, so that is 0; so is a closed pipe behind it.
"""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

import typer
from rich.markup import escape

from penstock.cli.extras import how_to_install
from penstock.cli.next_steps import next_step
from penstock.cli.output import console
from penstock.cli.root import Settings, completed_words, program

COMPLETING = "_PENSTOCK_COMPLETE"


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run a command and exit; an error is one line on standard error."""
    Settings.debug = False
    try:
        _program(args)(args, prog_name="penstock")
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # The program behind our pipe has seen enough; Python would complain at its own end.
        sys.stderr.close()
        sys.exit(1)
    except Exception as error:  # noqa: BLE001 (a user never sees a traceback unasked)
        sys.exit(_tell(error))
    sys.exit(0)


def _program(args: Sequence[str] | None) -> typer.Typer:
    words = sys.argv[1:] if args is None else args
    try:
        return program(completed_words() if COMPLETING in os.environ else words)
    except ImportError as missing:
        if (missing.name or "").startswith("penstock"):
            raise
        from penstock.cli.doctor import first_aid

        first_aid.main(args)


def _tell(error: Exception) -> int:
    out = console(stderr=True)
    if Settings.debug:
        traceback.print_exception(error)
    out.print(f"[bold red]Error:[/] {escape(describe_error(error))}", soft_wrap=True)
    step = next_step(error)
    if step:
        out.print(f"[bold]Next:[/]  {escape(step)}", soft_wrap=True)
    return 1


def describe_error(error: Exception) -> str:
    """An error in words for a user: what was raised on purpose speaks for itself."""
    # A sentence that quotes another may end with two full stops.
    text = re.sub(r"(?<!\.)\.\.(?!\.)", ".", str(error).strip())
    # By its place: to import the rooms that have errors of their own would take its time.
    if type(error).__module__.startswith("penstock.") and text:
        return text
    if isinstance(error, ModuleNotFoundError) and (advice := how_to_install(error)):
        return advice
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    hint = "" if Settings.debug else " (--debug shows where)"
    return f"Unexpected {type(error).__name__}: {text}{hint}"
