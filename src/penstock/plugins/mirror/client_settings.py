"""Settings of a cluster's clients: Kafka's names to librdkafka's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from penstock.sdk.errors import ConfigError

SOURCE: Final = ("source.cluster.",)
TARGET: Final = ("target.cluster.",)
CONSUMER: Final = ("consumer.", "source.consumer.")
"""Prefixes of the configuration's keys; of two that set the same, the later one counts."""

_RENAMED: Final[Mapping[str, str]] = {
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "max.partition.fetch.bytes": "fetch.message.max.bytes",
    "send.buffer.bytes": "socket.send.buffer.bytes",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "ssl.truststore.certificates": "ssl.ca.pem",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
}
_WITHOUT_EFFECT: Final = re.compile(
    r"alias|poll\.timeout\.ms|max\.poll\.records|default\.api\.timeout\.ms"
    r"|(key|value)\.deserializer|override\..*|(consumer|producer|admin)\..*"
    r"|ssl\.truststore\.(type|password)|ssl\.keystore\.type"
)
"""What is not of the client, or says nothing to a client that is not Java's."""
_JAVA_ONLY: Final = re.compile(r".*(class|classes|reporters|serializer|providers)")
_JAAS: Final = re.compile(r'(\w+)\s*=\s*"((?:[^"\\]|\\.)*)"')
_LOGIN: Final = re.compile(r"\.(Plain|Scram)LoginModule\s")
_PEM_OR_P12: Final = "a PEM file, or a PKCS12 file whose name ends in .p12"


def client_settings(config: Mapping[str, str], *prefixes: str) -> dict[str, Any]:
    """The settings under these prefixes; ``ConfigError`` names a key that cannot be used."""
    settings: dict[str, Any] = {}
    for prefix in prefixes:
        for key, value in config.items():
            name = key.removeprefix(prefix)
            if name != key and not _WITHOUT_EFFECT.fullmatch(name):
                settings |= _translated(key, name, value.strip())
    return settings


def _translated(key: str, name: str, value: str) -> dict[str, str]:
    if name == "sasl.jaas.config":
        return _login(key, value)
    if name == "ssl.endpoint.identification.algorithm":
        return {name: value.lower() or "none"}
    if name == "ssl.truststore.location":
        return {"ssl.ca.location": _file(key, value, (".pem", ".crt", ".cer"), "a PEM file")}
    if name == "ssl.keystore.location":
        return _key_store(key, value)
    if _JAVA_ONLY.fullmatch(name):
        raise ConfigError(f"{key} names Java classes, which cannot run here: remove it.", key=key)
    return {_RENAMED.get(name, name): value}


def _login(key: str, value: str) -> dict[str, str]:
    options = dict(_JAAS.findall(value)) if _LOGIN.search(value) else {}
    if not {"username", "password"} <= options.keys():
        raise ConfigError(
            f"{key} is supported for PlainLoginModule and ScramLoginModule with username and "
            "password only. Or set sasl.username and sasl.password under the same prefix.",
            key=key,
        )
    return {f"sasl.{name}": re.sub(r"\\(.)", r"\1", options[name]) for name in _CREDENTIALS}


_CREDENTIALS: Final = ("username", "password")


def _key_store(key: str, value: str) -> dict[str, str]:
    file = _file(key, value, (".pem", ".crt", ".p12", ".pfx"), _PEM_OR_P12)
    if file.lower().endswith((".p12", ".pfx")):
        return {"ssl.keystore.location": file}
    return {"ssl.certificate.location": file, "ssl.key.location": file}


def _file(key: str, value: str, endings: tuple[str, ...], wanted: str) -> str:
    if not value.lower().endswith(endings):
        raise ConfigError(f"{key} must name {wanted}: Java's key stores cannot be read.", key=key)
    return value
