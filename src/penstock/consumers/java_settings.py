"""A connection in the settings of Java's clients, which Spark uses."""

from __future__ import annotations

import json
from pathlib import Path

from penstock.consumers.errors import InvalidConsumer
from penstock.kafka.clients import Connection

JAVA_NAMES = {
    "sasl.mechanisms": "sasl.mechanism",
    "ssl.ca.location": "ssl.truststore.location",
    "ssl.ca.pem": "ssl.truststore.certificates",
    "ssl.certificate.pem": "ssl.keystore.certificate.chain",
    "ssl.key.pem": "ssl.keystore.key",
}
FILES = {"ssl.certificate.location": "ssl.certificate.pem", "ssl.key.location": "ssl.key.pem"}
"""Java wants both in one file, or as text, which also needs no files where executors run."""
PEM_KEYS = ("-----BEGIN PRIVATE KEY-----", "-----BEGIN ENCRYPTED PRIVATE KEY-----")


def java_settings(connection: Connection) -> dict[str, str]:
    """The settings; InvalidConsumer, which names one, if Java's clients cannot do with it."""
    read = dict(_text(key, value) for key, value in connection.security.items())
    _refuse_untold(read)
    given = {JAVA_NAMES.get(key, key): value for key, value in read.items()}
    name, password = given.pop("sasl.username", None), given.pop("sasl.password", None)
    if name is not None and "sasl.jaas.config" not in given:
        given["sasl.jaas.config"] = _login(given.get("sasl.mechanism", ""), name, password or "")
    return {
        "bootstrap.servers": connection.bootstrap_servers,
        "isolation.level": "read_committed",
        **given,
        **_types(read),
    }


def _text(key: str, value: str) -> tuple[str, str]:
    """A setting; if it is the name of a file that Java is to have as text, that."""
    if key not in FILES:
        return key, value
    try:
        return FILES[key], Path(value).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidConsumer(
            f"{key} is not a file that can be read: {error}. Give the path of one."
        ) from None


def _refuse_untold(read: dict[str, str]) -> None:
    certificate, key = read.get("ssl.certificate.pem"), read.get("ssl.key.pem")
    if (certificate is None) != (key is None):
        raise InvalidConsumer(
            "ssl.certificate.location and ssl.key.location go together: give both"
        )
    if key is not None and not any(begin in key for begin in PEM_KEYS):
        raise InvalidConsumer(
            "ssl.key.location: Spark's client reads keys in PKCS#8 (BEGIN PRIVATE KEY) alone: "
            "`openssl pkcs8 -topk8 -nocrypt -in KEY -out NEW` makes one of yours (with a password: "
            "-v1 PBE-SHA1-3DES instead of -nocrypt)"
        )


def _types(read: dict[str, str]) -> dict[str, str]:
    """Librdkafka's files are PEM, unless a keystore's type is named."""
    authority = "ssl.ca.location" in read or "ssl.ca.pem" in read
    types = {"ssl.truststore.type": "PEM"} if authority else {}
    return types | ({"ssl.keystore.type": "PEM"} if "ssl.key.pem" in read else {})


def _login(mechanism: str, name: str, password: str) -> str:
    package = "scram.Scram" if mechanism.startswith("SCRAM") else "plain.Plain"
    module = f"org.apache.kafka.common.security.{package}LoginModule"
    return f"{module} required username={json.dumps(name)} password={json.dumps(password)};"
