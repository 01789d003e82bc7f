"""``CREATE EXTERNAL SINK … FROM t``: the keys that make a sink read a stream or table."""

from __future__ import annotations

from penstock.sql.avro.registry import NO_REGISTRY, SqlRegistry
from penstock.sql.catalog.source import AVRO, Source

AVRO_CONVERTER = "io.confluent.connect.avro.AvroConverter"
CONNECT = "org.apache.kafka.connect."
JSON = CONNECT + "json.JsonConverter"
STRING = CONNECT + "storage.StringConverter"
BYTES = CONNECT + "converters.ByteArrayConverter"
NUMBERS = {"INTEGER": "IntegerConverter", "BIGINT": "LongConverter", "DOUBLE": "DoubleConverter"}


def sink_keys(source: Source, registry: SqlRegistry = NO_REGISTRY) -> dict[str, str]:
    """Its topic, and converters that fit its formats. No password is among the keys."""
    key_type = source.keys[0].type.name if source.keys else "VARCHAR"
    value_type = source.values[0].type.name if source.values else "VARCHAR"
    return {
        "topics": source.topic,
        **_converter("key", source.key_format, key_type),
        **_converter("value", source.value_format, value_type, schemas=source.with_schema),
        **_of_registry("key", source.key_format, registry),
        **_of_registry("value", source.value_format, registry),
    }


def _of_registry(part: str, form: str, registry: SqlRegistry) -> dict[str, str]:
    if form != AVRO:
        return {}
    keys = {f"{part}.converter.{key}": value for key, value in registry.plain_keys().items()}
    return {f"{part}.converter": AVRO_CONVERTER, **keys}


def _converter(part: str, form: str, kind: str, *, schemas: bool = False) -> dict[str, str]:
    if form == "JSON":
        enabled = str(schemas).lower()
        return {f"{part}.converter": JSON, f"{part}.converter.schemas.enable": enabled}
    if form == "DELIMITED" or kind == "VARCHAR":
        return {f"{part}.converter": STRING}
    number = NUMBERS.get(kind)
    return {f"{part}.converter": f"{CONNECT}converters.{number}" if number else BYTES}
