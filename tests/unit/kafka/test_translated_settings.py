"""Client settings written for Java, in librdkafka's terms."""

from __future__ import annotations

import pytest

from penstock.kafka.client_settings import client_settings, refusal
from penstock.sdk.errors import ConfigError

SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required"


@pytest.mark.parametrize(
    ("given", "settings"),
    [
        ({"linger.ms": "7"}, {"linger.ms": "7"}),
        ({"max.request.size": "2000000"}, {"message.max.bytes": "2000000"}),
        ({"buffer.memory": "2097152"}, {"queue.buffering.max.kbytes": "2048"}),
        ({"fetch.max.wait.ms": "9"}, {"fetch.wait.max.ms": "9"}),
        (
            {"sasl.jaas.config": f'{SCRAM} username="a b" password="p\\"w;";'},
            {"sasl.username": "a b", "sasl.password": 'p"w;'},
        ),
        (
            {"ssl.endpoint.identification.algorithm": ""},
            {"ssl.endpoint.identification.algorithm": "none"},
        ),
        (
            {"ssl.truststore.location": "/t.pem", "ssl.truststore.type": "PEM"},
            {"ssl.ca.location": "/t.pem"},
        ),
        (
            {"ssl.keystore.location": "/k.p12", "ssl.keystore.password": "p"},
            {"ssl.keystore.location": "/k.p12", "ssl.keystore.password": "p"},
        ),
    ],
)
def test_what_has_a_meaning(given: dict[str, str], settings: dict[str, str]) -> None:
    assert client_settings(given) == settings


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("interceptor.classes", "a.B", "names Java classes"),
        ("key.serializer", "a.B", "names Java classes"),
        ("sasl.jaas.config", "com.sun.security.auth.module.JndiLoginModule required;", "only for"),
        ("ssl.truststore.location", "/t.jks", "is a JKS file, which is not supported"),
        ("buffer.memory", "much", "a number of bytes"),
    ],
)
def test_what_has_none(key: str, value: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        client_settings({key: value})
    assert caught.value.key == key


@pytest.mark.parametrize("kind", ["producer", "consumer", "admin"])
def test_librdkafka_itself_says_what_it_takes(kind: str) -> None:
    assert refusal(kind, {"metadata.max.age.ms": "60000"}) == ""
    assert refusal(kind, {"no.such": "1"}) == 'No such configuration property: "no.such"'
    assert "metadata.max.age.ms" in refusal(kind, {"metadata.max.age.ms": "soon"})
