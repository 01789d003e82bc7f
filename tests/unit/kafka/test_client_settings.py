"""Settings that every client shares, and what must not be printed of them."""

from __future__ import annotations

from penstock.kafka.clients import Connection


def test_security_reaches_every_client() -> None:
    connection = Connection("a:1,b:2", {"security.protocol": "SASL_SSL"})
    settings = connection.settings()
    assert settings["bootstrap.servers"] == "a:1,b:2"
    assert settings["security.protocol"] == "SASL_SSL"


def test_secrets_are_known_by_their_keys() -> None:
    security = {
        "security.protocol": "SASL_SSL",
        "sasl.username": "bob",
        "sasl.password": "hunter2",
        "ssl.key.password": "opensesame",
        "ssl.key.pem": "-----BEGIN",
        "sasl.jaas.config": "… password=x",
        "sasl.oauthbearer.client.secret": "s",
        "ssl.ca.location": "/ca.pem",
    }
    assert set(Connection("a:1", security).secrets()) == {
        "hunter2",
        "opensesame",
        "-----BEGIN",
        "… password=x",
        "s",
    }
