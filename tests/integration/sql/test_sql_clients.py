"""What clients of ksqlDB send, recorded: two that are on PyPI, and how they read answers.

``ksqldb`` 1.0.1 (MIT) sends statements with requests, and queries by HTTP/2 alone, of which the
bodies are here; ``ksqldb-client`` 0.28.2a2 (MIT) sends all with httpx. What a client needs of an
answer is what is asserted.
"""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from topics import Topics

pytestmark = pytest.mark.heavy

Json = dict[str, Any]
KSQLDB = {
    "User-Agent": "python-requests/2.34.2",
    "Accept-Encoding": "gzip, deflate, zstd",
    "Accept": "*/*",
    "Connection": "keep-alive",
    "Content-Type": "application/vnd.ksql.v1+json",
}
KSQLDB_CLIENT = {
    "User-Agent": "python-httpx/0.28.1",
    "Accept-Encoding": "gzip, deflate",
    "Accept": "*/*",
    "Connection": "keep-alive",
    "Content-Type": "application/json",
}
COMPACT = (",", ":")
"""The separators of httpx."""
CREATE = "CREATE STREAM s (k VARCHAR KEY, n INT) WITH (KAFKA_TOPIC='{}', PARTITIONS=1);"


def sent(http: httpx.Client, path: str, headers: Json, body: str) -> httpx.Response:
    """The answer to a request that was recorded."""
    return http.post(path, content=body.encode(), headers=headers)


def test_ksqldb_1_0_1(http: httpx.Client, topics: Topics, name: str) -> None:
    def ksql(statement: str, properties: str = "{}") -> Any:
        body = f'{{"ksql": {json.dumps(statement)}, "streamsProperties": {properties}}}'
        answer = sent(http, "/ksql", KSQLDB, body)
        answer.raise_for_status()
        return answer.json()

    (made,) = ksql(CREATE.format(name))
    assert made["commandStatus"]["status"] == "SUCCESS"
    (told,) = ksql("show properties;")
    assert isinstance(told["properties"], list), "which get_properties gives"
    assert ksql("INSERT INTO s VALUES ('a', 1);") == []
    assert topics.end(name) == 1
    with pytest.raises(httpx.HTTPStatusError) as refused:
        ksql("SELECT * FROM s;")
    assert refused.value.response.json()["error_code"] == 40002
    # Inserts have two lines, and the media type of statements.
    lines = '{"target": "s"}\n{"K": "b", "N": 2}\n'
    acknowledged = sent(http, "/inserts-stream", KSQLDB, lines)
    assert [json.loads(line)["status"] for line in acknowledged.text.splitlines()] == ["ok"]
    # Queries have none but JSON's, and each line of the answer is a document.
    asked = '{"sql": "SELECT * FROM s;", "properties": {}}'
    answer = sent(http, "/query-stream", KSQLDB_CLIENT, asked)
    head, *rows = map(json.loads, answer.text.splitlines())
    assert (head["columnNames"], sorted(rows)) == (["K", "N"], [["a", 1], ["b", 2]])
    closed = sent(http, "/close-query", KSQLDB_CLIENT, json.dumps({"queryId": head["queryId"]}))
    assert closed.status_code in (200, 400), "it has ended by itself"


def test_ksqldb_client_0_28_2a2(http: httpx.Client, name: str) -> None:
    def ksql(statement: str, **more: Any) -> list[Json]:
        body = json.dumps({"ksql": statement, "streamsProperties": {}, **more}, separators=COMPACT)
        answer = sent(http, "/ksql", KSQLDB_CLIENT, body)
        assert answer.status_code == 200, answer.text
        found: list[Json] = answer.json()
        for each in found:
            assert {"@type", "statementText", "warnings"} <= each.keys(), "its model needs them"
        return found

    info = http.get("/info", headers=KSQLDB_CLIENT).json()["KsqlServerInfo"]
    assert {"version", "kafkaClusterId", "ksqlServiceId", "serverStatus"} == info.keys()
    (made,) = ksql(CREATE.format("${topic}"), sessionVariables={"topic": name})
    number = made["commandSequenceNumber"]
    assert {"status", "message", "queryId"} <= made["commandStatus"].keys()
    ksql("INSERT INTO s VALUES ('a', 1);", commandSequenceNumber=number)
    listed, queries = ksql("SHOW STREAMS; SHOW QUERIES;")
    (stream,) = listed["streams"]
    assert {"type", "name", "topic", "keyFormat", "valueFormat", "isWindowed"} <= stream.keys()
    assert queries["queries"] == []
    again = sent(
        http,
        "/ksql",
        KSQLDB_CLIENT,
        json.dumps({"ksql": CREATE.format(name), "streamsProperties": {}}, separators=COMPACT),
    )
    assert again.headers["content-type"].startswith("application/json"), "or it shows no message"
    assert again.json()["error_code"] == 40900
    # A query has the older form, and its answer is one JSON document.
    older = {**KSQLDB_CLIENT, "Accept": "application/vnd.ksql.v1+json"}
    properties = {"auto.offset.reset": "earliest"}
    for query, last in (
        ("SELECT * FROM s;", "Query Completed"),
        ("SELECT * FROM s EMIT CHANGES LIMIT 1;", "Limit Reached"),
    ):
        body = json.dumps({"ksql": query, "streamsProperties": properties}, separators=COMPACT)
        head, *rows, end = sent(http, "/query", older, body).json()
        assert {"queryId", "schema"} <= head["header"].keys()
        assert rows == [{"row": {"columns": ["a", 1]}}]
        assert end == {"finalMessage": last}
