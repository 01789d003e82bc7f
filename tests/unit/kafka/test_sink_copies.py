"""The records of the compacted copy of sink positions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.kafka.sink_copies import copy_key, copy_value, parse_copy


def test_the_bytes_of_a_copy() -> None:
    assert copy_key("größe", "t.1", 7) == '["sink-position","größe","t.1",7]'.encode()
    assert copy_value(12, "len=3") == b'{"offset":12,"metadata":"len=3"}'


@given(st.text(), st.text(), st.integers(0, 2**31 - 1), st.integers(0, 2**63 - 1), st.text())
def test_a_copy_is_read_as_it_was_written(
    connector: str, topic: str, partition: int, offset: int, metadata: str
) -> None:
    key = copy_key(connector, topic, partition)
    position = (topic, partition)
    assert parse_copy(key, copy_value(offset, metadata)) == (
        connector,
        position,
        (offset, metadata),
    )
    assert parse_copy(key, None) == (connector, position, None)


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
        b'["worker","c","t",0]',
        b'["c",{"filename":"a"}]',
    ],
)
def test_other_records_of_the_topic_are_none_of_its_business(key: bytes) -> None:
    assert parse_copy(key, b"whatever") is None
