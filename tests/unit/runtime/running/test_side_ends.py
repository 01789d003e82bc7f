"""A turn that looks things up in other topics is told where all of their partitions end."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
from confluent_kafka import KafkaError

from penstock.kafka.errors import AccessDenied, BrokerUnavailable, KafkaFault
from penstock.kafka.partition_offsets import Answers
from penstock.runtime.running.frame_runner import FrameRunner
from penstock.sdk.connectors import TopicPartition

ENDS = {("table", 0): 7, ("table", 1): 9}
DENIED = AccessDenied("see topic table", KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED))


def runner(answers: Answers) -> Any:
    """One whose brokers answer so about the table's two partitions."""
    made: Any = FrameRunner.__new__(FrameRunner)
    made._connector = SimpleNamespace(side_topics=lambda: ["table"])
    made.context = SimpleNamespace(ends=SimpleNamespace(topics=lambda: {"table": 2, "t": 1}))
    made._asking = SimpleNamespace(ends=lambda _places, committed: answers)
    return made


def test_all_of_them() -> None:
    found = runner(Answers(ENDS))._side_ends()
    assert found == {TopicPartition("table", 0): 7, TopicPartition("table", 1): 9}


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (None, "the brokers do not say where table-1 ends"),
        (BrokerUnavailable("LEADER_NOT_AVAILABLE: none"), "LEADER_NOT_AVAILABLE: none"),
        (DENIED, "Not allowed to see topic table"),
    ],
    ids=["no answer", "no leader", "denied"],
)
def test_without_one_there_is_no_turn(fault: KafkaFault | None, text: str) -> None:
    """A join would find no rows of that partition, and commit what it made without them."""
    faults = {} if fault is None else {("table", 1): fault}
    with pytest.raises(KafkaFault, match=text):
        runner(Answers({("table", 0): 7}, faults))._side_ends()


def test_a_turn_that_waits_for_that_counts_as_waiting() -> None:
    """It ends no row of failures, so that the row is told, and the pauses grow."""
    waiting = MagicMock()
    waiting._plan.return_value = [MagicMock()]
    waiting._turn_of.side_effect = BrokerUnavailable("no answer")
    with pytest.raises(BrokerUnavailable):
        FrameRunner._hand_out(waiting)
    assert not waiting._standstill.goes_on.called
    assert not waiting.meter.begin.called
    assert not waiting._leases.run_turn.called
