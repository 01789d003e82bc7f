"""Clients of the clusters between which topics are mirrored.

librdkafka ends the process if a client is destroyed on one of its own threads, and Python destroys
an object wherever its last reference is dropped. So a client is closed where it was made, on the
same thread, and nothing that a client calls refers to the client.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Mapping
from typing import Any, Final

from confluent_kafka import Consumer, KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from penstock.sdk.errors import ConfigError, PenstockError, RetriableError, UserError

log = logging.getLogger(__name__)

MEGABYTE: Final = 1024 * 1024
LARGEST_RECORD: Final = 64 * MEGABYTE
Noted = deque[KafkaError]
"""What a client has reported about itself, not about a topic."""

_SHARED: Final[Mapping[str, Any]] = {
    "log.connection.close": False,
    "reconnect.backoff.max.ms": 5000,
    "socket.keepalive.enable": True,
}
_CONSUMER: Final[Mapping[str, Any]] = {
    "group.id": "penstock-mirror",  # it joins no group, but the client requires a name
    "fetch.wait.max.ms": 100,
    "fetch.queue.backoff.ms": 10,
    "fetch.message.max.bytes": 8 * MEGABYTE,
    "fetch.max.bytes": LARGEST_RECORD,
    "receive.message.max.bytes": LARGEST_RECORD + MEGABYTE,
    "queued.max.messages.kbytes": 32 * 1024,
}
_FIXED: Final[Mapping[str, Any]] = {
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "enable.partition.eof": True,
    # A position that is not there is an error: nothing is skipped in silence.
    "auto.offset.reset": "error",
}
LOGIN: Final = frozenset(
    {
        KafkaError._AUTHENTICATION,
        KafkaError.SASL_AUTHENTICATION_FAILED,
        KafkaError.UNSUPPORTED_SASL_MECHANISM,
    }
)
MOST_REFUSALS: Final = 3
"""How many logins in a row are refused for a wrong password; fewer, by a broker that shuts down."""
DENIED: Final = frozenset(
    {KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.CLUSTER_AUTHORIZATION_FAILED}
)
"""Not that of a group: the consumer looks for its coordinator, but has no use for it."""


def make_consumer(settings: Mapping[str, Any], noted: Noted, *, committed: bool) -> Consumer:
    """A consumer for ``assign``; ``ConfigError`` if the client refuses the settings."""
    level = "read_committed" if committed else "read_uncommitted"
    made = {**_SHARED, **_CONSUMER, **settings, **_FIXED, "isolation.level": level}
    try:
        return Consumer({**made, "error_cb": noted.append}, logger=log)
    except KafkaException as error:
        raise _refused(error) from None


def make_admin(settings: Mapping[str, Any], noted: Noted) -> AdminClient:
    """An admin client; ``ConfigError`` as above."""
    made: dict[str, Any] = {**_SHARED, **settings, "error_cb": noted.append}
    try:
        return AdminClient(made, logger=log)
    except KafkaException as error:
        raise _refused(error) from None


def close_admin(admin: AdminClient) -> None:
    """Destroy it here and now."""
    admin.__exit__(None, None, None)


def problem(cluster: str, error: KafkaError, refusals: int) -> PenstockError:
    """``error`` as one that says what to do: of a login or of rights, or one that may pass.

    ``refusals`` is how many logins were refused in a row.
    """
    if refusals >= MOST_REFUSALS:
        return UserError(
            f"{cluster} does not let this client log in: {error.str()}. Check the security "
            "settings that have its prefix, then restart the task."
        )
    if error.code() in DENIED:
        return UserError(f"{cluster} does not allow this: {error.str()}. Grant it, then restart.")
    return RetriableError(f"{cluster} cannot be reached: {error.str()}")


def refused_logins(noted: Noted) -> list[KafkaError]:
    """Those among what a client has said."""
    return [error for error in noted if error.code() in LOGIN]


def trouble(cluster: str, error: KafkaException, noted: Noted) -> PenstockError:
    """As ``problem``, for a request that failed; ``noted`` is what the client said since one did
    not: why a broker could not be reached."""
    refused = refused_logins(noted)
    return problem(cluster, refused[-1] if refused else error.args[0], len(refused))


def _refused(error: KafkaException) -> ConfigError:
    text = error.args[0].str() if error.args and hasattr(error.args[0], "str") else str(error)
    return ConfigError(f"The Kafka client refuses its settings: {text}")
