"""Checks a resource against its schema as an API server does, for where there is none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.operator.crds import crds
from penstock.operator.names import GROUP, VERSIONS

Json = dict[str, Any]
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
}


def problems(resource: Json) -> list[str]:
    """What is wrong with it, a sentence each; empty if nothing is."""
    schema = _schemas().get(str(resource.get("kind")))
    if schema is None:
        return [f"kind {resource.get('kind')} is none of {', '.join(_schemas())}."]
    if resource.get("apiVersion") not in [f"{GROUP}/{version}" for version in VERSIONS]:
        return [f"apiVersion must be {GROUP}/{VERSIONS[0]} or {GROUP}/{VERSIONS[1]}."]
    if not (resource.get("metadata") or {}).get("name"):
        return ["metadata.name: give it a name."]
    return list(_check(resource.get("spec"), schema, "spec"))


def _schemas() -> dict[str, Json]:
    found = {}
    for crd in crds():
        schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        found[crd["spec"]["names"]["kind"]] = schema["properties"]["spec"]
    return found


def _check(value: Any, schema: Json, where: str) -> Iterator[str]:
    if value is None and schema.get("nullable"):
        return
    if not _is_a(value, schema["type"]):
        yield f"{where} must be of type {schema['type']}."
    elif schema["type"] == "object":
        yield from _check_object(value, schema, where)
    elif schema["type"] == "array":
        for number, item in enumerate(value):
            yield from _check(item, schema["items"], f"{where}[{number}]")
    elif "enum" in schema and value not in schema["enum"]:
        yield f"{where} must be one of {', '.join(schema['enum'])}."
    elif "minimum" in schema and value < schema["minimum"]:
        yield f"{where} must be at least {schema['minimum']}."


def _is_a(value: Any, kind: str) -> bool:
    return isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _check_object(value: Json, schema: Json, where: str) -> Iterator[str]:
    properties = schema.get("properties", {})
    for key in schema.get("required", ()):
        if key not in value:
            yield f"{where}.{key} is missing."
    for key, inner in value.items():
        if key in properties:
            yield from _check(inner, properties[key], f"{where}.{key}")
        elif "additionalProperties" not in schema and not _is_free(schema):
            yield f"{where}.{key} is not known."
    yield from _check_rules(value, schema)


def _is_free(schema: Json) -> bool:
    return bool(schema.get("x-kubernetes-preserve-unknown-fields"))


def _check_rules(value: Json, schema: Json) -> Iterator[str]:
    """The two forms of rules that our schemas have: one of two fields, or at least one."""
    for rule in schema.get("x-kubernetes-validations", ()):
        given = [part.strip() for part in rule["rule"].replace("||", "!=").split("!=")]
        count = sum(part.removeprefix("has(self.").removesuffix(")") in value for part in given)
        if count == 0 or (count == 2 and "!=" in rule["rule"]):
            yield rule["message"]
