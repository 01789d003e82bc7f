"""Brokers that go away in the middle of everything, again and again."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

import every_request
from chaos.tcp_proxy import TcpProxy
from distant_broker import DistantBroker
from penstock.embedded import Jars, Java

CUTS = 100
LONGEST_PAUSE = 0.4


@pytest.mark.heavy
def test_no_process_dies_of_a_broker_that_goes_away(tmp_path: Path, java: Java, jars: Jars) -> None:
    """A hundred times, with every kind of request under way."""
    with DistantBroker(tmp_path, java, jars) as distant, _asking(distant.address) as asking:
        try:
            assert asking.stdout is not None
            assert asking.stdout.readline() == "ready\n"
            _go_away_and_come_back(distant.link, asking)
            output, _ = asking.communicate("stop\n", timeout=180)
            assert (output, asking.returncode) == ("done\n", 0)
        finally:
            asking.kill()


def _asking(brokers: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, every_request.__file__, brokers],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _go_away_and_come_back(link: TcpProxy, asking: subprocess.Popen[str]) -> None:
    # Not to be steady, but to be the same in every run.
    chance = random.Random(22)
    for cut in range(CUTS):
        with chance.choice((link.down, link.stalled))():
            time.sleep(chance.uniform(0.05, LONGEST_PAUSE))
        time.sleep(chance.uniform(0.05, LONGEST_PAUSE))
        assert asking.poll() is None, f"it ended by {asking.returncode} at cut {cut}"
