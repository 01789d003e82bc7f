"""The embedded broker while one runs: its data, its ports, its folder."""

import contextlib
import ipaddress
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import psutil
import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from penstock.embedded import (
    DataFolderInUse,
    EmbeddedBroker,
    EmbeddedError,
    Jars,
    Java,
)
from penstock.kafka.topics import ends
from waiting import eventually


@pytest.fixture(scope="module")
def broker(
    java: Java, jars: Jars, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[EmbeddedBroker]:
    broker = EmbeddedBroker(tmp_path_factory.mktemp("kafka"), java, jars)
    broker.start()
    yield broker
    broker.stop()


def produce(broker: EmbeddedBroker, topic: str, values: list[bytes]) -> list[bytes]:
    """Return those values that the broker acknowledged."""
    acknowledged: list[bytes] = []

    def delivered(error, message) -> None:
        if error is None:
            acknowledged.append(message.value())

    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "acks": "all"})
    for value in values:
        producer.produce(topic, value, on_delivery=delivered)
    producer.flush(30)
    return acknowledged


def read_all(broker: EmbeddedBroker, topic: str) -> list[bytes]:
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": "reader",
            "auto.offset.reset": "earliest",
        }
    )
    start = TopicPartition(topic, 0)
    end = consumer.get_watermark_offsets(start, timeout=30)[1]
    consumer.assign([TopicPartition(topic, 0, 0)])
    values: list[bytes] = []
    while len(values) < end:
        batch = consumer.consume(end - len(values), timeout=30)
        assert batch, f"{len(values)} of {end} read"
        values.extend(message.value() or b"" for message in batch)
    consumer.close()
    return values


def test_acknowledged_messages_outlive_sigkill_on_the_same_port(broker: EmbeddedBroker) -> None:
    acknowledged = produce(broker, "killed", [b"%d" % number for number in range(20_000)])
    assert len(acknowledged) == 20_000
    address, pid = broker.bootstrap_servers, broker.pid
    broker.kill()
    assert not broker.alive()
    assert not psutil.pid_exists(pid)
    broker.start()
    assert broker.bootstrap_servers == address
    assert read_all(broker, "killed") == acknowledged


def transact(broker: EmbeddedBroker, topic: str, number: int, stop: threading.Event) -> None:
    """Commit records to three partitions, again and again, until the broker is gone."""
    producer = transactional(broker, number)
    with contextlib.suppress(KafkaException):
        while not stop.is_set():
            producer.begin_transaction()
            for partition in range(number * 3, number * 3 + 3):
                producer.produce(topic, b"value", partition=partition)
            producer.commit_transaction(5)


def transactional(broker: EmbeddedBroker, number: int) -> Producer:
    """A producer whose start ends what the one before it has left open."""
    producer = Producer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "transactional.id": f"transact-{number}",
            "linger.ms": 0,
            "log_level": 0,
        }
    )
    producer.init_transactions(60)
    return producer


@pytest.mark.heavy
def test_no_transaction_hangs_after_a_kill(broker: EmbeddedBroker) -> None:
    """Kafka finishes at its start those that were being committed when it was killed."""
    writers, topic = 6, "transactions"
    places = [(topic, partition) for partition in range(3 * writers)]
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
    admin.create_topics([NewTopic(topic, len(places))])[topic].result(30)
    for _ in range(4):
        before, stop = ends(admin, places, committed=True), threading.Event()
        with ThreadPoolExecutor(writers) as pool:
            for number in range(writers):
                pool.submit(transact, broker, topic, number, stop)
            enough = sum(before.values()) + 1000

            def many(enough: int = enough) -> bool:
                return sum(ends(admin, places, committed=True).values()) > enough

            eventually(many, within=60, what="transactions under way")
            broker.kill()
            stop.set()
            broker.start()
        for number in range(writers):
            transactional(broker, number)
        eventually(
            lambda: ends(admin, places, committed=True) == ends(admin, places, committed=False),
            within=20,
            what="every transaction ended",
        )


@pytest.mark.heavy
@pytest.mark.parametrize("killed", [False, True])
def test_a_broker_that_was_frozen_keeps_its_partitions(
    broker: EmbeddedBroker, killed: bool
) -> None:
    """Transactions under way would otherwise hang: Kafka would end them without a marker."""
    topic = f"frozen-{killed}"
    produce(broker, topic, [b"before"])
    if killed:
        broker.kill()
        broker.start()
    produce(broker, topic, [b"started"])
    epochs = (broker.data_dir / "log" / f"{topic}-0" / "leader-epoch-checkpoint").read_text()
    frozen = psutil.Process(broker.pid)
    frozen.suspend()
    time.sleep(12)  # longer than Kafka's sessions of brokers
    frozen.resume()
    for _ in range(3):
        produce(broker, topic, [b"after"])
        time.sleep(1)  # a controller that takes them away does so after a moment
    now = (broker.data_dir / "log" / f"{topic}-0" / "leader-epoch-checkpoint").read_text()
    assert now == epochs


def test_large_messages_pass(broker: EmbeddedBroker) -> None:
    value = b"x" * 20_000_000
    producer = Producer(
        {"bootstrap.servers": broker.bootstrap_servers, "message.max.bytes": 60_000_000}
    )
    errors = []
    producer.produce("large", value, on_delivery=lambda error, _: errors.append(error))
    producer.flush(30)
    assert errors == [None]


def test_listens_on_loopback_only(broker: EmbeddedBroker) -> None:
    sockets = psutil.Process(broker.pid).net_connections(kind="inet")
    listening = [each.laddr for each in sockets if each.status == psutil.CONN_LISTEN]
    assert len(listening) == 2
    for address in listening:
        ip = ipaddress.ip_address(address.ip)
        mapped = ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None
        assert (mapped or ip).is_loopback


def test_second_broker_on_the_folder_is_refused_at_once(
    broker: EmbeddedBroker, java: Java, jars: Jars, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wait(_: float) -> None:
        raise AssertionError("it waits for the other to end")

    second = EmbeddedBroker(broker.data_dir, java, jars)
    clock = SimpleNamespace(monotonic=time.monotonic, sleep=wait)
    monkeypatch.setattr("penstock.embedded.data_folder.time", clock)
    with pytest.raises(DataFolderInUse) as raised:
        second.start()
    assert str(broker.data_dir) in str(raised.value)
    assert raised.value.pid == psutil.Process().pid
    assert broker.alive()


def test_running_broker_is_not_started_twice(broker: EmbeddedBroker) -> None:
    with pytest.raises(EmbeddedError, match="is already running"):
        broker.start()
