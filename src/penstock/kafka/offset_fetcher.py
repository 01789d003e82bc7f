"""Fetches the committed offsets of groups, with a consumer made of librdkafka's functions.

confluent_kafka makes this request with a producer handle. With that, the library crashes the
process if the response is NOT_COORDINATOR (librdkafka issue 5040), which brokers send when they
have just started. With a consumer handle it does not.
"""

from __future__ import annotations

import ctypes
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException, TopicPartition

from penstock.kafka.librdkafka import Library
from penstock.kafka.raw_consumer import RawConsumer

log = logging.getLogger(__name__)

_LIST_OFFSETS: Final = 14
_LONGEST_MS: Final = 3_600_000
"""Longer than any caller waits: a response to a request that has timed out inside the client
crashes the process too (librdkafka issue 4605). A caller that gives up drops the client."""


class _Partition(ctypes.Structure):
    _fields_ = (
        ("topic", ctypes.c_char_p),
        ("partition", ctypes.c_int32),
        ("offset", ctypes.c_int64),
        ("metadata", ctypes.c_void_p),
        ("metadata_size", ctypes.c_size_t),
        ("opaque", ctypes.c_void_p),
        ("error", ctypes.c_int),
        ("private", ctypes.c_void_p),
    )


class _Partitions(ctypes.Structure):
    _fields_ = (
        ("count", ctypes.c_int),
        ("size", ctypes.c_int),
        ("elements", ctypes.POINTER(_Partition)),
    )


@dataclass(frozen=True)
class Committed:
    """What a group has committed for a partition; a negative offset if nothing."""

    topic: str
    partition: int
    offset: int
    metadata: str
    error: KafkaError | None


class OffsetFetcher(RawConsumer):
    """Thread-safe. Drop it, do not close it, if a caller may still wait for an answer."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        super().__init__(settings, lambda error: log.debug("%s", error.str()))

    def ask(self, group: str, partitions: Sequence[TopicPartition] | None) -> Asked:
        """Request the offsets of a group; of all its partitions if none are named."""
        call = self._library.call
        queue = call.queue_new(self._client)
        with self._wanted(partitions) as wanted, self._options() as options:
            request = call.ListConsumerGroupOffsets_new(group.encode(), wanted)
            requests = ctypes.c_void_p(request)
            call.ListConsumerGroupOffsets(self._client, ctypes.byref(requests), 1, options, queue)
            call.ListConsumerGroupOffsets_destroy(request)
        return Asked(self, self._library, queue)

    @contextmanager
    def _wanted(self, partitions: Sequence[TopicPartition] | None) -> Iterator[int | None]:
        if partitions is None:
            yield None
            return
        call = self._library.call
        found = call.topic_partition_list_new(len(partitions))
        try:
            for each in partitions:
                call.topic_partition_list_add(found, each.topic.encode(), each.partition)
            yield found
        finally:
            call.topic_partition_list_destroy(found)

    @contextmanager
    def _options(self) -> Iterator[int]:
        call = self._library.call
        options = call.AdminOptions_new(self._client, _LIST_OFFSETS)
        try:
            text = ctypes.create_string_buffer(256)
            call.AdminOptions_set_request_timeout(options, _LONGEST_MS, text, len(text))
            # While a transaction is pending, the answer is an error, not the previous offset.
            if refused := call.AdminOptions_set_require_stable_offsets(options, 1):
                call.error_destroy(refused)
            yield options
        finally:
            call.AdminOptions_destroy(options)


class Asked:
    """A pending request. Used by one thread."""

    def __init__(self, client: OffsetFetcher, library: Library, queue: int) -> None:
        self._client = client  # kept alive as long as a caller may wait for its answer
        self._library = library
        self._queue: int | None = queue

    def __del__(self) -> None:
        self._listen_no_more()

    def _listen_no_more(self) -> None:
        queue, self._queue = self._queue, None
        if queue is not None:
            self._library.call.queue_destroy(queue)

    def answer(self, seconds: float) -> list[Committed]:
        """The answer; TimeoutError if there is none yet, KafkaException if it is an error.

        Call this once.
        """
        call = self._library.call
        event = call.queue_poll(self._queue, int(seconds * 1000))
        self._listen_no_more()
        if not event:
            raise TimeoutError
        try:
            if code := call.event_error(event):
                raise _error(code, call.event_error_string(event))
            return self._partitions(call.event_ListConsumerGroupOffsets_result(event))
        finally:
            call.event_destroy(event)

    def _partitions(self, result: int) -> list[Committed]:
        call = self._library.call
        count = ctypes.c_size_t()
        groups = call.ListConsumerGroupOffsets_result_groups(result, ctypes.byref(count))
        group = ctypes.c_void_p.from_address(groups).value
        if error := call.group_result_error(group):
            raise _error(call.error_code(error), call.error_string(error))
        found = call.group_result_partitions(group)
        return list(_read(_Partitions.from_address(found))) if found else []


def _error(code: int, text: bytes | None) -> KafkaException:
    return KafkaException(KafkaError(code, (text or b"").decode(errors="replace")))


def _read(partitions: _Partitions) -> Iterator[Committed]:
    for each in partitions.elements[: partitions.count]:
        # Clients of confluent_kafka also store the zero byte that terminates a string in C.
        text = ctypes.string_at(each.metadata, each.metadata_size) if each.metadata else b""
        yield Committed(
            each.topic.decode(),
            each.partition,
            each.offset,
            text.partition(b"\0")[0].decode(errors="replace"),
            KafkaError(each.error) if each.error else None,
        )
