"""Rows with an error: skipped, and set aside in the dead letter topic, or the end of their turn."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from penstock.engine.frames.frame_lease import MOST_ERRORS, FrameLease
from penstock.engine.frames.letters import send_letters
from penstock.engine.lease.dead_letters import Letter, context_headers, sendable
from penstock.engine.lease.tolerating import tolerate
from penstock.engine.pipeline.stage_error import StageError
from penstock.kafka.transactions import Transactions
from penstock.logs.secrets import scrub
from penstock.sdk.errors import RecordError
from penstock.sdk.frames import FrameConnector

REMEDY = "Nothing of this turn of the task is committed: correct what reads it"


class BadRows:
    """The bad rows of one task of a turn."""

    def __init__(self, lease: FrameLease) -> None:
        self._lease = lease
        self._waiting: list[Letter] = []
        self.count = 0
        self.letters = 0
        self.texts: list[str] = []
        """The first errors."""

    def take(self, rows: pa.RecordBatch) -> None:
        """Set these rows aside; FatalError if the connector tolerates no errors."""
        for row in rows.select(["key", "value", "timestamp", "headers", "error"]).to_pylist():
            self._take(row)

    def _take(self, row: dict[str, Any]) -> None:
        text = scrub(str(row["error"]), self._lease.secrets)
        error = StageError(RecordError(text), "TRANSFORMATION", FrameConnector)
        ranges = ", ".join(map(str, self._lease.ranges))
        tolerate(self._lease, error, record=f"one of {ranges}", place=f"of {ranges}", remedy=REMEDY)
        self.count += 1
        if len(self.texts) < MOST_ERRORS:
            self.texts.append(text)
        if self._lease.tolerance.dead_letter_topic:
            self._waiting.append(self._letter(row, error))

    def _letter(self, row: dict[str, Any], error: StageError) -> Letter:
        tolerance = self._lease.tolerance
        headers = [(h["key"], h["value"]) for h in row["headers"] or ()]
        if tolerance.context_headers:
            headers += context_headers(self._lease, error, {})
        stamp = sendable(row["timestamp"])
        return tolerance.dead_letter_topic, row["value"], row["key"], headers, stamp

    def send_letters(self, producer: Transactions) -> None:
        """Add the dead letters to the open transaction."""
        send_letters(self._lease, producer, self._waiting)
        self.letters += len(self._waiting)
        self._waiting = []
