"""Log lines as text and as JSON. Both say what a line is about; neither holds a secret."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

from penstock.logs.levels import level_name
from penstock.logs.secrets import hidden_from, scrub
from penstock.logs.subject import subject_of


def prefix(record: logging.LogRecord) -> str:
    """As Kafka Connect has it: ``[orders|task-0]``, ``[orders|worker]``; otherwise ``[worker]``."""
    connector, task = subject_of(record)
    if connector is None:
        return "[worker]"
    return f"[{connector}|{'worker' if task is None else f'task-{task}'}]"


def message_of(record: logging.LogRecord) -> str:
    """The message without secrets; unformatted if its arguments do not match it."""
    try:
        text = record.getMessage()
    except Exception:  # noqa: BLE001 (arguments may fail in any way; the line is still logged)
        text = f"{record.msg} {record.args}"
    return scrub(text.rstrip(), hidden_from(subject_of(record)[0]))


def exception_of(record: logging.LogRecord) -> str:
    """The traceback of the error logged, without secrets; empty if there is none."""
    text = record.exc_text or ""
    if not text and record.exc_info:
        text = logging.Formatter().formatException(record.exc_info)
    return scrub(text, hidden_from(subject_of(record)[0]))


class TextForm(logging.Formatter):
    """``<time> <level> [<connector>|task-<n>] <logger>: <message>``.

    Each line of a longer message or traceback starts this way: searching for a connector finds all.
    """

    def format(self, record: logging.LogRecord) -> str:
        """The line, or lines."""
        head = (
            f"{self.formatTime(record)} {level_name(record.levelno)} {prefix(record)} "
            f"{record.name}: "
        )
        lines = f"{message_of(record)}\n{exception_of(record)}".splitlines()
        return "\n".join(head + line for line in lines or [""])


class JsonForm(logging.Formatter):
    """One JSON object per line, also for messages and tracebacks of many lines."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        connector, task = subject_of(record)
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        return json.dumps(
            {
                "time": at.replace("+00:00", "Z"),
                "level": level_name(record.levelno),
                "logger": record.name,
                "thread": record.threadName,
                "connector": connector,
                "task": task,
                "message": message_of(record),
                "exception": exception_of(record) or None,
            }
        )


class ScreenForm(logging.Formatter):
    """One short line for a terminal: tracebacks are for the file."""

    def format(self, record: logging.LogRecord) -> str:
        """The level, what it is about, and the first line of the message and of its error."""
        about = "" if subject_of(record)[0] is None else f"{prefix(record)} "
        error = exception_of(record).strip().rpartition("\n")[2]
        text = message_of(record).partition("\n")[0] + (f": {error}" if error else "")
        return f"{record.levelname}: {about}{text}"


FORMS: dict[str, type[logging.Formatter]] = {"text": TextForm, "json": JsonForm}
