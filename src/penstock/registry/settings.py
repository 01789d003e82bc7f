"""The config keys that converters with a schema registry have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from penstock.sdk.config import ConfigDef, ConfigKey, Importance, Type, Width, invalid_value
from penstock.sdk.config_validators import one_of_ignoring_case
from penstock.sdk.errors import ConfigError

STRATEGIES = "io.confluent.kafka.serializers.subject."
BY_TOPIC = f"{STRATEGIES}TopicNameStrategy"
BY_RECORD = f"{STRATEGIES}RecordNameStrategy"
BY_BOTH = f"{STRATEGIES}TopicRecordNameStrategy"


def _urls(name: str, value: Any) -> None:
    if not value:
        raise invalid_value(name, value, "Name at least one URL, such as http://localhost:8081")
    for url in value:
        _check_url(name, url)


def _check_url(name: str, url: str) -> None:
    parts = urlsplit(url)
    if "@" in parts.netloc:
        # The value itself is not in the error: it holds a password.
        raise ConfigError(
            f"{name} contains a user: put the user and password into basic.auth.user.info, which "
            "is never shown, with basic.auth.credentials.source=USER_INFO",
            key=name,
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise invalid_value(name, url, "It must be an http:// or https:// URL")


def _strategy(name: str, value: Any) -> None:
    if simple(value) not in map(simple, (BY_TOPIC, BY_RECORD, BY_BOTH)):
        known = ", ".join((BY_TOPIC, BY_RECORD, BY_BOTH))
        raise invalid_value(name, value, f"Known strategies are {known}")


def simple(class_name: str) -> str:
    """The name of a class without its package."""
    return class_name.rpartition(".")[2]


def _key(name: str, kind: Type, default: Any, doc: str, **more: Any) -> ConfigKey:
    more.setdefault("importance", Importance.MEDIUM)
    return ConfigKey(name, kind, default, doc=doc, group="Registry", width=Width.MEDIUM, **more)


REGISTRY_KEYS = ConfigDef(
    ConfigKey(
        "schema.registry.url",
        Type.LIST,
        validator=_urls,
        importance=Importance.HIGH,
        doc="URLs of the schema registry, tried in turn.",
        group="Registry",
        width=Width.LONG,
    ),
    _key(
        "auto.register.schemas",
        Type.BOOLEAN,
        True,
        "Whether schemas of written records are registered. If not, they have to be there.",
    ),
    _key(
        "use.latest.version",
        Type.BOOLEAN,
        False,
        "Write with the latest schema of the subject; needs auto.register.schemas=false.",
    ),
    _key(
        "normalize.schemas",
        Type.BOOLEAN,
        False,
        "Whether the registry normalizes schemas before it compares them.",
    ),
    *(
        _key(
            f"{side}.subject.name.strategy",
            Type.STRING,
            BY_TOPIC,
            f"How the subject of a {side}'s schema is named.",
            validator=_strategy,
        )
        for side in ("key", "value")
    ),
    _key(
        "basic.auth.credentials.source",
        Type.STRING,
        "",
        "USER_INFO: log in with basic.auth.user.info.",
        validator=one_of_ignoring_case("", "USER_INFO"),
    ),
    _key("basic.auth.user.info", Type.PASSWORD, "", "user:password"),
    _key("schema.registry.basic.auth.user.info", Type.PASSWORD, "", "As basic.auth.user.info."),
    _key(
        "bearer.auth.credentials.source",
        Type.STRING,
        "",
        "STATIC_TOKEN: log in with bearer.auth.token.",
        validator=one_of_ignoring_case("", "STATIC_TOKEN"),
    ),
    _key("bearer.auth.token", Type.PASSWORD, "", "The token."),
    _key(
        "schema.registry.ssl.truststore.location",
        Type.STRING,
        "",
        "Certificates to trust, as a PEM file. Default: those of the certifi package.",
    ),
    _key(
        "schema.registry.ssl.keystore.location",
        Type.STRING,
        "",
        "The client's certificate and key, as a PEM file.",
    ),
    _key("schema.registry.ssl.key.password", Type.PASSWORD, "", "Password of the client's key."),
    _key("schema.registry.request.timeout.ms", Type.INT, 10_000, "Patience with one request."),
    _key("schemas.cache.config", Type.INT, 1000, "How many schemas are cached."),
)


@dataclass(frozen=True)
class RegistrySettings:
    """How to reach a registry. Picklable; its text shows no secret."""

    urls: tuple[str, ...]
    client: Mapping[str, Any] = field(repr=False)
    """The settings of confluent_kafka's client."""
    cached: int = 1000

    @staticmethod
    def of(parsed: Mapping[str, Any]) -> RegistrySettings:
        """From parsed values of ``REGISTRY_KEYS``; ConfigError if they do not go together."""
        urls = tuple(url.rstrip("/") for url in parsed["schema.registry.url"])
        client = {
            "url": ",".join(urls),
            "timeout": parsed["schema.registry.request.timeout.ms"] / 1000,
            # The lease retries, and its errors.retry.timeout says how long.
            "max.retries": 0,
            **_login(parsed),
            **_tls(parsed),
        }
        return RegistrySettings(urls, client, max(1, parsed["schemas.cache.config"]))


def _login(parsed: Mapping[str, Any]) -> dict[str, str]:
    if parsed["bearer.auth.credentials.source"]:
        if not parsed["bearer.auth.token"]:
            raise ConfigError("bearer.auth.token is missing", key="bearer.auth.token")
        # The client wants to be told of a cluster, which only Confluent's cloud has.
        return {
            "bearer.auth.credentials.source": "STATIC_TOKEN",
            "bearer.auth.token": parsed["bearer.auth.token"],
            "bearer.auth.logical.cluster": "",
        }
    user = parsed["basic.auth.user.info"] or parsed["schema.registry.basic.auth.user.info"]
    if not parsed["basic.auth.credentials.source"]:
        if user:
            raise ConfigError(
                "basic.auth.user.info is only used with basic.auth.credentials.source=USER_INFO",
                key="basic.auth.credentials.source",
            )
        return {}
    if ":" not in user:
        raise ConfigError(
            "basic.auth.user.info must have the form user:password", key="basic.auth.user.info"
        )
    return {"basic.auth.user.info": user}


def _tls(parsed: Mapping[str, Any]) -> dict[str, str]:
    prefix = "schema.registry.ssl."
    named = {
        "ssl.ca.location": parsed[f"{prefix}truststore.location"],
        "ssl.certificate.location": parsed[f"{prefix}keystore.location"],
        "ssl.key.password": parsed[f"{prefix}key.password"],
    }
    return {key: value for key, value in named.items() if value}
