"""A connection, as Spark's own client is told it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock.consumers import InvalidConsumer, dataframe
from penstock.consumers.java_settings import java_settings
from penstock.kafka.clients import Connection

PKCS8 = "-----BEGIN PRIVATE KEY-----\nMIG=\n-----END PRIVATE KEY-----\n"
PKCS1 = PKCS8.replace("PRIVATE", "RSA PRIVATE")


def told(**security: str) -> dict[str, str]:
    given = {key.replace("_", "."): value for key, value in security.items()}
    return java_settings(Connection("b:9092", given))


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """A certificate and its key."""
    (tmp_path / "c.pem").write_text("the certificate")
    (tmp_path / "k.pem").write_text(PKCS8)
    return {
        "ssl_certificate_location": str(tmp_path / "c.pem"),
        "ssl_key_location": str(tmp_path / "k.pem"),
    }


def test_a_client_certificate_is_told_as_text(files: dict[str, str]) -> None:
    found = told(**files, ssl_key_password="pw", ssl_ca_location="/ca.pem")
    assert found == {
        "bootstrap.servers": "b:9092",
        "isolation.level": "read_committed",
        "ssl.truststore.location": "/ca.pem",
        "ssl.truststore.type": "PEM",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": "the certificate",
        "ssl.keystore.key": PKCS8,
        "ssl.key.password": "pw",
    }


def test_what_is_text_already() -> None:
    found = told(ssl_ca_pem="ca", ssl_certificate_pem="cert", ssl_key_pem=PKCS8)
    assert found["ssl.truststore.certificates"] == "ca"
    assert found["ssl.truststore.type"] == found["ssl.keystore.type"] == "PEM"


def test_what_javas_client_cannot_do_with(files: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "k.pem").write_text(PKCS1)
    with pytest.raises(
        InvalidConsumer, match=r"ssl.key.location: .*PKCS#8.*openssl pkcs8"
    ) as told_:
        told(**files)
    assert "MIG" not in str(told_.value)
    with pytest.raises(InvalidConsumer, match=r"ssl.key.location go together"):
        told(ssl_certificate_location=files["ssl_certificate_location"])
    with pytest.raises(InvalidConsumer, match=r"ssl.key.location is not a file .*nowhere"):
        told(ssl_key_location="/nowhere")


def test_a_login() -> None:
    found = told(sasl_mechanisms="SCRAM-SHA-256", sasl_username="ann", sasl_password='p"w')
    assert found["sasl.mechanism"] == "SCRAM-SHA-256"
    assert found["sasl.jaas.config"].endswith(
        'ScramLoginModule required username="ann" password="p\\"w";'
    )


def test_options_of_a_frame_are_checked_as_a_consumers() -> None:
    spark: Any = None
    with pytest.raises(InvalidConsumer, match="when_gone is one of fail, earliest, latest"):
        dataframe(spark, "t", "c1", when_gone="sometimes", bootstrap_servers="unasked:9092")
