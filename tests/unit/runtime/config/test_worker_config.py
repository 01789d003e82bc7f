"""A worker's properties: Kafka Connect's own, and what is made of each."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from confluent_kafka import Consumer

from penstock.kafka.properties import parse_properties
from penstock.runtime.config.listeners import Listener, advertised, chosen_listener, listener_of
from penstock.runtime.config.rest_config import RestConfig
from penstock.runtime.config.storage_config import topic_settings
from penstock.runtime.config.worker_config import WorkerConfig
from penstock.sdk.errors import ConfigError

DATA = Path(__file__).parents[3] / "data"
FOLDER = Path("unused")


def config(**properties: str) -> WorkerConfig:
    dotted = {key.replace("_", "."): value for key, value in properties.items()}
    return WorkerConfig.from_properties(dotted, FOLDER)


def warnings(worker: WorkerConfig, caplog: pytest.LogCaptureFixture) -> list[str]:
    with caplog.at_level(logging.WARNING):
        worker.warn_of_ignored()
    return [record.getMessage() for record in caplog.records]


def test_kafka_connects_own_file_is_taken_as_it_is(caplog: pytest.LogCaptureFixture) -> None:
    file = DATA / "connect-distributed.properties"
    worker = WorkerConfig.from_properties(parse_properties(file.read_text(), "file"), FOLDER)
    assert worker.group_id == "connect-cluster"
    assert worker["config.storage.topic"] == "connect-configs"
    assert [worker.replication(store) for store in ("config", "offset", "status")] == [1, 1, 1]
    assert worker.converters()["value.converter.schemas.enable"] == "true"
    assert worker.connection("localhost:9092").settings()["bootstrap.servers"] == "localhost:9092"
    assert warnings(worker, caplog) == [
        "Keys of the worker's config that are ignored: plugin.path (no effect here)"
    ]


def test_one_line_names_everything_that_is_ignored(caplog: pytest.LogCaptureFixture) -> None:
    worker = config(
        producer_acks="0",
        producer_interceptor_classes="a.B",
        ssl_protocol="TLS",
        offset_flush_timeout_ms="1",
        grup_id="typo",
        spark_driver_memory="2g",
        value_converter_schemas_enable="false",
        producer_linger_ms="3",
    )
    assert warnings(worker, caplog) == [
        "Keys of the worker's config that are ignored: offset.flush.timeout.ms, producer.acks, "
        "producer.interceptor.classes, ssl.protocol (no effect here); grup.id (unknown)"
    ]


def test_that_nothing_is_served_to_admins_is_heeded(caplog: pytest.LogCaptureFixture) -> None:
    given = parse_properties("admin.listeners=\n", "file")
    worker = WorkerConfig.from_properties(given, FOLDER)
    assert warnings(worker, caplog) == []
    assert not RestConfig.from_properties(given).admin
    assert RestConfig.from_properties({}).admin
    elsewhere = config(admin_listeners="http://:8084")
    assert "admin.listeners (no effect here)" in warnings(elsewhere, caplog)[0]


def test_a_config_that_is_all_heeded_is_worth_no_line(caplog: pytest.LogCaptureFixture) -> None:
    assert warnings(config(group_id="g", consumer_fetch_min_bytes="1"), caplog) == []


def test_headers_have_a_converter_too(caplog: pytest.LogCaptureFixture) -> None:
    simple = "org.apache.kafka.connect.storage.SimpleHeaderConverter"
    assert config().converters()["header.converter"] == simple
    worker = config(header_converter="a.B", header_converter_x="1")
    assert worker.converters()["header.converter"] == "a.B"
    assert warnings(worker, caplog) == []


@pytest.mark.parametrize(
    ("given", "heartbeat", "rebalance"),
    [
        ({}, 2500, 60_000),
        ({"heartbeat_interval_ms": "3000"}, 3000, 60_000),
        ({"session_timeout_ms": "90000"}, 22_500, 90_000),
        ({"rebalance_timeout_ms": "20000"}, 2500, 20_000),
        ({"rebalance_timeout_ms": "20"}, 2500, 10_000),
    ],
)
def test_timings_of_the_membership(given: dict[str, str], heartbeat: int, rebalance: int) -> None:
    timings = config(**given).membership_timings()
    assert timings["heartbeat.interval.ms"] == heartbeat
    assert timings["max.poll.interval.ms"] == rebalance
    # What the client itself has against them, it says when it is made.
    Consumer({"group.id": "g", **timings}).close()


def test_client_prefixes() -> None:
    clients = config(
        producer_compression_type="zstd",
        consumer_max_partition_fetch_bytes="2000000",
        admin_metadata_max_age_ms="9000",
    ).clients
    assert clients.of("producer") == {"compression.type": "zstd"}
    assert clients.of("consumer") == {"fetch.message.max.bytes": "2000000"}
    assert clients.of("admin") == {"metadata.max.age.ms": "9000"}


def test_security_in_kafkas_words() -> None:
    jaas = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" '
    worker = config(
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="PLAIN",
        sasl_jaas_config=jaas + 'password="geheim";',
        client_id="me",
    )
    connection = worker.connection("h:1")
    settings = connection.settings()
    assert (settings["sasl.username"], settings["sasl.password"]) == ("u", "geheim")
    assert settings["client.id"] == "me"
    assert connection.secrets() == ["geheim"]


def test_own_properties_may_refer_to_providers(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("geheim\n")
    worker = config(
        config_providers="dir",
        config_providers_dir_class="DirectoryConfigProvider",
        config_providers_dir_param_allowed_paths=str(tmp_path),
        group_id=f"g-${{dir:{tmp_path}:password}}",
    )
    assert worker.group_id == "g-geheim"
    assert worker.secrets == ("geheim",)
    assert worker.rules.providers.refers("${dir:x:y}")


def test_settings_of_storage_topics() -> None:
    properties = {
        "offset.storage.topic": "o",
        "offset.storage.partitions": "7",
        "offset.storage.min.insync.replicas": "2",
        "offset.storage.cleanup.policy": "delete",
        "config.storage.segment.bytes": "1000000",
    }
    assert topic_settings("offset", properties) == {"min.insync.replicas": "2"}
    assert topic_settings("config", properties) == {"segment.bytes": "1000000"}


def test_replicas_of_each_topic() -> None:
    worker = config(storage_replication_factor="2", offset_storage_replication_factor="3")
    assert [worker.replication(store) for store in ("config", "offset", "status")] == [2, 3, 2]


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        (
            "config.storage.replication.factor",
            "0",
            "Invalid value 0 for configuration config.storage.replication.factor: Replication "
            "factor must be positive and not larger than the number of brokers in the Kafka "
            "cluster, or -1 to use the broker's default",
        ),
        (
            "status.storage.partitions",
            "0",
            "Invalid value 0 for configuration status.storage.partitions: Number of partitions "
            "must be positive, or -1 to use the broker's default",
        ),
        (
            "topic.creation.enable",
            "perhaps",
            "Invalid value perhaps for configuration topic.creation.enable: Expected value to be "
            "either true or false",
        ),
        (
            "exactly.once.source.support",
            "maybe",
            "Invalid value maybe for configuration exactly.once.source.support: String must be one "
            "of (case insensitive): disabled, enabled, preparing",
        ),
        (
            "heartbeat.interval.ms",
            "10000",
            "Invalid value 10000 for configuration heartbeat.interval.ms: Heartbeat must be set "
            "lower than the session timeout",
        ),
        (
            "listeners",
            "nonsense",
            "Invalid value [nonsense] for configuration listeners: Unable to parse: write "
            "http://host:port",
        ),
        (
            "producer.linger.ms",
            "dog",
            'producer.*: Invalid value for configuration property "queue.buffering.max.ms"',
        ),
        (
            "ssl.truststore.location",
            "/etc/kafka/trust.jks",
            "ssl.truststore.location is a JKS file, which is not supported: give a PEM file as "
            "ssl.ca.location",
        ),
    ],
)
def test_bad_values(key: str, value: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        WorkerConfig.from_properties({key: value}, FOLDER)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "listener"),
    [
        ("", Listener("127.0.0.1", 8083)),
        ("HTTP://:9000", Listener("127.0.0.1", 9000)),
        ("http://localhost:1", Listener("localhost", 1)),
        ("http://[::1]:2/", Listener("::1", 2)),
        ("http://0.0.0.0:3", Listener("0.0.0.0", 3)),  # noqa: S104 (nothing listens there)
    ],
)
def test_listeners(text: str, listener: Listener) -> None:
    assert listener_of({"listeners": text}) == listener


def test_a_given_place_goes_before_listeners() -> None:
    properties = {"listeners": "http://there:9000"}
    assert chosen_listener(properties, None, None) == Listener("there", 9000)
    assert chosen_listener(properties, None, 0) == Listener("there", 0)
    assert chosen_listener(properties, "here", 1) == Listener("here", 1)
    assert chosen_listener({}, None, None) == Listener("127.0.0.1", 8083)


def test_advertised() -> None:
    assert advertised({}, "127.0.0.1", 1) == "127.0.0.1:1"
    given = {"rest.advertised.host.name": "me", "rest.advertised.port": "80"}
    assert advertised(given, "127.0.0.1", 1) == "me:80"
    assert advertised({}, "::1", 1) == "[::1]:1"


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])  # noqa: S104 (nothing listens there)
def test_a_worker_that_listens_everywhere_is_known_by_its_hosts_name(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "one")
    for full, known in (("one.example", "one.example:1"), ("localhost", "one:1")):
        monkeypatch.setattr("socket.getfqdn", lambda full=full: full)
        assert advertised({}, host, 1) == known
    assert advertised({"rest.advertised.host.name": "me"}, host, 1) == "me:1"


def test_the_topics_of_a_cluster_are_its_own() -> None:
    found = config(group_id="mine", config_storage_topic="a", offset_storage_topic="b")
    own = {"mine-workers", "mine-sink-offsets"}
    assert found.own_topics() == {*own, "a", "b", "penstock-status"}
