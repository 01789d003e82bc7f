"""What a process has only once: what one test leaves there, another one may depend on."""

from __future__ import annotations

import faulthandler
import logging
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from penstock.logs.levels import TALKATIVE

PYTESTS_OWN = "PYTEST_CURRENT_TEST"
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Those that programs react to; pytest has a use for others."""


def process_state() -> dict[str, Any]:
    """A snapshot, to be compared with a later one."""
    return {
        "environment": {n: text for n, text in os.environ.items() if n != PYTESTS_OWN},
        "folder": Path.cwd(),
        "import path": list(sys.path),
        "arguments": list(sys.argv),
        "signals": [signal.getsignal(each) for each in SIGNALS],
        "hooks": (sys.excepthook, threading.excepthook, sys.unraisablehook),
        "log levels": _log_levels(),
        "faults told": faulthandler.is_enabled(),
        "logs disabled": logging.root.manager.disable,
    }


def changes(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """What is no longer as it was, and how it is now; of the environment only the names."""
    changed = {name: after[name] for name, value in before.items() if after[name] != value}
    if "environment" in changed:
        pairs = before["environment"].items() ^ after["environment"].items()
        changed["environment"] = sorted({name for name, _ in pairs})
    return changed


def _log_levels() -> dict[str, int]:
    """Of the loggers whose levels we set; other packages set theirs when they are imported."""
    names = [each for each in logging.root.manager.loggerDict if each.startswith("penstock")]
    found = {each: logging.getLogger(each).level for each in (*TALKATIVE, *names)}
    return {"root": logging.root.level, **{name: level for name, level in found.items() if level}}
