"""What everybody may do with a topic. Changes nothing.

Asked by kafka-python: librdkafka drops the error of this answer, so that brokers without an
authorizer, which let everybody do everything, would look like brokers that allow nothing.
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
"""What nobody but the workers should do with a topic in which they keep configs and offsets."""


class Guard(StrEnum):
    """Whether brokers ask who somebody is."""

    NONE = "no authorizer"
    UNTOLD = "nobody answers, or not to us"
    ACLS = "ACLs"


@dataclass(frozen=True)
class AclLook:
    """What the brokers say; ``open`` are (topic, operation) pairs that everybody is allowed."""

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
    """What everybody may do with ``topic`` and should not."""
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
