"""A worker's parts, in a process whose brokers are all there."""

from __future__ import annotations

import pytest

from penstock.kafka.outages import Outages
from penstock.runtime.cluster import cluster
from penstock.runtime.running import standstill


@pytest.fixture(autouse=True)
def outages(monkeypatch: pytest.MonkeyPatch) -> Outages:
    """No broker is down, whatever clients of other tests in this process could not reach."""
    known = Outages()
    monkeypatch.setattr(standstill, "outages", known)
    monkeypatch.setattr(cluster, "outages", known)
    return known
