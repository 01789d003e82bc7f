"""Rule 1: abort and fence the transactional ids of a connector's tasks."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable

from penstock.kafka import transactions
from penstock.kafka.names import transactional_id
from penstock.runtime.running.context import Context

log = logging.getLogger(__name__)


def fence_tasks(context: Context, name: str, count: int) -> None:
    """Fence tasks 0 … count-1 of a connector, aborting their open transactions."""
    fence_some(context, name, range(max(1, count)))


def fence_some(context: Context, name: str, tasks: Iterable[int]) -> None:
    """Fence these tasks of a connector alone; leases of others may run."""
    began = time.monotonic()
    group = context.worker.group_id
    ids = [transactional_id(group, name, task) for task in tasks]
    transactions.fence(context.connection, ids)
    log.debug("fenced %d transactional ids in %.2f s", len(ids), time.monotonic() - began)
