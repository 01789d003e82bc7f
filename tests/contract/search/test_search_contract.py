"""The contract kit, with an index of OpenSearch as the target."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from bench.search_server import SearchServer
from penstock.plugins.search.elastic_sink import ElasticsearchSinkConnector
from penstock.sdk import Schema, SinkConnector
from penstock.sdk.testing import SinkContract, SinkUnderTest

pytestmark = pytest.mark.heavy


class Index(SinkUnderTest):
    """An index of its own; a record that is written again must stay one document."""

    connector: ClassVar[type[SinkConnector]] = ElasticsearchSinkConnector
    value_schema: ClassVar[Schema | None] = Schema.struct(
        {"n": Schema.int32(), "day": Schema.string(optional=True)}
    )
    partitions: ClassVar[int] = 3
    replaces: ClassVar[bool] = True

    def __init__(self, search: SearchServer, index: str, method: str) -> None:
        self._search, self._index, self._method = search, index, method
        mapping = {"mappings": {"properties": {"day": {"type": "date"}}}}
        search.http.put(f"/{index}", json=mapping).raise_for_status()

    def config(self) -> Mapping[str, str]:
        return {
            "connection.url": self._search.url,
            "key.ignore": "true",
            "write.method": self._method,
            "topic.index.map": f"numbers:{self._index}",
            "batch.size": "7",
        }

    def value(self, number: int) -> Any:
        return {"n": number, "day": None}

    def bad_value(self) -> Any:
        return {"n": -1, "day": "never"}

    def written(self) -> list[int]:
        return [each["n"] for each in self._search.documents(self._index).values()]


class TestInsert(SinkContract):
    @pytest.fixture
    def sink(self, search: SearchServer, name: str) -> SinkUnderTest:
        return Index(search, name, "insert")


class TestUpsert(SinkContract):
    @pytest.fixture
    def sink(self, search: SearchServer, name: str) -> SinkUnderTest:
        return Index(search, name, "upsert")
