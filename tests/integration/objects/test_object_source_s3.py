"""The object source against a real S3 endpoint, with the worker played by the contract kit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from object_sources import Objects
from penstock.plugins.objects.source_listing import Listing
from penstock.plugins.objects.store import open_storage
from penstock.sdk import RetriableError, UserError
from penstock.sdk.testing import PlayedSource, SourceContract
from s3_endpoint import S3Endpoint


class TestObjectsInS3(SourceContract):
    @pytest.fixture
    def source(self, s3: S3Endpoint, name: str) -> Objects:
        return Objects(s3.bucket(name))


@pytest.fixture
def objects(s3: S3Endpoint, name: str) -> Objects:
    return Objects(s3.bucket(name))


def test_only_what_begins_with_the_prefix_is_listed(s3: S3Endpoint, name: str) -> None:
    """Also on the second page and those after it."""
    place = s3.bucket(name)
    folder = s3.folder / name
    for part, count in (("in-0", 5), ("in-1", 1500), ("in-2", 5), ("in-1b", 5)):
        (folder / part).mkdir()
        for number in range(count):
            (folder / part / f"{number:05}").write_text('{"n": 1}\n')
    for prefix, expected in (("in-1/", 1500), ("in-1", 1505), ("in-1/014", 100), ("in-3", 0)):
        listing = Listing(open_storage({**place, "aws.s3.prefix": prefix}))
        keys = [each.key for page in listing.pages() for each in page]
        assert keys == sorted(set(keys))
        assert (prefix, len(keys)) == (prefix, expected)
        assert all(key.startswith(prefix) for key in keys)
        rest = [each.key for page in listing.pages("in-1/00999") for each in page]
        assert rest == [key for key in keys if key > "in-1/00999"]


def test_the_version_of_an_object_is_the_same_listed_and_read(objects: Objects) -> None:
    """So that what was read is known to be finished when it is listed again."""
    objects.write(range(10))
    worker = PlayedSource(objects)
    worker.turn()
    assert not worker.look()
    objects.put("in/00001.jsonl", [70, 71])
    assert worker.look()
    worker.turn()
    assert not worker.look()
    assert worker.delivered == [*range(10), 70, 71]


def test_a_missing_bucket(objects: Objects) -> None:
    objects.configure(aws_s3_bucket_name="no-such-bucket")
    with pytest.raises(UserError, match=r"no-such-bucket.*Create it"):
        PlayedSource(objects).look()


def test_wrong_credentials(objects: Objects) -> None:
    objects.configure(aws_secret_access_key="mistyped")
    with pytest.raises(UserError, match=r"not allowed.*Check the credentials") as error:
        PlayedSource(objects).look()
    assert "mistyped" not in str(error.value)


@pytest.fixture
def own_endpoint(tmp_path: Path) -> Iterator[S3Endpoint]:
    (tmp_path / "s3").mkdir()
    with S3Endpoint(tmp_path / "s3") as running:
        yield running


def test_an_endpoint_that_goes_away(own_endpoint: S3Endpoint, name: str) -> None:
    objects = Objects(own_endpoint.bucket(name))
    objects.write(range(20))
    worker = PlayedSource(objects)
    worker.turn()
    own_endpoint.__exit__(None, None, None)
    with pytest.raises(RetriableError, match="Listing"):
        worker.look()
    own_endpoint.__enter__()
    objects.write(range(20, 30))
    worker.turn()
    assert worker.delivered == list(range(30))
