"""The ``penstock`` command: its subcommands, and errors that come without a traceback.

Exit codes: 0 done, 1 failed, 2 used wrongly, 130 interrupted before it was done. Ctrl-C is how a
`consume` that would go on for ever is ended, so that is 0; so is a closed pipe behind it.
"""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Annotated, NoReturn

import typer
from rich.markup import escape

from penstock import __version__
from penstock.cli import (
    apply,
    consume,
    consumer,
    contexts,
    delete,
    deploy,
    describe,
    dlq,
    get,
    hash_secret,
    import_offsets,
    lifecycle,
    new,
    operator,
    patch,
    produce,
    show_logs,
    sql,
    topic,
    up,
    wait,
    worker,
)
from penstock.cli.commands import Commands
from penstock.cli.demo import command as demo
from penstock.cli.doctor import command as doctor
from penstock.cli.extras import how_to_install
from penstock.cli.next_steps import next_step
from penstock.cli.output import console

ABOUT = "Kafka Connect on Spark, with offsets you can edit."

app = typer.Typer(
    name="penstock",
    help=ABOUT,
    epilog="Start with `penstock demo`, or run your own worker with `penstock up`.",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Plain help: paragraphs flow, and nothing is cut on 80 columns.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _command(function: Callable[..., None], summary: str, **options: str) -> None:
    """``summary`` stands in the list of commands, which has room for some 60 letters."""
    app.command(short_help=summary, **options)(function)  # type: ignore[arg-type] # epilog, name


_command(up.up, "Run a worker, with a Kafka of its own.")
_command(worker.worker, "Run a worker on your own Kafka brokers.")
_command(demo.demo, "See it at work: pageviews joined with users, in SQL.")
_command(doctor.doctor, "Check whether this machine can run Penstock.")
_command(show_logs.logs, "Show the log of the worker on this machine.")
app.add_typer(contexts.app, name="config")
app.add_typer(get.app, name="get")
app.add_typer(describe.app, name="describe")
_command(apply.apply, "Create connectors, or change them, from files.")
app.add_typer(patch.app, name="patch")
for verb in lifecycle.apps:
    app.add_typer(verb)
app.add_typer(wait.app, name="wait")
app.add_typer(delete.app, name="delete")
_command(import_offsets.import_offsets, "Take over offsets of a standalone Kafka Connect.")
app.add_typer(topic.app, name="topic")
_command(produce.produce, "Write lines to a topic.", epilog=produce.EXAMPLES)
_command(consume.consume, "Print the records of a topic.", epilog=consume.EXAMPLES)
app.add_typer(consumer.app, name="consumer")
app.add_typer(dlq.app, name="dlq")
_command(sql.sql, "Manage connectors, streams and tables in SQL.", epilog=sql.EXAMPLES)
app.add_typer(new.app, name="new")
app.add_typer(operator.app, name="operator")
app.add_typer(deploy.app, name="deploy")
_command(hash_secret.hash_secret, "Make a line for the file of REST users.")


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
    """Kafka Connect on Spark, with offsets you can edit."""
    Settings.debug = debug


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run a command and exit; an error is one line on standard error."""
    Settings.debug = False
    try:
        app(args, prog_name="penstock")
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # The program behind our pipe has seen enough; Python would complain at its own end.
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
