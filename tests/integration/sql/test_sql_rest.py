"""ksqlDB's endpoints on a real worker, broker and Spark, over HTTP/1.1."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest

from penstock.runtime.worker import Worker
from topics import Topics
from waiting import eventually

Json = dict[str, Any]
DELIMITED = "application/vnd.ksqlapi.delimited.v1"


def run(http: httpx.Client, sql: str, **more: Any) -> list[Json]:
    answer = http.post("/ksql", json={"ksql": sql, **more})
    assert answer.status_code == 200, answer.text
    found: list[Json] = answer.json()
    return found


def refused(http: httpx.Client, sql: str, path: str = "/ksql") -> Json:
    answer = http.post(path, json={"ksql": sql})
    assert answer.status_code // 100 == 4, answer.text
    found: Json = answer.json()
    return found


def listed(http: httpx.Client) -> list[str]:
    (entity,) = run(http, "SHOW QUERIES;")
    return [each["id"] for each in entity["queries"]]


def has_ended(query_id: str) -> bool:
    return query_id not in {thread.name for thread in threading.enumerate()}


def test_streams_over_rest(http: httpx.Client, topics: Topics, name: str) -> None:
    (made,) = run(
        http, f"CREATE STREAM s (k VARCHAR KEY, n INT) WITH (KAFKA_TOPIC='{name}', PARTITIONS=1);"
    )
    assert made["@type"] == "currentStatus"
    assert made["commandId"] == "stream/`S`/create"
    assert made["commandStatus"]["status"] == "SUCCESS"
    number = made["commandSequenceNumber"]
    assert run(http, "INSERT INTO s VALUES ('a', 1);", commandSequenceNumber=number) == []
    late = http.post("/ksql", json={"ksql": "SHOW STREAMS;", "commandSequenceNumber": 10**6})
    assert (late.status_code, late.json()["error_code"]) == (503, 50301)

    lines = b'{"target": "s"}\n{"K": "b", "n": 2}\n{"n": "x"}\n{"`N`": 3}\n{"m": 1}\n'
    acks = http.post("/inserts-stream", content=lines, headers={"Content-Type": DELIMITED}).text
    told = [json.loads(line) for line in acks.splitlines()]
    assert [(each["seq"], each["status"]) for each in told] == [
        (0, "ok"),
        (1, "error"),
        (2, "ok"),
        (3, "error"),
    ]
    assert "N is INTEGER" in told[1]["message"]
    assert topics.end(name) == 3

    query = {"sql": "SELECT k, n FROM s ORDER BY n;"}
    head, *rows = http.post("/query-stream", json=query).text.splitlines()
    assert json.loads(head)["columnNames"] == ["K", "N"]
    assert json.loads(head)["columnTypes"] == ["STRING", "INTEGER"]
    assert [json.loads(row) for row in rows] == [["a", 1], ["b", 2], [None, 3]]

    old = http.post(
        "/query",
        json={
            "ksql": "SELECT n FROM s EMIT CHANGES LIMIT 2;",
            "streamsProperties": {"auto.offset.reset": "earliest"},
        },
    ).json()
    assert old[0]["header"]["schema"] == "`N` INTEGER"
    assert old[1:] == [
        {"row": {"columns": [1]}},
        {"row": {"columns": [2]}},
        {"finalMessage": "Limit Reached"},
    ]
    assert refused(http, "SELECT m FROM s;", "/query")["error_code"] == 40001
    assert (
        refused(http, f"CREATE STREAM s (n INT) WITH (KAFKA_TOPIC='{name}');")["error_code"]
        == 40900
    )
    (described,) = run(http, "DESCRIBE s;")
    assert described["sourceDescription"]["fields"][0] == {
        "name": "K",
        "schema": {"type": "STRING", "fields": None, "memberSchema": None},
        "type": "KEY",
    }


def test_a_push_query_ends_when_its_client_goes_away(http: httpx.Client, name: str) -> None:
    run(http, f"CREATE STREAM s (n INT) WITH (KAFKA_TOPIC='{name}', PARTITIONS=1);")
    push = {"sql": "SELECT n FROM s EMIT CHANGES;"}
    with http.stream("POST", "/query-stream", json=push) as answer:
        lines = answer.iter_lines()
        query_id = json.loads(next(lines))["queryId"]
        assert listed(http) == [query_id]
        run(http, "INSERT INTO s VALUES (7);")
        assert json.loads(next(lines)) == [7]
    eventually(lambda: listed(http) == [], what="the end of the query")
    eventually(lambda: has_ended(query_id), what="the end of its thread")
    with http.stream("POST", "/query-stream", json=push) as answer:
        lines = answer.iter_lines()
        query_id = json.loads(next(lines))["queryId"]
        assert http.post("/close-query", json={"queryId": query_id}).status_code == 200
        assert list(lines) == [], "the answer ends"
    with http.stream(
        "POST", "/query-stream", json={"sql": f"PRINT '{name}' FROM BEGINNING;"}
    ) as it:
        lines = it.iter_lines()
        assert next(lines).startswith("Key format: ")
    eventually(lambda: listed(http) == [], what="the end of PRINT")


def test_the_workers_own_topics_are_closed(http: httpx.Client, worker: Worker, name: str) -> None:
    own = worker.config["config.storage.topic"]
    for sql, path in (
        (f"PRINT '{own}' FROM BEGINNING LIMIT 1;", "/query"),
        (f"CREATE STREAM s (n INT) WITH (KAFKA_TOPIC='{own}');", "/ksql"),
        (f"CREATE STREAM s WITH (KAFKA_TOPIC='{own}');", "/ksql"),
        (f"PRINT '{name}-catalog' FROM BEGINNING LIMIT 1;", "/query"),
    ):
        told = refused(http, sql, path)
        assert "one of the worker's own" in told["message"], sql


def test_connectors_over_rest(http: httpx.Client, name: str, tmp_path: Path) -> None:
    secret = "hunter2-of-this-test"
    made, shown, dropped = run(
        http,
        f"CREATE SOURCE CONNECTOR {name} WITH (connector.class=FileStreamSourceConnector, "
        f"file='{tmp_path}/in', topic={name}, my.password='{secret}');"
        f"DESCRIBE CONNECTOR {name}; DROP CONNECTOR {name};",
    )
    assert (made["@type"], made["info"]["type"]) == ("connector_info", "source")
    assert shown["status"]["name"] == name
    assert dropped == {
        "@type": "drop_connector",
        "statementText": f"DROP CONNECTOR {name};",
        "connectorName": name,
        "message": f'Dropped connector "{name}"',
        "warnings": [],
    }
    assert secret not in json.dumps([made, shown, dropped])


@pytest.mark.heavy
def test_records_that_cannot_be_read_are_counted_and_told(
    http: httpx.Client, topics: Topics, name: str
) -> None:
    run(http, f"CREATE STREAM s (n INT) WITH (KAFKA_TOPIC='{name}', PARTITIONS=1);")
    topics.produce(name, [b'{"n": 1}', b"no JSON", b'{"n": 2}', b"[3]"])
    *_, last = http.post("/query", json={"ksql": "SELECT n FROM s;"}).json()
    assert last == {
        "finalMessage": f"Query Completed 2 records of topic {name} skipped: "
        "the value is no JSON object."
    }
