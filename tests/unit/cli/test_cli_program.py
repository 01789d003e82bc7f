"""The program as a whole: help, exit codes, and errors without tracebacks."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import typer

from penstock import __version__
from penstock.cli.main import describe_error
from penstock.cli.root import program
from penstock.embedded import PortInUse
from penstock.kafka.errors import BrokerUnavailable
from penstock.runtime.errors import NotFound

Run = Callable[..., Any]


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    for name, sub in getattr(command, "commands", {}).items():
        yield from commands(sub, (*path, name))


ALL = list(commands(typer.main.get_command(program())))


def test_all_commands_are_there() -> None:
    verbs = ("pause", "resume", "stop", "restart", "delete", "describe")
    expected = {("up",), ("demo",), ("apply",), ("patch", "offsets"), ("delete", "offsets")}
    expected |= {("doctor",), ("hash-secret",), ("worker",), ("import-offsets",), ("sql",)}
    expected |= {
        ("get", what) for what in ("connectors", "offsets", "plugins", "loggers", "logger")
    }
    expected |= {(verb, "connector") for verb in (*verbs, "explain", "patch", "wait")}
    expected |= {("config", verb) for verb in ("set", "use", "list", "show", "delete")}
    expected |= {("topic", verb) for verb in ("create", "update", "describe", "list", "delete")}
    expected |= {("dlq", verb) for verb in ("ls", "show", "replay")}
    expected |= {("consumer", verb) for verb in ("list", "delete", "reset", "update", "sweep")}
    expected |= {("consume",), ("produce",), ("operator", "manifests")}
    deploy = ("render", "diff", "apply", "scale", "status", "delete")
    expected |= {("deploy", verb) for verb in deploy}
    expected |= {
        ("new", "connector"),
        ("logs",),
        ("patch", "logger"),
        ("describe", "plugin"),
        ("restart", "task"),
    }
    assert {path for path, command in ALL if not hasattr(command, "commands")} == expected


@pytest.mark.parametrize(("path", "command"), ALL, ids=[" ".join(path) for path, _ in ALL])
def test_help_is_complete(run: Run, path: tuple[str, ...], command: Any) -> None:
    result = run(*path, "--help")
    assert result.code == 0
    assert "Usage:" in result.out
    assert "\x1b" not in result.out
    assert command.help
    for parameter in command.params:
        assert getattr(parameter, "help", None), f"{path}: {parameter.name} has no help"


def test_version(run: Run) -> None:
    assert run("--version").out == f"penstock {__version__}\n"


@pytest.mark.parametrize(
    "args",
    [
        ("nonsense",),
        ("get", "nonsense"),
        ("get", "offsets"),
        ("up", "--port", "many"),
        ("up", "--port", "70000"),
        ("demo", "--views", "-1"),
        ("apply",),
        ("get", "connectors", "-o", "xml"),
        ("patch", "offsets", "n"),
        ("patch", "offsets", "n", "--source-partition", "{}"),
        ("patch", "offsets", "n", "--kafka-topic", "t", "--source-partition", "{}"),
    ],
)
def test_wrong_usage_is_2(run: Run, args: tuple[str, ...]) -> None:
    result = run(*args)
    assert result.code == 2
    assert result.err
    assert result.out == ""


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (NotFound("Connector n not found"), "Connector n not found"),
        (PortInUse(9092), "Port 9092 on 127.0.0.1 is taken"),
        (BrokerUnavailable("nobody there"), "nobody there"),
        (PermissionError(13, "Permission denied", "/secret/x"), "/secret/x: Permission denied"),
        (OSError(28, "No space left on device"), "No space left on device"),
        (KeyError("x"), "Unexpected KeyError: 'x' (--debug shows where)"),
    ],
)
def test_errors_in_words(error: Exception, text: str) -> None:
    assert text in describe_error(error)


def test_defect_has_a_traceback_only_on_demand(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise ZeroDivisionError("ouch")

    monkeypatch.setattr("penstock.cli.get.connect", broken)
    told = run("get", "connectors")
    assert told.code == 1
    assert "Unexpected ZeroDivisionError: ouch" in told.err
    assert "Traceback" in run("--debug", "get", "connectors").err
    monkeypatch.setenv("PENSTOCK_DEBUG", "1")
    with pytest.raises(AssertionError):
        run("get", "connectors")


def test_light_commands_load_no_heavy_packages() -> None:
    code = (
        "import sys, penstock.cli\n"
        "heavy = ('pyspark', 'confluent_kafka', 'fastapi', 'pyarrow', 'httpx')\n"
        "print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "[]\n"
