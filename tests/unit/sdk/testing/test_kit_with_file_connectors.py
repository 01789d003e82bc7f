"""The contract kit, run by the built-in connectors and by the smallest task of the framework."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from penstock.plugins.files.file_sink import FileStreamSinkConnector
from penstock.plugins.files.file_source import FileStreamSourceConnector
from penstock.sdk import (
    AbstractSourceTask,
    BackoffConfig,
    ConfigDef,
    ConfigKey,
    OffsetManagerEntry,
    OffsetManagerKey,
    SchemaAndValue,
    SourceCommonConfig,
    SourceConnector,
    SourceRecord,
    SourceTask,
    restarting,
)
from penstock.sdk.testing import SinkContract, SinkUnderTest, SourceContract, SourceUnderTest


class OneFile(SourceUnderTest):
    """FileStreamSource with one file."""

    connector: ClassVar[type[SourceConnector]] = FileStreamSourceConnector

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def config(self) -> Mapping[str, str]:
        return {"file": str(self.folder / "in.txt"), "topic": "t", "batch.size": "30"}

    def write(self, numbers: Sequence[int]) -> None:
        with (self.folder / "in.txt").open("a") as file:
            file.writelines(f"{number}\n" for number in numbers)

    def number(self, value: Any) -> int:
        return int(value)


class ManyFiles(OneFile):
    """FileStreamSource with a pattern; what is written goes to one of several files."""

    def config(self) -> Mapping[str, str]:
        pattern = str(self.folder / "*.txt")
        return {"file.glob": pattern, "topic": "t", "batch.size": "30"}

    def write(self, numbers: Sequence[int]) -> None:
        with (self.folder / f"in-{numbers[0]}.txt").open("a") as file:
            file.writelines(f"{number}\n" for number in numbers)


class TestFileSource(SourceContract):
    @pytest.fixture
    def source(self, tmp_path: Path) -> SourceUnderTest:
        return OneFile(tmp_path)


class TestGlobSource(SourceContract):
    @pytest.fixture
    def source(self, tmp_path: Path) -> SourceUnderTest:
        return ManyFiles(tmp_path)


CONFIG = ConfigDef(ConfigKey("folder"))


class FolderTask(AbstractSourceTask):
    """Every file of a folder, line by line, by the framework's three methods."""

    def configure(self, props: Mapping[str, str]) -> SourceCommonConfig:
        self.folder = Path(props.get("folder", ""))
        return SourceCommonConfig(CONFIG, {"max.poll.records": "30", **props})

    def get_iterator(self, backoff_config: BackoffConfig) -> Iterator[Any]:
        return restarting(self.one_pass)

    def one_pass(self) -> Iterator[SourceRecord]:
        for path in sorted(self.folder.glob("*.txt")):
            key = OffsetManagerKey({"file": path.name})
            entry = OffsetManagerEntry(key)
            entry = self.offset_manager.get_entry(key, entry.from_properties) or entry
            for line in path.read_text().splitlines()[entry.record_count :]:
                entry.increment_record_count()
                if not line.isdigit():
                    raise entry.bad_record(f"{path.name}: {line} is no number", line.encode())
                yield entry.source_record("t", None, SchemaAndValue(None, int(line)))

    def close_resources(self) -> None:
        pass


class FolderSource(SourceConnector):
    """One task."""

    config_def: ClassVar[ConfigDef] = CONFIG
    task_class: ClassVar[type[SourceTask]] = FolderTask

    def start(self, config: Mapping[str, str]) -> None:
        self._config = dict(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [self._config]

    def alter_offsets(self, config: Any, offsets: Any) -> bool:
        return True


class Folder(OneFile):
    """Files of lines that may be bad."""

    connector = FolderSource

    def config(self) -> Mapping[str, str]:
        return {"folder": str(self.folder)}

    def spoil(self) -> None:
        with (self.folder / "in.txt").open("a") as file:
            file.write("no number\n")


class TestFrameworkSource(SourceContract):
    @pytest.fixture
    def source(self, tmp_path: Path) -> SourceUnderTest:
        return Folder(tmp_path)


class PromptTask(FolderTask):
    """The same on the lease's thread."""

    iterator_is_prompt = True


class PromptConnector(FolderSource):
    """The same on the lease's thread."""

    task_class: ClassVar[type[SourceTask]] = PromptTask


class PromptFolder(Folder):
    """The same on the lease's thread."""

    connector = PromptConnector


class TestPromptFrameworkSource(SourceContract):
    @pytest.fixture
    def source(self, tmp_path: Path) -> SourceUnderTest:
        return PromptFolder(tmp_path)


class OutFile(SinkUnderTest):
    """FileStreamSink."""

    connector = FileStreamSinkConnector

    def __init__(self, file: Path) -> None:
        self.file = file

    def config(self) -> Mapping[str, str]:
        return {"file": str(self.file)}

    def value(self, number: int) -> str:
        return str(number)

    def written(self) -> list[int]:
        return [int(line) for line in self.file.read_text().splitlines()]


class TestFileSink(SinkContract):
    @pytest.fixture
    def sink(self, tmp_path: Path) -> SinkUnderTest:
        return OutFile(tmp_path / "out.txt")
