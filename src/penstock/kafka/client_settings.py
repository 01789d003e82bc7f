"""Translates client settings from the names in Kafka's documentation to librdkafka's.

Most names are the same. The rest is translated here, and settings that only Java clients have are
rejected by name. librdkafka itself validates the result: see ``refusal``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from confluent_kafka import KafkaException

from penstock.kafka import clients
from penstock.kafka.clients import Connection
from penstock.sdk.errors import ConfigError

CLIENTS = ("producer", "consumer", "admin")

RENAMED: Mapping[str, str] = {
    "max.request.size": "message.max.bytes",
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "max.partition.fetch.bytes": "fetch.message.max.bytes",
    "send.buffer.bytes": "socket.send.buffer.bytes",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "compression.gzip.level": "compression.level",
    "compression.lz4.level": "compression.level",
    "compression.zstd.level": "compression.level",
    "ssl.truststore.certificates": "ssl.ca.pem",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
}
JAAS = re.compile(
    r"\s*org\.apache\.kafka\.common\.security\.(?:plain\.Plain|scram\.Scram)LoginModule\s+required"
    r"\s+(?P<options>.*?);?\s*",
    re.DOTALL,
)
JAAS_OPTION = re.compile(r"(\w+)\s*=\s*\"((?:[^\"\\]|\\.)*)\"")
JAVA_ONLY = re.compile(r".*(class|classes|reporters|serializer|deserializer|providers)$")

HELD: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "producer": {
        "acks": ("all", "-1"),
        "enable.idempotence": ("true",),
        "transactional.id": (),
        "transaction.timeout.ms": (),
        # Both partition as Java clients do: offsets of a source partition stay on one partition.
        "partitioner": ("murmur2_random", "murmur2"),
        "bootstrap.servers": (),
    },
    "consumer": {
        "group.id": (),
        "group.instance.id": (),
        "group.protocol": (),
        "enable.auto.commit": ("false",),
        "enable.auto.offset.store": ("false",),
        "enable.partition.eof": ("true",),
        "auto.offset.reset": ("earliest", "latest"),
        "isolation.level": ("read_committed",),
        "bootstrap.servers": (),
    },
    "admin": {"bootstrap.servers": ()},
}
"""Settings that the worker itself depends on, and the values that work."""


Settings = Mapping[str, str]


def client_settings(given: Settings) -> dict[str, Any]:
    """``given`` for a librdkafka client; ConfigError names a key that it does not support."""
    settings: dict[str, Any] = {}
    for key in given:
        settings |= translated(key, given)
    return settings


def acceptable(kind: str, key: str, value: str) -> bool:
    """Whether such a client meets the worker's needs."""
    return key not in HELD[kind] or value.strip().lower() in HELD[kind][key]


def translated(key: str, given: Settings) -> dict[str, str]:
    """What one given setting is in librdkafka; often unchanged."""
    if key in SPECIAL:
        return SPECIAL[key](given)
    if JAVA_ONLY.fullmatch(key):
        raise ConfigError(f"{key} names Java classes, which cannot run here: remove it", key=key)
    return {RENAMED.get(key, key): given[key]}


def _buffer_memory(given: Settings) -> dict[str, str]:
    size = given["buffer.memory"].strip()
    if not size.isdigit():
        raise ConfigError("buffer.memory must be a number of bytes", key="buffer.memory")
    return {"queue.buffering.max.kbytes": str(max(1, int(size) // 1024))}


def _jaas(given: Settings) -> dict[str, str]:
    match = JAAS.fullmatch(given["sasl.jaas.config"])
    options = dict(JAAS_OPTION.findall(match["options"])) if match else {}
    if "username" not in options or "password" not in options:
        raise ConfigError(
            "sasl.jaas.config is supported only for PlainLoginModule and ScramLoginModule with "
            'username="..." password="..."; or set sasl.username and sasl.password instead',
            key="sasl.jaas.config",
        )
    plain = {name: re.sub(r"\\(.)", r"\1", text) for name, text in options.items()}
    return {"sasl.username": plain["username"], "sasl.password": plain["password"]}


def names_a_group(text: str) -> bool:
    """Whether a consumer can be created with this ``group.id``: a blank one kills the process."""
    return bool(text.strip()) and text.strip().isprintable()


def _group(given: Settings) -> dict[str, str]:
    group = given["group.id"]
    return {"group.id": group.strip()} if names_a_group(group) else {}


def _host_check(given: Settings) -> dict[str, str]:
    key = "ssl.endpoint.identification.algorithm"
    return {key: given[key].strip().lower() or "none"}


def _trust_store(given: Settings) -> dict[str, str]:
    file, _ = _store(given, "truststore", {"PEM"}, "a PEM file as ssl.ca.location")
    return {"ssl.ca.location": file}


def _key_store(given: Settings) -> dict[str, str]:
    hint = "a PKCS12 file, or PEM files as ssl.certificate.location and ssl.key.location"
    file, kind = _store(given, "keystore", {"PEM", "PKCS12"}, hint)
    if kind == "PEM":
        return {"ssl.certificate.location": file, "ssl.key.location": file}
    return {"ssl.keystore.location": file}


def _store(given: Settings, store: str, kinds: set[str], hint: str) -> tuple[str, str]:
    key = f"ssl.{store}.location"
    file = given[key]
    guessed = "PKCS12" if file.lower().endswith((".p12", ".pfx")) else "JKS"
    kind = given.get(f"ssl.{store}.type", guessed).strip().upper()
    if kind not in kinds:
        text = f"{key} is a {kind} file, which is not supported: give {hint}"
        raise ConfigError(text, key=key)
    return file, kind


SPECIAL: Mapping[str, Callable[[Settings], dict[str, str]]] = {
    "buffer.memory": _buffer_memory,
    "sasl.jaas.config": _jaas,
    "ssl.endpoint.identification.algorithm": _host_check,
    "ssl.truststore.location": _trust_store,
    "ssl.keystore.location": _key_store,
    "group.id": _group,
    # These say how to read the two above.
    "ssl.truststore.type": lambda _: {},
    "ssl.keystore.type": lambda _: {},
    "ssl.truststore.password": lambda _: {},
}

NOWHERE = Connection("")


def refusal(kind: str, settings: Mapping[str, Any]) -> str:
    """librdkafka's error message for such a client; "" if it accepts the settings."""
    try:
        if kind == "producer":
            clients.transactional_producer(NOWHERE, "check", **settings)
        elif kind == "consumer":
            clients.reader(NOWHERE, **settings).close()
        else:
            clients.admin(NOWHERE, **settings)
    except KafkaException as error:
        return str(error.args[0].str()).strip().removeprefix(f"Failed to create {kind}: ")
    return ""
