"""A leader whose write went wrong leads again, unless it is not the leader any more."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any, cast
from unittest.mock import MagicMock

import pytest

from penstock.kafka.errors import (
    BrokerUnavailable,
    KafkaFault,
    LeaseLost,
    OutcomeUnknown,
    RecordRefused,
    TransactionAborted,
)
from penstock.kafka.membership import Joined
from penstock.runtime.cluster import cluster as cluster_module
from penstock.runtime.cluster import standing as standing_module
from penstock.runtime.cluster.cluster import Cluster
from penstock.runtime.cluster.leadership import Leadership
from penstock.runtime.cluster.standing import Standing
from penstock.runtime.errors import (
    NO_LEADER,
    BadRequest,
    Conflict,
    InternalError,
    RequestError,
)
from penstock.runtime.running.runners import Runners
from penstock.runtime.stores import config_store, leader_writes
from penstock.runtime.stores.config_store import ConfigStore, Listener
from waiting import eventually


class Producer:
    """Commits, unless it is told how to fail: so often, or for ever."""

    fault: KafkaFault | None = None
    times = 1_000_000
    commits = 0

    def send(self, *_: object, **__: object) -> None: ...

    def commit(self, *_: object) -> None:
        self.commits += 1
        if self.fault is not None and self.times:
            self.times -= 1
            raise self.fault


@pytest.fixture
def producer(monkeypatch: pytest.MonkeyPatch) -> Producer:
    made = Producer()
    monkeypatch.setattr(leader_writes, "Transactions", lambda *_, **__: made)
    monkeypatch.setattr(config_store, "CompactedLog", MagicMock())
    return made


@pytest.fixture
def store(producer: Producer) -> ConfigStore:
    anything: Any = MagicMock()
    leading = ConfigStore(anything, anything, "configs", "group")
    leading.lead()
    return leading


class Leading:
    """The leadership of a worker whose group may have lost it; counts how often it took over."""

    def __init__(self, store: ConfigStore) -> None:
        self._store = store
        self.taken = 0
        self.member = True
        self.asked = threading.Event()

    def resign(self) -> None:
        self._store.resign()

    def take_over(self) -> None:
        self._store.lead()
        self.taken += 1

    def leads(self) -> bool:
        return self._store.leads()

    def refuse_unless_member(self, _: Joined) -> None:
        self.asked.set()
        if not self.member:
            raise KafkaFault("not a member")

    def __getattr__(self, _: str) -> Any:
        return MagicMock(return_value=[])


@pytest.fixture
def leadership(store: ConfigStore) -> Leading:
    return Leading(store)


@pytest.fixture
def cluster(
    store: ConfigStore, leadership: Leading, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Cluster]:
    monkeypatch.setattr(cluster_module, "RETRY_SECONDS", 0.01)
    monkeypatch.setattr(standing_module, "generation_of", lambda _: 1)
    standing = Standing("workers")
    made = Cluster(standing, Runners(), cast(Leadership, leadership), lambda _: nullcontext())
    store.listen(Listener(unable=made.lead_again))
    made.joined(Joined("me", b""))
    made.elected()
    assert made.wait_until_settled(20)
    yield made
    made.stop()


def refused(store: ConfigStore) -> RequestError:
    with pytest.raises(RequestError) as caught:
        store.put_connector("c", {"name": "c"})
    return caught.value


@pytest.mark.parametrize(
    ("fault", "times"),
    [(OutcomeUnknown("timed out"), 1), (TransactionAborted("no"), 2), (BrokerUnavailable("no"), 3)],
)
def test_a_change_that_went_wrong_is_made_once_the_worker_leads_again(
    store: ConfigStore,
    producer: Producer,
    leadership: Leading,
    cluster: Cluster,
    fault: KafkaFault,
    times: int,
) -> None:
    producer.fault, producer.times = fault, times
    store.put_connector("c", {"name": "c"})
    assert producer.commits == times + 1
    assert leadership.taken >= 2
    assert cluster.leading


@pytest.mark.parametrize(
    ("fault", "answer", "text"),
    [
        (OutcomeUnknown("timed out"), InternalError, "Kafka did not accept the change: timed out"),
        (TransactionAborted("no"), InternalError, "Kafka did not accept the change: no"),
        (LeaseLost("id expired"), Conflict, "conflicting operation"),
    ],
)
def test_a_change_that_goes_wrong_for_too_long(
    store: ConfigStore,
    producer: Producer,
    leadership: Leading,
    cluster: Cluster,
    fault: KafkaFault,
    answer: type[RequestError],
    text: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(leader_writes, "CHANGE_SECONDS", -1.0)
    producer.fault = fault
    error = refused(store)
    assert type(error) is answer
    assert text in str(error)
    producer.fault = None
    eventually(store.leads, within=20, what="leading again")
    store.put_connector("c", {"name": "c"})
    assert leadership.taken == 2
    assert cluster.leading


def test_a_change_whose_transaction_does_not_end_may_have_been_made(
    store: ConfigStore, producer: Producer, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = MagicMock(topic=lambda: store.log.topic, partition=lambda: 0, offset=lambda: 7)

    def send(*_: object, on_delivery: Callable[..., None], **__: object) -> None:
        on_delivery(None, place)

    monkeypatch.setattr(producer, "send", send)
    read_past = cast(MagicMock, store.log.read_past)
    read_past.side_effect = BrokerUnavailable("still lagging")
    producer.fault = OutcomeUnknown("timed out")
    error = refused(store)
    assert "Check that before you try again." in str(error)
    assert read_past.call_args.args[:2] == (0, 7)


def test_what_is_repeated_by_others_is_tried_once(
    store: ConfigStore, producer: Producer, cluster: Cluster
) -> None:
    producer.fault = OutcomeUnknown("timed out")
    with pytest.raises(InternalError, match="Check that before you try again"):
        store.put_tasks("c", [])
    assert producer.commits == 1


def test_a_change_of_a_worker_that_leads_no_more_is_refused(
    store: ConfigStore, producer: Producer, leadership: Leading, cluster: Cluster
) -> None:
    leadership.member = False
    producer.fault = OutcomeUnknown("frozen")
    errors: list[RequestError] = []
    writing = threading.Thread(target=lambda: errors.append(refused(store)))
    writing.start()
    assert leadership.asked.wait(20)
    cluster.deposed()
    writing.join(20)
    assert [str(error) for error in errors] == [NO_LEADER]
    assert producer.commits == 1


def test_a_change_is_not_made_in_another_term_of_the_same_worker(
    store: ConfigStore, producer: Producer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another leader may have changed the same connector in between."""
    writes = store._writes

    def in_another_term(*_: object) -> None:
        if producer.commits:
            store.resign()
            store.lead()

    monkeypatch.setattr(writes, "_await_ability", in_another_term)
    producer.fault, producer.times = OutcomeUnknown("timed out"), 1
    error = refused(store)
    assert (type(error), str(error)) == (Conflict, NO_LEADER)
    assert producer.commits == 1


