"""Whether this cluster's KafkaConnector is Strimzi's own definition, or ours."""

from __future__ import annotations

from typing import Any

from penstock.kube import KubeApi, KubeError
from penstock.operator.names import API_VERSION, CONNECTOR

Json = dict[str, Any]


def drops_offsets(api: KubeApi) -> bool:
    """Whether the API server would drop ``showOffsets`` from a KafkaConnector.

    Asks for the published schema, which every account may read; False while there is none, as in
    the seconds after a kind was installed.
    """
    try:
        published = api.request("GET", f"/openapi/v3/apis/{API_VERSION}")
    except KubeError:
        return False
    schemas = published.get("components", {}).get("schemas", {})
    found = [schema for schema in schemas.values() if _is_connector(schema)]
    return any("showOffsets" not in _spec_fields(schema) for schema in found)


def _is_connector(schema: Json) -> bool:
    kinds = schema.get("x-kubernetes-group-version-kind") or []
    return any(kind.get("kind") == CONNECTOR for kind in kinds)


def _spec_fields(schema: Json) -> Json:
    spec = schema.get("properties", {}).get("spec", {})
    return dict(spec.get("properties", {}))
