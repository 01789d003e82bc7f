"""Whoever follows a topic goes on, whatever its client raises."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest.mock import Mock

import pytest
from confluent_kafka import KafkaError, KafkaException, Message

from penstock.kafka import compacted_log
from penstock.kafka.clients import Connection
from penstock.kafka.compacted_log import CompactedLog, LogRecord
from waiting import eventually


class Client:
    """A consumer that first fails, and then has one record."""

    def __init__(self, failure: Exception) -> None:
        self._polls: Iterator[Any] = iter([failure, _record()])

    def poll(self, _: float) -> Message | None:
        found = next(self._polls, None)
        if isinstance(found, Exception):
            raise found
        return found

    def consume(self, _: int, timeout: float) -> list[Message]:
        return []

    def incremental_assign(self, _: object) -> None: ...

    def close(self) -> None: ...


def _record() -> Mock:
    made = Mock(spec=Message)
    made.error.return_value = None
    made.key.return_value, made.value.return_value = b"k", b"v"
    made.partition.return_value, made.offset.return_value = 0, 7
    made.timestamp.return_value = (0, 0)
    return made


@pytest.mark.parametrize(
    "failure",
    [
        KafkaException(KafkaError(KafkaError._TRANSPORT)),
        SystemError("<method> returned a result with an exception set"),
        RuntimeError("cannot schedule new futures"),
    ],
    ids=lambda failure: type(failure).__name__,
)
def test_a_poll_that_fails_is_made_again(
    monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    seen: list[LogRecord] = []
    monkeypatch.setattr(compacted_log, "ensure_compacted", lambda *_, **__: 1)
    monkeypatch.setattr(compacted_log, "reader", lambda *_, **__: Client(failure))
    log = CompactedLog(Connection("nowhere:1"), Mock(), "t", seen.append)
    log.start()
    try:
        eventually(lambda: [record.value for record in seen] == [b"v"], what="the record")
    finally:
        log.stop()
