"""What the Elasticsearch sink requests, and what it does with each answer: played by a server."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from certificates import make_authority, make_certificate
from free_ports import free_port
from penstock.engine.pipeline.pipeline import without
from penstock.plugins.search.bulk_writer import LONGEST_PAUSE
from penstock.sdk import ConfigError, RecordError, RetriableError, Schema, UserError
from played_search import PASSWORD, PlayedSearch, items
from search_records import records, row, sink

KEYS = ["a", "b", "c"]
EXTERNAL = {"version_type": "external"}


@pytest.fixture
def played() -> Iterator[PlayedSearch]:
    with PlayedSearch() as running:
        yield running


def _batch(*, start: int = 0) -> pa.RecordBatch:
    return records(row(1), row(2), row(3), keys=KEYS, start=start)


def _sent(played: PlayedSearch) -> list[list[str]]:
    """The ids of each bulk request."""
    actions = [[json.loads(line) for line in bulk[::2]] for bulk in played.bulks()]
    return [[next(iter(action.values()))["_id"] for action in bulk] for bulk in actions]


def test_ids_and_versions(played: PlayedSearch) -> None:
    with sink(played.config(behavior_on_null_values="delete")) as task:
        task.put(records(row(1, "x"), None, keys=["a", "b"], start=7, topic="Orders"))
    ((action, document, deletion),) = played.bulks()
    assert json.loads(action) == {
        "index": {"_index": "orders", "_id": "a", "version": 7, **EXTERNAL}
    }
    assert json.loads(document) == {"n": 1, "note": "x"}
    assert json.loads(deletion) == {
        "delete": {"_index": "orders", "_id": "b", "version": 8, **EXTERNAL}
    }


def test_ids_without_keys(played: PlayedSearch) -> None:
    with sink(played.config(key_ignore="true", behavior_on_null_values="delete")) as task:
        task.put(records(row(1), None, row(2), start=7))
    ((first, _, second, _),) = played.bulks()
    assert json.loads(first) == {"index": {"_index": "orders", "_id": "orders+0+7"}}
    assert json.loads(second)["index"]["_id"] == "orders+0+9"


def test_upserts_have_no_versions(played: PlayedSearch) -> None:
    config = played.config(write_method="upsert", behavior_on_null_values="delete")
    with sink(config) as task:
        task.put(records(row(1), None, keys=["a", "b"]))
    ((action, document, deletion),) = played.bulks()
    assert json.loads(action)["update"]["_id"] == "a"
    assert json.loads(document) == {"doc": {"n": 1, "note": None}, "doc_as_upsert": True}
    assert json.loads(deletion) == {"delete": {"_index": "orders", "_id": "b"}}


def test_a_topic_for_each_record(played: PlayedSearch) -> None:
    """As a TimestampRouter makes them."""
    parts = [records(row(n), keys=[str(n)], start=n, topic=f"T{n % 2}") for n in range(4)]
    whole = pa.concat_tables(map(pa.table, parts)).unify_dictionaries().combine_chunks()
    with sink(played.config()) as task:
        task.put(whole.to_batches()[0])
    (bulk,) = played.bulks()
    indexes = [json.loads(line)["index"]["_index"] for line in bulk[::2]]
    assert indexes == ["t0", "t1", "t0", "t1"]
    assert [json.loads(line)["n"] for line in bulk[1::2]] == [0, 1, 2, 3]


def test_topics_that_become_one_keep_their_documents_apart(played: PlayedSearch) -> None:
    """As a RegexRouter makes them; two records of one offset are two documents."""
    with sink(played.config(key_ignore="true")) as task:
        for topic in ("shop-a", "shop-b"):
            task.read_from = topic, 2
            task.put(records(row(1), start=7, topic="shops"))
    actions = [json.loads(bulk[0])["index"] for bulk in played.bulks()]
    assert [action["_id"] for action in actions] == ["shop-a+2+7", "shop-b+2+7"]
    assert {action["_index"] for action in actions} == {"shops"}


def test_requests_are_limited_in_records_and_bytes(played: PlayedSearch) -> None:
    with sink(played.config(batch_size="2", connection_compression="true")) as task:
        task.put(_batch())
    assert sorted(_sent(played)) == [["a", "b"], ["c"]]
    played.requests.clear()
    with sink(played.config(bulk_size_bytes="1")) as task:
        task.put(_batch())
    assert sorted(_sent(played)) == [["a"], ["b"], ["c"]]


@pytest.mark.parametrize("status", [429, 503])
def test_what_was_not_taken_is_sent_again_alone(played: PlayedSearch, status: int) -> None:
    with sink(played.config()) as task:
        played.bulk_answers.append((200, items(201, status, 201)))
        with pytest.raises(RetriableError, match=r"1 of 3 documents for now.*because"):
            task.put(_batch())
        task.put(_batch())
        task.put(_batch(start=3))
    assert _sent(played) == [KEYS, ["b"], KEYS]


def test_an_upsert_that_was_not_taken_is_sent_again_with_those_after_it(
    played: PlayedSearch,
) -> None:
    with sink(played.config(write_method="upsert")) as task:
        played.bulk_answers.append((200, items(201, 429, 201)))
        with pytest.raises(RetriableError):
            task.put(_batch())
        task.put(_batch())
    assert _sent(played) == [KEYS, ["b", "c"]]


def test_pauses_grow_to_a_limit(played: PlayedSearch) -> None:
    pauses = []
    with sink({**played.config(), "retry.backoff.ms": "100"}) as task:
        for _ in range(8):
            played.bulk_answers.append((429, {"error": {"type": "x", "reason": "too much"}}))
            with pytest.raises(RetriableError, match="too much") as raised:
                task.put(_batch())
            pauses.append(raised.value.retry_after)
        task.put(_batch())
    assert pauses == sorted(pauses)
    assert (pauses[0], pauses[-1]) == (0.1, LONGEST_PAUSE)


def test_older_versions_and_missing_documents_are_no_errors(
    played: PlayedSearch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with sink(played.config(behavior_on_null_values="delete")) as task:
        played.bulk_answers.append((200, items(409, 201, 201)))
        task.put(_batch())
        deleted = {"errors": True, "items": [{"delete": {"status": 404, "error": {"type": "i"}}}]}
        played.bulk_answers.append((200, deleted))
        task.put(records(None, keys=["z"]))
        task.flush()
        task.flush()
    (told,) = [r.getMessage() for r in caplog.records if "newer" in r.getMessage()]
    assert told.startswith("1 records were not written")


def test_every_refused_document_is_named_and_nothing_is_sent_twice(played: PlayedSearch) -> None:
    with sink(played.config()) as task:
        played.bulk_answers.append((200, items(400, 201, 400, reason="no number")))
        batch = _batch()
        with pytest.raises(RecordError, match="no number") as raised:
            task.put(batch)
        assert raised.value.row == 0
        batch = without(batch, 0)
        with pytest.raises(RecordError) as raised:
            task.put(batch)
        assert raised.value.row == 1
        task.put(without(batch, 1))
    assert _sent(played) == [KEYS]


def test_nothing_is_sent_twice_where_a_batch_is_given_in_parts(played: PlayedSearch) -> None:
    """As the worker does after a refusal."""
    with sink(played.config()) as task:
        played.bulk_answers.append((200, items(201, 400, 201)))
        batch = _batch()
        with pytest.raises(RecordError) as raised:
            task.put(batch)
        assert raised.value.row == 1
        task.put(batch.slice(0, 1))
        task.put(batch.slice(2))
        assert len(_sent(played)) == 1
        task.flush()
        task.put(batch.slice(2))
        assert len(_sent(played)) == 2, "what is given after a flush is new"


@pytest.mark.parametrize("behavior", ["ignore", "warn"])
def test_refused_documents_can_be_skipped(
    played: PlayedSearch, behavior: str, caplog: pytest.LogCaptureFixture
) -> None:
    with sink(played.config(behavior_on_malformed_documents=behavior)) as task:
        played.bulk_answers.append((200, items(201, 400, 201)))
        task.put(_batch())
    assert ("partition 0, offset 1" in caplog.text) == (behavior == "warn")
    tolerant = played.config(behavior_on_malformed_documents=behavior, errors_tolerance="all")
    with sink(tolerant) as task:
        played.bulk_answers.append((200, items(201, 400, 201)))
        with pytest.raises(RecordError):  # for the dead letter
            task.put(_batch())


@pytest.mark.parametrize("status", [400, 413])
def test_a_request_that_is_refused_as_a_whole_is_halved(played: PlayedSearch, status: int) -> None:
    with sink(played.config()) as task:
        refusal = (status, {"error": {"type": "x", "reason": "too large"}})
        played.bulk_answers += [refusal, refusal]
        with pytest.raises(RecordError, match="too large") as raised:
            task.put(_batch())
    assert raised.value.row == 0
    assert _sent(played) == [KEYS, ["a"], ["b", "c"]]


@pytest.mark.parametrize(
    ("value", "key", "words"),
    [
        (None, "k", "behavior.on.null.values"),
        (row(1), None, "key.ignore"),
        (row(1), "", "empty"),
        (row(1), "x" * 513, "512 bytes"),
    ],
)
def test_records_that_cannot_be_documents(
    played: PlayedSearch, value: object, key: str | None, words: str,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    batch = records(row(0), value, row(2), keys=["a", key, "c"])
    with sink(played.config()) as task, pytest.raises(RecordError, match=words) as raised:
        task.put(batch)
    assert raised.value.row == 1
    assert played.bulks() == []
    with sink(played.config(drop_invalid_message="true")) as task:
        task.put(batch)
    assert _sent(played) == [["a", "c"]]
    assert "offset 1" in caplog.text


def test_values_that_are_no_objects(played: PlayedSearch) -> None:
    texts = records("x", keys=["a"], schema=Schema.string())
    with sink(played.config()) as task, pytest.raises(RecordError, match="JsonConverter"):
        task.put(texts)
    listed = records('{"a": 1}', "[1]", keys=["a", "b"], schema=None)
    with sink(played.config()) as task, pytest.raises(RecordError) as raised:
        task.put(listed)
    assert raised.value.row == 1


def test_tombstones_can_be_ignored(played: PlayedSearch) -> None:
    with sink(played.config(behavior_on_null_values="ignore")) as task:
        task.put(records(None, row(1), None, keys=["a", "b", None]))
    assert _sent(played) == [["b"]]


def test_wrong_credentials_tell_what_to_check_and_no_secret(played: PlayedSearch) -> None:
    config = {**played.config(), "connection.password": "hunter2-wrong"}
    with pytest.raises(UserError, match=r"Check 'connection.username'") as raised, sink(config):
        pass
    assert "hunter2" not in str(raised.value)


def test_a_server_that_repeats_the_password(played: PlayedSearch) -> None:
    with sink(played.config()) as task:
        told = {"error": {"type": "x", "reason": f"you said {PASSWORD}"}}
        played.bulk_answers.append((418, told))
        with pytest.raises(UserError, match=r"you said \[hidden\]") as raised:
            task.put(_batch())
    assert PASSWORD not in str(raised.value)


def test_the_next_address_is_used(played: PlayedSearch) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}"
    with sink({**played.config(), "connection.url": f"{nowhere},{played.url}"}) as task:
        task.put(_batch())
    assert _sent(played) == [KEYS]
    alone = {**played.config(), "connection.url": nowhere}
    with pytest.raises(RetriableError, match="does not answer"), sink(alone):
        pass


def test_a_server_of_another_kind(played: PlayedSearch) -> None:
    with sink(played.config()) as task:
        played.bulk_answers.append((200, {"hello": "world"}))
        with pytest.raises(UserError, match=r"Check 'connection.url'"):
            task.put(_batch())


def test_a_full_disk_is_waited_for_and_missing_rights_are_not(played: PlayedSearch) -> None:
    with sink(played.config()) as task:
        played.bulk_answers.append((200, items(403, 201, 201, kind="cluster_block_exception")))
        with pytest.raises(RetriableError, match="because"):
            task.put(_batch())
        played.bulk_answers.append((200, items(403, kind="security_exception")))
        with pytest.raises(UserError, match="status 403"):
            task.put(_batch())


def test_a_certificate_must_be_trusted(tmp_path: Path) -> None:
    authority = make_authority(tmp_path, "authority")
    certificate = make_certificate(tmp_path, "search", authority)
    with PlayedSearch(certificate=certificate) as played:
        trusted = played.config(elastic_https_ssl_truststore_location=str(authority.certificate))
        with sink(trusted) as task:
            task.put(_batch())
        assert _sent(played) == [KEYS]
        untrusted = pytest.raises(UserError, match=r"not trusted.*ssl\.truststore\.location")
        with untrusted, sink(played.config()):
            pass
    missing = {**trusted, "elastic.https.ssl.truststore.location": str(tmp_path / "none.pem")}
    with pytest.raises(ConfigError, match="No such file"), sink(missing):
        pass


def test_a_proxy(played: PlayedSearch) -> None:
    through = played.config(proxy_host="127.0.0.1", proxy_port=str(played.port))
    with sink({**through, "connection.url": "http://search.invalid:9200"}) as task:
        task.put(_batch())
    assert played.hosts == {"search.invalid:9200"}
    assert _sent(played) == [KEYS]
