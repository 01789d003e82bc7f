"""A consumer of columns, without a broker."""

from __future__ import annotations

import ctypes
import mmap
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from confluent_kafka import KafkaError, KafkaException

from free_ports import free_port
from penstock.kafka import clients, column_consumer, librdkafka, reaper
from penstock.kafka.clients import Connection
from penstock.kafka.column_consumer import ColumnConsumer

MEGABYTE = 1024 * 1024


def test_one_that_cannot_begin_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    reaper.reaper().ensure()
    refused = lambda *_: KafkaError._INVALID_ARG  # noqa: E731 (one expression)
    monkeypatch.setattr(librdkafka.loaded().call, "assign", refused)
    settings = clients.reader_settings(Connection(f"127.0.0.1:{free_port()}"))
    before = _threads()
    with pytest.raises(KafkaException):
        ColumnConsumer(settings, {("t", 0): 0}, timestamps=False)
    assert _threads() <= before


def _threads() -> set[str]:
    """The threads that are librdkafka's: others may come and go."""
    found: set[str] = set()
    for each in Path("/proc/self/task").iterdir():
        with suppress(OSError):
            found |= {each.name} if (each / "comm").read_text().startswith("rdk:") else set()
    return found


def test_values_far_apart_need_no_room_for_what_is_between() -> None:
    memory = mmap.mmap(-1, 900 * MEGABYTE)
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    places = np.array([0, 100, 400 * MEGABYTE, 800 * MEGABYTE])
    for place in places.tolist():
        memory[place : place + 3] = b"abc"
    pool = pa.proxy_memory_pool(pa.default_memory_pool())
    ordinary = pa.default_memory_pool()
    pa.set_memory_pool(pool)
    try:
        # Its memory must be back before the pool is gone.
        copied = column_consumer._gathered(base + places, np.full(4, 3)).to_pylist()
    finally:
        pa.set_memory_pool(ordinary)
    assert copied == [b"abc"] * 4
    assert pool.max_memory() < 32 * MEGABYTE
