"""Which client libraries are used beside their Python interface."""

from __future__ import annotations

import select
import sys
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from confluent_kafka import Producer

from penstock.kafka import librdkafka


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
    """The library itself knows the name that the client was given."""
    import ctypes

    from confluent_kafka import cimpl

    name = ctypes.CDLL(cimpl.__file__).rd_kafka_name
    name.argtypes, name.restype = [ctypes.c_void_p], ctypes.c_char_p
    producer = Producer({"client.id": "of-this-test"})
    assert name(librdkafka.handle(producer)).startswith(b"of-this-test#")
