"""Commands run as the installed program runs them, on a home of their own."""

import faulthandler
import logging
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import Mock

import pytest

from penstock.cli import main
from penstock.cli.root import Settings
from penstock.rest import RestServer, create_app


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("URL", "BOOTSTRAP_SERVERS", "DATA_DIR", "DEBUG", "TOKEN", "CA_FILE"):
        monkeypatch.delenv(f"PENSTOCK_{name}", raising=False)
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path))
    # A command with --debug would otherwise speak for those that come after it.
    monkeypatch.setattr(Settings, "debug", False)
    # Typer has one of its own.
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    # Colour would be forced by these; the test runner may have them.
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE", "GITHUB_ACTIONS", "PY_COLORS"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture(autouse=True)
def logging_as_before(fresh_levels: None) -> Iterator[None]:
    """A command may set up the log of its whole process (`log_to`); this one belongs to pytest."""
    handlers, told = logging.root.handlers[:], faulthandler.is_enabled()
    yield
    added = [handler for handler in logging.root.handlers if handler not in handlers]
    logging.root.handlers[:] = handlers
    for handler in added:
        handler.close()
    if told and sys.__stderr__:
        faulthandler.enable(sys.__stderr__)
    logging.captureWarnings(False)
    logging.raiseExceptions = True


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def run_command(*args: str) -> Result:
        with pytest.raises(SystemExit) as ended:
            main(args)
        printed = capsys.readouterr()
        code = ended.value.code
        assert "Traceback" not in printed.err or "--debug" in args
        return Result(code if isinstance(code, int) else 0, printed.out, printed.err)

    return run_command


@pytest.fixture
def url(herder: Mock) -> Iterator[str]:
    server = RestServer(create_app(herder), port=0)
    server.start()
    yield server.url
    server.stop()
