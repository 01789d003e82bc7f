"""The ``penstock`` command: its subcommands, and errors that come without a traceback.

Exit codes: 0 done, 1 failed, 2 used wrongly, 130 interrupted before it was done. Ctrl-C is how a
`consume` that would go on for ever is ended, so that is 0; so is a closed pipe behind it.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, NoReturn

import typer
from rich.markup import escape

from penstock import __version__
from penstock.cli import (
    apply,
    consume,
    consumer,
    delete,
    demo,
    describe,
    get,
    hash_secret,
    import_offsets,
    lifecycle,
    patch,
    produce,
    show_logs,
    topic,
    up,
    worker,
)
from penstock.cli.doctor import command as doctor
from penstock.cli.next_steps import next_step
from penstock.cli.output import console

app = typer.Typer(
    name="penstock",
    help="Connectors with first-class offsets, whose every record Spark moves.",
    epilog="Begin with `penstock demo`, or run your own with `penstock up`.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(up.up)
app.command()(worker.worker)
app.command()(demo.demo)
app.command()(show_logs.logs)
app.command()(doctor.doctor)
app.command()(hash_secret.hash_secret)
app.add_typer(get.app, name="get")
app.add_typer(describe.app, name="describe")
app.command("apply")(apply.apply)
app.add_typer(patch.app, name="patch")
app.command("import-offsets")(import_offsets.import_offsets)
for verb in lifecycle.apps:
    app.add_typer(verb)
app.add_typer(delete.app, name="delete")
app.add_typer(topic.app, name="topic")
app.command(epilog=produce.EXAMPLES)(produce.produce)
app.command(epilog=consume.EXAMPLES)(consume.consume)
app.add_typer(consumer.app, name="consumer")


class Settings:
    """What the global options say."""

    debug = False


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"penstock {__version__}")
        raise typer.Exit


@app.callback()
def options(
    debug: Annotated[
        bool,
        typer.Option("--debug", envvar="PENSTOCK_DEBUG", help="Show tracebacks of errors."),
    ] = False,
    version: Annotated[  # noqa: ARG001 (its callback does the work)
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Connectors with first-class offsets, whose every record Spark moves."""
    Settings.debug = debug


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run a command and exit; whatever goes wrong is told in a line on standard error."""
    Settings.debug = False
    try:
        app(args, prog_name="penstock")
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # Whoever read our output has seen enough; Python would complain at its own end.
        sys.stderr.close()
        sys.exit(1)
    except Exception as error:  # noqa: BLE001 (a user never sees a traceback unasked)
        sys.exit(_tell(error))
    sys.exit(0)


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
    text = str(error).strip()
    # By its place: to import the rooms that have errors of their own would take its time.
    if type(error).__module__.startswith("penstock.") and text:
        return text
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    hint = "" if Settings.debug else " (--debug shows where)"
    return f"Unexpected {type(error).__name__}: {text}{hint}"
