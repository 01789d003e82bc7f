"""Losses of leases that are not Kafka's doing, with their own messages."""

from __future__ import annotations

from penstock.kafka.errors import LeaseLost


class Orphaned(LeaseLost):
    """The worker does not answer, or no longer wants the lease."""


class Interrupted(LeaseLost):
    """The lease was told to finish, or its time was over, during a retry."""
