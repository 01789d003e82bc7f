"""What an object source does about late, changed, deleted and damaged objects, turn by turn."""

from __future__ import annotations

import gzip
import io
import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fastavro
import obstore
import pytest

from object_sources import Objects
from penstock.plugins.objects import source_reader
from penstock.plugins.objects.source_connector import ObjectSourceConnector
from penstock.sdk import ObjectError, OffsetError, RetriableError
from penstock.sdk.offsets import canonical
from penstock.sdk.testing import PlayedSource

LATER = {"rescan.interval.ms": "1", "rescan.look.back.ms": "600000"}


@pytest.fixture
def objects(tmp_path: Path) -> Objects:
    return Objects({"local.folder": str(tmp_path)})


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The keys of objects that were downloaded."""
    keys: list[str] = []
    real = source_reader.ObjectReader.open

    def noting(self: Any, key: str) -> Any:
        keys.append(key)
        return real(self, key)

    monkeypatch.setattr(source_reader.ObjectReader, "open", noting)
    return keys


def age(objects: Objects, key: str, seconds: float) -> None:
    path = Path(objects.bucket, key)
    stamp = time.time() - seconds
    os.utime(path, (stamp, stamp))


def alter(worker: PlayedSource, changes: list[tuple[Any, Any]]) -> None:
    connector = worker.source.connector()
    altered = connector.alter_offsets(dict(worker.source.config()), changes)
    assert not isinstance(altered, bool)
    for partition, offset in altered:
        worker.offsets.pop(canonical(partition), None)
        if offset is not None:
            worker.offsets[canonical(partition)] = partition, offset


def test_a_restart_downloads_nothing_twice(objects: Objects, opened: list[str]) -> None:
    objects.write(range(100))
    worker = PlayedSource(objects, tasks=2)
    worker.turn()
    assert len(opened) == 10
    for _ in range(3):
        assert not worker.look()
        worker.turn()
    assert len(opened) == 10


def test_finished_objects_leave_marks_alone(objects: Objects) -> None:
    for number in range(300):
        objects.put(f"in/{number:05}", [number])
        age(objects, f"in/{number:05}", 3600)
    worker = PlayedSource(objects, tasks=3)
    worker.turn()
    assert sorted(worker.delivered) == list(range(300))
    assert len(worker.offsets) <= 64
    assert all(set(offset) == {"mark", "horizon"} for _, offset in worker.offsets.values())


@pytest.mark.parametrize("seconds", [0, 3600])
def test_a_late_object_with_a_smaller_key(objects: Objects, seconds: int) -> None:
    objects.put("in/5", [5])
    age(objects, "in/5", seconds)
    worker = PlayedSource(objects)
    worker.turn()
    objects.put("in/2", [2])
    objects.put("a/2", [3])
    assert worker.look()
    worker.turn()
    worker.turn()
    assert worker.delivered == [5, 3, 2]
    assert not worker.look()


def test_a_late_object_of_every_virtual_bucket(objects: Objects) -> None:
    objects.put("z", [1000])
    worker = PlayedSource(objects, tasks=4)
    worker.turn()
    for number in range(200):
        objects.put(f"a/{number}", [number])
    worker.turn()
    worker.turn()
    assert sorted(worker.delivered) == [*range(200), 1000]


def test_a_changed_object_is_read_again(objects: Objects) -> None:
    objects.write(range(20))
    worker = PlayedSource(objects)
    worker.turn()
    objects.put("in/00001.jsonl", [30, 31])
    assert worker.look()
    worker.turn()
    worker.turn()
    assert worker.delivered == [*range(20), 30, 31]


def test_changes_can_be_ignored(objects: Objects) -> None:
    objects.configure(changed_objects="ignore")
    objects.write(range(20))
    worker = PlayedSource(objects)
    worker.turn()
    objects.put("in/00001.jsonl", [30, 31])
    assert not worker.look()
    worker.turn()
    assert worker.delivered == list(range(20))
    objects.write([20])
    worker.turn()
    assert worker.delivered == list(range(21))


def test_null_for_one_object_reads_just_that_again(objects: Objects, opened: list[str]) -> None:
    objects.write(range(50))
    age(objects, "in/00002.jsonl", 3600)
    worker = PlayedSource(objects)
    worker.turn()
    del opened[:]
    alter(worker, [({"bucket": objects.bucket, "objectKey": "in/00002.jsonl"}, None)])
    assert worker.look()
    worker.turn()
    assert opened == ["in/00002.jsonl"]
    assert worker.delivered == [*range(50), *range(10, 20)]
    assert not worker.look()
    assert not [p for p, _ in worker.offsets.values() if "objectKey" in p]


def test_a_record_count_says_where_to_go_on(objects: Objects) -> None:
    objects.write(range(10))
    worker = PlayedSource(objects)
    worker.turn()
    partition = {"bucket": objects.bucket, "objectKey": "in/00001.jsonl"}
    alter(worker, [(partition, {"recordCount": 7})])
    worker.turn()
    assert worker.delivered == [*range(10), 7, 8, 9]


SELECTING: list[tuple[dict[str, str], dict[str, str]]] = [
    ({"native.start.key": "in/00200.jsonl"}, {"native.start.key": "in/"}),
    ({"file.name.template": r".*[02468]\.jsonl"}, {"file.name.template": ".*"}),
    ({"file.name.prefix": "in/002"}, {"file.name.prefix": "in/"}),
    ({"file.name.template": "{{partition}}.jsonl"}, {"distribution.type": "partition"}),
]


@pytest.mark.parametrize(("before", "after"), SELECTING)
def test_other_objects_are_selected(
    before: dict[str, str], after: dict[str, str], tmp_path: Path, opened: list[str]
) -> None:
    """Those that were not read before are read, however old, and no others again."""
    objects = Objects({"local.folder": str(tmp_path)}, **before)
    for number in range(400):
        objects.put(f"in/{number:05}.jsonl", [number])
        age(objects, f"in/{number:05}.jsonl", 7200)
    worker = PlayedSource(objects)
    worker.turn()
    read = len(opened)
    assert len(worker.delivered) == read >= 100
    objects.configure(**{key.replace(".", "_"): text for key, text in after.items()})
    worker.turn()
    worker.turn()
    assert sorted(worker.delivered) == list(range(400))
    assert len(opened) == 400
    assert not worker.look()
    objects.put("in/00400.jsonl", [400])
    assert worker.look()
    worker.turn()
    assert sorted(worker.delivered) == list(range(401))
    alter(worker, [(p, None) for p, _ in worker.offsets.values()])
    assert worker.offsets == {}


def test_a_selection_that_comes_back_goes_on_with_its_marks(objects: Objects) -> None:
    worker = PlayedSource(objects)
    for turn, template in enumerate([".*", r".*[13579]\.jsonl", ".*", r".*[13579]\.jsonl"]):
        objects.configure(file_name_template=template)
        objects.write(range(turn * 100, turn * 100 + 100))
        worker.turn()
    names = {partition.get("selection", "") for partition, _ in worker.offsets.values()}
    assert len(names) == 2
    assert len(set(worker.delivered)) == len(worker.delivered) == 350
    assert alterable(objects, worker)


def alterable(objects: Objects, worker: PlayedSource) -> bool:
    """Offsets can be set as they are listed."""
    return bool(
        ObjectSourceConnector().alter_offsets(dict(objects.config()), [*worker.offsets.values()])
    )


def test_an_object_can_be_passed_over(objects: Objects, opened: list[str]) -> None:
    objects.write(range(30))
    worker = PlayedSource(objects)
    partition = {"bucket": objects.bucket, "objectKey": "in/00002.jsonl"}
    alter(worker, [(partition, {"recordCount": 0, "done": True})])
    worker.turn()
    assert worker.delivered == [*range(10), *range(20, 30)]
    assert "in/00002.jsonl" not in opened
    assert not worker.look()


def test_a_reset_of_everything_leaves_nothing(objects: Objects) -> None:
    objects.write(range(30))
    worker = PlayedSource(objects)
    worker.turn()
    partition = {"bucket": objects.bucket, "objectKey": "in/00001.jsonl"}
    alter(worker, [(partition, {"recordCount": 3})])
    alter(worker, [(p, None) for p, _ in worker.offsets.values()])
    assert worker.offsets == {}
    worker.delivered = []
    worker.turn()
    assert worker.delivered == list(range(30))


@pytest.mark.parametrize(
    ("partition", "offset"),
    [
        ({"bucket": "other", "objectKey": "a"}, {"recordCount": 1}),
        ({"bucket": "B", "objectKey": 5}, {"recordCount": 1}),
        ({"bucket": "B", "objectKey": "a"}, {"recordCount": "1"}),
        ({"bucket": "B", "objectKey": "a"}, {"recordCount": -1}),
        ({"bucket": "B", "virtualBucket": 64}, {"mark": "a", "horizon": 1}),
        ({"bucket": "B", "virtualBucket": 1}, {"mark": 3}),
        ({"bucket": "B", "virtualBucket": 1}, {"mark": "a", "horizon": 1, "recent": "%%"}),
        ({}, {"recordCount": 1}),
    ],
)
def test_offsets_that_cannot_be(objects: Objects, partition: dict, offset: dict) -> None:
    named = {k: objects.bucket if v == "B" else v for k, v in partition.items()}
    with pytest.raises(OffsetError):
        ObjectSourceConnector().alter_offsets(dict(objects.config()), [(named, offset)])


def test_offsets_of_aivens_connector_are_taken_over(objects: Objects) -> None:
    objects.write(range(20))
    partition = {"bucket": objects.bucket, "objectKey": "in/00001.jsonl"}
    worker = PlayedSource(objects)
    worker.offsets[canonical(partition)] = partition, {"recordCount": 10}
    worker.turn()
    assert worker.delivered == list(range(10, 20))
    assert canonical(partition) not in worker.offsets


# Damage.


def test_a_cut_off_gzip_tells_object_and_record(objects: Objects) -> None:
    objects.configure(file_compression_type="gzip")
    lines = b"".join(b'{"n": %d}\n' % n for n in range(200_000))
    packed = gzip.compress(lines)
    objects.put_bytes("in/1", gzip.compress(b'{"n": 1}\n'))
    objects.put_bytes("in/2", packed[: len(packed) // 2])
    worker = PlayedSource(objects)
    with pytest.raises(
        ObjectError, match=r"Object in/2 cannot be read beyond record \d{4,}: its gzip"
    ):
        worker.turn()
    assert worker.delivered[:3] == [1, 0, 1]
    again = len(worker.delivered)
    with pytest.raises(ObjectError):
        worker.turn()
    assert len(worker.delivered) == again, "records before the damage came twice"


def test_no_avro(objects: Objects) -> None:
    objects.configure(input_format="avro")
    objects.put_bytes("in/1", b"this is not avro")
    with pytest.raises(ObjectError, match=r"Object in/1 cannot be read beyond record 0: it is no"):
        PlayedSource(objects).turn()


@pytest.mark.parametrize("tolerance", ["none", "all"])
def test_avro_that_is_damaged_in_the_middle(tolerance: str, objects: Objects) -> None:
    """Blocks before the damage are delivered; what is behind it is told, with its position."""
    objects.configure(input_format="avro", errors_tolerance=tolerance)
    schema = fastavro.parse_schema(
        {
            "type": "record",
            "name": "r",
            "fields": [{"name": "n", "type": "long"}, {"name": "text", "type": "string"}],
        }
    )
    whole = io.BytesIO()
    rows = [{"n": n, "text": f"text {n}"} for n in range(3000)]
    fastavro.writer(whole, schema, rows, codec="snappy", sync_interval=1000)
    data = bytearray(whole.getvalue())
    data[len(data) // 2 : len(data) // 2 + 40] = b"\xff" * 40
    objects.put_bytes("in/1", bytes(data))
    good = io.BytesIO()
    fastavro.writer(good, schema, [{"n": -1, "text": ""}])
    objects.put_bytes("in/2", good.getvalue())
    worker = PlayedSource(objects)
    if tolerance == "none":
        with pytest.raises(
            ObjectError, match=r"Object in/1 cannot be read beyond record \d+"
        ) as bad:
            worker.turn()
        assert bad.value.position == len(worker.delivered)
        assert worker.delivered == list(range(len(worker.delivered)))
    else:
        worker.turn()
        read = len(worker.delivered) - 1
        assert worker.delivered == [*range(read), -1]
        ((message, data_of_it, _),) = letters(worker)
        assert f"cannot be read beyond record {read}" in message
        assert data_of_it is None
        worker.turn()
        assert len(worker.delivered) == read + 1
    assert 2 < len(worker.delivered) < 3000


def letters(worker: PlayedSource) -> list[tuple[str, bytes | None, Any]]:
    """What was wrong, the data, and the number of records with which the source goes on."""
    return [(str(e), e.data, (e.source_offset or {}).get("recordCount")) for e in worker.letters]


BAD: dict[str, tuple[bytes, list[bytes]]] = {
    "jsonl": (b'{"n": 1}\nnot JSON\n{"n": 2}\n{"n":\n', [b"not JSON", b'{"n":']),
    "csv": (b"n\n1\n3,4\n2\n\xff\n", [b"3,4", b"\xff"]),
    "json": (b'[{"n": 1},\nnot JSON,\n{"n": 2},\n{"n":}]', [b"not JSON", b'{"n":}']),
}


@pytest.mark.parametrize("form", list(BAD))
def test_bad_records_are_letters_in_their_place(
    form: str, objects: Objects, caplog: pytest.LogCaptureFixture
) -> None:
    objects.configure(errors_tolerance="all", input_format=form)
    whole, bad = BAD[form]
    good = {"jsonl": b'{"n": 3}\n', "csv": b"n\n3\n", "json": b'[{"n": 3}]'}[form]
    objects.put_bytes("in/1", whole)
    objects.put_bytes("in/2", good)
    worker = PlayedSource(objects)
    with caplog.at_level(logging.ERROR):
        worker.turn()
    assert worker.delivered == [1, 2, 3]
    assert [(data, count) for _, data, count in letters(worker)] == [(bad[0], 2), (bad[1], 4)]
    assert all(f"Record {n} of object in/1" in caplog.text for n in (2, 4))
    assert not worker.look()
    assert not [p for p, _ in worker.offsets.values() if "objectKey" in p]


def test_a_letter_commits_nothing_that_is_not_delivered(
    objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed after each poll in turn, every record and every letter is there once."""
    monkeypatch.setattr("penstock.plugins.objects.source_gathering.ENOUGH_ROWS", 1)
    objects.configure(errors_tolerance="all", input_format="csv")
    objects.put_bytes("in/1", b"n\n" + b"".join(b"%d\n%d,0\n" % (n, n) for n in range(5)))
    for polls in range(1, 8):
        worker = PlayedSource(objects)
        worker.turn(polls=polls, killed=True)
        committed = {error.data for error in worker.letters[: polls // 2]}
        worker.turn()
        assert worker.delivered == list(range(5))
        assert {error.data for error in worker.letters} == {b"%d,0" % n for n in range(5)}
        assert len(worker.letters) <= 6, "more than the one that was never committed came again"
        assert len(committed) == polls // 2


def test_the_rest_of_a_damaged_object_is_one_letter(objects: Objects) -> None:
    objects.configure(errors_tolerance="all", file_compression_type="gzip")
    packed = gzip.compress(b"".join(b'{"n": %d}\n' % n for n in range(200_000)))
    objects.put_bytes("in/1", packed[: len(packed) // 2])
    objects.put_bytes("in/2", gzip.compress(b'{"n": -1}\n'))
    worker = PlayedSource(objects)
    worker.turn()
    ((text, data, count),) = letters(worker)
    assert text.startswith(f"Object in/1 cannot be read beyond record {count}: its gzip data")
    assert worker.delivered == [*range(count), -1]
    assert data is None
    assert not worker.look()
    worker.turn()
    assert len(worker.letters) == 1


def test_killed_after_the_letter_of_a_damaged_object(objects: Objects) -> None:
    objects.configure(errors_tolerance="all", input_format="avro")
    objects.put_bytes("in/1", b"this is not avro")
    worker = PlayedSource(objects)
    worker.turn(polls=2, killed=True)
    assert len(worker.letters) == 1
    assert [o.get("done") for _, o in worker.offsets.values()] == [True]
    worker.turn()
    assert len(worker.letters) == 1
    assert not worker.look()


def test_an_object_that_was_given_up_is_read_once_it_is_replaced(objects: Objects) -> None:
    objects.configure(errors_tolerance="all", input_format="avro")
    objects.put_bytes("in/1", b"this is not avro")
    worker = PlayedSource(objects)
    worker.turn(polls=2, killed=True)
    objects.put_bytes("in/1", b"this is not avro either")
    worker.turn()
    assert len(worker.letters) == 2
    assert not worker.look()


def test_a_letter_has_the_beginning_of_a_long_record(objects: Objects) -> None:
    objects.configure(errors_tolerance="all")
    objects.put_bytes("in/1", b"x" * 3_000_000)
    worker = PlayedSource(objects)
    worker.turn()
    assert [len(error.data or b"") for error in worker.letters] == [512 * 1024]


class CutShort:
    """A download that ends early, without an error."""

    def __init__(self, got: Any) -> None:
        self.meta = got.meta

    def stream(self) -> Iterator[bytes]:
        yield b'{"n": 0}\n{"n": 1}\n{"n"'


def test_an_object_that_shrinks_while_it_is_read_is_read_again(
    objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects.put_bytes("in/1", b"".join(b'{"n": %d}\n' % n for n in range(9)))
    real, shrunk = obstore.get, iter([True])

    def shrinking(store: Any, key: str) -> Any:
        got = real(store, key)
        if not next(shrunk, False):
            return got
        objects.put_bytes(key, b'{"n": 20}\n{"n": 21}\n')
        return CutShort(got)

    monkeypatch.setattr(obstore, "get", shrinking)
    worker = PlayedSource(objects)
    worker.turn()
    assert worker.delivered == [20, 21]


def test_a_bad_record_says_how_to_pass_over_it(objects: Objects) -> None:
    objects.put_bytes("in/1", b'{"n": 1}\nnot JSON\n{"n": 2}\n')
    worker = PlayedSource(objects)
    with pytest.raises(ObjectError, match="set its recordCount to 2 to pass over"):
        worker.turn()
    partition = {"bucket": objects.bucket, "objectKey": "in/1"}
    alter(worker, [(partition, {"recordCount": 2})])
    worker.turn()
    assert worker.delivered == [1, 2]


def half_read(objects: Objects, monkeypatch: pytest.MonkeyPatch) -> PlayedSource:
    monkeypatch.setattr("penstock.sdk.transformers.transformer.ROWS", 3)
    monkeypatch.setattr("penstock.plugins.objects.source_gathering.ENOUGH_ROWS", 1)
    objects.configure(input_format="csv")
    objects.put_bytes("in/1", b"n\n" + b"".join(b"%d\n" % n for n in range(9)))
    worker = PlayedSource(objects)
    worker.turn(polls=2, killed=True)
    assert worker.delivered == [0, 1, 2]
    return worker


def test_changed_while_it_was_read(objects: Objects, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = half_read(objects, monkeypatch)
    objects.put_bytes("in/1", b"n\n20\n21\n22\n23\n")
    worker.turn()
    assert worker.delivered == [0, 1, 2, 20, 21, 22, 23]


def test_changed_while_it_was_read_and_ignored(
    objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = half_read(objects, monkeypatch)
    objects.configure(changed_objects="ignore")
    objects.put_bytes("in/1", b"n\n20\n21\n22\n23\n")
    worker.turn()
    assert worker.delivered == [0, 1, 2, 23]


def test_deleted_while_it_was_read(objects: Objects, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = half_read(objects, monkeypatch)
    objects.delete("in/1")
    with pytest.raises(ObjectError, match="Object in/1 was deleted after 3 of its records"):
        worker.turn()
    objects.configure(errors_tolerance="all")
    worker.turn()
    assert not worker.look()
    ((text, _, count),) = letters(worker)
    assert "was deleted after 3" in text
    assert count == 3


def test_deleted_between_listing_and_reading(
    objects: Objects, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    objects.write(range(20))
    real = source_reader.ObjectReader.open

    def deleting(self: Any, key: str) -> Any:
        objects.delete("in/00002.jsonl") if key == "in/00001.jsonl" else None
        return real(self, key)

    monkeypatch.setattr(source_reader.ObjectReader, "open", deleting)
    worker = PlayedSource(objects)
    worker.turn()
    assert worker.delivered == list(range(10))
    assert "in/00002.jsonl was deleted before it was read" in caplog.text


def test_storage_that_fails_in_the_middle_is_asked_again(
    objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest of an object is read after the records that were delivered."""
    monkeypatch.setattr("penstock.sdk.transformers.transformer.ROWS", 3)
    objects.configure(input_format="csv")
    objects.put_bytes("in/1", b"n\n" + b"".join(b"%d\n" % n for n in range(9)))
    objects.put_bytes("in/2", b"n\n9\n")
    real, failures = source_reader.ObjectReader.batches, iter([2, 1])

    def failing(self: Any, entry: Any, opened: Any) -> Any:
        left = next(failures, None)
        for records in real(self, entry, opened):
            yield records
            left = None if left is None else left - 1
            if left == 0:
                raise RetriableError("the endpoint went away", retry_after=0)

    monkeypatch.setattr(source_reader.ObjectReader, "batches", failing)
    worker = PlayedSource(objects)
    worker.turn()
    assert worker.delivered == list(range(10))


def test_a_failed_tasks_objects_wait_for_it(objects: Objects) -> None:
    objects.write(range(200))
    worker = PlayedSource(objects, tasks=2)
    connector = objects.connector()
    connector.start(dict(objects.config()))
    configs = connector.task_configs(2)
    assert connector.look(worker.reader())
    both = connector.plan(worker.reader(), [0, 1])
    one = connector.plan(worker.reader(), [0])
    assert both is not None
    assert one is not None
    assert len(configs) == 2
    assert one[0]["objects.order"].count("jsonl") == both[0]["objects.order"].count("jsonl")
    back = connector.plan(worker.reader(), [0, 1])
    assert back is not None
    assert [o["objects.order"].count("jsonl") for o in back] == [
        o["objects.order"].count("jsonl") for o in both
    ]
