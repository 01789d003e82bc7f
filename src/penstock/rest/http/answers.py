"""The shapes of answers, for the OpenAPI document: Kafka Connect's, and its extensions here."""

from __future__ import annotations

from typing import Any, Final

from penstock.rest.http.requests import CONFIG_SCHEMA
from penstock.runtime.states import State

Schema = dict[str, Any]
Responses = dict[int | str, dict[str, Any]]

STRING: Final[Schema] = {"type": "string"}
INTEGER: Final[Schema] = {"type": "integer"}
ANY_OBJECT: Final[Schema] = {"type": "object"}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _map(values: Schema) -> Schema:
    return {"type": "object", "additionalProperties": values}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _object(needed: dict[str, Schema], **optional: Schema) -> Schema:
    return {"type": "object", "required": list(needed), "properties": {**needed, **optional}}


TYPE: Final[Schema] = {"enum": ["source", "sink", "unknown"]}
TASK_ID = _object({"connector": STRING, "task": INTEGER})
_STATE: dict[str, Schema] = {"state": {"enum": [state.value for state in State]}}

_SPARK = {"spark_application_id": STRING, "spark_ui": STRING}
"""Left out while no Spark runs, and where it has no web UI."""

ROOT = _object(
    {"version": STRING, "commit": STRING, "penstock_version": STRING, "kafka_cluster_id": STRING},
    **_SPARK,
)
HEALTH = _object({"status": {"enum": ["healthy", "starting", "unhealthy"]}, "message": STRING})
NAMES = _list(STRING)
CONNECTORS: Schema = {"anyOf": [NAMES, _map(ANY_OBJECT)]}
INFO = _object({"name": STRING, "config": CONFIG_SCHEMA, "tasks": _list(TASK_ID), "type": TYPE})
TASKS = _list(_object({"id": TASK_ID, "config": CONFIG_SCHEMA}))
TASK_STATUS = _object({"id": INTEGER, **_STATE, "worker_id": STRING}, trace=STRING, version=STRING)
STATUS = _object(
    {
        "name": STRING,
        "connector": _object({**_STATE, "worker_id": STRING}, trace=STRING, version=STRING),
        "tasks": _list(TASK_STATUS),
        "type": TYPE,
    }
)
TOPICS = _map(_object({"topics": NAMES}))
OFFSETS = _object(
    {"offsets": _list(_object({"partition": ANY_OBJECT, "offset": _or_null(ANY_OBJECT)}))}
)
MESSAGE = _object({"message": STRING})
METRICS = _object(
    {
        "name": STRING,
        "type": TYPE,
        **_STATE,
        "worker_id": STRING,
        "records_total": INTEGER,
        "records_per_second": {"type": "number"},
        "tasks": _list(ANY_OBJECT),
    },
    **_SPARK,
)
PLAN = _object({"name": STRING, "plan": STRING})
LOGGER = _object({"level": STRING, "last_modified": _or_null(INTEGER)})
LOGGERS = _map(LOGGER)
PLUGINS = _list(_object({"class": STRING, "type": STRING}, version=STRING))
KEY = _object(
    {
        "name": STRING,
        "type": STRING,
        "required": {"type": "boolean"},
        "default_value": _or_null(STRING),
        "importance": {"enum": ["HIGH", "MEDIUM", "LOW"]},
        "documentation": STRING,
    }
)
KEYS = _list(KEY)
VALUE = _object({"name": STRING, "value": _or_null(STRING), "errors": NAMES})
VALIDATION = _object(
    {
        "name": STRING,
        "error_count": INTEGER,
        "groups": NAMES,
        "configs": _list(_object({"definition": _or_null(KEY), "value": VALUE})),
    }
)


_PLACE: dict[str, Schema] = {"consumer": STRING, "topic": STRING, "partition": INTEGER}
CONSUMERS = _list(
    _object(
        _PLACE,
        offset=INTEGER,
        lag=INTEGER,
        seen_ms=INTEGER,
        expires_ms=_or_null(INTEGER),
    )
)
_TOPIC: dict[str, Schema] = {
    "name": STRING,
    "id": STRING,
    "partitions": INTEGER,
    "replication": INTEGER,
    "status": {"enum": ["provisioned", "degraded", "offline"]},
    "reason": STRING,
}
ALL_TOPICS = _list(_object(_TOPIC))
TOPIC = _object(_TOPIC, consumer_ttl_ms=_or_null(INTEGER), consumers=_list(STRING))


def gives(schema: Schema, status: int = 200, description: str = "Successful Response") -> Responses:
    """What a route answers with, as FastAPI takes it for the document."""
    content = {"application/json": {"schema": schema}}
    return {status: {"description": description, "content": content}}
