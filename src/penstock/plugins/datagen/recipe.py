"""What a configuration asks the datagen source to make."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.plugins.datagen.datagen_config import (
    DATAGEN_CONFIG,
    QUICKSTART,
    SCHEMA_FILENAME,
    SCHEMA_KEYFIELD,
    SCHEMA_STRING,
)
from penstock.plugins.datagen.draws import Draws
from penstock.plugins.datagen.makers import maker
from penstock.plugins.datagen.quickstarts import QUICKSTARTS
from penstock.sdk.errors import ConfigError
from penstock.sdk.schema import to_field
from penstock.sdk.transformers.avro_schema import AvroMapping


@dataclass(frozen=True)
class Recipe:
    """An Avro schema of a record, how its values lie in Arrow, and the field that is the key."""

    avro: Mapping[str, Any]
    field: pa.Field
    key_field: str | None


def recipe_of(config: Mapping[str, str]) -> Recipe:
    """``ConfigError`` names the key that is wrong, and why."""
    read = DATAGEN_CONFIG.parse(config)
    if read[SCHEMA_FILENAME]:
        raise ConfigError(
            "Tasks run on any host, so the schema cannot be read from a file: put it into "
            f"'{SCHEMA_STRING}'.",
            key=SCHEMA_FILENAME,
        )
    if bool(read[QUICKSTART]) == bool(read[SCHEMA_STRING]):
        message = f"Set either '{QUICKSTART}' or '{SCHEMA_STRING}'."
        raise ConfigError(message, key=QUICKSTART)
    key_field = read[SCHEMA_KEYFIELD] or None
    if read[QUICKSTART]:
        quickstart = QUICKSTARTS[read[QUICKSTART].lower()]
        return _recipe(quickstart.schema, key_field or quickstart.key_field)
    return _recipe(_parsed(read[SCHEMA_STRING]), key_field)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise ConfigError(f"The schema is not JSON: {error}.", key=SCHEMA_STRING) from None


def _recipe(avro: Any, key_field: str | None) -> Recipe:
    if not isinstance(avro, dict) or avro.get("type") != "record":
        raise ConfigError("The schema must be an Avro record.", key=SCHEMA_STRING)
    try:
        schema = AvroMapping().map(avro).schema
        maker(avro, Draws(0))(np.arange(8, dtype=np.uint64)).cast(to_field(schema, "value").type)
    except KeyError as error:
        message = f"The schema lacks {error} somewhere."
        raise ConfigError(message, key=SCHEMA_STRING) from None
    except (ValueError, TypeError, pa.ArrowException) as error:
        raise ConfigError(f"The schema cannot be used: {error}.", key=SCHEMA_STRING) from None
    if key_field and key_field not in schema.fields:
        message = f"The schema has no field {key_field}; it has {', '.join(schema.fields)}."
        raise ConfigError(message, key=SCHEMA_KEYFIELD)
    return Recipe(avro, to_field(schema, "value"), key_field)
