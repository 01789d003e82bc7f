"""Source batches that forget partitions or move offsets without records, and lost sources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from unittest.mock import Mock

import pytest

from penstock.columnar.plain_converters import StringConverter
from penstock.engine.lease.heartbeats import Progress
from penstock.engine.lease.lease import KeyedOffset, Limits, Membership, Tolerance
from penstock.engine.lease.pace import Pace
from penstock.engine.lease.source_lease import SourceLoop, move
from penstock.engine.pipeline.pipeline import Pipeline
from penstock.sdk import OffsetReader, SourceBatch, SourceTask, TakenOver, offsets_only

A, B, C = {"f": "a"}, {"f": "b"}, {"f": "c"}
KNOWN: tuple[KeyedOffset, ...] = ((b"key of a", A, {"n": 1}), (b"key of b", B, {"n": 1}))


class Script(SourceTask):
    """Returns what a test says, and keeps what it hears."""

    script: list[Any]
    heard: list[Any]

    def start(self, config: Mapping[str, str], offsets: OffsetReader) -> None:
        Script.heard = []

    def poll(self) -> SourceBatch | None:
        item = Script.script.pop(0) if Script.script else None
        if isinstance(item, Exception):
            raise item
        return item

    def committed(self, offsets: Any) -> None:
        Script.heard += offsets


def run(*script: Any) -> tuple[SourceLoop, Mock]:
    Script.script = list(script)
    lease: Any = Mock(
        limits=Limits(poll_pause=0.0),
        tolerance=Tolerance(),
        pipeline=Pipeline(StringConverter(), StringConverter()),
        connector="orders",
        task_class=Script,
        config={},
        positions=KNOWN,
        partition_keys=(),
        topic_groups=(),
        offsets_topic="offsets",
        membership=Membership(b"", "workers"),
        pace=Pace(),
    )
    heartbeat = Mock(progress=Progress(), leases=lambda: 1, standing=lambda: None)
    type(heartbeat).over = property(lambda _: not Script.script)
    heartbeat.orphaned.is_set.return_value = False
    producer = Mock()
    loop = SourceLoop(lease, heartbeat)
    loop._move_records(producer)
    return loop, producer


def test_a_partition_is_forgotten_by_a_tombstone_under_the_key_it_had() -> None:
    loop, producer = run(offsets_only([(A, None), (B, {"n": 2}), (C, {"n": 3})]))
    (records, _), _ = producer.commit.call_args
    assert list(records) == [
        ("offsets", b"key of a", None),
        ("offsets", b"key of b", b'{"n":2}'),
        ("offsets", b'["orders",{"f":"c"}]', b'{"n":3}'),
    ]
    assert Script.heard == [(A, None), (B, {"n": 2}), (C, {"n": 3})]
    reader = loop._reader()
    assert [reader.get(each) for each in (A, B, C)] == [None, {"n": 2}, {"n": 3}]
    assert not producer.send.called


def test_the_worker_forgets_it_too() -> None:
    loop, _ = run(offsets_only([(A, None)]))
    positions = {str(partition): (key, partition, offset) for key, partition, offset in KNOWN}
    move(positions, {str(entry[1]): entry for entry in loop._outcome()["positions"]})
    assert list(positions) == [str(B)]


def test_a_forgotten_partition_may_come_back() -> None:
    loop, _ = run(offsets_only([(A, None)]), offsets_only([(A, {"n": 1})]))
    assert loop._reader().get(A) == {"n": 1}


def test_a_source_that_was_taken_over_commits_nothing_more() -> None:
    with pytest.raises(TakenOver):
        run(offsets_only([(B, {"n": 2})]), TakenOver("another reads it"))
    assert not Script.heard
