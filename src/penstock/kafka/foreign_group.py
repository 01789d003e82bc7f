"""Rejects a group that workers of another kind are using: real Kafka Connect's.

Our consumers and Kafka Connect's workers use different protocols within a group. The broker admits
only one kind at a time, but its error message does not help, and comes only after the storage
topics have been opened.
"""

from __future__ import annotations

import logging
import time

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from penstock.kafka.clients import Connection
from penstock.kafka.errors import DENIED, PASSING, AccessDenied, KafkaFault, describe
from penstock.kafka.groups import NEVER
from penstock.sdk.errors import ConfigError

log = logging.getLogger(__name__)

WAIT_SECONDS, RETRY_SECONDS = 5.0, 0.1
DESERTED = ("Empty", "Dead")


class GroupTaken(KafkaFault):
    """Another kind of cluster is alive in the group; the message says what to do."""


def refuse_foreign_group(client: AdminClient, connection: Connection, group: str) -> None:
    """GroupTaken while ``group`` has members of another protocol type than ours.

    A broker that has just started may not know its groups yet. If it does not answer in time, the
    group is taken to be free; if it is not, the broker will not let this worker join. AccessDenied
    if no ACL allows the request.
    """
    if _is_foreign(client, group) and (kind := _living_kind(connection, group)):
        raise GroupTaken(_refusal(group, kind))


def _is_foreign(client: AdminClient, group: str) -> bool:
    """Whether members of another kind are in the group, or were its last members."""
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        asked = client.describe_consumer_groups([group], **NEVER)
        try:
            asked[group].result(WAIT_SECONDS)
        except TimeoutError:
            return False
        except KafkaException as error:
            code = error.args[0].code()
            if code in DENIED:
                raise AccessDenied(f"see group {group}", error) from error
            if code not in PASSING or time.monotonic() > deadline:
                log.debug("group %s: %s", group, describe(error))
                # The client's error for a group of another protocol type.
                return bool(code == KafkaError._INVALID_ARG)
            time.sleep(RETRY_SECONDS)
        else:
            return False


def _living_kind(connection: Connection, group: str) -> str | None:
    """The protocol type of a group that has members; None if it has none."""
    # Imported here: only a take-over needs it, and confluent-kafka lists no groups of other kinds.
    from kafka.admin import KafkaAdminClient
    from kafka.errors import KafkaError as KafkaPythonError

    try:
        client = KafkaAdminClient(**connection.kafka_python_settings())
        try:
            found = client.list_groups()
        finally:
            client.close()
    except (KafkaPythonError, ConfigError) as error:
        log.warning("the broker does not say who is in group %s: %s", group, error)
        return None
    alive = (g for g in found if g["group_id"] == group and g["group_state"] not in DESERTED)
    return next((str(entry["protocol_type"]) for entry in alive), None)


def _refusal(group: str, kind: str) -> str:
    who = "a running Kafka Connect cluster" if kind == "connect" else f"members of type '{kind}'"
    return (
        f"Group '{group}' belongs to {who}. Only one kind of worker can use it at a time: stop "
        "those workers first and start this one again; it then continues where they stopped (a "
        "worker that was killed leaves the group after its session.timeout.ms, 10 s by default). "
        "To run alongside them, give this worker another group.id and other storage topics."
    )
