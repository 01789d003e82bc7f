"""The contract kit, run by the examples: a source and a sink of one file each."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import pytest

from penstock.sdk import SinkConnector, SourceConnector
from penstock.sdk.testing import SinkContract, SinkUnderTest, SourceContract, SourceUnderTest
from project_scripts import ROOT


def example(path: str) -> ModuleType:
    file = ROOT / "examples" / path
    spec = spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SOURCE = example("03-your-own-source/sqlite_source.py")
SINK = example("04-your-own-sink/sqlite_sink.py")


class Table(SourceUnderTest):
    connector: ClassVar[type[SourceConnector]] = SOURCE.SqliteSourceConnector

    def __init__(self, file: Path) -> None:
        self._file = file
        self._run("CREATE TABLE numbers (id INTEGER PRIMARY KEY, n INT)")

    def _run(self, statement: str, rows: Sequence[Sequence[int]] = ((),)) -> None:
        with closing(sqlite3.connect(self._file)) as link, link:
            link.executemany(statement, rows)

    def config(self) -> Mapping[str, str]:
        return {"database": str(self._file), "table": "numbers", "topic": "t"}

    def write(self, numbers: Sequence[int]) -> None:
        self._run("INSERT INTO numbers (n) VALUES (?)", [[number] for number in numbers])

    def number(self, value: Any) -> int:
        return int(value["n"])


class TestSqliteSource(SourceContract):
    @pytest.fixture
    def source(self, tmp_path: Path) -> SourceUnderTest:
        return Table(tmp_path / "numbers.db")


class Records(SinkUnderTest):
    connector: ClassVar[type[SinkConnector]] = SINK.SqliteSinkConnector

    def __init__(self, file: Path) -> None:
        self._file = file

    def config(self) -> Mapping[str, str]:
        return {"database": str(self._file)}

    def value(self, number: int) -> str:
        return str(number)

    def written(self) -> list[int]:
        with closing(sqlite3.connect(self._file)) as link:
            return [int(value) for (value,) in link.execute("SELECT value FROM records")]


class TestSqliteSink(SinkContract):
    @pytest.fixture
    def sink(self, tmp_path: Path) -> SinkUnderTest:
        return Records(tmp_path / "records.db")
