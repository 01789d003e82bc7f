"""A broker that allows nothing to nobody but what its ACLs say."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from free_ports import free_port
from penstock.embedded import EmbeddedBroker, Jars, Java
from topics import Topics
from waiting import eventually

_markers = itertools.count()


class GuardedBroker:
    """``broker`` has a second listener without passwords, for tests alone, where everything is
    allowed; whoever is tested knows only of the one at ``address``, and logs in by SASL/PLAIN."""

    def __init__(self, folder: Path, java: Java, jars: Jars, users: Mapping[str, str]) -> None:
        """``users`` are names and their passwords."""
        port, controller, sasl = free_port(), free_port(), free_port()
        self.address = f"127.0.0.1:{sasl}"
        self.users = dict(users)
        open_, guarded = f"PLAINTEXT://127.0.0.1:{port}", f"SASL_PLAINTEXT://{self.address}"
        login = "org.apache.kafka.common.security.plain.PlainLoginModule required"
        known = " ".join(f'user_{user}="{password}"' for user, password in users.items())
        extra = {
            "listeners": f"{open_},{guarded},CONTROLLER://127.0.0.1:{controller}",
            "advertised.listeners": f"{open_},{guarded}",
            "listener.security.protocol.map": (
                "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT"
            ),
            "controller.quorum.voters": f"1@127.0.0.1:{controller}",
            "sasl.enabled.mechanisms": "PLAIN",
            "listener.name.sasl_plaintext.plain.sasl.jaas.config": f"{login} {known};",
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": "User:ANONYMOUS",
        }
        self.broker = EmbeddedBroker(folder, java, jars, port=port, extra=extra)
        self.topics = Topics(f"127.0.0.1:{port}")

    def settings(self, user: str) -> dict[str, str]:
        """How a client logs in."""
        return {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": user,
            "sasl.password": self.users[user],
        }

    def grant(self, acls: Iterable[AclBinding]) -> None:
        """Allow these, and return when the broker goes by them."""
        wanted = list(acls)
        if wanted:
            for future in self.topics.admin.create_acls(wanted).values():
                future.result(20)
        self._settle()

    def revoke(self, user: str, operation: AclOperation = AclOperation.ANY) -> list[AclBinding]:
        """Take away what a user may do; what that was."""
        anything: Any = None  # the client's types know only of names
        everything = AclBindingFilter(
            ResourceType.ANY,
            anything,
            ResourcePatternType.ANY,
            f"User:{user}",
            anything,
            operation,
            AclPermissionType.ANY,
        )
        taken = list(self.topics.admin.delete_acls([everything])[everything].result(20))
        self._settle()
        return taken

    def _settle(self) -> None:
        """The broker goes by its ACLs in the order in which they were made: wait for a last one."""
        user = next(iter(self.users))
        marker = f"marker-{next(_markers)}"
        acl = AclBinding(
            ResourceType.TOPIC,
            marker,
            ResourcePatternType.LITERAL,
            f"User:{user}",
            "*",
            AclOperation.DESCRIBE,
            AclPermissionType.ALLOW,
        )
        self.topics.admin.create_acls([acl])[acl].result(20)
        login = self.settings(user)
        client = AdminClient({"bootstrap.servers": self.address, "log_level": 0, **login})
        eventually(lambda: _may_see(client, marker), what="ACLs that count")


def _may_see(client: AdminClient, topic: str) -> bool:
    try:
        client.describe_topics(TopicCollection([topic]))[topic].result(20)
    except KafkaException as error:
        return bool(error.args[0].code() != KafkaError.TOPIC_AUTHORIZATION_FAILED)
    return True