def test_a_worker_that_is_deposed_while_it_takes_over_cannot_write(
    store: ConfigStore, leadership: Leading, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_over = leadership.take_over

    def deposed_first() -> None:
        cluster.deposed()
        take_over()

    monkeypatch.setattr(leadership, "take_over", deposed_first)
    cluster._work.submit(cluster._lead).result(20)
    assert not cluster.leading
    assert not store.leads()


def test_what_kafka_never_takes_leaves_the_leader_as_able_as_it_was(
    store: ConfigStore, producer: Producer, leadership: Leading, cluster: Cluster
) -> None:
    producer.fault = RecordRefused("MSG_SIZE_TOO_LARGE: too large")
    error = refused(store)
    assert type(error) is BadRequest
    assert "raise max.message.bytes of that topic" in str(error)
    producer.fault = None
    store.put_connector("c", {"name": "c"})
    assert leadership.taken == 1


def test_a_worker_that_its_group_has_lost_does_not_lead_again(
    store: ConfigStore, producer: Producer, leadership: Leading, cluster: Cluster
) -> None:
    """It would fence the one that leads now."""
    leadership.member = False
    producer.fault = OutcomeUnknown("frozen")
    with pytest.raises(InternalError):
        store.put_tasks("c", [])
    assert leadership.asked.wait(20)
    cluster.deposed()
    leadership.member = True
    assert cluster._work.submit(lambda: leadership.taken).result(20) == 1
    assert not store.leads()
