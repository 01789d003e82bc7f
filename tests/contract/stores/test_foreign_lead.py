"""Copies of sink offsets, when Kafka Connect has led the cluster in between."""

from __future__ import annotations

import logging
from collections.abc import Callable
from zlib import crc32

import pytest

from penstock.kafka import groups
from penstock.kafka.clients import GroupAdmin
from penstock.kafka.names import sink_group
from penstock.kafka.sink_copies import SinkGroup, copy_key, copy_value
from penstock.runtime.stores.position_copies import PARTITIONS
from penstock.runtime.stores.roster import leader_record
from penstock.runtime.stores.sink_groups import chosen_group
from penstock.runtime.stores.sink_positions import known_positions
from raw_records import read_records, write_records
from topics import Topics

THEIR_KEY = b'{"key":"dGhlaXJz","algorithm":"HmacSHA256","creation-timestamp":1700000000000}'
COPY = {("lines", 0): (3, "how far")}


def own(name: str) -> SinkGroup:
    return chosen_group(name, {})


@pytest.fixture(params=["sink-offsets", "workers"])
def place(request: pytest.FixtureRequest, name: str) -> tuple[str, int]:
    """Topic and partition of a sink's copies: as they are, and as earlier versions had them."""
    home = crc32(name.encode()) % PARTITIONS if request.param == "sink-offsets" else 0
    return f"{name}-{request.param}", home


@pytest.fixture
def copied(topics: Topics, name: str, place: tuple[str, int]) -> Callable[[], None]:
    """Writes the copy of a sink's offset, as its lease does."""

    def write() -> None:
        record = copy_key(own(name), "lines", 0), copy_value(3, "how far")
        write_records(topics, place[0], [record], place[1])

    return write


@pytest.fixture
def kafka_connect_leads(topics: Topics, name: str) -> Callable[[], None]:
    """What a leader of Kafka Connect writes, whatever else it does."""
    return lambda: write_records(topics, f"{name}-configs", [(b"session-key", THEIR_KEY)])


def test_a_leader_of_ours_keeps_them(join, copied, name: str) -> None:
    join().leadership.take_over()
    copied()
    for _ in range(2):
        heir = join()
        heir.leadership.take_over()
        heir.leadership.assignments.assigner.renew_session_key()
        assert heir.copies.of(own(name)) == COPY


def test_kafka_connect_led_in_between(
    join, copied, place, kafka_connect_leads, topics: Topics, name: str, caplog
) -> None:
    join().leadership.take_over()
    copied()
    kafka_connect_leads()
    with caplog.at_level(logging.INFO, "penstock.runtime.cluster.leadership"):
        heir = join()
        heir.leadership.take_over()
        assert heir.copies.of(own(name)) == {}
        assert (copy_key(own(name), "lines", 0), None) in read_records(topics, place[0])
        copied()
        second = join()
        second.leadership.take_over()
    assert second.copies.of(own(name)) == COPY, "they are of after that"
    told = [
        r.getMessage() for r in caplog.records if r.name == "penstock.runtime.cluster.leadership"
    ]
    [_] = [text for text in told if "the copies of 1 sink offsets are deleted" in text]


def test_copies_of_before_anybody_remembered_are_kept(
    join, copied, kafka_connect_leads, topics: Topics, name: str
) -> None:
    before = join()
    write_records(topics, f"{name}-workers", [leader_record("here:1")])
    copied()
    kafka_connect_leads()
    before.leadership.take_over()
    before.copies.log.read_to_end()
    assert before.copies.of(own(name)) == COPY


def test_a_reset_is_no_expiry_on_any_worker(
    join, place, kafka_connect_leads, group_admin: GroupAdmin, topics: Topics, name: str
) -> None:
    """Also before the new leader has forgotten the copies."""
    topics.create(name)
    topics.produce(name, [b"record"] * 3)
    committed = {(name, 0): (3, "how far")}
    join().leadership.take_over()
    record = copy_key(own(name), name, 0), copy_value(3, "how far")
    write_records(topics, place[0], [record], place[1])
    follower = join()

    assert known_positions(group_admin, follower.copies, own(name)).committed == committed

    kafka_connect_leads()
    assert known_positions(group_admin, follower.copies, own(name)).committed == {}
    assert groups.committed(group_admin, sink_group(name)) == {}

    join().leadership.take_over()
    assert known_positions(group_admin, follower.copies, own(name)).committed == {}
