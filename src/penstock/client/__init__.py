"""A client of the REST API: of Penstock's worker, and of any Kafka Connect worker as well."""

from penstock.client.connect import ConnectClient
from penstock.client.credentials import Credentials
from penstock.client.errors import (
    ConnectApiError,
    ConnectError,
    ConnectorFailed,
    WaitTimeout,
    WorkerUnreachable,
)
from penstock.client.raw_offsets import RawOffset, read_offsets, write_offsets
from penstock.client.waiting import raise_if_failed, wait_for_health, wait_for_state, wait_until

__all__ = [
    "ConnectApiError",
    "ConnectClient",
    "ConnectError",
    "ConnectorFailed",
    "Credentials",
    "RawOffset",
    "WaitTimeout",
    "WorkerUnreachable",
    "raise_if_failed",
    "read_offsets",
    "wait_for_health",
    "wait_for_state",
    "wait_until",
    "write_offsets",
]
