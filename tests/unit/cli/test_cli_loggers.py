"""`get loggers`, `get logger`, `patch logger`, and the levels that `up` begins with."""

import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from penstock.cli.logs import log_to
from penstock.logs.subject import about
from penstock.runtime.errors import NotFound
from penstock.sdk.errors import ConfigError

Run = Callable[..., Any]

LOGGERS = {
    "root": {"level": "INFO", "last_modified": None},
    "penstock.runtime": {"level": "DEBUG", "last_modified": 1_700_000_000_000},
}


@pytest.fixture
def worker(herder: Mock, url: str, monkeypatch: pytest.MonkeyPatch) -> Mock:
    monkeypatch.setenv("PENSTOCK_URL", url)
    herder.loggers.return_value = LOGGERS
    herder.logger.return_value = LOGGERS["penstock.runtime"]
    return herder


def test_get_loggers(run: Run, worker: Mock) -> None:
    heading, first, second = run("get", "loggers").out.strip().splitlines()
    assert heading.split() == ["LOGGER", "LEVEL", "CHANGED"]
    assert first.split()[:2] == ["penstock.runtime", "DEBUG"]
    assert "2023-11-1" in first
    assert second.split() == ["root", "INFO"]
    assert json.loads(run("get", "loggers", "-o", "json").out) == LOGGERS


def test_get_logger(run: Run, worker: Mock) -> None:
    assert "DEBUG" in run("get", "logger", "penstock.runtime").out
    shown = json.loads(run("get", "logger", "penstock.runtime", "-o", "json").out)
    assert shown == LOGGERS["penstock.runtime"]


def test_patch_logger(run: Run, worker: Mock) -> None:
    worker.set_logger_level.return_value = ["a", "a.b"]
    result = run("patch", "logger", "a", "-l", "debug")
    assert result.out == "Logger a is at DEBUG; 2 loggers have changed.\n"
    worker.set_logger_level.assert_called_once_with("a", "debug")
    assert json.loads(run("patch", "logger", "a", "-l", "DEBUG", "-o", "json").out) == ["a", "a.b"]


def test_unknown_level(run: Run, worker: Mock) -> None:
    worker.set_logger_level.side_effect = NotFound("invalid log level 'LOUD'.")
    result = run("patch", "logger", "a", "--level", "LOUD")
    assert result.code == 1
    assert "invalid log level 'LOUD'." in result.err
    assert "TRACE, DEBUG, INFO" in result.err


@pytest.fixture
def logging_as_before(fresh_levels: None) -> Iterator[None]:
    """`log_to` is for a whole process; this one belongs to pytest."""
    handlers = logging.root.handlers[:]
    yield
    for handler in set(logging.root.handlers) - set(handlers):
        handler.close()
    logging.root.handlers[:] = handlers
    logging.captureWarnings(False)
    logging.raiseExceptions = True


@pytest.mark.usefixtures("logging_as_before")
def test_the_log_of_a_worker(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = log_to(home / "data", {"log.level": "debug", "group.id": "other keys do not matter"})
    with about("orders", 0):
        logging.getLogger("x").debug("in the file")
        logging.getLogger("x").warning("on the screen\ntoo, the rest \udcff in the file")
        logging.getLogger("httpx").info("nowhere")
    text = file.read_text(encoding="utf-8")
    assert [line.split(" ", 2)[2] for line in text.splitlines()] == [
        "DEBUG [orders|task-0] x: in the file",
        "WARN [orders|task-0] x: on the screen",
        "WARN [orders|task-0] x: too, the rest \\udcff in the file",
    ]
    assert capsys.readouterr().err == "WARNING: [orders|task-0] on the screen\n"


@pytest.mark.usefixtures("logging_as_before")
def test_the_log_as_json(home: Path) -> None:
    file = log_to(home / "data", {"log.format": "JSON"})
    logging.getLogger("x").info("one\ntwo")
    logging.getLogger("x").debug("not at INFO")
    assert json.loads(file.read_text())["message"] == "one\ntwo"


@pytest.mark.parametrize(
    ("option", "value", "named"),
    [("--log-level", "LOUD", "log.level"), ("--log-format", "xml", "log.format")],
)
def test_wrong_settings_are_told(run: Run, home: Path, option: str, value: str, named: str) -> None:
    result = run("up", option, value, "--data-dir", str(home / "data"))
    assert result.code == 1
    assert f"Invalid value {value} for configuration {named}" in result.err
    assert "must be one of" in result.err
    with pytest.raises(ConfigError):
        log_to(home / "data", {named: value})
    assert not (home / "data").exists()
