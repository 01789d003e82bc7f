"""Indexes that are there, with a mapping."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import orjson
import pyarrow as pa

from penstock.plugins.search.mappings import mapping_of
from penstock.plugins.search.search_client import SearchClient
from penstock.plugins.search.sink_config import RESOURCES
from penstock.plugins.search.sink_settings import SinkSettings
from penstock.sdk.errors import UserError
from penstock.sdk.schema import SchemaType, from_field, is_schemaless

_THERE_ALREADY = "resource_already_exists_exception"


class Indexes:
    """Creates what is missing, each index once."""

    def __init__(self, client: SearchClient, settings: SinkSettings) -> None:
        self._client, self._settings = client, settings
        self._known: set[str] = set()

    def ensure(self, topic: str, value: pa.Field) -> None:
        """The index of a topic, for records with such values."""
        index = self._settings.index(topic)
        if index in self._known:
            return
        wanted = None if self._settings.ignores_schema(topic) else self._mapping(value)
        path = f"/{quote(index, safe='')}"
        if self._exists(path, index):
            if wanted is not None and not self._has_mapping(path, index):
                self._put(f"{path}/_mapping", wanted, f"giving index {index} a mapping")
        elif self._settings.resources_exist:
            message = f"{self._client.server.urls[0]} has no index or alias {index}, which "
            raise UserError(f"{message}'{RESOURCES}' names. Create it.")
        else:
            body = {} if wanted is None else {"mappings": wanted}
            self._put(path, body, f"creating index {index}")
        self._known.add(index)

    def _mapping(self, value: pa.Field) -> dict[str, Any] | None:
        """None for values without fields, which are told of elsewhere, or without a schema."""
        schema = None if is_schemaless(value) else from_field(value)
        if schema is None or schema.type is not SchemaType.STRUCT:
            return None
        return mapping_of(schema, compact_maps=self._settings.compact_maps)

    def _exists(self, path: str, index: str) -> bool:
        doing = f"looking for index {index}"
        return self._client.request("HEAD", path, doing, accepted=(200, 404)).status_code == 200

    def _has_mapping(self, path: str, index: str) -> bool:
        answer = self._client.request("GET", f"{path}/_mapping", f"reading {index}'s mapping")
        found = orjson.loads(answer.content).values()
        return any(each.get("mappings", {}).get("properties") for each in found)

    def _put(self, path: str, body: dict[str, Any], doing: str) -> None:
        answer = self._client.request(
            "PUT", path, doing, body=orjson.dumps(body), accepted=(200, 400)
        )
        if answer.status_code == 400 and _THERE_ALREADY not in answer.text:
            raise self._client.refusal(answer, doing)
