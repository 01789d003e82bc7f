"""One line of what many clients say of a broker that is away."""

from __future__ import annotations

import logging
import socket
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from confluent_kafka import KafkaError, KafkaException

from free_ports import free_port
from penstock.engine.lease import lease_logs
from penstock.kafka import client_log, outage_watch
from penstock.kafka.client_log import OneVoice, complaint_of
from penstock.kafka.outage_watch import OutageWatch
from penstock.kafka.outages import FIRST_REMINDER, FORGOTTEN, STEADY, Outages

BROKER = "127.0.0.1:9092"
REFUSED = "Connect to ipv4#127.0.0.1:9092 failed: Connection refused (after 0ms in state CONNECT)"


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def known(clock: Clock) -> Outages:
    return Outages(clock)


def line(
    kind: str, text: str, level: int = logging.ERROR, client: str = "rdkafka#producer-1"
) -> logging.LogRecord:
    args = (kind, client, text)
    return logging.LogRecord(client_log.log.name, level, "", 0, "%s [%s] %s", args, None)


LINES = [
    line("FAIL", f"[thrd:{BROKER}/bootstrap]: {BROKER}/bootstrap: {REFUSED}"),
    line("FAIL", f"[thrd:{BROKER}/1]: {BROKER}/1: Disconnected (after 5032ms in state UP)"),
    line("FAIL", f"[thrd:GroupCoordinator]: GroupCoordinator: {BROKER}: {REFUSED}"),
    line("ERROR", f"[thrd:app]: rdkafka#consumer-3: {BROKER}/1: {REFUSED}"),
]


@pytest.mark.parametrize("record", LINES)
def test_what_clients_say_of_a_broker_that_is_away(record: logging.LogRecord) -> None:
    complaint = complaint_of(record)
    assert complaint is not None
    assert complaint.broker == BROKER


@pytest.mark.parametrize(
    "record",
    [
        line("FAIL", f"[thrd:{BROKER}/1]: {BROKER}/1: SASL authentication error: wrong password"),
        line("FAIL", f"[thrd:{BROKER}/1]: {BROKER}/1: SSL handshake failed: certificate expired"),
        line("SESSTMOUT", "[thrd:main]: Consumer group session timed out", logging.WARNING),
    ],
)
def test_other_lines_stay_what_they_are(known: Outages, record: logging.LogRecord) -> None:
    before = (record.getMessage(), record.levelno)
    assert OneVoice(known).filter(record)
    assert (record.getMessage(), record.levelno) == before
    assert known.brokers() == []


def test_many_clients_speak_with_one_voice(known: Outages, clock: Clock) -> None:
    voice = OneVoice(known)
    told = []
    for second in range(300):
        clock.now = 1000.0 + second
        for client in range(20):
            record = line("FAIL", f"{BROKER}/1: {REFUSED}", client=f"rdkafka#producer-{client}")
            if voice.filter(record) and record.levelno > logging.DEBUG:
                told.append(record.getMessage())
    assert told == [
        f"broker {BROKER} does not answer (Connection refused); clients keep trying",
        f"broker {BROKER} has not answered for 60 s (1201 attempts)",
        f"broker {BROKER} has not answered for 3 min (3601 attempts)",
    ]


def test_after_a_long_silence_it_is_another_outage(known: Outages, clock: Clock) -> None:
    assert known.complain(BROKER, "Connection refused")
    clock.now += FORGOTTEN + 1
    told = known.complain(BROKER, "Connection refused")
    assert told is not None
    assert "does not answer" in told


def test_what_is_looked_into_is_not_told_before(known: Outages) -> None:
    known.watched = True
    assert known.complain(BROKER, "Connection refused") is None
    assert known.suspected.is_set()
    assert known.silent(BROKER) is not None
    assert known.silent(BROKER) is None


def test_what_turns_out_to_be_nothing_is_never_told(known: Outages) -> None:
    """Such as a line that waited in a client which nobody had polled since."""
    known.watched = True
    known.complain(BROKER, "Disconnected")
    assert known.answered(BROKER) is None
    assert known.brokers() == []
    assert not known.suspected.is_set()


