"""The generation inside a group member's metadata."""

import sys

import pytest
from confluent_kafka import Consumer

from penstock.kafka.generation import generation_of


def test_the_client_at_hand_writes_it_where_we_read_it() -> None:
    consumer = Consumer({"bootstrap.servers": "127.0.0.1:1", "group.id": "g", "log_level": 0})
    try:
        assert generation_of(bytes(consumer.consumer_group_metadata())) == -1
    finally:
        consumer.close()


def test_a_generation() -> None:
    data = b"CGMDv2:" + (258).to_bytes(4, sys.byteorder) + b"group\0member\0\1"
    assert generation_of(data) == 258


@pytest.mark.parametrize("data", [b"", b"CGMDv2:", b"CGMDv3:\0\0\0\0group\0"])
def test_anything_else_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="not consumer group metadata"):
        generation_of(data)
