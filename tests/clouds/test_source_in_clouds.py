"""The object source against the APIs of Azure and Google Cloud."""

from __future__ import annotations

import pytest

from cloud_stores import AzureEndpoint, CloudEndpoint
from object_sources import Objects
from penstock.plugins.objects.source_listing import Listing
from penstock.plugins.objects.store import open_storage
from penstock.sdk import ObjectError, RetriableError, UserError
from penstock.sdk.testing import PlayedSource, SourceContract


class CloudObjects(Objects):
    """Objects that are written from outside, by the cloud's own API."""

    def __init__(self, cloud: CloudEndpoint, bucket: str) -> None:
        self._cloud = cloud
        super().__init__(cloud.bucket(bucket))

    def put_bytes(self, key: str, data: bytes) -> None:
        self._cloud.put(self.bucket, key, data)

    def delete(self, key: str) -> None:
        self._cloud.delete(self.bucket, key)


@pytest.fixture
def objects(cloud: CloudEndpoint, bucket: str) -> CloudObjects:
    return CloudObjects(cloud, bucket)


class TestObjectsInClouds(SourceContract):
    @pytest.fixture
    def source(self, objects: CloudObjects) -> CloudObjects:
        return objects


def test_only_what_begins_with_the_prefix_is_listed(cloud: CloudEndpoint, bucket: str) -> None:
    """Also on the second page."""
    place = cloud.bucket(bucket)
    for part, count in (("in-0", 3), ("in-1", 1010), ("in-1b", 3)):
        for number in range(count):
            cloud.put(bucket, f"{part}/{number:05}", b"1\n")
    for prefix, expected in (("in-1/", 1010), ("in-1", 1013), ("in-1/010", 10), ("in-3", 0)):
        listing = Listing(open_storage({**place, "file.name.prefix": prefix}))
        keys = [each.key for page in listing.pages() for each in page]
        assert keys == sorted(set(keys))
        assert (prefix, len(keys)) == (prefix, expected)
        rest = [each.key for page in listing.pages("in-1/00999") for each in page]
        assert rest == [key for key in keys if key > "in-1/00999"]


def test_the_version_of_an_object_is_the_same_listed_and_read(objects: CloudObjects) -> None:
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


def test_an_object_that_is_deleted_while_it_is_read(
    objects: CloudObjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.sdk.transformers.transformer.ROWS", 3)
    monkeypatch.setattr("penstock.plugins.objects.source_gathering.ENOUGH_ROWS", 1)
    objects.configure(input_format="csv")
    objects.put_bytes("in/1", b"n\n" + b"".join(b"%d\n" % n for n in range(9)))
    worker = PlayedSource(objects)
    worker.turn(polls=2, killed=True)
    objects.delete("in/1")
    with pytest.raises(ObjectError, match="Object in/1 was deleted after 3 of its records"):
        worker.turn()


def test_a_container_that_is_not_there(azure: AzureEndpoint, bucket: str) -> None:
    objects = CloudObjects(azure, bucket)
    objects.configure(azure_storage_container_name="no-such-container")
    with pytest.raises(UserError, match=r"no-such-container.*Create it"):
        PlayedSource(objects).look()


def test_wrong_credentials(azure: AzureEndpoint, bucket: str) -> None:
    objects = CloudObjects(azure, bucket)
    objects.configure(azure_storage_connection_string=azure.connection("bWlzdHlwZWQ="))
    with pytest.raises(UserError, match=r"not allowed.*Check the credentials") as error:
        PlayedSource(objects).look()
    assert "bWlzdHlwZWQ" not in str(error.value)


def test_an_endpoint_that_goes_away(cloud: CloudEndpoint, bucket: str) -> None:
    with type(cloud)() as own:
        objects = CloudObjects(own, bucket)
        objects.write(range(20))
        worker = PlayedSource(objects)
        worker.turn()
    with pytest.raises(RetriableError, match="Listing"):
        worker.look()
