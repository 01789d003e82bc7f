"""The object sink against Azure Blob Storage."""

from __future__ import annotations

import gzip
import json

import pytest

from cloud_stores import AzureEndpoint
from object_flushes import T, flushed_twice
from penstock.plugins.objects.sink_connector import ObjectSinkConnector
from penstock.sdk import UserError
from penstock.sdk.testing import SinkContract, SinkUnderTest


class Container(SinkUnderTest):
    """A container of its own, and objects below a prefix."""

    connector = ObjectSinkConnector
    replaces = True
    """Records that are written again may be an object of the same name."""

    def __init__(self, azure: AzureEndpoint, container: str) -> None:
        self.azure, self.name, self.keys = azure, container, azure.bucket(container)

    def config(self) -> dict[str, str]:
        kind = {"format.output.type": "jsonl", "file.name.prefix": "some/prefix-"}
        return {**self.keys, **kind, "file.max.age.ms": "1", "file.max.records": "40"}

    def value(self, number: int) -> str:
        return str(number)

    def written(self) -> list[int]:
        contents = self.azure.objects(self.name)
        assert all(name.startswith("some/prefix-numbers-") for name in contents)
        lines = [line for each in contents.values() for line in gzip.decompress(each).splitlines()]
        return [int(json.loads(line)["value"]) for line in lines]


class TestContainer(SinkContract):
    @pytest.fixture
    def sink(self, azure: AzureEndpoint, bucket: str) -> SinkUnderTest:
        return Container(azure, bucket)


def test_a_large_object_is_uploaded_in_parts(azure: AzureEndpoint, bucket: str) -> None:
    config = azure.bucket(bucket)
    sizes = {"file.max.bytes": "0", "format.output.type": "jsonl"}
    assert flushed_twice({**config, **sizes}, rows=20_000, width=1000).offsets == {T: 20_000}
    (content,) = azure.objects(bucket).values()
    assert len(content) == 20_000 * (1000 + len('{"value":""}\n'))


def test_a_container_that_is_not_there(azure: AzureEndpoint, bucket: str) -> None:
    config = {**azure.bucket(bucket), "azure.storage.container.name": "nowhere"}
    with pytest.raises(UserError, match="there is no bucket nowhere"):
        flushed_twice(config)


def test_credentials_that_are_wrong(azure: AzureEndpoint, bucket: str) -> None:
    wrong = {"azure.storage.connection.string": azure.connection("bWlzdHlwZWQ=")}
    with pytest.raises(UserError, match="Check the credentials and their rights") as error:
        flushed_twice({**azure.bucket(bucket), **wrong})
    assert "bWlzdHlwZWQ" not in str(error.value)
