"""The object sink passes the contract kit: in a folder, for each format and compression."""

from __future__ import annotations

import gzip
import io
import itertools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import fastavro
import pyarrow.parquet as pq
import pytest

from penstock.plugins.objects.sink_connector import ObjectSinkConnector
from penstock.plugins.objects.sink_task import ObjectSinkTask
from penstock.sdk.connectors import SinkConnector
from penstock.sdk.testing import SinkContract, SinkUnderTest
from penstock.sdk.transformers.streams import decompressed


class TickingTask(ObjectSinkTask):
    """A millisecond passes whenever the clock is read, however quick the machine is."""

    ticks: ClassVar[Iterator[int]] = itertools.count(1_700_000_000_000)

    def now(self) -> int:
        return next(self.ticks)


class TickingConnector(ObjectSinkConnector):
    task_class = TickingTask


class Folder(SinkUnderTest):
    """Objects that are complete as soon as somebody asks, or after some records."""

    connector: ClassVar[type[SinkConnector]] = TickingConnector
    partitions: ClassVar[int] = 3
    replaces: ClassVar[bool] = True
    """Records that are written again may be an object of the same name."""

    def __init__(self, folder: Path, **keys: str) -> None:
        self.folder = folder
        self.keys = {key.replace("_", "."): value for key, value in keys.items()}

    def config(self) -> Mapping[str, str]:
        folder = {"local.folder": str(self.folder), "file.max.age.ms": "1"}
        return {**folder, "format.output.type": "jsonl", **self.keys}

    def value(self, number: int) -> str:
        return str(number)

    def written(self) -> list[int]:
        paths = sorted(path for path in self.folder.rglob("*") if path.is_file())
        return [number for path in paths for number in self.numbers(path)]

    def numbers(self, path: Path) -> list[int]:
        lines = gzip.decompress(path.read_bytes()).splitlines()
        return [int(json.loads(line)["value"]) for line in lines]


class TestByAge(SinkContract):
    @pytest.fixture
    def sink(self, tmp_path: Path) -> SinkUnderTest:
        return Folder(tmp_path)


class TestByRecords(SinkContract):
    @pytest.fixture
    def sink(self, tmp_path: Path) -> SinkUnderTest:
        return Folder(tmp_path, file_max_records="4")


class TestByBytes(SinkContract):
    @pytest.fixture
    def sink(self, tmp_path: Path) -> SinkUnderTest:
        return Folder(tmp_path, file_max_bytes="100")


class Avro(Folder):
    """In blocks of snappy."""

    def config(self) -> Mapping[str, str]:
        more = {"format.output.type": "avro", "file.compression.type": "snappy"}
        return {**super().config(), **more}

    def numbers(self, path: Path) -> list[int]:
        with path.open("rb") as file:
            content = decompressed(file, "snappy").read()
        rows: Any = fastavro.reader(io.BytesIO(content))
        return [int(row["value"]) for row in rows]


class TestAvro(SinkContract):
    @pytest.fixture
    def sink(self, tmp_path: Path) -> SinkUnderTest:
        return Avro(tmp_path)


class Parquet(Folder):
    """Columns."""

    def config(self) -> Mapping[str, str]:
        return {**super().config(), "format.output.type": "parquet"}

    def numbers(self, path: Path) -> list[int]:
        return [int(value) for value in pq.read_table(path).column("value").to_pylist()]


class TestParquet(SinkContract):
    @pytest.fixture
    def sink(self, tmp_path: Path) -> SinkUnderTest:
        return Parquet(tmp_path)
