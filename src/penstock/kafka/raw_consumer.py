"""A consumer made with the C library's own functions, for what confluent_kafka cannot do."""

from __future__ import annotations

import ctypes
import logging
from collections.abc import Callable, Mapping
from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException

from penstock.kafka import librdkafka
from penstock.kafka.client_life import Owned
from penstock.kafka.client_log import log
from penstock.kafka.librdkafka import ERROR_CALLBACK, LOG_CALLBACK

_CONSUMER: Final = 1
_SYSLOG_WARNING: Final = 4
_SYSLOG_INFO: Final = 6


class RawConsumer(Owned):
    """The bare client handle. Only where ``librdkafka.available``."""

    goes_with_memory = False

    def __init__(self, settings: Mapping[str, Any], on_error: Callable[[KafkaError], None]) -> None:
        """KafkaException if the settings, which are confluent_kafka's, are invalid.

        ``on_error`` is called from calls of the client, with errors that name no partition.
        """
        self._library = librdkafka.loaded()
        self._on_error = on_error
        # Kept as long as the client, which calls them.
        self._callbacks = LOG_CALLBACK(_log), ERROR_CALLBACK(self._heard)
        self._client: int | None = self._made(settings)
        self.born(settings)

    def _made(self, settings: Mapping[str, Any]) -> int:
        call = self._library.call
        conf = call.conf_new()
        try:
            for name, value in settings.items():
                self._set(conf, name, value)
        except KafkaException:
            call.conf_destroy(conf)
            raise
        call.conf_set_log_cb(conf, self._callbacks[0])
        call.conf_set_error_cb(conf, self._callbacks[1])
        text = ctypes.create_string_buffer(512)
        client = call.new(_CONSUMER, conf, text, len(text))
        if not client:
            call.conf_destroy(conf)
            raise _invalid(text)
        call.poll_set_consumer(client)
        return int(client)

    def _set(self, conf: int, name: str, value: Any) -> None:
        text = ctypes.create_string_buffer(512)
        written = str(value).lower() if isinstance(value, bool) else str(value)
        if self._library.call.conf_set(conf, name.encode(), written.encode(), text, len(text)):
            raise _invalid(text)

    def _heard(self, _client: int, code: int, text: bytes, _opaque: int) -> None:
        self._on_error(KafkaError(code, text.decode(errors="replace")))

    def close(self) -> None:
        """Destroy the client; may be called twice."""
        self.closing()
        client, self._client = self._client, None
        self.ended()
        if client is not None:
            self._library.call.consumer_close(client)
            self._library.call.destroy(client)

    def handle(self) -> int | None:
        """The library's handle."""
        return self._client

    def end(self) -> None:
        """As ``close``, for a client that was dropped without it."""
        self.close()


def _invalid(text: ctypes.Array[ctypes.c_char]) -> KafkaException:
    message = text.value.decode(errors="replace")
    return KafkaException(KafkaError(KafkaError._INVALID_ARG, message))


def _log(_client: int, level: int, kind: bytes, line: bytes) -> None:
    severe = logging.WARNING if level <= _SYSLOG_WARNING else logging.INFO
    log.log(
        severe if level <= _SYSLOG_INFO else logging.DEBUG,
        "%s %s",
        kind.decode(errors="replace"),
        line.decode(errors="replace"),
    )
