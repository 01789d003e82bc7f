"""``CREATE EXTERNAL SINK … FROM t``: the keys that make a sink read a stream or table."""

from __future__ import annotations

from penstock.sql.catalog.source import Source

CONNECT = "org.apache.kafka.connect."
JSON = CONNECT + "json.JsonConverter"
STRING = CONNECT + "storage.StringConverter"
BYTES = CONNECT + "converters.ByteArrayConverter"
NUMBERS = {"INTEGER": "IntegerConverter", "BIGINT": "LongConverter", "DOUBLE": "DoubleConverter"}


def sink_keys(source: Source) -> dict[str, str]:
    """Its topic, and converters that fit its formats."""
    key_type = source.keys[0].type.name if source.keys else "VARCHAR"
    value_type = source.values[0].type.name if source.values else "VARCHAR"
    return {
        "topics": source.topic,
        **_converter("key", source.key_format, key_type),
        **_converter("value", source.value_format, value_type, schemas=source.with_schema),
    }


def _converter(part: str, form: str, kind: str, *, schemas: bool = False) -> dict[str, str]:
    if form == "JSON":
        enabled = str(schemas).lower()
        return {f"{part}.converter": JSON, f"{part}.converter.schemas.enable": enabled}
    if form == "DELIMITED" or kind == "VARCHAR":
        return {f"{part}.converter": STRING}
    number = NUMBERS.get(kind)
    return {f"{part}.converter": f"{CONNECT}converters.{number}" if number else BYTES}
