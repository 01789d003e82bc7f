"""Logging of a worker: everything into a file of its data folder, warnings to the screen too."""

from __future__ import annotations

import faulthandler
import logging
from collections.abc import Mapping
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from penstock.logs.forms import FORMS, ScreenForm
from penstock.logs.levels import NUMBERS, Kept, Levels, use
from penstock.logs.settings import LOG_KEYS
from penstock.sdk.config import ConfigDef

LOG_FILE = "penstock.log"
LOG_BYTES = 10 * 1024 * 1024
LOG_FILES = 3


class LogFile(RotatingFileHandler):
    """The log, into which also goes where every thread was when a signal ends the process."""

    def _open(self) -> TextIOWrapper:
        file = super()._open()
        faulthandler.enable(file, all_threads=True)
        return file

    def close(self) -> None:
        """Write no more; a signal's last words go where they went before there was a log."""
        faulthandler.disable()
        super().close()


def log_to(data_dir: Path, properties: Mapping[str, str] | None = None) -> Path:
    """Send this process's log to the data folder, warnings to standard error; the file.

    ``properties`` are the worker's; ConfigError if what they say of the log is wrong.
    """
    settings = ConfigDef(*LOG_KEYS).parse(properties or {})
    data_dir.mkdir(parents=True, exist_ok=True)
    file = data_dir / LOG_FILE
    to_file = LogFile(
        file,
        maxBytes=LOG_BYTES,
        backupCount=LOG_FILES - 1,
        encoding="utf-8",
        errors="backslashreplace",
    )
    to_file.setFormatter(FORMS[settings["log.format"].lower()]())
    to_screen = logging.StreamHandler()
    to_screen.setLevel(logging.WARNING)
    to_screen.setFormatter(ScreenForm())
    for handler in (to_file, to_screen):
        handler.addFilter(Kept())
    logging.basicConfig(handlers=[to_file, to_screen], force=True)
    use(Levels(root=NUMBERS[settings["log.level"].upper()]))
    logging.captureWarnings(True)
    # A disk that is full would otherwise show a traceback for each line.
    logging.raiseExceptions = False
    return file
