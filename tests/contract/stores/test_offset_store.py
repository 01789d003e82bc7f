"""The offsets topic, as Kafka Connect leaves it and takes it back."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from confluent_kafka.admin import AdminClient

from penstock.kafka.clients import Connection
from penstock.kafka.json_forms import dump
from penstock.runtime.stores.offset_store import OffsetStore
from raw_records import Raw, write_records
from topics import Topics

FILE = b'["local-file-source",{"filename":"test.txt"}]'
Write = Callable[..., OffsetStore]


@pytest.fixture
def store(connection: Connection, admin: AdminClient, name: str) -> Iterator[OffsetStore]:
    following = OffsetStore(connection, admin, name, partitions=2)
    following.log.start()
    yield following
    following.log.stop()


@pytest.fixture
def written(store: OffsetStore, topics: Topics, name: str) -> Write:
    """Writes records as a stranger, and has the store read them."""

    def write(*records: Raw) -> OffsetStore:
        write_records(topics, name, records)
        store.log.read_to_end(20)
        return store

    return write


def test_kafka_connects_own_example(written: Write) -> None:
    store = written((FILE, b'{"position":30}'))
    assert store.of("local-file-source") == [(FILE, {"filename": "test.txt"}, {"position": 30})]
    assert store.of("other") == []


def test_the_last_record_of_a_partition_counts(written: Write) -> None:
    store = written((FILE, b'{"position":30}'), (FILE, b'{"position":60}'))
    assert [offset for _, _, offset in store.of("local-file-source")] == [{"position": 60}]


def test_a_tombstone_forgets_one_partition(written: Write) -> None:
    other = b'["local-file-source",{"filename":"other.txt"}]'
    store = written((FILE, b'{"position":30}'), (other, b'{"position":1}'), (FILE, None))
    assert [key for key, _, _ in store.of("local-file-source")] == [other]
    store = written((b'["never","seen"]', None), (b'["never",{"seen":1}]', None))
    assert store.of("never") == []


@pytest.mark.parametrize(
    "key",
    [
        b'["c",{"db":"d","table":"t"}]',
        b'["c",{"table":"t","db":"d"}]',
        b'["c", {"table": "t", "db": "d"}]',
        b'["c",{"db":"\\u0064","table":"t"}]',
    ],
)
def test_the_original_key_bytes_are_used_again(written: Write, key: bytes) -> None:
    store = written((key, b'{"id":1}'))
    for partition in ({"db": "d", "table": "t"}, {"table": "t", "db": "d"}):
        assert store.key("c", partition, ("table", "db")) == key


def test_one_partition_under_two_keys_is_one_partition(written: Write) -> None:
    """The newer bytes count, and a tombstone of either forgets it."""
    store = written((b'["c",{"a":1,"b":2}]', b'{"id":1}'), (b'["c",{"b":2,"a":1}]', b'{"id":2}'))
    assert store.of("c") == [(b'["c",{"b":2,"a":1}]', {"a": 1, "b": 2}, {"id": 2})]


def test_a_new_key_is_in_the_connectors_order(store: OffsetStore) -> None:
    partition = {"table": "t", "extra": True, "db": "d"}
    assert store.key("c", partition, ("db", "table", "absent")) == (
        b'["c",{"db":"d","table":"t","extra":true}]'
    )
    assert store.key("c", partition, ()) == b'["c",{"table":"t","extra":true,"db":"d"}]'


def test_text_is_written_as_it_is(store: OffsetStore, written: Write) -> None:
    key = '["größe",{"file":"/tmp/ñ €/😀"}]'.encode()
    assert store.key("größe", {"file": "/tmp/ñ €/😀"}, ()) == key  # noqa: S108 (never opened)
    written((key, dump({"straße": "ü/ß"})))
    assert store.of("größe") == [(key, {"file": "/tmp/ñ €/😀"}, {"straße": "ü/ß"})]  # noqa: S108 (a made-up name)


def test_numbers_keep_their_kind_and_their_size(written: Write) -> None:
    store = written(
        (b'["c",{"p":9007199254740993}]', b'{"l":9223372036854775807,"d":1.5,"n":null}')
    )
    [(_, partition, offset)] = store.of("c")
    assert partition == {"p": 9007199254740993}
    assert offset == {"l": 9223372036854775807, "d": 1.5, "n": None}
    assert dump(offset) == b'{"l":9223372036854775807,"d":1.5,"n":null}'


def test_foreign_keys_are_ignored(written: Write) -> None:
    store = written(
        (b"", b"{}"),
        (b"text", b"{}"),
        (b"\xff\xfe", b"{}"),
        (b"{}", b"{}"),
        (b'["c"]', b"{}"),
        (b'["c",{},1]', b"{}"),
        (b'[1,{"filename":"a"}]', b"{}"),
        (b'["c","not a map"]', b"{}"),
        (b'["c",null]', b"{}"),
        (FILE, b'{"position":30}'),
    )
    assert store.of("c") == []
    assert len(store.of("local-file-source")) == 1


def test_a_value_that_is_no_offset_is_ignored(written: Write) -> None:
    store = written((FILE, b'{"position":30}'), (FILE, b"no json"), (FILE, b"[1]"))
    assert store.of("local-file-source") == [(FILE, {"filename": "test.txt"}, {"position": 30})]


def test_what_is_committed_in_a_transaction_counts_and_what_is_aborted_does_not(
    store: OffsetStore, topics: Topics, name: str
) -> None:
    for value, commit in ((b'{"position":1}', True), (b'{"position":2}', False)):
        producer = topics.transaction(f"task-of-{name}")
        producer.produce(name, value, FILE)
        producer.flush(20)
        if commit:
            producer.commit_transaction(20)
        else:
            producer.abort_transaction(20)
    store.log.read_to_end(20)
    assert [offset for _, _, offset in store.of("local-file-source")] == [{"position": 1}]


YEAR_2020, YEAR_2021 = 1_577_836_800_000, 1_609_459_200_000


@pytest.mark.parametrize(("newer", "older"), [(0, 1), (1, 0)])
@pytest.mark.parametrize("value", [b'{"position":60}', None])
def test_of_two_partitions_of_the_topic_the_newer_record_counts_in_whatever_order_they_are_read(
    store: OffsetStore, topics: Topics, name: str, newer: int, older: int, value: bytes | None
) -> None:
    """As it is once the topic has grown, or was written with another partitioner."""
    write_records(topics, name, [(FILE, value)], newer, YEAR_2021)
    store.log.read_to_end(20)
    write_records(topics, name, [(FILE, b'{"position":30}')], older, YEAR_2020)
    store.log.read_to_end(20)
    offsets = [offset for _, _, offset in store.of("local-file-source")]
    assert offsets == ([] if value is None else [{"position": 60}])
    write_records(topics, name, [(FILE, b'{"position":90}')], older)
    store.log.read_to_end(20)
    assert [offset for _, _, offset in store.of("local-file-source")] == [{"position": 90}]


def test_within_a_partition_of_the_topic_the_later_record_counts_whatever_its_clock(
    store: OffsetStore, topics: Topics, name: str
) -> None:
    for value, written in ((b'{"position":60}', YEAR_2021), (b'{"position":30}', YEAR_2020)):
        write_records(topics, name, [(FILE, value)], 1, written)
    store.log.read_to_end(20)
    assert [offset for _, _, offset in store.of("local-file-source")] == [{"position": 30}]


def test_an_offset_that_moves_to_a_partition_added_under_way_is_found(
    store: OffsetStore, topics: Topics, name: str
) -> None:
    write_records(topics, name, [(FILE, b'{"position":30}')], 0)
    store.log.read_to_end(20)
    topics.grow(name, 5)
    write_records(topics, name, [(FILE, b'{"position":60}')], 4)
    store.log.read_to_end(20)
    assert [offset for _, _, offset in store.of("local-file-source")] == [{"position": 60}]
