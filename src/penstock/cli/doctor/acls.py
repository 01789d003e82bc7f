"""Whether others than the workers may read and write the topics in which workers keep things."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.cli.doctor.asked import Asked
from penstock.cli.doctor.findings import Finding, ok, warning
from penstock.kafka.acl_look import AclLook, Guard, look_at_acls
from penstock.kafka.names import sink_copies_topic, worker_topic
from penstock.runtime.config.rest_config import is_loopback
from penstock.runtime.config.worker_config import WORKER, group_of
from penstock.sql.running.home import CATALOG_TOPIC

NAME = "topic access"
TOPICS = ("config.storage.topic", "offset.storage.topic", "status.storage.topic")
ADVICE = "Give them to the workers' principal alone: SECURITY.md lists the ACLs."


def check_access(asked: Asked) -> list[Finding]:
    """To be asked of brokers that answer. The embedded one serves this machine only."""
    if not asked.given_brokers:
        return []
    look = look_at_acls(asked.connection(), internal_topics(asked.config.properties), asked.timeout)
    return access_findings(look, asked.given_brokers)


def internal_topics(properties: Mapping[str, str]) -> list[str]:
    """Where a worker with these properties keeps configs, offsets, states and positions, and SQL
    its streams and tables."""
    stores = (properties.get(key) or WORKER[key].default for key in TOPICS)
    group = group_of(properties)
    return [*stores, worker_topic(group), sink_copies_topic(group), CATALOG_TOPIC]


def access_findings(look: AclLook, brokers: str) -> list[Finding]:
    """What an answer means; brokers that only this machine reaches need no authorizer."""
    if look.guard is Guard.UNTOLD:
        return []  # unreachable brokers are told elsewhere, and not to be told is no fault
    if look.guard is Guard.NONE:
        return [_unguarded(brokers)]
    if look.open:
        pairs = ", ".join(f"{operation} {topic}" for topic, operation in look.open)
        return [warning(NAME, f"ACLs allow everyone: {pairs}", ADVICE)]
    return [ok(NAME, "no ACL opens the worker's topics to everybody")]


def _unguarded(brokers: str) -> Finding:
    hosts = (address.strip().rpartition(":")[0].strip("[]") for address in brokers.split(","))
    if all(map(is_loopback, hosts)):
        return ok(NAME, "no authorizer, and the brokers serve this machine only")
    found = (
        "the brokers have no authorizer: any client can read the secrets in configs, and "
        "change configs and offsets"
    )
    return warning(NAME, found, f"Set one up. {ADVICE}")
