"""kill -9 at every step: nothing is lost, and repeated only what the mode says."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import pytest

from dying_consumer import dying
from penstock.consumers import NameHeld
from penstock.embedded import EmbeddedBroker
from penstock.kafka import groups
from penstock.kafka.clients import Connection


@pytest.fixture
def dead(broker: EmbeddedBroker, topic: str) -> Callable[[dict[str, Any], str], list[int]]:
    """Has a consumer of the test's name die at the end of these steps; what it has handled."""

    def dead(options: dict[str, Any], steps: str) -> list[int]:
        name = f"reader-of-{topic}"
        with dying(broker.bootstrap_servers, topic, name, options, *steps.split()) as process:
            out, err = process.communicate(timeout=120)
        assert process.returncode == -signal.SIGKILL, err
        return [int(line) for line in out.split()]

    return dead


@pytest.mark.parametrize(
    ("strategy", "steps", "next_one"),
    [
        pytest.param("auto", "open", 0, id="auto-opened"),
        pytest.param("auto", "take", 0, id="auto-handling"),
        pytest.param("auto", "take take flush", 1, id="auto-flushed-while-handling"),
        pytest.param("auto", "take take flush take take", 1, id="auto-not-flushed-again"),
        pytest.param("auto", "take take kill@group flush", 0, id="auto-before-a-flush"),
        pytest.param("auto", "take take kill@registry flush", 1, id="auto-within-a-flush"),
        pytest.param("auto", "take take background", 1, id="auto-flushed-in-the-background"),
        pytest.param("auto", "take take kill@group close", 0, id="auto-before-the-end"),
        pytest.param("auto", "take take kill@registry close", 2, id="auto-within-the-end"),
        pytest.param("auto", "take take kill@release close", 2, id="auto-at-the-end"),
        pytest.param("manual", "take take", 0, id="manual-handled"),
        pytest.param("manual", "take take commit", 0, id="manual-committed"),
        pytest.param("manual", "take take commit flush", 2, id="manual-flushed"),
        pytest.param("manual", "take take commit flush take commit", 2, id="manual-committed-more"),
        pytest.param("manual", "take take commit kill@group flush", 0, id="manual-before-a-flush"),
        pytest.param(
            "manual", "take take commit kill@registry flush", 2, id="manual-within-a-flush"
        ),
        pytest.param(
            "manual", "take take commit background", 2, id="manual-flushed-in-the-background"
        ),
        pytest.param("manual", "take commit take kill@group close", 0, id="manual-before-the-end"),
        pytest.param(
            "manual", "take commit take kill@registry close", 1, id="manual-within-the-end"
        ),
        pytest.param("manual", "take commit take kill@release close", 1, id="manual-at-the-end"),
    ],
)
def test_killed(consumer, dead, strategy: str, steps: str, next_one: int) -> None:
    flush = 0.1 if "background" in steps else 600
    handled = dead({"strategy": strategy, "flush": flush}, steps)
    assert handled == list(range(steps.split().count("take")))
    left = [int(record.text) for record in consumer(until_end=True)]
    assert left == list(range(next_one, 10))
    assert {*handled, *left} == set(range(10))


@pytest.mark.parametrize("point", ["group", "registry"])
def test_killed_after_it_has_joined_and_before_it_is_registered(
    consumer, dead, connection: Connection, topic: str, point: str
) -> None:
    """Nobody can tell that it has ended: so it counts until its session is over."""
    assert dead({}, f"kill@{point} open") == []
    with pytest.raises(NameHeld, match="its name is free again after"):
        consumer(until_end=True).open()
    if point == "group":
        left = consumer(until_end=True, take_over=True)
    else:
        # As the group does when a session is over.
        groups.remove_members(connection, f"reader-of-{topic}", {topic: None})
        left = consumer(until_end=True)
    assert [int(record.text) for record in left] == list(range(10))
