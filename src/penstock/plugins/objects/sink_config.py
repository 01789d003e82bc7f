"""The keys of the object sink: Aiven's names and values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from penstock.plugins.objects.aiven_keys import UNUSED_BY_SINKS
from penstock.plugins.objects.sink_names import ObjectName
from penstock.plugins.objects.store_config import STORE_CONFIG
from penstock.sdk.config import ConfigDef, ConfigKey, Importance, Type
from penstock.sdk.config_validators import at_least, one_of, one_of_ignoring_case
from penstock.sdk.errors import ConfigError

TEMPLATE: Final = "file.name.template"
TIMESTAMP_SOURCE: Final = "file.name.timestamp.source"
TIMEZONE: Final = "file.name.timestamp.timezone"
COMPRESSION: Final = "file.compression.type"
FORMAT: Final = "format.output.type"
FIELDS: Final = "format.output.fields"
ENCODING: Final = "format.output.fields.value.encoding"
ENVELOPE: Final = "format.output.envelope"
MAX_RECORDS: Final = "file.max.records"
MAX_BYTES: Final = "file.max.bytes"
MAX_AGE: Final = "file.max.age.ms"

DEFAULT_NAME: Final = "{{topic}}-{{partition}}-{{start_offset}}"
ALL_FIELDS: Final = ("key", "value", "offset", "timestamp", "headers")
FORMATS: Final = ("avro", "csv", "json", "jsonl", "parquet")
SUFFIXES: Final = {"none": "", "gzip": ".gz", "snappy": ".snappy", "zstd": ".zst"}
OLD_NAMES: Final = {
    "output_compression": COMPRESSION,
    "output_fields": FIELDS,
    "timestamp.timezone": TIMEZONE,
    "timestamp.source": TIMESTAMP_SOURCE,
}


def known_fields(name: str, value: Any) -> None:
    """ConfigError unless each is a field of a record, and is there once."""
    wrong = [each for each in value if each.lower() not in ALL_FIELDS]
    if wrong or not value or len(set(value)) < len(value):
        allowed = ", ".join(ALL_FIELDS)
        raise ConfigError(f"Invalid value for {name}: name each once, of {allowed}", key=name)


OBJECT_SINK_CONFIG: Final = (STORE_CONFIG + UNUSED_BY_SINKS) + ConfigDef(
    ConfigKey(
        TEMPLATE,
        default=None,
        importance=Importance.HIGH,
        doc="The name of an object, with the variables {{topic}}, {{partition}}, {{start_offset}} "
        "(both with :padding=true for leading zeros) and {{timestamp:unit=yyyy}} (MM, dd, HH). It "
        "must have the first three, or objects would replace each other. With {{key}} as well, "
        "each key has objects of its own; with {{key}} and neither {{start_offset}} nor "
        "{{timestamp}}, each key has one object with its latest record. Unset: "
        f"{DEFAULT_NAME}, with .avro for Avro and the ending of the compression.",
    ),
    ConfigKey(
        TIMESTAMP_SOURCE,
        default="WALLCLOCK",
        validator=one_of_ignoring_case("WALLCLOCK", "EVENT"),
        doc="What {{timestamp}} is: the time at which the object was begun, or the timestamp of "
        "its first record.",
    ),
    ConfigKey(TIMEZONE, default="Z", doc="The time zone of {{timestamp}}, such as Europe/Berlin."),
    ConfigKey(
        FORMAT,
        default="csv",
        validator=one_of_ignoring_case(*FORMATS),
        importance=Importance.HIGH,
        doc="The format of the objects: avro, csv, json (one array), jsonl (a line a record) or "
        "parquet.",
    ),
    ConfigKey(
        FIELDS,
        Type.LIST,
        default=["value"],
        validator=known_fields,
        importance=Importance.HIGH,
        doc="What is written of each record, in this order: key, value, offset, timestamp, "
        "headers. With all but the offset, records can be restored as they were.",
    ),
    ConfigKey(
        ENCODING,
        default="base64",
        validator=one_of_ignoring_case("none", "base64"),
        doc="How csv has keys and values: in base64, or as they are.",
    ),
    ConfigKey(
        ENVELOPE,
        Type.BOOLEAN,
        default=True,
        doc="Whether each record is an object with the fields above; false writes the one field "
        "alone.",
    ),
    ConfigKey(
        COMPRESSION,
        default="gzip",
        validator=one_of(*SUFFIXES),
        doc="How objects are compressed as a whole; Parquet compresses its columns instead.",
    ),
    ConfigKey(
        MAX_RECORDS,
        Type.LONG,
        default=0,
        validator=at_least(0),
        doc="The most records of an object; 0 sets no limit.",
    ),
    ConfigKey(
        MAX_BYTES,
        Type.LONG,
        default=128 * 1024 * 1024,
        validator=at_least(0),
        doc="The size, before compression, at which an object is complete; 0 sets no limit.",
    ),
    ConfigKey(
        MAX_AGE,
        Type.LONG,
        default=60_000,
        validator=at_least(0),
        doc="Milliseconds after its first record was read at which an object is complete; 0 sets "
        "no limit. Until then its offsets are not committed: the topic keeps the records.",
    ),
    *(
        ConfigKey(
            old,
            Type.LIST if new == FIELDS else Type.STRING,
            default=None,
            importance=Importance.LOW,
            doc=f"Older name of {new}.",
        )
        for old, new in OLD_NAMES.items()
    ),
)


@dataclass(frozen=True)
class SinkSettings:
    """The configuration of one sink, checked."""

    name: ObjectName
    by_event: bool
    format: str
    fields: tuple[str, ...]
    base64: bool
    envelope: bool
    compression: str
    max_records: int
    max_bytes: int
    max_age: int

    def layout(self) -> str:
        """A text that differs where objects of the same records would differ."""
        looks = (self.format, self.fields, self.base64, self.envelope, self.compression)
        return f"{self.name} {self.by_event} {looks}"

    @staticmethod
    def of(config: Mapping[str, str]) -> SinkSettings:
        """ConfigError for the first thing that is wrong."""
        for key, message in settings_errors(config):
            raise ConfigError(f"{key}: {message}", key=key)
        values = _values(config)
        return SinkSettings(
            name=ObjectName(_template(values), values[TIMEZONE]),
            by_event=values[TIMESTAMP_SOURCE].upper() == "EVENT",
            format=values[FORMAT].lower(),
            fields=tuple(field.lower() for field in values[FIELDS]),
            base64=values[ENCODING].lower() == "base64",
            envelope=values[ENVELOPE],
            compression=values[COMPRESSION],
            max_records=values[MAX_RECORDS],
            max_bytes=values[MAX_BYTES],
            max_age=values[MAX_AGE],
        )


def settings_errors(config: Mapping[str, str]) -> Sequence[tuple[str, str]]:
    """What is wrong between keys: (key, message) pairs."""
    try:
        values = _values(config)
    except ConfigError:
        return ()  # told with its own key
    found = []
    if not values[ENVELOPE] and len(values[FIELDS]) != 1:
        found.append((ENVELOPE, f"false needs exactly one field in {FIELDS}"))
    if not (values[MAX_RECORDS] or values[MAX_BYTES] or values[MAX_AGE]):
        found.append((MAX_AGE, f"set it, {MAX_RECORDS} or {MAX_BYTES}: no object would ever end"))
    try:
        name = ObjectName(_template(values), values[TIMEZONE])
        if name.latest and values[MAX_RECORDS] > 1:
            found.append((MAX_RECORDS, f"0 or 1: by {TEMPLATE} an object has one record"))
    except ConfigError as error:
        found.append((error.key or TEMPLATE, str(error)))
    return found


def _values(config: Mapping[str, str]) -> dict[str, Any]:
    renamed = {OLD_NAMES[key]: text for key, text in config.items() if key in OLD_NAMES}
    return OBJECT_SINK_CONFIG.parse({**renamed, **config})


def _template(values: Mapping[str, Any]) -> str:
    if values[TEMPLATE]:
        return str(values[TEMPLATE])
    kind = values[FORMAT].lower()
    ending = ".avro" if kind == "avro" else ""
    return DEFAULT_NAME + ending + ("" if kind == "parquet" else SUFFIXES[values[COMPRESSION]])
