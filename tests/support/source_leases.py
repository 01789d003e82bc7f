"""A lease of a file source that runs in the test itself, without Spark."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from penstock.columnar.plain_converters import StringConverter
from penstock.engine.driver.watches import HeartbeatServer, TurnWatch
from penstock.engine.lease import lease_loop
from penstock.engine.lease.lease import Limits, Membership, Report, SourceLease
from penstock.engine.lease.source_lease import SourceLoop
from penstock.engine.pipeline.pipeline import Pipeline
from penstock.kafka import clients
from penstock.kafka.clients import Connection
from penstock.plugins.files.file_source_task import FileStreamSourceTask


def run_lease(connection: Connection, name: str, file: Path, **changes: Any) -> Report:
    """The report of one lease of some seconds; ``changes`` are fields of the lease."""
    server, limits = HeartbeatServer(), Limits(lease_seconds=8.0)
    turn = TurnWatch(limits)
    turn.begin()
    server.watch(name, turn)
    key, value = StringConverter(), StringConverter()
    key.configure({}, is_key=True)
    value.configure({}, is_key=False)
    lease = SourceLease(
        lease_id=name,
        previous=None,
        connector=name,
        task=0,
        config={"file": str(file), "topic": name},
        pipeline=Pipeline(key, value),
        connection=connection,
        transactional_id=name,
        membership=Membership(clients.group_metadata(connection, name), name),
        heartbeat=server.address,
        limits=limits,
        secrets=(),
        producer_settings={},
        task_class=FileStreamSourceTask,
        offsets_topic=f"{name}-offsets",
        positions=(),
    )
    try:
        return lease_loop.run(replace(lease, **changes), SourceLoop)
    finally:
        server.close()
