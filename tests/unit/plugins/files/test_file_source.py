"""The file source's connector."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from penstock.plugins.files import tail_watch
from penstock.plugins.files.file_source import FileStreamSourceConnector
from penstock.sdk.errors import ConfigError, OffsetError, PenstockError
from penstock.sdk.offsets import OffsetReader


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "in.txt"


@pytest.fixture
def connector(file: Path) -> FileStreamSourceConnector:
    connector = FileStreamSourceConnector()
    connector.start({"file": str(file), "topic": "t"})
    return connector


def at(file: Path, position: Any) -> OffsetReader:
    return OffsetReader([({"filename": str(file)}, {"position": position})])


def test_one_task_however_many_are_allowed(
    connector: FileStreamSourceConnector, file: Path
) -> None:
    assert connector.task_configs(10) == [{"file": str(file), "topic": "t"}]


class TestConfig:
    def test_keys_are_kafka_connects_and_a_pattern(self) -> None:
        keys = {key.name: key for key in FileStreamSourceConnector.config_def}
        assert list(keys) == ["file", "file.glob", "topic", "batch.size"]
        assert keys["file"].default is None
        assert keys["file.glob"].default is None
        assert keys["topic"].required
        assert keys["batch.size"].default == 2000

    @pytest.mark.parametrize("config", [{}, {"file": " "}, {"file": "", "file.glob": " "}])
    def test_a_file_is_needed(self, config: dict[str, str]) -> None:
        [(key, message)] = FileStreamSourceConnector().validate({"topic": "t", **config})
        assert key == "file"
        assert message.startswith('Missing required configuration "file": set it to the path')
        assert message.endswith("To read many files, set 'file.glob' to a pattern instead.")
        with pytest.raises(ConfigError, match="standard input"):
            FileStreamSourceConnector().start(config)

    def test_but_only_one_way_to_name_it(self) -> None:
        config = {"topic": "t", "file": "f", "file.glob": "*.log"}
        [(key, message)] = FileStreamSourceConnector().validate(config)
        assert key == "file.glob"
        assert message == (
            "Set either 'file', to read one file, or 'file.glob', to read all files that match a "
            "pattern, but not both."
        )
        with pytest.raises(ConfigError, match="but not both"):
            FileStreamSourceConnector().start(config)

    @pytest.mark.parametrize("named", [{"file": "f*"}, {"file.glob": "*.log"}])
    def test_a_sound_one_passes(self, named: dict[str, str]) -> None:
        assert not FileStreamSourceConnector().validate({"topic": "t", **named})

    @pytest.mark.parametrize(
        ("config", "message"),
        [
            ({}, 'Missing required configuration "topic" which has no default value.'),
            ({"topic": ""}, "Invalid value  for configuration topic: String must be non-empty"),
            (
                {"topic": "t", "batch.size": "0"},
                "Invalid value 0 for configuration batch.size: Value must be at least 1",
            ),
        ],
    )
    def test_wrong_values(self, config: dict[str, str], message: str) -> None:
        with pytest.raises(ConfigError) as caught:
            FileStreamSourceConnector.config_def.parse({"file": "f", **config})
        assert str(caught.value) == message


class TestLook:
    def test_a_missing_file_is_waited_for(self, connector: FileStreamSourceConnector) -> None:
        assert connector.look(OffsetReader()) is False

    def test_new_lines(self, connector: FileStreamSourceConnector, file: Path) -> None:
        file.write_bytes(b"one\ntwo\n")
        assert connector.look(OffsetReader()) is True
        assert connector.look(at(file, 4)) is True
        assert connector.look(at(file, 8)) is False

    def test_it_stays_true_until_the_line_is_committed(
        self, connector: FileStreamSourceConnector, file: Path
    ) -> None:
        file.write_bytes(b"one\ntwo\nthr")
        assert [connector.look(at(file, 4)) for _ in range(3)] == [True] * 3
        assert connector.look(at(file, 8)) is False

    def test_a_partial_line_wakes_nobody_until_its_newline(
        self, connector: FileStreamSourceConnector, file: Path
    ) -> None:
        for _ in range(3):
            with file.open("ab") as out:
                out.write(b"part ")
            assert [connector.look(OffsetReader()) for _ in range(2)] == [False, False]
        with file.open("ab") as out:
            out.write(b"\n")
        assert connector.look(OffsetReader()) is True

    def test_each_byte_of_a_growing_line_is_read_once(
        self, connector: FileStreamSourceConnector, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        read: list[int] = []
        pread = os.pread

        def counted(descriptor: int, size: int, at: int) -> bytes:
            block = pread(descriptor, size, at)
            read.append(len(block))
            return block

        monkeypatch.setattr(os, "pread", counted)
        for _ in range(10):
            with file.open("ab") as out:
                out.write(b"x" * 3_000_000)
            assert connector.look(OffsetReader()) is False
        assert sum(read) == 30_000_000

    def test_a_huge_tail_is_left_to_a_task_but_not_for_ever(
        self, connector: FileStreamSourceConnector, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(tail_watch, "MOST", 1 << 20)
        file.write_bytes(b"x" * (5 << 19))
        looks = [connector.look(OffsetReader()) for _ in range(4)]
        assert looks == [True, True, False, False]

    def test_a_truncated_file_wakes_a_task_once_and_then_by_its_lines(
        self, connector: FileStreamSourceConnector, file: Path
    ) -> None:
        file.touch()
        assert [connector.look(at(file, 8)) for _ in range(3)] == [True, False, False]
        file.write_bytes(b"new\n")
        assert connector.look(at(file, 8)) is True

    def test_a_tail_cut_back_and_grown_anew(
        self, connector: FileStreamSourceConnector, file: Path
    ) -> None:
        file.write_bytes(b"one\nlong tail")
        assert connector.look(at(file, 4)) is False
        os.truncate(file, 4)
        assert connector.look(at(file, 4)) is False
        file.write_bytes(b"one\na\nb")
        assert connector.look(at(file, 4)) is True

    def test_what_cannot_be_read_is_left_to_the_task_to_report(
        self, connector: FileStreamSourceConnector, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file.write_bytes(b"one\n")

        def refuse(*_: Any) -> int:
            raise PermissionError(errno.EACCES, "Permission denied")

        monkeypatch.setattr(os, "open", refuse)
        assert connector.look(OffsetReader()) is True

    def test_a_folder_too(self, connector: FileStreamSourceConnector, file: Path) -> None:
        file.mkdir()
        assert connector.look(OffsetReader()) is True

    def test_an_offset_that_is_none_too(
        self, connector: FileStreamSourceConnector, file: Path
    ) -> None:
        assert connector.look(at(file, "x")) is True


LONG = "The value for the 'position' key in the offset is expected to be a Long value"
P = {"filename": "f"}


class TestAlteringOffsets:
    def alter(self, *offsets: Any, config: dict[str, str] | None = None) -> bool:
        config = {"file": "f", "topic": "t"} if config is None else config
        return FileStreamSourceConnector().alter_offsets(config, offsets)

    @pytest.mark.parametrize(
        ("partition", "offset", "text"),
        [
            (P, {}, "Offset objects should either be null or contain the key 'position'"),
            (P, {"position": "1"}, LONG),
            (P, {"position": 1.0}, LONG),
            (P, {"position": None}, LONG),
            (P, {"position": True}, LONG),
            (P, {"position": 2**63}, LONG),
            (
                P,
                {"position": -1},
                "The value for the 'position' key in the offset should be a non-negative value",
            ),
            (None, {"position": 1}, "Partition objects cannot be null"),
            ({}, {"position": 1}, "Partition objects should contain the key 'filename'"),
        ],
    )
    def test_refusals_in_kafka_connects_words(self, partition: Any, offset: Any, text: str) -> None:
        with pytest.raises(PenstockError) as caught:
            self.alter((P, {"position": 0}), (partition, offset))
        assert str(caught.value) == text

    def test_without_a_file_there_are_no_offsets(self) -> None:
        with pytest.raises(PenstockError) as caught:
            self.alter((P, None), config={"topic": "t"})
        assert str(caught.value) == (
            "Offsets cannot be modified if the 'file' configuration is unspecified. "
            "This is because stdin is used for input and offsets are not tracked."
        )

    def test_a_pattern_has_offsets_as_well(self) -> None:
        assert self.alter((P, {"position": 1}), config={"topic": "t", "file.glob": "*"}) is True

    def test_positions_of_any_file_are_accepted_and_anything_may_be_reset(self) -> None:
        assert self.alter((P, {"position": 2**62}), ({"filename": "old"}, {"position": 0})) is True
        assert self.alter((None, None), ({"rubbish": 1}, None)) is True

    def test_a_position_beyond_the_end_is_refused_with_the_size(self, file: Path) -> None:
        file.write_text("one\n")
        config = {"file": str(file), "topic": "t"}
        partition = {"filename": str(file)}
        assert self.alter((partition, {"position": 4}), config=config) is True
        with pytest.raises(OffsetError) as refused:
            self.alter((partition, {"position": 5}), config=config)
        assert str(refused.value) == (
            f"{file} has 4 bytes: position 5 is beyond its end. Set a position up to 4, or null to "
            "start from the beginning."
        )

    def test_files_that_are_not_read_are_told_of(
        self, file: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        file.write_text("one\n")
        config = {"file.glob": f"{file.parent}/*", "topic": "t"}
        others = [({"filename": f"other-{number}"}, {"position": 1}) for number in range(5)]
        gone = ({"filename": "gone"}, None)
        assert self.alter(({"filename": str(file)}, {"position": 1}), gone, config=config) is True
        assert not caplog.records
        assert self.alter(*others, gone, config=config) is True
        [record] = caplog.records
        assert record.levelname == "WARNING"
        assert "5 files that this connector does not read" in record.message
        assert record.message.endswith(": other-0, other-1, other-2, ...")


def test_a_file_that_is_missing_is_told_once(
    connector: FileStreamSourceConnector, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    for _ in range(3):
        assert connector.look(OffsetReader([])) is False
    file.write_bytes(b"one\n")
    assert connector.look(OffsetReader([]))
    assert [record.getMessage() for record in caplog.records] == [
        f"{file} does not exist: waiting until it is created",
        f"{file} exists now",
    ]


@pytest.mark.parametrize("device", ["/dev/null", "/dev/zero"])
def test_a_character_device_has_no_lines(device: str) -> None:
    connector = FileStreamSourceConnector()
    connector.start({"file": device, "topic": "t"})
    assert connector.look(OffsetReader([])) is False
