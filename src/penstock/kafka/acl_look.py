"""A look at who may touch a topic. Changes nothing."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import TimeoutError as TooLate
from dataclasses import dataclass
from enum import StrEnum

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from penstock.kafka.clients import Connection, log

EVERYBODY = "User:*"
TOUCHES = frozenset(
    {
        AclOperation.ALL,
        AclOperation.READ,
        AclOperation.WRITE,
        AclOperation.DELETE,
        AclOperation.ALTER,
        AclOperation.ALTER_CONFIGS,
    }
)
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
    found: list[tuple[str, str]] = []
    try:
        admin = AdminClient({**connection.settings(), "log_level": 0}, logger=log)
        for topic in topics:
            asked = admin.describe_acls(_all_of(topic), request_timeout=seconds)
            found += [(topic, acl.operation.name) for acl in asked.result(seconds) if _is_open(acl)]
    except KafkaException as error:
        disabled = error.args[0].code() == KafkaError.SECURITY_DISABLED
        return AclLook(Guard.NONE if disabled else Guard.UNTOLD)
    except TooLate:
        return AclLook(Guard.UNTOLD)
    return AclLook(Guard.ACLS, tuple(found))


def _all_of(topic: str) -> AclBindingFilter:
    return AclBindingFilter(
        ResourceType.TOPIC,
        topic,
        ResourcePatternType.MATCH,
        None,  # type: ignore[arg-type]  # any principal; the types know only names
        None,  # type: ignore[arg-type]  # any host
        AclOperation.ANY,
        AclPermissionType.ANY,
    )


def _is_open(acl: AclBinding) -> bool:
    allowed = acl.permission_type == AclPermissionType.ALLOW
    return bool(allowed and acl.principal == EVERYBODY and acl.operation in TOUCHES)
