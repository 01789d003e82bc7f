"""Settings that librdkafka reads with do for clients of kafka-python, too, or are refused."""

from __future__ import annotations

import ssl
from contextlib import suppress
from pathlib import Path

import pytest

from certificates import Certificate, make_certificate
from penstock.kafka.clients import Connection
from penstock.sdk.errors import ConfigError


@pytest.fixture(scope="module")
def broker(folder: Path, authority: Certificate) -> ssl.SSLContext:
    """A broker that is called elsewhere, and wants to know who we are."""
    made = make_certificate(folder, "broker", authority, names="DNS:elsewhere")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=authority.certificate)
    context.load_cert_chain(made.certificate, made.key)
    context.verify_mode = ssl.CERT_REQUIRED
    return context


@pytest.fixture(scope="module")
def ann(folder: Path, authority: Certificate) -> Certificate:
    return make_certificate(folder, "ann", authority)


def located(ann: Certificate) -> dict[str, str]:
    return {
        "ssl.certificate.location": str(ann.certificate),
        "ssl.key.location": str(ann.key),
    }


def written(ann: Certificate) -> dict[str, str]:
    return {
        "ssl.certificate.pem": ann.certificate.read_text(),
        "ssl.key.pem": ann.key.read_text(),
    }


def context_of(settings: dict[str, str]) -> ssl.SSLContext:
    security = {"security.protocol": "ssl", **settings}
    found = Connection("here:9092", security).kafka_python_settings()
    assert found.keys() == {"bootstrap_servers", "security_protocol", "ssl_context"}
    assert found["security_protocol"] == "SSL"
    context = found["ssl_context"]
    assert isinstance(context, ssl.SSLContext)
    return context


def shake_hands(client: ssl.SSLContext, broker: ssl.SSLContext, host: str) -> None:
    """SSLError if one does not like the other."""
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    ours = client.wrap_bio(down, up, server_hostname=host)
    theirs = broker.wrap_bio(up, down, server_side=True)
    for _ in range(5):
        for end in (ours, theirs):
            with suppress(ssl.SSLWantReadError):
                end.do_handshake()
    assert theirs.getpeercert()


def test_files(ann: Certificate, authority: Certificate, broker: ssl.SSLContext) -> None:
    context = context_of({"ssl.ca.location": str(authority.certificate), **located(ann)})
    shake_hands(context, broker, "elsewhere")
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        shake_hands(context, broker, "here")


def test_texts(ann: Certificate, authority: Certificate, broker: ssl.SSLContext) -> None:
    context = context_of({"ssl.ca.pem": authority.certificate.read_text(), **written(ann)})
    shake_hands(context, broker, "elsewhere")


def test_another_name(ann: Certificate, authority: Certificate, broker: ssl.SSLContext) -> None:
    trusted = {"ssl.ca.location": str(authority.certificate), **located(ann)}
    context = context_of({**trusted, "ssl.endpoint.identification.algorithm": "none"})
    shake_hands(context, broker, "here")
    assert context.verify_mode is ssl.CERT_REQUIRED


def test_nobody_is_looked_at(ann: Certificate, broker: ssl.SSLContext) -> None:
    with pytest.raises(ssl.SSLCertVerificationError):
        shake_hands(context_of(located(ann)), broker, "elsewhere")
    context = context_of({**located(ann), "enable.ssl.certificate.verification": "false"})
    shake_hands(context, broker, "here")


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"ssl.keystore.location": "/k.p12"}, "ssl.keystore.location"),
        ({"ssl.ca.location": "/no/such/file"}, "ssl.ca.location"),
        ({"ssl.ca.pem": "nonsense"}, "ssl.ca.pem"),
        ({"ssl.certificate.location": "/no/such/file"}, "ssl.certificate.location"),
        ({"ssl.certificate.pem": "nonsense", "ssl.key.pem": "4711"}, "ssl.certificate.pem"),
        ({"sasl.mechanism": "OAUTHBEARER"}, "sasl.mechanism"),
    ],
)
def test_what_cannot_be_used_is_named(settings: dict[str, str], key: str) -> None:
    with pytest.raises(ConfigError) as refused:
        context_of(settings)
    assert refused.value.key == key
    assert key in str(refused.value)
    assert "4711" not in str(refused.value)


def test_without_tls() -> None:
    security = {"security.protocol": "SASL_PLAINTEXT", "sasl.username": "ann", "client.id": "x"}
    assert Connection("a:1,b:2", security).kafka_python_settings() == {
        "bootstrap_servers": ["a:1", "b:2"],
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_plain_username": "ann",
    }