def test_a_broker_is_back_once_it_answers_steadily(known: Outages, clock: Clock) -> None:
    known.watched = True
    known.complain(BROKER, "Connection refused")
    known.silent(BROKER)
    clock.now += 34
    told: list[str | None] = []
    for answer in [True, False, *[True] * STEADY]:
        told.append(known.answered(BROKER) if answer else known.silent(BROKER))
        clock.now += 1
    assert told == [None] * (len(told) - 1) + [f"broker {BROKER} answers again, after 36 s"]


def test_that_something_is_tried_again_is_no_news_while_brokers_are_away(known: Outages) -> None:
    known.watched = True
    levels = [known.retry_level()]
    known.complain(BROKER, "Connection refused")
    levels.append(known.retry_level())
    known.silent(BROKER)
    levels.append(known.retry_level())
    for _ in range(STEADY):
        known.answered(BROKER)
    levels.append(known.retry_level())
    assert levels == [logging.WARNING, logging.WARNING, logging.DEBUG, logging.WARNING]


def test_reminders_come_from_the_watch_too(known: Outages, clock: Clock) -> None:
    known.watched = True
    known.complain(BROKER, "Connection refused")
    known.silent(BROKER)
    clock.now += FIRST_REMINDER
    told = known.silent(BROKER)
    assert told is not None
    assert "has not answered for 60 s" in told


class Cluster:
    """An admin client of a cluster that lists these brokers, or does not answer."""

    def __init__(self, *brokers: str) -> None:
        self.brokers: tuple[str, ...] | None = brokers

    def list_topics(self, timeout: float) -> Any:
        if self.brokers is None:
            raise KafkaException(KafkaError(KafkaError._TRANSPORT))
        found = [each.split(":") for each in self.brokers]
        return SimpleNamespace(
            brokers={n: SimpleNamespace(host=h, port=int(p)) for n, (h, p) in enumerate(found)}
        )


def test_a_cluster_of_which_one_broker_is_away(
    known: Outages, caplog: pytest.LogCaptureFixture
) -> None:
    away = f"127.0.0.1:{free_port()}"
    watch = OutageWatch(Mock(list_topics=Cluster(away, "127.0.0.1:1").list_topics), BROKER, known)
    known.watched = True
    known.complain(away, "Connection refused")
    watch.look()
    assert [each.getMessage() for each in caplog.records] == [
        f"broker {away} does not answer (Connection refused); clients keep trying"
    ]


def test_a_broker_that_the_cluster_has_lost_is_away(known: Outages) -> None:
    """As long as it is stopped, not ended, connections to it can be made."""
    known.watched = True
    cluster = Cluster(BROKER, "127.0.0.1:1")
    watch = OutageWatch(Mock(list_topics=cluster.list_topics), BROKER, known)
    watch.look()
    cluster.brokers = ("127.0.0.1:1",)
    known.complain(BROKER, "1 request(s) timed out")
    watch.look()
    assert known.brokers() == [BROKER]


@pytest.mark.parametrize("gone", ["", "127.0.0.1:1, "])
def test_brokers_that_have_all_moved_are_looked_for_where_the_first_were(
    known: Outages, monkeypatch: pytest.MonkeyPatch, gone: str
) -> None:
    """Clients know only where they were. Any of the first may still be there."""
    reminded: list[bool] = []
    monkeypatch.setattr(outage_watch, "remind_clients", lambda: reminded.append(True))
    cluster = Cluster()
    cluster.brokers = None
    with socket.create_server(("127.0.0.1", 0)) as first:
        watch = OutageWatch(
            Mock(list_topics=cluster.list_topics),
            f"{gone}127.0.0.1:{first.getsockname()[1]}",
            known,
        )
        known.complain(f"127.0.0.1:{free_port()}", "Connection refused")
        watch.look()
    assert reminded == [True]
    watch.look()
    assert reminded == [True], "nobody is there"


def test_leases_do_not_multiply_it(
    known: Outages, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each lease has a process of its own, which tells of it once."""
    monkeypatch.setattr(client_log.log, "filters", [OneVoice(known)])
    for task in range(8):
        record = line("FAIL", f"{BROKER}/1: {REFUSED}")
        OneVoice(Outages()).filter(record)
        record.task = task
        lease_logs.tell(lease_logs._line(record))
    told = [each.getMessage() for each in caplog.records if each.levelno > logging.DEBUG]
    assert told == [f"broker {BROKER} does not answer (Connection refused); clients keep trying"]
