"""Rule 2 on a link that takes little: transactions are no larger than it has shown to take."""

from __future__ import annotations

from pathlib import Path

import pytest

from distant_broker import DistantBroker
from files import write_lines
from penstock.engine.lease.lease import End
from penstock.kafka.clients import Connection
from source_leases import run_lease

BYTE_RATE = 300_000


@pytest.mark.heavy
def test_a_source_lease_on_a_slow_link_commits_small_transactions_and_ends_when_told(
    distant: DistantBroker, over_link: Connection, name: str, tmp_path: Path
) -> None:
    """The file would take most of a minute: no lease waits for that, nor any transaction."""
    file = tmp_path / "in.txt"
    write_lines(file, 100_000, 150)
    distant.topics.create(name)
    distant.topics.create(f"{name}-offsets")
    distant.link.rate = BYTE_RATE
    report = run_lease(over_link, name, file)
    distant.link.rate = None
    assert report.end is End.DONE, report.trace
    assert report.tally.transactions >= 5
    [(_, _, offset)] = report.positions
    written = file.read_text().splitlines()
    arrived = distant.topics.values(name)
    assert 0 < len(arrived) < len(written)
    assert arrived == written[: len(arrived)]
    assert offset is not None
    assert offset["position"] == 150 * len(arrived)
