"""A record's time."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from confluent_kafka import TIMESTAMP_CREATE_TIME, TIMESTAMP_NOT_AVAILABLE, Message

from penstock.cli.record_template import template_printer
from penstock.consumers import Record


def at(milliseconds: int, kind: int = TIMESTAMP_CREATE_TIME) -> Record:
    return Record(Message(topic="t", partition=0, offset=0, timestamp=(kind, milliseconds)))


def test_a_time_to_the_millisecond() -> None:
    assert at(1_699_920_000_123).time == datetime(2023, 11, 14, 0, 0, 0, 123_000, UTC)
    assert at(0, TIMESTAMP_NOT_AVAILABLE).time is None


@pytest.mark.parametrize("milliseconds", [253_402_300_800_000, 2**63 - 1, -(2**63)])
def test_a_time_that_no_calendar_has(milliseconds: int) -> None:
    record = at(milliseconds)
    assert record.time is None
    assert record.timestamp == milliseconds
    assert template_printer("{{time}}")([record]) == b"NA\n"
