"""`get loggers`, `get logger`, `patch logger`, and the levels that `up` begins with."""

import json
import logging
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from penstock.cli.logs import LOG_FILE, log_to
from penstock.logs.subject import about
from penstock.runtime.loggers import Loggers
from penstock.sdk.errors import ConfigError

Run = Callable[..., Any]

LOGGERS: dict[str, dict[str, Any]] = {
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
    assert heading.split() == ["Logger", "Level", "Changed"]
    assert first.split()[:2] == ["penstock.runtime", "DEBUG"]
    assert "2023-11-1" in first
    assert second.split() == ["root", "INFO"]
    assert json.loads(run("get", "loggers", "-o", "json").out) == [
        {"name": name, **LOGGERS[name]} for name in sorted(LOGGERS)
    ]


def test_get_logger(run: Run, worker: Mock) -> None:
    assert "DEBUG" in run("get", "logger", "penstock.runtime").out
    shown = json.loads(run("get", "logger", "penstock.runtime", "-o", "json").out)
    assert shown == [{"name": "penstock.runtime", **LOGGERS["penstock.runtime"]}]


def test_patch_logger(run: Run, worker: Mock) -> None:
    worker.set_logger_level.return_value = ["a", "a.b"]
    result = run("patch", "logger", "a", "-l", "debug")
    assert result.out == "Logger a is at DEBUG; 2 loggers changed.\n"
    worker.set_logger_level.assert_called_once_with("a", "debug")
    shown = run("patch", "logger", "a", "-l", "DEBUG", "-o", "jsonl").out
    assert shown.splitlines()[1] == '{"name": "a.b", "level": "DEBUG"}'
    worker.set_logger_level.return_value = ["a"]
    assert "1 logger changed." in run("patch", "logger", "a", "-l", "debug").out


def test_unknown_level(run: Run, worker: Mock) -> None:
    worker.set_logger_level.side_effect = Loggers().change
    result = run("patch", "logger", "a", "--level", "LOUD")
    assert result.code == 1
    assert "invalid log level 'LOUD'." in result.err
    assert "TRACE, DEBUG, INFO" in result.err


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


DYING = """
import os, signal, sys, threading
from pathlib import Path
from penstock.cli.logs import LogFile, log_to
def where_it_was(): os.kill(os.getpid(), int(sys.argv[2])); threading.Event().wait()
log_to(Path(sys.argv[1]))
{before}
dying = threading.Thread(target=where_it_was, name="t")
dying.start()
dying.join()
"""
ROLL_OVER = (
    "import logging; [h.doRollover() for h in logging.root.handlers if isinstance(h, LogFile)]"
)


@pytest.mark.parametrize("number", [signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE])
@pytest.mark.parametrize("before", ["", ROLL_OVER], ids=["first", "rolled-over"])
def test_a_process_that_a_signal_ends_logs_where_it_was(
    home: Path, number: signal.Signals, before: str
) -> None:
    program = DYING.format(before=before)
    ended = subprocess.run(
        [sys.executable, "-c", program, str(home), str(int(number))], timeout=60, check=False
    )
    assert ended.returncode == -number
    text = (home / LOG_FILE).read_text()
    assert text.startswith("Fatal Python error: ")
    assert "in where_it_was" in text
