"""Which operations the ACLs of a topic allow to everyone. Read-only.

Uses kafka-python: librdkafka drops the error in this response, so brokers without an authorizer,
which allow everything to everyone, would look like brokers that allow nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from penstock.kafka.clients import Connection
from penstock.sdk.errors import ConfigError

EVERYBODY = "User:*"
TOUCHES = frozenset({"ALL", "READ", "WRITE", "DELETE", "ALTER", "ALTER_CONFIGS"})
"""Operations that only workers should be allowed on the topics that hold configs and offsets."""


class Guard(StrEnum):
    """Whether the brokers have an authorizer."""

    NONE = "no authorizer"
    UNTOLD = "no broker answers, or not to us"
    ACLS = "ACLs"


@dataclass(frozen=True)
class AclLook:
    """The brokers' answer; ``open`` are (topic, operation) pairs that everyone is allowed."""

    guard: Guard
    open: tuple[tuple[str, str], ...] = ()


def look_at_acls(connection: Connection, topics: Iterable[str], seconds: float) -> AclLook:
    """Ask for the ACLs of ``topics``, those for patterns included."""
    # Imported here: nothing else needs it so early.
    from kafka.admin import KafkaAdminClient
    from kafka.errors import KafkaError, SecurityDisabledError

    limit = int(seconds * 1000)
    limits = {"bootstrap_timeout_ms": limit, "request_timeout_ms": limit}
    try:
        client = KafkaAdminClient(**connection.kafka_python_settings(), **limits)
    except (KafkaError, ConfigError):
        return AclLook(Guard.UNTOLD)
    try:
        found = [(topic, word) for topic in topics for word in _allowed(client, topic)]
        return AclLook(Guard.ACLS, tuple(found))
    except SecurityDisabledError:
        return AclLook(Guard.NONE)
    except KafkaError:
        return AclLook(Guard.UNTOLD)
    finally:
        client.close()


def _allowed(client: Any, topic: str) -> list[str]:
    """Operations on ``topic`` that everyone is allowed but should not be."""
    from kafka.admin import (
        ACLFilter,
        ACLOperation,
        ACLPermissionType,
        ACLResourcePatternType,
        ResourcePatternFilter,
        ResourceType,
    )

    pattern = ResourcePatternFilter(ResourceType.TOPIC, topic, ACLResourcePatternType.MATCH)
    everybodys = ACLFilter(EVERYBODY, None, ACLOperation.ANY, ACLPermissionType.ALLOW, pattern)
    acls, _ = client.describe_acls(everybodys)
    return [acl.operation.name for acl in acls if acl.operation.name in TOUCHES]
