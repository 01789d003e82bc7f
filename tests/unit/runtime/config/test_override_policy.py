"""Which client overrides a connector's config may hold."""

from __future__ import annotations

import pytest

from penstock.kafka.client_settings import client_settings
from penstock.runtime.config.override_policy import OverridePolicy, clients_used
from penstock.sdk.errors import ConfigError

ALL = OverridePolicy("All")
PREFIX = "org.apache.kafka.connect.connector.policy."


def messages(policy: OverridePolicy, **overrides: str) -> dict[str, str]:
    config = {
        "producer.override." + key.replace("_", "."): value for key, value in overrides.items()
    }
    return dict(policy.errors(config, ("producer",)))


def test_none_allows_nothing() -> None:
    assert messages(OverridePolicy(), linger_ms="5") == {
        "producer.override.linger.ms": "The 'None' policy does not allow 'linger.ms' to be "
        "overridden in the connector configuration."
    }
    assert messages(OverridePolicy()) == {}


def test_principal_allows_who_to_log_in_as() -> None:
    policy = OverridePolicy("Principal")
    login = {"security_protocol": "SASL_SSL", "sasl_mechanism": "SCRAM-SHA-512"}
    jaas = (
        "org.apache.kafka.common.security.scram.ScramLoginModule required "
        'username="u" password="p";'
    )
    assert messages(policy, **login, sasl_jaas_config=jaas) == {}
    assert messages(policy, linger_ms="5") == {
        "producer.override.linger.ms": "The 'Principal' policy does not allow 'linger.ms' to be "
        "overridden in the connector configuration."
    }


def test_an_allowlist_is_not_enough_for_files_and_urls() -> None:
    url, file = "sasl.oauthbearer.token.endpoint.url", "ssl.ca.location"
    policy = OverridePolicy("Allowlist", frozenset({"linger.ms", url, file}))
    assert messages(policy, linger_ms="5") == {}
    assert len(messages(policy, batch_size="5")) == 1
    assert not policy.allows(url)
    assert not policy.allows(file)
    assert ALL.allows(url)


@pytest.mark.parametrize(
    "key",
    ["plugin.library.paths", "sasl.kerberos.kinit.cmd", "ssl.engine.location", "ssl.providers"],
)
def test_what_would_run_code_is_never_allowed(key: str) -> None:
    for name in ("None", "Principal", "All", "Allowlist"):
        assert not OverridePolicy(name, frozenset({key})).allows(key)


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("linger.ms", "dog", "Invalid value for configuration producer.override.linger.ms: "),
        ("no.such", "1", 'No such configuration property: "no.such"'),
        ("acks", "1", "'acks' cannot be overridden"),
        ("transactional.id", "x", "'transactional.id' cannot be overridden"),
        ("partitioner", "consistent", "'partitioner' cannot be overridden"),
        ("bootstrap.servers", "h:1", "'bootstrap.servers' cannot be overridden"),
        ("partitioner.class", "a.B", "names Java classes"),
    ],
)
def test_what_is_allowed_must_make_sense(key: str, value: str, text: str) -> None:
    found = ALL.errors({f"producer.override.{key}": value, "tasks.max": "1"}, ("producer",))
    assert [k for k, _ in found] == [f"producer.override.{key}"]
    assert text in found[0][1]


def test_a_value_that_acceptable_is_fine() -> None:
    assert messages(ALL, acks="all", enable_idempotence="true") == {}
    assert messages(ALL, partitioner="murmur2") == {}


@pytest.mark.parametrize(
    ("value", "right"), [("earliest", True), ("Latest", True), ("none", False)]
)
def test_where_a_sink_begins(value: str, right: bool) -> None:
    key = "consumer.override.auto.offset.reset"
    assert [k for k, _ in ALL.errors({key: value}, ("consumer",))] == ([] if right else [key])


def test_a_sinks_group_may_be_chosen_where_the_policy_lets_it() -> None:
    config = {"consumer.override.group.id": " orders "}
    assert ALL.errors(config, ("consumer",)) == []
    [(key, text)] = OverridePolicy("Principal").errors(config, ("consumer",))
    assert key == "consumer.override.group.id"
    assert text.startswith("The 'Principal' policy does not allow 'group.id' to be overridden")
    ALL.require("consumer", "group.id")
    with pytest.raises(ConfigError, match=r"^consumer.override.group.id: The 'None' policy does"):
        OverridePolicy().require("consumer", "group.id")


@pytest.mark.parametrize("value", ["", " \n", "\0", "a\0b"])
def test_a_group_that_is_none(value: str) -> None:
    """A client that was made with it would take the whole process along."""
    key = "consumer.override.group.id"
    text = "'group.id' is empty: name a group, or remove the key"
    assert ALL.errors({key: value}, ("consumer",)) == [(key, text)]
    assert client_settings({"group.id": value}) == {}


def test_the_key_at_fault_is_found_among_several() -> None:
    assert list(messages(ALL, batch_size="1000", linger_ms="dog")) == [
        "producer.override.linger.ms"
    ]


def test_only_clients_that_the_connector_has_count() -> None:
    config = {"producer.override.x": "1", "consumer.override.y": "1"}
    policy = OverridePolicy()
    source, sink = clients_used(config, sink=False), clients_used(config, sink=True)
    assert [key for key, _ in policy.errors(config, source)] == ["producer.override.x"]
    assert [key for key, _ in policy.errors(config, sink)] == ["consumer.override.y"]
    dead = {**config, "errors.deadletterqueue.topic.name": "d"}
    assert len(policy.errors(dead, clients_used(dead, sink=True))) == 2


@pytest.mark.parametrize("name", ["None", "Principal", "All", "Allowlist"])
def test_names(name: str) -> None:
    full = f"{PREFIX}{name}ConnectorClientConfigOverridePolicy"
    assert OverridePolicy.named(name, []) == OverridePolicy.named(full, []) == OverridePolicy(name)


def test_a_policy_that_does_not_exist() -> None:
    with pytest.raises(ConfigError, match="must be one of: None, Principal, All, Allowlist"):
        OverridePolicy.named("Some", [])
