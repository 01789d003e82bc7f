"""Requests made up from an OpenAPI document: fitting ones, and others at the same places."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from hypothesis import strategies as st

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NAMES = TEXTS.filter(lambda text: text.strip("./") != "")
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
FLAGS = st.sampled_from(["true", "false", "TRUE", "status", "info", "worker", "latest"]) | TEXTS


@dataclass(frozen=True)
class Operation:
    """One verb of one path, as the document describes it."""

    method: str
    path: str
    description: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


@dataclass(frozen=True)
class MadeUp:
    """A request."""

    url: str
    query: dict[str, str]
    content: bytes | None


def operations(document: dict[str, Any]) -> Iterator[Operation]:
    """Everything the document describes."""
    for path, verbs in document["paths"].items():
        for method, description in verbs.items():
            yield Operation(method.upper(), path, description)


def requests(operation: Operation) -> st.SearchStrategy[MadeUp]:
    """Requests for one operation."""
    parameters = operation.description.get("parameters", [])
    named = {p["name"]: NAMES for p in parameters if p["in"] == "path"}
    asked = {p["name"]: FLAGS for p in parameters if p["in"] == "query"}
    return st.builds(
        lambda names, query, content: MadeUp(_filled(operation.path, names), query, content),
        st.fixed_dictionaries(named),
        st.fixed_dictionaries({}, optional=asked),
        _bodies(operation.description),
    )


def _filled(path: str, names: dict[str, str]) -> str:
    for name, value in names.items():
        path = path.replace(f"{{{name}}}", quote(value, safe=""))
    return path


def _bodies(description: dict[str, Any]) -> st.SearchStrategy[bytes | None]:
    if "requestBody" not in description:
        return st.none()
    schema = description["requestBody"]["content"]["application/json"]["schema"]
    written = (fitting(schema) | ANY_JSON).map(lambda value: json.dumps(value).encode())
    return written | st.binary(max_size=30)


def fitting(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that fit a schema; only what the document uses is understood."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kinds = schema.get("type", "object")
    listed = [kinds] if isinstance(kinds, str) else kinds
    return st.one_of([_of_type(kind, schema) for kind in listed])


def _of_type(kind: str, schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    if kind == "array":
        return st.lists(fitting(schema["items"]), max_size=3)
    if kind == "object":
        return _objects(schema)
    return {"string": TEXTS, "null": st.none()}[kind]


def _objects(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    fields = {name: fitting(inner) for name, inner in schema.get("properties", {}).items()}
    if not fields:
        inner = schema.get("additionalProperties")
        return st.dictionaries(TEXTS, fitting(inner) if inner else ANY_JSON, max_size=4)
    needed = set(schema.get("required", ()))
    return st.fixed_dictionaries(
        {name: field for name, field in fields.items() if name in needed},
        optional={name: field for name, field in fields.items() if name not in needed},
    )
