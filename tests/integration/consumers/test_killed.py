"""kill -9 at every step: nothing is lost, and repeated only what the mode says."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "support" / "dying_consumer.py"


@pytest.mark.parametrize(
    ("strategy", "steps", "next_one"),
    [
        pytest.param("auto", "", 0, id="auto-opened"),
        pytest.param("auto", "take", 0, id="auto-handling"),
        pytest.param("auto", "take take flush", 1, id="auto-flushed-while-handling"),
        pytest.param("auto", "take take flush take take", 1, id="auto-not-flushed-again"),
        pytest.param("manual", "take take", 0, id="manual-handled"),
        pytest.param("manual", "take take commit", 0, id="manual-committed"),
        pytest.param("manual", "take take commit flush", 2, id="manual-flushed"),
        pytest.param("manual", "take take commit flush take commit", 2, id="manual-committed-more"),
    ],
)
def test_killed(consumer, broker, topic: str, strategy: str, steps: str, next_one: int) -> None:
    name = f"reader-of-{topic}"
    dying = subprocess.run(
        [sys.executable, SCRIPT, broker.bootstrap_servers, topic, name, strategy, *steps.split()],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert dying.returncode == -signal.SIGKILL, dying.stderr
    handled = [int(line) for line in dying.stdout.split()]
    assert handled == list(range(steps.split().count("take")))
    left = [int(record.text) for record in consumer(until_end=True)]
    assert left == list(range(next_one, 10))
    assert {*handled, *left} == set(range(10))
