"""The keys of the object source that say how records were written by the object sink."""

from __future__ import annotations

from typing import Final

from penstock.plugins.objects.sink_config import ALL_FIELDS, ENCODING, FIELDS, known_fields
from penstock.sdk.config import ConfigDef, ConfigKey, Importance, Type
from penstock.sdk.config_validators import one_of_ignoring_case

ENVELOPE: Final = "input.envelope"
KEY_TYPE: Final = "input.key.type"
VALUE_TYPE: Final = "input.value.type"

AUTO: Final = "auto"
JSON: Final = "json"
STRING: Final = "string"
BYTES: Final = "bytes"

_TYPES: Final = (AUTO, JSON, STRING, BYTES)
_TYPE_DOC: Final = (
    "With input.envelope and a format that keeps no schema, what the {} of the records were: json, "
    "any values without a schema; string; bytes, as the object sink has them in base64. auto: json "
    "in jsonl and json, bytes in csv. In avro and parquet the object itself says it."
)

ENVELOPE_CONFIG: Final = ConfigDef(
    ConfigKey(
        ENVELOPE,
        Type.BOOLEAN,
        default=False,
        importance=Importance.HIGH,
        doc="Whether the objects were written by the object sink, or by Aiven's, with an envelope: "
        "each record then gets its own key, value, timestamp and headers back. With {{partition}} "
        "in file.name.template it also goes to its own partition.",
    ),
    ConfigKey(
        KEY_TYPE,
        default=AUTO,
        validator=one_of_ignoring_case(*_TYPES),
        doc=_TYPE_DOC.format("keys"),
        recommended=_TYPES,
    ),
    ConfigKey(
        VALUE_TYPE,
        default=AUTO,
        validator=one_of_ignoring_case(*_TYPES),
        doc=_TYPE_DOC.format("values"),
        recommended=_TYPES,
    ),
    ConfigKey(
        FIELDS,
        Type.LIST,
        default=["value"],
        validator=known_fields,
        doc="With input.envelope and input.format=csv: which columns a row has, as in the sink "
        f"that wrote it: {', '.join(ALL_FIELDS)}.",
    ),
    ConfigKey(
        ENCODING,
        default="base64",
        validator=one_of_ignoring_case("none", "base64"),
        doc="With input.envelope and input.format=csv: how keys and values were written.",
    ),
)
