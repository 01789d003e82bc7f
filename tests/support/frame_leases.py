"""Tasks of frame turns that run in the test itself, without a worker."""

from __future__ import annotations

from typing import Any

from confluent_kafka import Consumer

from penstock.columnar.plain_converters import StringConverter
from penstock.engine.frames.frame_lease import FrameLease
from penstock.engine.lease.lease import Limits, Membership
from penstock.engine.pipeline.recipe import Recipe
from penstock.kafka import clients
from penstock.kafka.clients import Connection
from penstock.kafka.range_reader import Range
from penstock.sdk.frames import FrameTask
from penstock.sdk.tasks import Assignment
from waiting import eventually


def plain_lease(**fields: Any) -> FrameLease:
    """Of a broker that is not there, for what does not ask it."""
    order: dict[str, Any] = {
        "lease_id": "lease",
        "previous": None,
        "connector": "c",
        "task": 0,
        "config": {},
        "pipeline": Recipe((StringConverter, {}), (StringConverter, {})),
        "connection": Connection("nowhere:1"),
        "transactional_id": "c-0",
        "membership": Membership(b"", "workers"),
        "limits": Limits(),
        "secrets": (),
        "producer_settings": {},
        "task_class": FrameTask,
        "group": "connect-c",
        "group_metadata": b"",
        "assignments": (),
        "copy_topic": "copies",
    }
    return FrameLease(**{**order, **fields})


def frame_lease(connection: Connection, name: str, *ranges: Range, **fields: Any) -> FrameLease:
    """Of task 0, unless ``fields`` say something else; the copies go to ``<name>-copies``."""
    group = f"connect-{name}"
    task = fields.get("task", 0)
    order: dict[str, Any] = {
        "lease_id": f"{name}-{task}",
        "connector": name,
        "connection": connection,
        "transactional_id": f"{name}-{task}",
        "membership": Membership(clients.group_metadata(connection, name), name),
        "group": group,
        "group_metadata": clients.group_metadata(connection, group),
        "assignments": tuple(Assignment(r.topic, r.partition, r.start, "") for r in ranges),
        "copy_topic": f"{name}-copies",
        "ranges": ranges,
    }
    return plain_lease(**{**order, **fields})


def left_membership(connection: Connection, name: str) -> Membership:
    """Of a worker that has joined the group ``name`` and left it again; there is such a topic."""
    member = Consumer({**connection.settings(), "group.id": name, "group.protocol": "classic"})
    member.subscribe([name])
    eventually(lambda: member.poll(0.1) or member.assignment(), within=60, what="a member")
    standing = Membership(member.consumer_group_metadata(), name)
    member.close()
    return standing
