"""The object sink against a real S3 endpoint: what is written, and what a user reads in trouble."""

from __future__ import annotations

import gzip
import json

import pytest

from free_ports import free_port
from object_flushes import T, flushed_twice
from penstock.plugins.objects.sink_connector import ObjectSinkConnector
from penstock.sdk import RetriableError, UserError
from penstock.sdk.testing import SinkContract, SinkUnderTest
from s3_endpoint import SECRET, S3Endpoint


class Bucket(SinkUnderTest):
    """A bucket of its own, and objects below a prefix."""

    connector = ObjectSinkConnector
    replaces = True
    """Records that are written again may be an object of the same name."""

    def __init__(self, s3: S3Endpoint, bucket: str) -> None:
        self.s3, self.name, self.keys = s3, bucket, s3.bucket(bucket)

    def config(self) -> dict[str, str]:
        kind = {"format.output.type": "jsonl", "aws.s3.prefix": "some/prefix-"}
        return {**self.keys, **kind, "file.max.age.ms": "1", "file.max.records": "40"}

    def value(self, number: int) -> str:
        return str(number)

    def written(self) -> list[int]:
        contents = self.s3.objects(self.name)
        assert all(name.startswith("some/prefix-numbers-") for name in contents)
        lines = [line for each in contents.values() for line in gzip.decompress(each).splitlines()]
        return [int(json.loads(line)["value"]) for line in lines]


class TestBucket(SinkContract):
    @pytest.fixture
    def sink(self, s3: S3Endpoint, name: str) -> SinkUnderTest:
        return Bucket(s3, name[-40:].strip("-"))


def test_a_large_object_is_uploaded_in_parts(s3: S3Endpoint, name: str) -> None:
    config = s3.bucket(bucket := name[:40])
    sizes = {"file.max.bytes": "0", "format.output.type": "jsonl"}
    assert flushed_twice({**config, **sizes}, rows=20_000, width=1000).offsets == {T: 20_000}
    (content,) = s3.objects(bucket).values()
    assert len(content) == 20_000 * (1000 + len('{"value":""}\n'))


def test_a_bucket_that_is_not_there(s3: S3Endpoint, name: str) -> None:
    config = {**s3.bucket(name[:40]), "aws.s3.bucket.name": "nowhere"}
    with pytest.raises(UserError, match="there is no bucket nowhere"):
        flushed_twice(config)


def test_credentials_that_are_wrong(s3: S3Endpoint, name: str) -> None:
    config = {**s3.bucket(name[:40]), "aws.secret.access.key": "a-wrong-one"}
    with pytest.raises(UserError, match="Check the credentials and their rights") as wrong:
        flushed_twice(config)
    assert "a-wrong-one" not in str(wrong.value)
    assert SECRET not in str(wrong.value)


def test_an_endpoint_that_is_away_is_tried_again(s3: S3Endpoint, name: str) -> None:
    config = {**s3.bucket(name[:40]), "aws.s3.endpoint": f"http://127.0.0.1:{free_port()}"}
    with pytest.raises(RetriableError, match="failed"):
        flushed_twice(config)
