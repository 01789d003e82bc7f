"""The object source against a real S3 endpoint, with the worker played by the contract kit."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from pathlib import Path

import fastavro
import obstore
import pytest

from object_sources import Objects
from penstock.plugins.objects.source_listing import Listing
from penstock.plugins.objects.store import open_storage
from penstock.sdk import ObjectError, RetriableError, UserError
from penstock.sdk.testing import PlayedSource, SourceContract
from s3_endpoint import S3Endpoint
from waiting import eventually


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
    # The endpoint may still know the folder as it was when the bucket was made.
    outside = s3.store(name)
    eventually(lambda: sum(map(len, obstore.list(outside))) == 1515, what="all objects")
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


def _half_read(objects: Objects, monkeypatch: pytest.MonkeyPatch) -> PlayedSource:
    monkeypatch.setattr("penstock.sdk.transformers.transformer.ROWS", 3)
    monkeypatch.setattr("penstock.plugins.objects.source_gathering.ENOUGH_ROWS", 1)
    objects.configure(input_format="csv")
    objects.put_bytes("in/1", b"n\n" + b"".join(b"%d\n" % n for n in range(9)))
    worker = PlayedSource(objects)
    worker.turn(polls=2, killed=True)
    assert worker.delivered == [0, 1, 2]
    return worker


def test_an_object_that_is_replaced_while_it_is_read(
    objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is another one, and read from its beginning."""
    worker = _half_read(objects, monkeypatch)
    objects.put_bytes("in/1", b"n\n20\n21\n22\n23\n")
    worker.turn()
    assert worker.delivered == [0, 1, 2, 20, 21, 22, 23]
    assert not worker.look()


def test_an_object_that_is_deleted_while_it_is_read(
    objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = _half_read(objects, monkeypatch)
    objects.put_bytes("in/2", b"n\n9\n")
    objects.delete("in/1")
    with pytest.raises(ObjectError, match="Object in/1 was deleted after 3 of its records"):
        worker.turn()
    objects.configure(errors_tolerance="all")
    worker.turn()
    assert worker.delivered == [0, 1, 2, 9]
    (letter,) = worker.letters
    assert (letter.source_partition or {})["objectKey"] == "in/1"
    assert not worker.look()


def _avro() -> bytes:
    out = io.BytesIO()
    schema = {"type": "record", "name": "r", "fields": [{"name": "n", "type": "long"}]}
    rows = [{"n": n} for n in range(3000)]
    fastavro.writer(out, fastavro.parse_schema(schema), rows, "deflate", sync_interval=500)
    return out.getvalue()


PACKED = gzip.compress(b"".join(b'{"n":%d}\n' % n for n in range(200_000)))
AVRO = _avro()
MIDDLE = len(AVRO) // 2
DAMAGED: dict[str, tuple[dict[str, str], int, bytes, bytes]] = {
    "avro": (
        {"input_format": "avro"},
        3000,
        AVRO,
        AVRO[:MIDDLE] + b"\xff" * 40 + AVRO[MIDDLE + 40 :],
    ),
    "gzip": ({"file_compression_type": "gzip"}, 200_000, PACKED, PACKED[: len(PACKED) // 2]),
    "utf-8": ({}, 3, b'{"n":0}\n{"n":1}\n{"n":2}\n', b'{"n":0}\n{"n":"\xff"}\n{"n":2}\n'),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_damage_is_a_letter_with_its_place_and_the_rest_is_read(
    objects: Objects, kind: str
) -> None:
    config, count, whole, damaged = DAMAGED[kind]
    objects.configure(errors_tolerance="all", **config)
    objects.put_bytes("in/1", damaged)
    objects.put_bytes("in/2", whole)
    worker = PlayedSource(objects)
    worker.turn()
    (letter,) = worker.letters
    assert (letter.source_partition or {})["objectKey"] == "in/1"
    first, rest = worker.delivered[:-count], worker.delivered[-count:]
    assert rest == list(range(count))
    if kind == "utf-8":
        assert first == [0, 2]
        assert letter.data == b'{"n":"\xff"}'
    else:
        assert first == list(range(len(first)))
        assert 0 < len(first) < count
    assert not worker.look()


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
