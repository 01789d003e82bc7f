"""Turns over a simulated folder, which are cut off anywhere: each row is delivered once."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pytest

from penstock.plugins.objects.stored_objects import ListedObject
from penstock.plugins.spark import file_planner
from penstock.plugins.spark.file_frames import SchemasDiffer, UnreadableError
from penstock.plugins.spark.file_planner import FilePlanner
from penstock.plugins.spark.file_reading import FILE
from penstock.plugins.spark.source_config import SPARK_SOURCE_CONFIG
from penstock.sdk.batches import SourceBatch
from penstock.sdk.errors import RecordError
from penstock.sdk.frame_sources import FrameShare, SourceTurn
from penstock.sdk.offsets import OffsetReader, canonical

CONFIG = {"format": "text", "path": "/in", "topic": "t", "rescan.interval.ms": "1"}
TASKS = 3


@dataclass
class Folder:
    """Files by their keys: when they were changed, and their rows."""

    files: dict[str, tuple[int, list[str]]] = field(default_factory=dict)

    def use(self, spark: Any) -> None: ...

    def address(self, key: str) -> str:
        return f"file:/in/{key}"

    def encoded(self, key: str) -> str:
        return f"file:///in/{key}"

    def find(self, key: str) -> ListedObject | None:
        if key not in self.files:
            return None
        modified, rows = self.files[key]
        return ListedObject(key, len(rows), modified, f"{len(rows)}-{modified}")

    def pages(self, after: str = "") -> Iterator[list[ListedObject]]:
        keys = sorted(key for key in self.files if key > after)
        for first in range(0, len(keys), 2):
            yield [each for key in keys[first : first + 2] if (each := self.find(key)) is not None]


class Frames:
    """A frame is the paths that it reads."""

    def __init__(self) -> None:
        self.other: set[str] = set()
        self.damaged: set[str] = set()

    def schema(self, session: Any, paths: Sequence[str]) -> str:
        if damaged := sorted(self.damaged.intersection(paths)):
            raise UnreadableError(f"[FAILED_READ_FILE.X] Encountered … file {damaged[0]}. Look.")
        if len({path in self.other for path in paths}) == 2:
            raise SchemasDiffer("they differ")
        return "schema"

    def refuse_hidden(self, schema: str, keys: Sequence[str]) -> None: ...

    def frame(self, session: Any, paths: Sequence[str], schema: str) -> list[str]:
        return list(paths)


class Story:
    """A connector's offsets, and what was delivered, over any number of workers."""

    def __init__(self, folder: Folder, seed: int = 0, **config: str) -> None:
        self.folder = folder
        self.frames = Frames()
        self.config = {**CONFIG, **{k.replace("_", "."): v for k, v in config.items()}}
        self.offsets: dict[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {}
        self.delivered: list[str] = []
        self.letters: list[str] = []
        self.chance = random.Random(seed)
        self.new_worker()

    def new_worker(self) -> None:
        values = SPARK_SOURCE_CONFIG.parse(self.config)
        self.planner = FilePlanner(self.config, values, TASKS)
        self.planner._files = self.folder  # type: ignore[assignment]  # stands in
        self.planner._frames = self.frames  # type: ignore[assignment]  # stands in
        self.planner._search = self.planner._new_search()

    def turn(self, *, cut: bool = False) -> bool:
        """One turn, whether it had anything to do; ``cut``: it is lost somewhere."""
        reader = OffsetReader(self.offsets.values())
        told = SourceTurn("c", reader, tuple(range(TASKS)))
        shares = self.planner.plan(object(), told)
        for share in shares:
            self._read(share, self.chance.randrange(20) if cut else None)
        if shares and not cut:
            self.planner.turned(0)
        return bool(shares)

    def turns(self, most: int = 40) -> None:
        """Until there is nothing more to do."""
        idle = 0
        while idle < 3:
            most -= 1
            assert most, "there is always something to do"
            idle = 0 if self.turn() else idle + 1

    def _read(self, share: FrameShare, most: int | None) -> None:
        items = [item for rows in self._rows(share) for item in share.reading.read(rows)]
        items += share.reading.end()
        for item in items[:most]:
            self._take(item)

    def _rows(self, share: FrameShare) -> Iterator[pa.RecordBatch]:
        """Each file as a whole; which comes first is up to Spark."""
        paths = list(share.frame or [])
        self.chance.shuffle(paths)
        rows = [(path, v) for path in paths for v in self.folder.files[path.split("/in/")[1]][1]]
        while rows:
            some, rows = rows[: (size := self.chance.randrange(1, 5))], rows[size:]
            yield pa.RecordBatch.from_pydict(
                {FILE: [path for path, _ in some], "value": [value for _, value in some]}
            )

    def _take(self, item: SourceBatch | RecordError) -> None:
        if isinstance(item, RecordError):
            assert item.source_partition is not None
            self.letters.append((item.data or b"").decode())
            changes = [(item.source_partition, item.source_offset)]
        else:
            self.delivered += item.records.column("value").to_pylist()
            changes = list(item.offsets)
        for partition, offset in changes:
            self.offsets.pop(canonical(partition), None)
            if offset is not None:
                self.offsets[canonical(partition)] = partition, offset


@pytest.fixture(autouse=True)
def without_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_planner, "own_session", lambda spark: spark)


