"""What is said of a transaction whose commit is interrupted, or not answered."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator

import pytest
from confluent_kafka import KafkaError, KafkaException

from penstock.cli import produce
from penstock.consumers import producing
from penstock.consumers.producing import Outgoing, TopicWriter
from penstock.kafka import clients
from penstock.kafka.clients import Connection
from penstock.kafka.errors import AccessDenied, BrokerUnavailable, OutcomeUnknown

WRITTEN = '2 records written to topic "t"\n'
NOTHING = '0 records written to topic "t"\n'
Step = Callable[[], None]


def fails(code: int, **kind: bool) -> Step:
    def fail() -> None:
        raise KafkaException(KafkaError(code, "away", **kind))

    return fail


AWAY = fails(KafkaError._TIMED_OUT, retriable=True)
ABORTED = fails(KafkaError._MSG_TIMED_OUT, txn_requires_abort=True)
FENCED = fails(KafkaError._FENCED, fatal=True)
DENIED = fails(KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, fatal=True)


def done() -> None:
    """As brokers do that answer."""


def interrupted() -> None:
    os.kill(os.getpid(), signal.SIGINT)


class FakeProducer:
    """Its commits end as ``steps`` say, one after the other; the last goes on and on."""

    def __init__(self) -> None:
        self.steps: list[Step] = [done]
        self.calls: list[str] = []

    def init_transactions(self, _: float) -> None:
        self.calls.append("init")

    def begin_transaction(self) -> None:
        self.calls.append("begin")

    def produce(self, *_: object, **__: object) -> None:
        """Takes it."""

    def poll(self, _: float) -> None:
        """Has nothing to report."""

    def flush(self, _: float) -> int:
        return 0

    def commit_transaction(self, _: float) -> None:
        self.calls.append("commit")
        (self.steps.pop(0) if len(self.steps) > 1 else self.steps[0])()

    def purge(self) -> None:
        """Has nothing left."""

    def abort_transaction(self, _: float) -> None:
        self.calls.append("abort")


@pytest.fixture
def producer(monkeypatch: pytest.MonkeyPatch) -> FakeProducer:
    made = FakeProducer()
    monkeypatch.setattr(clients, "admin", lambda _: None)
    monkeypatch.setattr(clients, "transactional_producer", lambda *_, **__: made)
    monkeypatch.setattr(producing, "find_topic", lambda *_: None)
    monkeypatch.setattr(producing, "_refuse_unless_writable", lambda *_: None)
    monkeypatch.setattr(producing, "_largest", lambda *_: 1000)
    monkeypatch.setattr(producing, "COMMIT_PAUSE", 0)
    return made


@pytest.fixture
def write(producer: FakeProducer) -> Step:
    """Runs the command's own writing, in a transaction of two records."""
    writer = TopicWriter(Connection("unasked:9092"), "t", atomic=True)
    records: Iterator[Outgoing] = iter([Outgoing(b"a"), Outgoing(b"b")])
    return lambda: produce._write(writer, records, "t", typed=True)


Told = pytest.CaptureFixture[str]


def test_an_interrupt_during_the_commit_takes_nothing_back(
    producer: FakeProducer, write: Step, capsys: Told
) -> None:
    producer.steps = [interrupted]
    write()
    assert capsys.readouterr().err == WRITTEN
    assert producer.calls == ["init", "begin", "commit"]


def test_a_commit_that_was_not_answered_is_asked_for_again(
    producer: FakeProducer, write: Step, capsys: Told
) -> None:
    producer.steps = [AWAY, AWAY, done]
    write()
    assert capsys.readouterr().err == WRITTEN
    assert producer.calls == ["init", "begin", "commit", "commit", "commit"]


@pytest.mark.parametrize("step", [AWAY, FENCED])
def test_an_outcome_that_nobody_knows_is_not_called_nothing(
    producer: FakeProducer, write: Step, capsys: Told, monkeypatch: pytest.MonkeyPatch, step: Step
) -> None:
    monkeypatch.setattr(producing, "ATOMIC_SECONDS", -1)
    producer.steps = [step]
    with pytest.raises(OutcomeUnknown, match=r"unknown whether .* Look at the topic before"):
        write()
    assert capsys.readouterr().err == ""
    assert "abort" not in producer.calls


def test_an_interrupt_ends_the_waiting_for_an_answer(
    producer: FakeProducer, write: Step, capsys: Told
) -> None:
    def interrupted_and_away() -> None:
        interrupted()
        AWAY()

    producer.steps = [AWAY, interrupted_and_away]
    with pytest.raises(OutcomeUnknown):
        write()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("step", "error"), [(ABORTED, BrokerUnavailable), (DENIED, AccessDenied)])
def test_a_commit_that_is_refused_has_written_nothing(
    producer: FakeProducer, write: Step, capsys: Told, step: Step, error: type[Exception]
) -> None:
    producer.steps = [step]
    with pytest.raises(error):
        write()
    assert capsys.readouterr().err == NOTHING
    assert producer.calls[-1] == "abort"


def test_an_interrupt_before_the_commit_leaves_nothing(
    producer: FakeProducer, capsys: Told
) -> None:
    def records() -> Iterator[Outgoing]:
        yield Outgoing(b"a")
        interrupted()
        yield Outgoing(b"b")

    writer = TopicWriter(Connection("unasked:9092"), "t", atomic=True)
    with pytest.raises(KeyboardInterrupt):
        produce._write(writer, records(), "t", typed=True)
    assert capsys.readouterr().err == NOTHING
    assert producer.calls == ["init", "begin", "abort"]
