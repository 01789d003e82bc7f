"""Errors that a consumer reports about itself, not about a topic: mostly harmless.

If a broker's name does not resolve, or one or all brokers are down, the client keeps trying and
reads from the brokers it can reach. This rule is the same however records are fetched.
"""

from __future__ import annotations

from confluent_kafka import KafkaError

from penstock.kafka.errors import DENIED, KafkaFault, describe

LOGIN_REFUSED = frozenset(
    {
        KafkaError._AUTHENTICATION,
        KafkaError.SASL_AUTHENTICATION_FAILED,
        KafkaError.UNSUPPORTED_SASL_MECHANISM,
    }
)
"""Errors of logging in; also reported if a broker goes away during the handshake."""
MISSING = frozenset({KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION})
"""An error of an assigned partition; only the text says which one."""


def gets_over(error: KafkaError) -> bool:
    """Whether a client recovers by itself from this error, which names no topic."""
    helpless = error.fatal() or error.code() == KafkaError._FATAL
    return not helpless and error.code() not in DENIED | LOGIN_REFUSED | MISSING


def login_refused(error: KafkaError) -> KafkaFault:
    """The error message for a client that no broker authenticates."""
    return KafkaFault(
        f"The brokers do not let this client log in ({describe(error)}). Check sasl.* in the "
        "worker's config, and what the connector's config overrides of it, then restart the task."
    )
