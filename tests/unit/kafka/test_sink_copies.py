"""The records of the compacted copy of sink positions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.kafka.names import sink_group
from penstock.kafka.sink_copies import SinkGroup, copy_key, copy_value, parse_copy


def test_the_bytes_of_a_copy() -> None:
    own, chosen = (SinkGroup("größe", group) for group in ("connect-größe", "all"))
    assert copy_key(own, "t.1", 7) == '["sink-position","größe","t.1",7]'.encode()
    assert copy_key(chosen, "t.1", 7) == '["sink-position","größe","t.1",7,"all"]'.encode()
    assert copy_value(12, "len=3") == b'{"offset":12,"metadata":"len=3"}'
    named = b'{"offset":12,"metadata":"len=3","topic.id":"abc"}'
    assert copy_value(12, "len=3", "abc") == named


@given(
    st.text(),
    st.none() | st.text(),
    st.text(),
    st.integers(0, 2**31 - 1),
    st.integers(0, 2**63 - 1),
    st.text(),
    st.none() | st.text(),
)
def test_a_copy_is_read_as_it_was_written(
    connector: str,
    group: str | None,
    topic: str,
    partition: int,
    offset: int,
    metadata: str,
    topic_id: str | None,
) -> None:
    sink = SinkGroup(connector, sink_group(connector) if group is None else group)
    key = copy_key(sink, topic, partition)
    position = (topic, partition)
    assert parse_copy(key, copy_value(offset, metadata, topic_id)) == (
        sink,
        position,
        (offset, metadata),
        topic_id,
    )
    assert parse_copy(key, None) == (sink, position, None, None)


@pytest.mark.parametrize(
    "key",
    [
        b"",
        b"no json",
        b"\xff",
        b"{}",
        b"[]",
        b'"sink-position"',
        b'["sink-position","c","t"]',
        b'["sink-position","c","t",0,1]',
        b'["sink-position","c","t",0,"g",1]',
        b'["worker","c","t",0]',
        b'["c",{"filename":"a"}]',
    ],
)
def test_other_records_of_the_topic_are_none_of_its_business(key: bytes) -> None:
    assert parse_copy(key, b"whatever") is None
