"""The contract kit, with made-up records as the source."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import pytest

from penstock.plugins.datagen.datagen_source import DatagenConnector
from penstock.sdk import SourceConnector
from penstock.sdk.testing import PlayedSource, SourceContract, SourceUnderTest

NUMBERS = {
    "type": "record",
    "name": "numbers",
    "fields": [
        {"name": "n", "type": {"type": "int", "arg.properties": {"iteration": {"start": 0}}}},
        {"name": "text", "type": {"type": "string", "arg.properties": {"length": 3}}},
    ],
}


class Made(SourceUnderTest):
    """What is written to it is a greater count: the records are 0, 1, 2, …"""

    connector: ClassVar[type[SourceConnector]] = DatagenConnector
    finds_more: ClassVar[bool] = False

    def __init__(self) -> None:
        self._count = 0

    def config(self) -> Mapping[str, str]:
        return {
            "kafka.topic": "numbers",
            "schema.string": json.dumps(NUMBERS),
            "iterations": str(self._count),
            "max.interval": "1",
        }

    def write(self, numbers: Sequence[int]) -> None:
        self._count = numbers[-1] + 1

    def number(self, value: Any) -> int:
        return int(value["n"])


class TestMadeUpRecords(SourceContract):
    @pytest.fixture
    def source(self) -> SourceUnderTest:
        return Made()

    def test_an_empty_source_has_no_records(self, source: SourceUnderTest) -> None:
        """There is none: a count of 0 is no limit. A count that is reached is its end."""
        source.write([0])
        worker = PlayedSource(source)
        for _ in range(2):
            worker.turn()
        assert worker.delivered == [0]

    def test_tasks_changed(self, source: SourceUnderTest) -> None:
        """Each task makes as many, and goes on where it was when there is another one again."""
        source.write(range(50))
        worker = PlayedSource(source, tasks=2)
        worker.turn(polls=1)
        for tasks in (1, 2, 2):
            worker.tasks = tasks
            worker.turn()
        assert sorted(worker.delivered) == sorted([*range(50)] * 2)
