"""Which client libraries are used beside their Python interface."""

from __future__ import annotations

import ctypes
import select
import sys
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from penstock.kafka import clients, librdkafka
from penstock.kafka.clients import Connection
from penstock.kafka.column_queue import takes_columns


@pytest.fixture
def fresh_look() -> Callable[[], bool]:
    """Whether the library can be used, asked anew."""
    return lambda: librdkafka.library.__wrapped__() is not None


def test_the_pinned_client_is_known(fresh_look: Callable[[], bool]) -> None:
    assert fresh_look()


def test_a_client_of_another_major_release_is_left_alone(
    fresh_look: Callable[[], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(librdkafka, "version", lambda _: "3.0.0")
    assert not fresh_look()


def test_a_client_without_a_shared_library_is_left_alone(
    fresh_look: Callable[[], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as one built with a library whose functions cannot be seen from outside."""
    monkeypatch.setattr(librdkafka, "cimpl", SimpleNamespace(__file__=select.__file__))
    assert not fresh_look()


def test_a_machine_of_another_kind_is_left_alone(
    fresh_look: Callable[[], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "byteorder", "big")
    assert not fresh_look()


def test_a_handle_is_that_of_its_client() -> None:
    """The library itself knows the object that it belongs to."""
    producer = clients.producer(Connection("127.0.0.1:1"))
    assert librdkafka.holds(producer)


def test_a_client_with_its_handle_elsewhere_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is there instead: another client's handle, other memory, or none at all."""
    producer, another = (clients.producer(Connection("127.0.0.1:1")) for _ in range(2))
    other_memory = ctypes.create_string_buffer(64 * 1024)
    for place in (librdkafka.handle(another), ctypes.addressof(other_memory), 8, 2**63, None):
        monkeypatch.setattr(librdkafka, "handle", lambda _, place=place: place)
        assert not librdkafka.holds(producer)
        assert not takes_columns(producer)
