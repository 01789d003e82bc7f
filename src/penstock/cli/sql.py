"""`penstock sql`: connectors, streams and tables from one prompt."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.brokers import BootstrapServers, CommandConfig, connection_to, settings_in
from penstock.cli.discovery import connect
from penstock.cli.paths import state_dir
from penstock.cli.sql_test import run_tests
from penstock.cli.streams import examples
from penstock.sdk.errors import PenstockError, UserError

if TYPE_CHECKING:
    from penstock.sql.running.session import SqlSession
    from penstock.sql.shell.output import Output as SqlOutput

EXAMPLES = examples(
    "penstock sql",
    'penstock sql -e "SHOW CONNECTORS;"',
    "penstock sql -f pipeline.sql --define user=app",
    'penstock sql -e "SELECT * FROM users LIMIT 3;" --output json',
    "penstock sql test tests/",
    "penstock sql --connect-url https://connect.example:8083",
)


class Form(StrEnum):
    """How answers are written."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"


ConnectUrl = Annotated[
    str | None,
    typer.Option(
        "--connect-url",
        "--url",
        envvar="PENSTOCK_URL",
        help="REST address of a worker, of Penstock or of Kafka Connect. Default: that of the "
        "context (`penstock config`), else of the worker that `penstock up` runs here.",
        show_default=False,
    ),
]
Execute = Annotated[
    list[str] | None,
    typer.Option("-e", "--execute", metavar="SQL", help="Run this; may be given again."),
]
File = Annotated[
    list[Path] | None,
    typer.Option("-f", "--file", help="Run the statements in this file; may be given again."),
]
Defined = Annotated[
    list[str] | None,
    typer.Option("-d", "--define", metavar="NAME=VALUE", help="Define a variable, ${NAME}."),
]
Output = Annotated[
    Form,
    typer.Option(
        "-o", "--output", help="table; json: a list of objects; jsonl: one object per line; csv."
    ),
]

Tests = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="test DIR",
        help="Run the tests in the SQL files of a folder, on a Kafka of their own.",
        show_default=False,
    ),
]


def sql(
    tests: Tests = None,
    *,
    execute: Execute = None,
    file: File = None,
    define: Defined = None,
    output: Output = Form.TABLE,
    connect_url: ConnectUrl = None,
    bootstrap_servers: BootstrapServers = None,
    command_config: CommandConfig = None,
) -> None:
    """Manage connectors, declare streams and tables over topics, and query them, in SQL.

    Without -e and -f there is a prompt; Ctrl-C ends a query, Ctrl-D the prompt. Statements that
    are piped in run like a file. The first statement that fails ends the run with 1.
    The format AVRO needs sql.schema.registry.url in the file of --command-config.
    """
    if tests:
        run_tests(_place(tests), command_config)
        return
    scripts = [*(execute or ()), *(_read(path) for path in file or ())]
    if not scripts and not sys.stdin.isatty():
        scripts = [sys.stdin.read()]
    with _session(connect_url, bootstrap_servers, command_config, _variables(define)) as session:
        out = _output(output)
        if scripts:
            with closing(out):
                for script in scripts:
                    _run(session, out, script)
        else:
            _converse(session, out)


def _place(words: list[str]) -> Path:
    if words[0] != "test" or len(words) != 2:
        raise typer.BadParameter(
            'There is `penstock sql test DIR`, and `penstock sql -e "…"` for statements.'
        )
    return Path(words[1])


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not a text file in UTF-8 ({error}): save it as one.") from None


def _variables(define: list[str] | None) -> dict[str, str]:
    found = {}
    for each in define or ():
        name, equals, value = each.partition("=")
        if not equals or not name.isidentifier():
            raise typer.BadParameter(f"--define takes NAME=VALUE, not {name!r}.")
        found[name] = value.removeprefix("'").removesuffix("'")
    return found


@contextmanager
def _session(
    url: str | None, servers: str | None, config: Path | None, variables: dict[str, str]
) -> Iterator[SqlSession]:
    from penstock.sql.avro.registry import SqlRegistry
    from penstock.sql.running.home import Home
    from penstock.sql.running.own_spark import OwnSpark
    from penstock.sql.running.session import SqlSession

    with ExitStack() as stack:
        home = Home(
            lambda: stack.enter_context(connect(url)),
            lru_cache(lambda: connection_to(servers, config)),
            stack.enter_context(closing(OwnSpark(_note))),
            registry=SqlRegistry.of(settings_in(config)),
        )
        stack.callback(home.close)
        yield SqlSession(home, variables)


def _note(text: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(text)


def _output(form: Form) -> SqlOutput:
    from penstock.sql.shell.output import Form as SqlForm
    from penstock.sql.shell.output import Output as SqlOutput

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    return SqlOutput(SqlForm(form.value), _write, sys.stderr.write, width)


def _write(text: str) -> int:
    written = sys.stdout.write(text)
    sys.stdout.flush()
    return written


def _run(session: SqlSession, out: SqlOutput, script: str) -> None:
    for ran in session.run(script):
        out.show(ran)


def _converse(session: SqlSession, out: SqlOutput) -> None:
    """Until Ctrl-D; an error ends its statement, Ctrl-C too."""
    from penstock.sql.shell.completing import Known
    from penstock.sql.shell.prompt import EXIT, prompt_session

    known = Known(session.home)
    prompt = prompt_session(state_dir() / "sql-history", known.names, known.keys)
    while True:
        try:
            script = prompt.prompt()
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        if script.strip().rstrip(";").lower() in EXIT:
            return
        _answer(session, out, script)


def _answer(session: SqlSession, out: SqlOutput, script: str) -> None:
    from penstock.cli.main import describe_error
    from penstock.cli.next_steps import next_step

    try:
        with closing(out):
            _run(session, out, script)
    except KeyboardInterrupt:
        sys.stderr.write("\nQuery terminated\n")
    except (PenstockError, ModuleNotFoundError, OSError) as error:
        step = next_step(error)
        sys.stderr.write(f"{describe_error(error)}\n{step + chr(10) if step else ''}")
