"""The contract kit, with a played server that keeps every document it is given."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import pytest

from penstock.plugins.search.elastic_sink import ElasticsearchSinkConnector
from penstock.sdk import Schema, SinkConnector
from penstock.sdk.testing import SinkContract, SinkUnderTest
from played_search import PlayedSearch


class Index(SinkUnderTest):
    """A document for each id; a record without a value is bad."""

    connector: ClassVar[type[SinkConnector]] = ElasticsearchSinkConnector
    value_schema: ClassVar[Schema | None] = Schema.struct({"n": Schema.int32()}, optional=True)
    partitions: ClassVar[int] = 3
    replaces: ClassVar[bool] = True

    def __init__(self, server: PlayedSearch) -> None:
        self._server = server

    def config(self) -> Mapping[str, str]:
        return self._server.config(key_ignore="true", batch_size="7")

    def value(self, number: int) -> Any:
        return {"n": number}

    def bad_value(self) -> Any:
        return None

    def written(self) -> list[int]:
        documents: dict[str, int] = {}
        for lines in self._server.bulks():
            for action, document in zip(lines[::2], lines[1::2], strict=True):
                documents[json.loads(action)["index"]["_id"]] = json.loads(document)["n"]
        return list(documents.values())


class TestIndex(SinkContract):
    @pytest.fixture
    def sink(self) -> Iterator[SinkUnderTest]:
        with PlayedSearch() as server:
            yield Index(server)
