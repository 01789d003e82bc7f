"""JSON Schema as Connect's schemas, as Confluent's JsonSchemaConverter reads it.

A property that is not required is optional, also where the schema does not allow null.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from penstock.columnar.json_text import JsonOptions, Misfit
from penstock.columnar.json_values import value_of
from penstock.registry.json_schema_writing import CONNECT_TYPES
from penstock.sdk.schema import Schema, SchemaType

Json = Mapping[str, Any]
_BY_CONNECT: Final = {word: kind for kind, word in CONNECT_TYPES.items()}
_TYPES: Final = {
    "integer": SchemaType.INT64,
    "number": SchemaType.FLOAT64,
    "boolean": SchemaType.BOOLEAN,
    "string": SchemaType.STRING,
}
_CHOICES: Final = ("oneOf", "anyOf")


class JsonSchemaReader:
    """Reads one JSON Schema, whose parts may refer to each other."""

    def __init__(self, root: Any, options: JsonOptions) -> None:
        self._root = root
        self._options = options
        self._followed: list[str] = []

    def whole(self) -> Schema | None:
        """The schema in Connect's terms, None if it allows anything; Misfit if it has none."""
        if self._root is True or (isinstance(self._root, dict) and not _says_anything(self._root)):
            return None
        return self._schema(self._root)

    def _schema(self, json: Any) -> Schema:
        if not isinstance(json, dict):
            raise Misfit(f"{json!r} is not a JSON Schema with a type")
        if "$ref" in json:
            return self._referred(json["$ref"])
        for choice in _CHOICES:
            if choice in json:
                return self._chosen(json[choice], choice)
        kinds = json.get("type")
        if isinstance(kinds, list):
            others = [kind for kind in kinds if kind != "null"]
            return self._chosen([{**json, "type": kind} for kind in others], "type", kinds)
        return self._described(self._plain(json), json)

    def _chosen(self, choices: Any, word: str, kinds: Any = None) -> Schema:
        others = [each for each in choices if each != {"type": "null"}]
        if len(others) != 1:
            raise Misfit(f"{word} with more than one type and null is not supported")
        schema = self._schema(others[0])
        null = len(others) < len(choices) or "null" in (kinds or ())
        return replace(schema, optional=schema.optional or null)

    def _referred(self, reference: str) -> Schema:
        if reference in self._followed:
            raise Misfit(f"{reference} contains itself, which Connect's schemas cannot")
        self._followed.append(reference)
        try:
            return self._schema(self._found(reference))
        finally:
            self._followed.pop()

    def _found(self, reference: str) -> Any:
        found = self._root
        if not reference.startswith("#"):
            raise Misfit(f"the reference {reference} to another document is not supported")
        for part in reference.removeprefix("#").strip("/").split("/"):
            name = part.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, dict) or (name and name not in found):
                raise Misfit(f"the reference {reference} leads nowhere")
            found = found[name] if name else found
        return found

    def _plain(self, json: Json) -> Schema:
        kind, told = json.get("type"), json.get("connect.type")
        if told == "map":
            return self._map(json)
        if told in _BY_CONNECT and kind in ("integer", "number", "string"):
            return Schema(_BY_CONNECT[told])
        if kind == "object":
            return self._object(json)
        if kind == "array":
            return Schema.array(self._schema(json.get("items")))
        if kind is None and "enum" in json:
            return Schema.string()
        if kind not in _TYPES:
            raise Misfit(f"JSON Schema type {kind} has no Connect schema")
        return Schema(_TYPES[kind])

    def _map(self, json: Json) -> Schema:
        if json.get("type") == "object":
            return Schema.map(Schema.string(), self._schema(json.get("additionalProperties")))
        entry = json.get("items", {}).get("properties", {})
        return Schema.map(self._schema(entry.get("key")), self._schema(entry.get("value")))

    def _object(self, json: Json) -> Schema:
        properties = json.get("properties")
        if not properties and isinstance(json.get("additionalProperties"), dict):
            return Schema.map(Schema.string(), self._schema(json["additionalProperties"]))
        required = json.get("required", ())
        named = sorted((properties or {}).items(), key=_index)
        fields = {name: self._property(inner, name in required) for name, inner in named}
        return Schema.struct(fields)

    def _property(self, json: Any, required: bool) -> Schema:
        schema = self._schema(json)
        return schema if required else replace(schema, optional=True)

    def _described(self, schema: Schema, json: Json) -> Schema:
        told = {
            "name": json.get("title"),
            "doc": json.get("description"),
            "version": json.get("connect.version"),
            "parameters": json.get("connect.parameters"),
        }
        schema = replace(schema, **{key: value for key, value in told.items() if value is not None})
        if json.get("default") is None:
            return schema
        return replace(schema, default=value_of(json["default"], schema, self._options))


def _index(item: tuple[str, Any]) -> int:
    index = item[1].get("connect.index") if isinstance(item[1], dict) else None
    return index if isinstance(index, int) else 1_000_000


def _says_anything(json: Json) -> bool:
    return any(key in json for key in ("type", "$ref", "enum", *_CHOICES, "allOf", "properties"))
