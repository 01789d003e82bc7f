"""What is finished and what is to be read, by marks of bounded size: against a simulated bucket."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from penstock.plugins.objects import source_marks, source_search
from penstock.plugins.objects.source_connector import ObjectSourceConnector
from penstock.plugins.objects.source_plan import ORDER, Order
from penstock.plugins.objects.source_search import Page, Search
from penstock.plugins.objects.source_task import OrderedObjects
from penstock.plugins.objects.store import Storage
from penstock.plugins.objects.stored_objects import ListedObject
from penstock.sdk.offsets import OffsetReader, canonical
from penstock.sdk.sources.offset_manager import OffsetManager

LOOK_BACK = 60
PAGE = 7


@dataclass
class Bucket:
    """Objects with times of their own, and a clock to move."""

    now: float = 1e9
    objects: dict[str, ListedObject] = field(default_factory=dict)
    requests: int = 0
    read: Counter[ListedObject] = field(default_factory=Counter)
    puts: int = 0

    def put(self, key: str, age: float = 0) -> ListedObject:
        self.puts += 1
        modified = int((self.now - age) * 1000)
        self.objects[key] = ListedObject(key, 1, modified, f"e{self.puts}")
        return self.objects[key]

    # As a listing.

    def pages(self, after: str = "") -> Iterator[Page]:
        keys = sorted(key for key in self.objects if key > after)
        for first in range(0, len(keys), PAGE):
            self.requests += 1
            yield [self.objects[key] for key in keys[first : first + PAGE] if key in self.objects]
        self.requests += not keys

    # As a reader of objects.

    def open(self, key: str) -> Any:
        if key not in self.objects:
            raise FileNotFoundError(key)
        return Download(self.objects[key])

    def begin(self, entry: Any, version: ListedObject) -> Any:
        return entry

    def batches(self, entry: Any, opened: Any) -> Iterator[Any]:
        self.read[opened.version] += 1
        return iter(())

    def note_gone(self, entry: Any) -> None:
        pass


@dataclass
class Download:
    version: ListedObject


class Played:
    """A connector whose tasks commit, or do not."""

    def __init__(self, bucket: Bucket) -> None:
        self.bucket = bucket
        self.offsets: dict[str, tuple[Any, Any]] = {}
        self.selecting: Mapping[str, str] = {}
        self.restart()

    def restart(self, tasks: int = 1, selecting: Mapping[str, str] | None = None) -> None:
        """With the same objects selected as before, unless ``selecting`` says which."""
        self.selecting = self.selecting if selecting is None else selecting
        config = {"local.folder": "/", "topic": "t", "rescan.interval.ms": "30000"}
        look_back = {"rescan.look.back.ms": str(LOOK_BACK * 1000)}
        self.connector = ObjectSourceConnector()
        self.connector.start({**config, **look_back, **self.selecting})
        self.tasks = len(self.connector.task_configs(tasks))
        self.connector._search = Search(
            self.bucket,
            self.connector._number_of,
            self.connector._rhythm,
            lambda: self.bucket.now,
        )

    def reader(self) -> OffsetReader:
        return OffsetReader(self.offsets.values())

    def turn(self, live: list[int] | None = None, most: int = 10**9) -> bool:
        """Whether there was anything to do; a task commits the first ``most`` objects it has."""
        if not self.connector.look(self.reader()):
            return False
        live = list(range(self.tasks)) if live is None else live
        plan = self.connector.plan(self.reader(), live)
        assert plan is not None
        before = self.reader()
        for config in plan:
            assert len(config[ORDER]) < 2_000_000
            self._run(Order.from_config(config), OffsetManager(before), most)
        return True

    def _run(self, order: Order, offsets: OffsetManager, most: int) -> None:
        storage = Storage(None, "/")  # type: ignore[arg-type]  # never asked
        batches = OrderedObjects(order, storage, self.bucket, offsets, True)  # type: ignore[arg-type]  # stands in for offsets
        read = self.bucket.read.copy()
        for count, batch in enumerate(batches):
            if count >= most:
                self.bucket.read = read  # killed: what was read last is not committed
                return
            read = self.bucket.read.copy()
            for partition, offset in batch.offsets:
                self.offsets.pop(canonical(partition), None)
                if offset is not None:
                    self.offsets[canonical(partition)] = partition, offset

    def begin(self, key: str) -> None:
        """As a user sets the offset of an object, or another connector has left it."""
        partition = {"bucket": "/", "objectKey": key}
        self.offsets[canonical(partition)] = partition, {"recordCount": 0}

    def settle(self) -> None:
        """Turns until nothing is left, and on until nothing is remembered singly."""
        for _ in range(200):
            self.bucket.now += 15
            self.turn()
            remembered = any("recent" in offset for _, offset in self.offsets.values())
            if not remembered and all(self.bucket.read[o] for o in self.bucket.objects.values()):
                return


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_search, "MOST_OBJECTS", 25)
    monkeypatch.setattr(source_marks, "CROWDED", 4)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("seed", range(8))
def test_every_version_is_read_once_whatever_happens(seed: int) -> None:
    rand = random.Random(seed)
    bucket = Bucket()
    played = Played(bucket)
    for number in range(rand.choice([0, 10, 300])):
        bucket.put(f"{rand.random():.9f}-{number}", rand.choice([0, 5, 50, 500, 5000]))
    for step in range(60):
        act(rand, step, bucket, played)
    played.restart(2)
    played.settle()
    unread = [each for each in bucket.objects.values() if not bucket.read[each]]
    twice = [each for each, times in bucket.read.items() if times > 1]
    assert (unread, twice) == ([], [])
    assert len(played.offsets) <= 64
    assert sum(len(str(offset)) for _, offset in played.offsets.values()) < 64 * 100


SELECTIONS: list[Mapping[str, str]] = [
    {},
    {"native.start.key": "0.5"},
    {"native.start.key": "00030"},
    {"file.name.template": ".*[02468]"},
    {"file.name.template": ".*-{{partition}}", "distribution.type": "partition"},
]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("seed", range(8))
def test_every_version_is_read_once_whichever_objects_are_selected_in_between(seed: int) -> None:
    rand = random.Random(seed)
    bucket = Bucket()
    played = Played(bucket)
    for number in range(300):
        bucket.put(f"{rand.random():.9f}-{number}", rand.choice([0, 5, 50, 500, 5000]))
    for step in range(60):
        if rand.random() < 0.15:
            played.restart(rand.choice([1, 2, 70]), rand.choice(SELECTIONS))
        act(rand, step, bucket, played)
    for selecting in ({"file.name.template": ".*[02468]"}, {}):
        played.restart(2, selecting)
        played.settle()
        number_of = played.connector._number_of
        wanted = [each for key, each in bucket.objects.items() if number_of(key) is not None]
        assert len(wanted) > 50
        assert [each for each in wanted if not bucket.read[each]] == []
    assert [each for each, times in bucket.read.items() if times > 1] == []
    assert len(played.offsets) <= 64 * len(SELECTIONS)


def act(rand: random.Random, step: int, bucket: Bucket, played: Played) -> None:
    match rand.choice(
        ["late", "new", "change", "delete", "begin", "turn", "kill", "fail", "wait", "restart"]
    ):
        case "late":
            for number in range(rand.choice([1, 40])):
                bucket.put(
                    f"0.{rand.random():.5f}-{step}-{number}", rand.uniform(0, LOOK_BACK - 31)
                )
        case "new":
            for number in range(rand.choice([1, 40])):
                bucket.put(f"{1 + step:05}-{number:03}")
        case "change" if bucket.objects:
            bucket.put(rand.choice(sorted(bucket.objects)))
        case "delete" if bucket.objects:
            del bucket.objects[rand.choice(sorted(bucket.objects))]
        case "begin":
            begin_some(rand, bucket, played)
        case "kill":
            played.turn(most=rand.choice([0, 1, 5]))
            played.restart(rand.choice([1, 2, 3, 70]))
        case "fail":
            played.turn(live=[0])
        case "wait":
            bucket.now += rand.choice([1, 31, 200])
        case "restart":
            played.restart(rand.choice([1, 2, 3, 70]))
        case _:
            played.turn()


def begin_some(rand: random.Random, bucket: Bucket, played: Played) -> None:
    unread = [key for key, each in sorted(bucket.objects.items()) if not bucket.read[each]]
    for key in rand.sample(unread, min(3, len(unread))):
        played.begin(key)


def test_an_object_that_is_replaced_before_it_is_read() -> None:
    bucket = Bucket()
    played = Played(bucket)
    listed = bucket.put("a")
    assert played.connector.look(played.reader())
    replaced = bucket.put("a")
    played.settle()
    assert (bucket.read[listed], bucket.read[replaced]) == (0, 1)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("begun", [range(1400, 1500), range(0, 1500, 40), range(1499, 1500)])
def test_what_was_begun_far_ahead_of_the_listing_hides_nothing(begun: range) -> None:
    """The first turn lists 25 of 1500 objects; offsets of other objects are there already."""
    bucket = Bucket()
    played = Played(bucket)
    for number in range(1500):
        bucket.put(f"{number:05}", 5000)
    for number in begun:
        played.begin(f"{number:05}")
    played.settle()
    assert [key for key, each in bucket.objects.items() if bucket.read[each] != 1] == []
    assert not [p for p, _ in played.offsets.values() if "objectKey" in p]


@pytest.mark.parametrize("finished", [100, 3000])
def test_an_idle_look_costs_the_same_whatever_was_finished(finished: int) -> None:
    bucket = Bucket()
    played = Played(bucket)
    for number in range(finished):
        bucket.put(f"{number:09}", 5000)
    while played.turn():
        pass
    assert len(bucket.read) == finished
    before, stored = bucket.requests, dict(played.offsets)
    for _ in range(4):
        bucket.now += 6
        played.turn()
    assert (played.offsets == stored, len(stored) <= 64) == (True, True)
    # 64 virtual buckets leave the last few hundred keys to list, here by pages of seven.
    assert bucket.requests - before < 4 * 100