def filled(count: int, rows: int = 4) -> Folder:
    return Folder(
        {f"f{n:03}": (1000 + n, [f"{n}.{row}" for row in range(rows)]) for n in range(count)}
    )


def every_row(folder: Folder) -> Counter[str]:
    return Counter(row for _, rows in folder.files.values() for row in rows)


def in_order(delivered: Sequence[str]) -> bool:
    per_file: dict[str, list[int]] = {}
    for row in delivered:
        file, number = row.split(".")
        per_file.setdefault(file, []).append(int(number))
    return all(numbers == sorted(numbers) for numbers in per_file.values())


@pytest.mark.parametrize("seed", range(30))
def test_each_row_is_delivered_once_and_in_order_whatever_is_cut_off(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_planner, "MOST_FILES", 7)
    story = Story(filled(40), seed)
    for _ in range(12):
        story.turn(cut=True)
        if story.chance.random() < 0.5:
            story.new_worker()
        late = f"e{story.chance.randrange(1000):04}"
        story.folder.files.setdefault(late, (2_000_000_000_000, [f"{late}.0", f"{late}.1"]))
    story.new_worker()
    story.turns()
    assert Counter(story.delivered) == every_row(story.folder)
    assert in_order(story.delivered)
    assert all("virtualBucket" in partition for partition, _ in story.offsets.values())


def test_a_changed_file_is_read_again_and_by_the_other_policy_is_not() -> None:
    for policy, expected in (("reread", 5), ("ignore", 2)):
        story = Story(filled(1, rows=2), changed_files=policy)
        story.turns()
        story.folder.files["f000"] = (9_000_000_000_000, ["0.0", "0.1", "0.2"])
        story.new_worker()
        story.turns()
        assert len(story.delivered) == expected


def test_a_file_that_has_gone_is_forgotten() -> None:
    story = Story(filled(6), seed=3)
    story.turn(cut=True)
    story.folder.files.clear()
    story.new_worker()
    story.turns()
    assert all("virtualBucket" in partition for partition, _ in story.offsets.values())


def test_files_whose_columns_cannot_be_merged_are_read_in_turns_of_their_own() -> None:
    story = Story(filled(5))
    story.frames.other = {"file:/in/f001", "file:/in/f004"}
    story.turns()
    assert Counter(story.delivered) == every_row(story.folder)


def test_a_damaged_file_is_a_letter_if_that_is_tolerated_and_otherwise_an_error() -> None:
    story = Story(filled(5), errors_tolerance="all")
    story.frames.damaged = {"file:/in/f002"}
    story.turns()
    assert story.letters == ["f002"]
    assert len(story.delivered) == 16
    strict = Story(filled(5))
    strict.frames.damaged = {"file:/in/f002"}
    with pytest.raises(UnreadableError, match="f002"):
        strict.turn()


def test_a_file_that_is_damaged_further_on_is_left_out_of_the_next_plan() -> None:
    story = Story(filled(3), errors_tolerance="all")
    story.turn(cut=True)
    text = "[FAILED_READ_FILE.NO_HINT] Encountered error while reading file file:/in/f001. SQL"
    assert story.planner.failed(f"Job aborted: {text}\n\tat x.y")
    assert not story.planner.failed("[OUT_OF_MEMORY] of no file")
    story.turns()
    assert story.letters == ["f001"]
    assert not Story(filled(1)).planner.failed(text)
