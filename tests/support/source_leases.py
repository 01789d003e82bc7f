"""A lease of a file source that runs in the test itself, without Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from penstock.columnar.plain_converters import StringConverter
from penstock.engine.lease import lease_loop
from penstock.engine.lease.heartbeats import Heartbeat
from penstock.engine.lease.lease import Limits, Membership, Report, SourceLease
from penstock.engine.lease.source_lease import SourceLoop
from penstock.engine.pipeline.recipe import Recipe
from penstock.kafka import clients
from penstock.kafka.clients import Connection
from penstock.plugins.files.file_source_task import FileStreamSourceTask


def lease_of(connection: Connection, name: str, file: Path, **fields: Any) -> SourceLease:
    """A lease of some seconds, from the beginning of the file."""
    order: dict[str, Any] = {
        "lease_id": name,
        "previous": None,
        "connector": name,
        "task": 0,
        "config": {"file": str(file), "topic": name},
        "pipeline": Recipe((StringConverter, {}), (StringConverter, {})),
        "connection": connection,
        "transactional_id": name,
        "membership": Membership(clients.group_metadata(connection, name), name),
        "limits": Limits(lease_seconds=8.0),
        "secrets": (),
        "producer_settings": {},
        "task_class": FileStreamSourceTask,
        "offsets_topic": f"{name}-offsets",
        "positions": (),
    }
    return SourceLease(**{**order, **fields})


def run_lease(connection: Connection, name: str, file: Path, **fields: Any) -> Report:
    """The report of such a lease, run on this thread."""
    lease = lease_of(connection, name, file, **fields)
    return lease_loop.run(lease, SourceLoop, Heartbeat())
