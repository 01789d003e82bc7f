"""What a real OpenSearch makes of the Elasticsearch sink's requests."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TypeVar

import pytest

from bench.search_server import SearchServer
from penstock.embedded import Java
from penstock.engine.pipeline.pipeline import without
from penstock.sdk import RecordError, RetriableError, Schema, UserError
from penstock.sdk.schema import DATE, TIMESTAMP
from played_search import PlayedSearch
from search_records import records, row, sink
from waiting import eventually

pytestmark = pytest.mark.heavy
T = TypeVar("T")
DELETING = {"behavior.on.null.values": "delete"}


def _config(search: SearchServer, **more: str) -> dict[str, str]:
    changed = {key.replace("_", "."): value for key, value in more.items()}
    return {"connection.url": search.url, **changed}


def _retried(call: Callable[[], T]) -> tuple[T, int]:
    """As a worker does it; and how often."""
    failures = 0

    def tried() -> list[T]:
        nonlocal failures
        try:
            return [call()]
        except RetriableError:
            failures += 1
            return []

    (result,) = eventually(tried, within=180, every=0.2)
    return result, failures


def test_the_last_record_of_a_key_stays(search: SearchServer, name: str) -> None:
    with sink({**_config(search), **DELETING}) as task:
        task.put(records(row(1), row(2), row(3, "last"), keys=["a", "b", "a"], topic=name))
        task.put(records(None, row(5), keys=["b", "c"], start=3, topic=name))
    assert search.documents(name) == {"a": row(3, "last"), "c": row(5)}


def test_what_is_read_again_changes_nothing(search: SearchServer, name: str) -> None:
    values = [row(1), row(2), None, row(4), row(5)]
    batch = records(*values, keys=["a", "b", "b", "a", "c"], topic=name)
    config = {**_config(search, batch_size="2"), **DELETING}
    with sink(config) as task:
        task.put(batch)
    before = search.documents(name)
    assert before == {"a": row(4), "c": row(5)}
    with sink(config) as task:
        for start in range(5):
            task.put(batch.slice(start, 1))
            assert search.documents(name)["a"] == row(4), "an older record replaced a newer one"
    assert search.documents(name) == before


def test_an_upsert_keeps_other_fields(search: SearchServer, name: str) -> None:
    only_n = Schema.struct({"n": Schema.int32()})
    with sink({**_config(search, write_method="upsert"), **DELETING}) as task:
        task.put(records(row(1, "kept"), row(8), keys=["a", "b"], topic=name))
        task.put(records({"n": 2}, None, keys=["a", "b"], start=2, topic=name, schema=only_n))
        task.put(records({"n": 2}, keys=["a"], start=2, topic=name, schema=only_n))
    assert search.documents(name) == {"a": row(2, "kept")}


def test_a_mapping_conflict_is_one_records_fault(search: SearchServer, name: str) -> None:
    config = _config(search)
    texts = [f'{{"n": {number}}}' for number in range(40)]
    texts[7], texts[23] = '{"n": "seven"}', '{"n": {"x": 1}}'
    batch = records(*texts, keys=[str(n) for n in range(40)], topic=name, schema=None)
    left = batch
    with sink(config) as task:
        task.put(records('{"n": -1}', keys=["first"], topic=name, schema=None))
        for offset in (7, 23):
            with pytest.raises(RecordError, match="n") as raised:
                task.put(left)
            assert left.column("offset")[raised.value.row].as_py() == offset
            left = without(left, raised.value.row)
        task.put(left)
    expected = {str(n) for n in range(40) if n not in (7, 23)}
    assert search.documents(name).keys() == expected | {"first"}


def test_types_and_the_mapping_of_a_schema(search: SearchServer, name: str) -> None:
    schema = Schema.struct(
        {
            "at": Schema.int64(name=TIMESTAMP),
            "day": Schema.int32(name=DATE),
            "price": Schema.decimal(2),
            "raw": Schema.bytes(),
            "text": Schema.string(),
            "tags": Schema.array(Schema.string()),
            "sizes": Schema.map(Schema.string(), Schema.int32()),
        }
    )
    noon = dt.datetime(2024, 3, 1, 12, tzinfo=dt.UTC)
    value = {
        "at": noon,
        "day": noon.date(),
        "price": Decimal("9.90"),
        "raw": b"\xff",
        "text": "ü",
        "tags": ["x", "y"],
        "sizes": {"s": 1},
    }
    with sink(_config(search)) as task:
        task.put(records(value, keys=["a"], topic=name, schema=schema))
    types = {field: told.get("type") for field, told in search.mapping(name).items()}
    expected = {"at": "date", "day": "date", "price": "double", "raw": "binary", "text": "text"}
    assert types == {**expected, "tags": "text", "sizes": None}
    ((key, found),) = search.documents(name).items()
    assert key == "a"
    assert found["at"] == 1709294400000
    assert found["day"] == "2024-03-01"
    assert found["price"] == 9.9
    query = {"query": {"range": {"day": {"gte": "2024-03-01", "lt": "2024-03-02"}}}}
    answer = search.http.post(f"/{name}/_count", json=query).json()
    assert answer["count"] == 1


def test_an_index_that_is_there_gets_a_mapping_only_if_it_has_none(
    search: SearchServer, name: str
) -> None:
    search.http.put(f"/{name}").raise_for_status()
    with sink(_config(search)) as task:
        task.put(records(row(1, "x"), keys=["a"], topic=name))
    assert search.mapping(name)["n"] == {"type": "integer"}
    ignoring = f"{name}-2"
    with sink(_config(search, topic_schema_ignore=ignoring)) as task:
        task.put(records(row(1, "x"), keys=["a"], topic=ignoring))
    assert search.mapping(ignoring)["n"] == {"type": "long"}, "the server's own guess"
    with sink(_config(search)) as task:
        task.put(records(row(2, "x"), keys=["a"], topic=ignoring, start=1))
    assert search.mapping(ignoring)["n"] == {"type": "long"}


def test_named_indexes_and_aliases_must_exist(search: SearchServer, name: str) -> None:
    mapped = {"topic.to.external.resource.mapping": f"t:{name}"}
    config = {**_config(search), **mapped, "external.resource.usage": "ALIAS_INDEX"}
    batch = records(row(1), keys=["a"], topic="t")
    with sink(config) as task, pytest.raises(UserError, match=f"no index or alias {name}"):
        task.put(batch)
    aliases = {"aliases": {name: {"is_write_index": True}}}
    search.http.put(f"/{name}-000001", json=aliases).raise_for_status()
    with sink(config) as task:
        task.put(batch)
    assert search.documents(f"{name}-000001") == {"a": row(1)}


def test_a_request_larger_than_the_server_takes(search: SearchServer, name: str) -> None:
    """By default 100 MB; the record at fault is told, and the others land."""
    big = "x" * (101 * 1024 * 1024)
    batch = records(row(1), row(2, big), row(3), keys=["a", "b", "c"], topic=name)
    config = _config(search, bulk_size_bytes="-1", read_timeout_ms="120000")
    with sink(config) as task:
        with pytest.raises(RecordError) as raised:
            _retried(lambda: task.put(batch))
        assert raised.value.row == 1
        task.put(without(batch, 1))
    assert search.documents(name).keys() == {"a", "c"}


def test_a_server_that_is_overloaded_is_waited_for(search: SearchServer, name: str) -> None:
    """A guarded server in front says 429 to a request, and to some documents of the next."""
    with PlayedSearch(search.url) as played, sink(played.config(batch_size="1000")) as task:
        batch = records(*map(row, range(50)), keys=[str(n) for n in range(50)], topic=name)
        too_many = {"error": {"type": "x", "reason": "rejected"}, "status": 429}
        played.bulk_answers += [(429, too_many), (503, too_many)]
        _, failures = _retried(lambda: task.put(batch))
    assert failures == 2
    assert len(search.documents(name)) == 50


def test_a_server_that_restarts_in_the_middle(java: Java, tmp_path: Path, name: str) -> None:
    with SearchServer(tmp_path, java) as search, sink(_config(search)) as task:
        task.put(records(row(1), keys=["a"], topic=name))
        search.kill()
        later = records(row(2), keys=["b"], start=1, topic=name)
        with pytest.raises(RetriableError, match="does not answer"):
            task.put(later)
        search.start()
        _retried(lambda: task.put(later))
        assert search.documents(name) == {"a": row(1), "b": row(2)}
