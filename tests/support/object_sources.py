"""An object source under test: its bucket, and what the kit needs to know about it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import obstore

from penstock.plugins.objects.source_connector import ObjectSourceConnector
from penstock.plugins.objects.store import open_storage
from penstock.sdk.connectors import SourceConnector
from penstock.sdk.testing import SourceUnderTest

IN_AN_OBJECT = 10


class Objects(SourceUnderTest):
    """Objects of ten numbers each, as JSON lines, whose names are in the order of writing."""

    connector: ClassVar[type[SourceConnector]] = ObjectSourceConnector
    finds_more: ClassVar[bool] = False

    def __init__(self, place: Mapping[str, str], **more: str) -> None:
        self._config = {
            **place,
            "name": "objects",
            "topic": "numbers",
            "input.format": "jsonl",
            "list.interval.ms": "1",
            **more,
        }
        self.store = open_storage(self._config).store
        self.bucket = open_storage(self._config).bucket
        self._written = 0

    def config(self) -> Mapping[str, str]:
        return self._config

    def configure(self, **more: str) -> None:
        self._config |= {key.replace("_", "."): text for key, text in more.items()}

    def write(self, numbers: Sequence[int]) -> None:
        for first in range(0, len(numbers), IN_AN_OBJECT):
            self._written += 1
            self.put(f"in/{self._written:05}.jsonl", numbers[first : first + IN_AN_OBJECT])

    def put(self, key: str, numbers: Sequence[int]) -> None:
        self.put_bytes(key, "".join(json.dumps({"n": n}) + "\n" for n in numbers).encode())

    def put_bytes(self, key: str, data: bytes) -> None:
        obstore.put(self.store, key, data)

    def delete(self, key: str) -> None:
        obstore.delete(self.store, key)

    def spoil(self) -> None:
        self._written += 1
        self.put_bytes(f"in/{self._written:05}.jsonl", b"not JSON")

    def number(self, value: Any) -> int:
        return int(value["n"])
