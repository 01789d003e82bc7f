"""One line of JSON for each record, to a file or to standard output."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import orjson

from penstock.plugins.files.file_jail import Jail
from penstock.sdk.config import ConfigKey, Importance

REPORT_FILE: Final = "report.file"

REPORT_KEY: Final = ConfigKey(
    REPORT_FILE,
    default=None,
    importance=Importance.LOW,
    doc="File to which tasks append a line of JSON for each record, as the hosts see it on which "
    "they run; unset, the standard output of the process that runs the task.",
)


class Reports:
    """Lines that each carry the same fields first; one write for many, so that none is torn."""

    def __init__(self, config: Mapping[str, str], **fields: Any) -> None:
        path = config.get(REPORT_FILE)
        if path:
            Jail.of(config).check(path)
        self._path = Path(path) if path else None
        self._fields = fields

    def tell(self, records: Iterable[Mapping[str, Any]]) -> None:
        """A line for each."""
        now = {"time_ms": time.time_ns() // 1_000_000}
        lines = [orjson.dumps({**self._fields, **now, **record}) + b"\n" for record in records]
        if not lines:
            return
        if self._path is None:
            sys.stdout.write(b"".join(lines).decode())
            sys.stdout.flush()
            return
        with self._path.open("ab", buffering=0) as file:
            file.write(b"".join(lines))
