"""The ``penstock`` command, put together from modules that are imported only where needed.

Importing all of them would take each command 0.3 s more.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Final

import typer

from penstock import __version__
from penstock.cli.commands import Commands

ABOUT = "Kafka Connect on Spark, with offsets you can edit."


class Settings:
    """What the global options say."""

    debug = False


@dataclass(frozen=True)
class Entry:
    """Where a command is found: ``module:attribute``, in this package."""

    place: str
    summary: str = ""
    """What stands in the list of commands, which has room for some 60 letters; groups have their
    own."""

    def add_to(self, app: typer.Typer, name: str) -> None:
        """Import it, and make it a command of ``app``."""
        module_name, _, attribute = self.place.partition(":")
        module = import_module(f"penstock.cli.{module_name}")
        found = getattr(module, attribute)
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=name)
        else:
            epilog = getattr(module, "EXAMPLES", None)
            app.command(name, short_help=self.summary, epilog=epilog)(found)


COMMANDS: Final = {
    "up": Entry("up:up", "Run a worker, with a Kafka of its own."),
    "worker": Entry("worker:worker", "Run a worker on your own Kafka brokers."),
    "demo": Entry("demo.command:demo", "See it at work: pageviews joined with users, in SQL."),
    "doctor": Entry("doctor.command:doctor", "Check whether this machine can run Penstock."),
    "logs": Entry("show_logs:logs", "Show the log of the worker on this machine."),
    "config": Entry("contexts:app"),
    "get": Entry("get:app"),
    "describe": Entry("describe:app"),
    "explain": Entry("explain:app"),
    "apply": Entry("apply:apply", "Create connectors, or change them, from files."),
    "patch": Entry("patch:app"),
    "pause": Entry("lifecycle:pausing"),
    "resume": Entry("lifecycle:resuming"),
    "stop": Entry("lifecycle:stopping"),
    "restart": Entry("lifecycle:restarting"),
    "wait": Entry("wait:app"),
    "delete": Entry("delete:app"),
    "import-offsets": Entry(
        "import_offsets:import_offsets", "Take over offsets of a standalone Kafka Connect."
    ),
    "topic": Entry("topic:app"),
    "produce": Entry("produce:produce", "Write lines to a topic."),
    "consume": Entry("consume:consume", "Print the records of a topic."),
    "consumer": Entry("consumer:app"),
    "dlq": Entry("dlq:app"),
    "sql": Entry("sql:sql", "Manage connectors, streams and tables in SQL."),
    "new": Entry("new:app"),
    "operator": Entry("operator:app"),
    "deploy": Entry("deploy:app"),
    "hash-secret": Entry("hash_secret:hash_secret", "Make a line for the file of REST users."),
}


def program(words: Sequence[str] = ()) -> typer.Typer:
    """The command, with all of its commands, or just with the one that ``words`` begin with."""
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
    app.callback()(_options)
    for name in _needed(words):
        COMMANDS[name].add_to(app, name)
    return app


def _needed(words: Sequence[str]) -> Iterable[str]:
    word = next((word for word in words if not word.startswith("-")), "")
    if word in COMMANDS:
        return [word]
    return [] if list(words) == ["--version"] else COMMANDS


def completed_words() -> list[str]:
    """What a shell wants to have completed: none while that may be the command's own name."""
    typed = os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS", "")
    words = typed.split()[1:]
    return words if len(words) > 1 else []


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"penstock {__version__}")
        raise typer.Exit


def _options(
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
