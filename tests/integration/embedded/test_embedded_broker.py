"""The embedded broker while one runs: its data, its ports, its folder."""

import ipaddress
import time
from collections.abc import Iterator
from types import SimpleNamespace

import psutil
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from penstock.embedded import (
    DataFolderInUse,
    EmbeddedBroker,
    EmbeddedError,
    Jars,
    Java,
)


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
