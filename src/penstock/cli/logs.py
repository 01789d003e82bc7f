"""Logging of a worker: everything into a file of its data folder, warnings to the screen too."""

from __future__ import annotations

import logging
from logging.handlers import RotatingFileHandler
from pathlib import Path

LOG_BYTES = 10 * 1024 * 1024
LOG_FILES = 3
# These tell of every request and every call they carry, which is of no use to anyone.
TALKATIVE = ("httpx", "httpcore", "py4j", "kafka", "uvicorn")


class OneLine(logging.Formatter):
    """A record as one line: tracebacks are for the file."""

    def format(self, record: logging.LogRecord) -> str:
        """The level and the first line of the message, with the error's if there is one."""
        text = record.getMessage().partition("\n")[0]
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            text += f": {type(error).__name__}: {str(error).partition(chr(10))[0]}"
        return f"{record.levelname}: {text}"


def log_to(data_dir: Path) -> Path:
    """Send this process's log to the data folder, warnings to standard error; the file."""
    data_dir.mkdir(parents=True, exist_ok=True)
    file = data_dir / "penstock.log"
    to_file = RotatingFileHandler(
        file, maxBytes=LOG_BYTES, backupCount=LOG_FILES - 1, encoding="utf-8"
    )
    to_file.setFormatter(
        logging.Formatter("%(asctime)s %(levelname)s [%(threadName)s] %(name)s: %(message)s")
    )
    to_screen = logging.StreamHandler()
    to_screen.setLevel(logging.WARNING)
    to_screen.setFormatter(OneLine())
    logging.basicConfig(level=logging.INFO, handlers=[to_file, to_screen], force=True)
    for name in TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.captureWarnings(True)
    return file
