"""A mirror's configuration, names and offsets, without a broker."""

from __future__ import annotations

import pytest

from mirrored import mirror_config
from penstock.kafka.offset_keys import in_order, offset_key
from penstock.plugins.mirror.client_settings import client_settings
from penstock.plugins.mirror.mirror_offsets import MirroredPartition
from penstock.plugins.mirror.mirror_settings import MirrorSettings
from penstock.plugins.mirror.mirror_source import MirrorSourceConnector
from penstock.sdk import ConfigError, OffsetError

TWO = ("one:9092", "two:9092")


def _config(**more: str) -> dict[str, str]:
    return mirror_config(*TWO, ".*", **more)


def _errors(**more: str) -> dict[str, str]:
    return dict(MirrorSourceConnector().validate(_config(**more)))


def test_a_plain_configuration_is_fine() -> None:
    assert _errors() == {}


@pytest.mark.parametrize(
    ("topic", "mirrored"),
    [
        ("orders", True),
        ("other.orders", True),
        ("target.orders", False),
        ("other.target.orders", False),
        ("__consumer_offsets", False),
        ("mm2-offset-syncs.a.internal", False),
        ("penstock-offsets", False),
    ],
)
def test_which_topics_are_mirrored(topic: str, mirrored: bool) -> None:
    assert MirrorSettings.of(_config()).names.mirrored(topic) is mirrored


def test_topics_are_whole_names() -> None:
    names = MirrorSettings.of({**_config(), "topics": "orders, pay.*"}).names
    assert [t for t in ("orders", "orders2", "payments", "repay") if names.mirrored(t)] == [
        "orders",
        "payments",
    ]


def test_names_in_the_target_cluster() -> None:
    default = MirrorSettings.of(_config(replication_policy_separator="_")).names
    identity = MirrorSettings.of(_config(replication_policy_class="IdentityReplicationPolicy"))
    assert default.remote("orders") == "src_orders"
    assert identity.names.remote("orders") == "orders"
    assert identity.names.remote("heartbeats") == "src.heartbeats"


def test_a_mirror_within_one_cluster_does_not_feed_itself() -> None:
    one = mirror_config(TWO[0], TWO[0], ".*")
    names = MirrorSettings.of(one).names
    assert names.mirrored("orders")
    assert not names.mirrored("src.orders")
    with pytest.raises(ConfigError, match="into themselves"):
        MirrorSettings.of({**one, "replication.policy.class": "IdentityReplicationPolicy"})


@pytest.mark.parametrize(
    ("config", "key", "said"),
    [
        ({"topics": "("}, "topics", "not a regular expression"),
        ({"replication_policy_class": "acme.Own"}, "replication.policy.class", "cannot run here"),
        ({"enabled": "false"}, "enabled", "pause the connector"),
        ({"target_cluster_alias": "src"}, "target.cluster.alias", "different aliases"),
        (
            {"source_cluster_sasl_jaas_config": "x.KerberosModule required;"},
            "source.cluster.sasl.jaas.config",
            "PlainLoginModule",
        ),
        (
            {"source_cluster_ssl_truststore_location": "/etc/trust.jks"},
            "source.cluster.ssl.truststore.location",
            "PEM",
        ),
        ({"consumer_interceptor_classes": "a.B"}, "consumer.interceptor.classes", "Java classes"),
        ({"consumer_no_such_thing": "1"}, "source.cluster.bootstrap.servers", "no.such.thing"),
        (
            {"exactly_once_support": "required", "consumer_isolation_level": "read_uncommitted"},
            "consumer.isolation.level",
            "needs read_committed",
        ),
    ],
)
def test_what_is_wrong_is_said(config: dict[str, str], key: str, said: str) -> None:
    errors = _errors(**config)
    assert list(errors) == [key]
    assert said in errors[key]


def test_security_settings_are_librdkafkas() -> None:
    jaas = (
        "org.apache.kafka.common.security.scram.ScramLoginModule required "
        'username="me" password="a\\"b";'
    )
    given = {
        "source.cluster.alias": "src",
        "source.cluster.security.protocol": "SASL_SSL",
        "source.cluster.sasl.mechanism": "SCRAM-SHA-512",
        "source.cluster.sasl.jaas.config": jaas,
        "source.cluster.ssl.truststore.location": "/etc/ca.pem",
        "source.cluster.ssl.endpoint.identification.algorithm": "",
    }
    assert client_settings(given, "source.cluster.") == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "me",
        "sasl.password": 'a"b',
        "ssl.ca.location": "/etc/ca.pem",
        "ssl.endpoint.identification.algorithm": "none",
    }


def test_offsets_have_the_bytes_of_mirrormaker() -> None:
    partition = MirroredPartition("orders", 3).source_partition("src")
    ordered = in_order(partition, MirrorSourceConnector.partition_keys)
    expected = b'["m",{"cluster":"src","partition":3,"topic":"orders"}]'
    assert offset_key("m", ordered) == expected
    assert MirroredPartition("orders", 3).source_offset(41) == {"offset": 41}


@pytest.mark.parametrize(
    ("partition", "offset"),
    [
        ({"cluster": "src", "topic": "t"}, {"offset": 1}),
        ({"cluster": "src", "topic": "t", "partition": -1}, {"offset": 1}),
        ({"cluster": "src", "topic": "t", "partition": 0}, {"offset": "1"}),
        ({"cluster": "src", "topic": "t", "partition": 0}, {"offset": -1}),
        ({"cluster": "src", "topic": "t", "partition": 0}, {"offset": 1, "more": 2}),
        (None, {"offset": 1}),
    ],
)
def test_offsets_that_cannot_be(partition: dict | None, offset: dict) -> None:
    with pytest.raises(OffsetError):
        MirrorSourceConnector().alter_offsets(_config(), [(partition, offset)])


def test_any_partition_can_be_reset() -> None:
    assert MirrorSourceConnector().alter_offsets(_config(), [({"garbage": 1}, None)])
