"""The shapes of request bodies; what does not fit gets the words of Jackson (see json_text)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from penstock.rest.herder_api import Config, Json
from penstock.rest.http.json_text import Malformed, Number, parse_texts, parse_values
from penstock.runtime.errors import BadRequest, InternalError, RequestError

ENTITIES = "org.apache.kafka.connect.runtime.rest.entities"
CREATE = f"{ENTITIES}.CreateConnectorRequest"
OFFSETS = f"{ENTITIES}.ConnectorOffsets"
OFFSET = f"{ENTITIES}.ConnectorOffset"
STRING = "java.lang.String"
STRING_MAP = f"java.util.LinkedHashMap<{STRING},{STRING}>"
OBJECT_MAP = f"java.util.LinkedHashMap<{STRING},java.lang.Object>"
STATES = ("RUNNING", "PAUSED", "STOPPED")
NO_OFFSETS = "Partitions / offsets need to be provided for an alter offsets request"


T = TypeVar("T")


class Misfit(InternalError):  # noqa: N818 (what the value is)
    """A value of another kind than Jackson wants there."""


@dataclass(frozen=True)
class CreateRequest:
    """The body of POST /connectors."""

    name: str
    config: Config
    initial_state: str | None


def create_request(body: bytes) -> CreateRequest:
    """The body of POST /connectors; a missing name is empty, for the validator to refuse."""
    return _read(body, parse_texts, _create_request)


def _create_request(value: Any) -> CreateRequest:
    fields = _fields(_present(value), CREATE, ("config", "name", "initial_state"))
    if fields.get("config") is None:
        # Kafka Connect answers 500 here too, with the text of its null pointer.
        raise InternalError('The request contains no "config": send {"name": ..., "config": {...}}')
    return CreateRequest(
        name=(_string(fields.get("name")) or "").strip(),
        config=_strings(fields["config"]),
        initial_state=_initial_state(_string(fields.get("initial_state"))),
    )


def config_map(body: bytes) -> Config:
    """A body that is a config: numbers and booleans become text as Java writes them."""
    return _read(body, parse_texts, lambda value: _strings(_present(value)))


def offset_list(body: bytes) -> list[Json]:
    """The body of PATCH offsets: entries that have exactly ``partition`` and ``offset``."""
    return _read(body, parse_values, _offset_list)


def _offset_list(value: Any) -> list[Json]:
    fields = {} if value is None else _fields(value, OFFSETS, ("offsets",))
    entries = fields.get("offsets")
    if entries is None or entries == []:
        raise BadRequest(NO_OFFSETS)
    if not isinstance(entries, list):
        raise _misfit(entries, f"java.util.ArrayList<{OFFSET}>")
    return [_offset(entry) for entry in entries]


def _read(body: bytes, parse: Callable[[bytes], Any], shape: Callable[[Any], T]) -> T:
    """Parse and shape a body; of two mistakes in it, the first is reported."""
    try:
        value = parse(body)
    except Malformed as malformed:
        _refuse_misfit(malformed.before, shape)
        raise
    return shape(value)


def _refuse_misfit(value: Any, shape: Callable[[Any], object]) -> None:
    try:
        shape(value)
    except Misfit:
        raise
    except RequestError:
        return  # what it lacks might have come later


def _offset(entry: Any) -> Json:
    fields = _fields(entry, OFFSET, ("partition", "offset"))
    parts = {key: fields.get(key) for key in ("partition", "offset")}
    return {k: None if v is None else _object(v, OBJECT_MAP) for k, v in parts.items()}


def _present(value: Any) -> Any:
    if value is None:
        raise BadRequest("The request has no body: a JSON object is needed")
    return value


def _fields(value: Any, java_class: str, known: tuple[str, ...]) -> Json:
    fields = _object(value, java_class)
    for name in fields:
        if name not in known:
            raise InternalError(_unrecognized(name, java_class, known))
    return fields


def _unrecognized(name: str, java_class: str, known: tuple[str, ...]) -> str:
    count = "one known property" if len(known) == 1 else f"{len(known)} known properties"
    listed = ", ".join(f'"{field}"' for field in known)
    return (
        f'Unrecognized field "{name}" (class {java_class}), '
        f"not marked as ignorable ({count}: {listed})"
    )


def _strings(value: Any) -> Config:
    return {name: _string(item) for name, item in _object(value, STRING_MAP).items()}


def _string(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return str(value)
    raise _misfit(value, STRING)


def _object(value: Any, java_type: str) -> Json:
    if not isinstance(value, dict):
        raise _misfit(value, java_type)
    return value


def _initial_state(name: str | None) -> str | None:
    if name is None or name.upper() in STATES:
        return name.upper() if name else None
    enum = f"{CREATE}$InitialState"
    raise InternalError(
        f"Cannot construct instance of `{enum}`, problem: No enum constant "
        f"{enum.replace('$', '.')}.{name.upper()}"
    )


def _misfit(value: Any, java_type: str) -> Misfit:
    """What Jackson says of ``value`` where ``java_type`` was wanted."""
    token = _token(value)
    is_text = isinstance(value, str) and not isinstance(value, Number)
    built = not java_type.startswith("java.util.") or (is_text and "Map" in java_type)
    if token.startswith("START_") or not built:
        return Misfit(
            f"Cannot deserialize value of type `{java_type}` from {_KINDS[token]} value "
            f"(token `JsonToken.{token}`)"
        )
    argument, shown = _scalar(value)
    return Misfit(
        f"Cannot construct instance of `{java_type.partition('<')[0]}` (although at least one "
        f"Creator exists): no {argument}-argument constructor/factory method to deserialize "
        f"from {shown}"
    )


_KINDS = {
    "START_OBJECT": "Object",
    "START_ARRAY": "Array",
    "VALUE_TRUE": "Boolean",
    "VALUE_FALSE": "Boolean",
    "VALUE_NUMBER_INT": "Integer",
    "VALUE_NUMBER_FLOAT": "Floating-point",
    "VALUE_STRING": "String",
    "VALUE_NULL": "Null",
}


def _token(value: Any) -> str:
    if isinstance(value, dict | list):
        return "START_OBJECT" if isinstance(value, dict) else "START_ARRAY"
    if value is None or isinstance(value, bool):
        return f"VALUE_{'NULL' if value is None else str(value).upper()}"
    if isinstance(value, Number | int | float):
        return "VALUE_NUMBER_INT" if _is_whole(value) else "VALUE_NUMBER_FLOAT"
    return "VALUE_STRING"


def _is_whole(value: Number | float) -> bool:
    return str(value).lstrip("-").isdigit()


def _scalar(value: Any) -> tuple[str, str]:
    if isinstance(value, bool):
        return "boolean/Boolean", f"boolean value ({str(value).lower()})"
    if isinstance(value, Number | int | float):
        word = "int/Int" if _is_whole(value) else "double/Double"
        return word, f"Number value ({value})"
    if value is None:
        return "null", "null value"
    return "String", f"String value ('{str(value)[:100]}')"
