"""Transforms in Spark SQL through a real worker: of sources, sinks, and what Spark reads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock.client import ConnectClient
from sink_offsets import collected, entry, in_group
from topics import Topics
from waiting import eventually

TRANSFORMS = "org.apache.kafka.connect.transforms."
JSON = {
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
}


def tolerant(name: str) -> dict[str, str]:
    return {
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": f"{name}-dead",
        "errors.deadletterqueue.topic.replication.factor": "1",
    }


def keyed(topics: Topics, topic: str, values: list[bytes | None]) -> None:
    """All of them with the key k."""
    producer = topics.transaction(f"keyed-{topic}")
    for value in values:
        producer.produce(topic, value, b"k")
    producer.commit_transaction(20)


def failure(client: ConnectClient, name: str) -> str:
    def trace() -> str:
        return str((client.status(name)["tasks"] or [{}])[0].get("trace", ""))

    return eventually(trace, within=120, what="a failed task")


def test_a_source_between_other_transforms(
    connectors: ConnectClient, topics: Topics, name: str, tmp_path: Path
) -> None:
    """Filtered rows move the offset, a bad one is a dead letter, and the order is kept."""
    file = tmp_path / "in.txt"
    file.write_text("1\nskip\nbad\n2\nskip\nskip\n")
    config = {
        "connector.class": "FileStreamSource",
        "file": str(file),
        "topic": name,
        "transforms": "hoist,sql,rename",
        "transforms.hoist.type": f"{TRANSFORMS}HoistField$Value",
        "transforms.hoist.field": "line",
        "transforms.sql.type": "SparkSql",
        "transforms.sql.schema": "line STRING",
        "transforms.sql.expression": "CAST(value.line AS INT) AS n; concat('a;', topic) AS t",
        "transforms.sql.where": "value.line <> 'skip'",
        "transforms.rename.type": f"{TRANSFORMS}ReplaceField$Value",
        "transforms.rename.renames": "n:number",
    }
    connectors.create(name, {**config, **JSON, **tolerant(name)})
    eventually(lambda: len(topics.values(name)) == 2, within=120, what="two records")
    made = [json.loads(value) for value in topics.values(name)]
    assert made == [{"number": n, "t": f"a;{name}"} for n in (1, 2)]
    eventually(lambda: topics.values(f"{name}-dead") == ['{"line":"bad"}'], what="a dead letter")
    eventually(
        lambda: [each["offset"] for each in connectors.offsets(name)] == [{"position": 23}],
        within=60,
        what="the end of the file",
    )
    assert "tryeval" in eventually(lambda: connectors.plan(name), what="Spark's plan")


def test_a_sink_between_other_transforms(
    connectors: ConnectClient, topics: Topics, name: str, tmp_path: Path
) -> None:
    """With a tombstone, which stays one, and a record that is no JSON of the schema."""
    topics.create(name)
    values = [
        b'{"id": 1, "n": "7"}',
        b'{"id": 2}',
        b"5",
        None,
        b'{"id": 3, "n": "x"}',
        b'{"id": 4}',
    ]
    keyed(topics, name, values)
    config = {
        "connector.class": "CollectingSink",
        "topics": name,
        "out": str(tmp_path),
        "transforms": "route,sql,extract",
        "transforms.route.type": f"{TRANSFORMS}RegexRouter",
        "transforms.route.regex": "(.*)",
        "transforms.route.replacement": "to-$1",
        "transforms.sql.type": "SparkSql",
        "transforms.sql.schema": "id BIGINT, n STRING",
        "transforms.sql.expression": "concat_ws('-', value.id, CAST(value.n AS INT), offset) AS v",
        "transforms.sql.where": "value IS NULL OR value.id % 2 = 1",
        "transforms.extract.type": f"{TRANSFORMS}ExtractField$Value",
        "transforms.extract.field": "v",
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    }
    connectors.create(name, {**config, **JSON, **tolerant(name)})
    ended = [entry(name, 0, topics.end(name))]
    eventually(lambda: in_group(topics, f"connect-{name}") == ended, within=120, what="the end")
    rows = collected(tmp_path)
    assert [(row["value"], row["key"], row["offset"]) for row in rows] == [
        ("1-7-0", "k", 0),
        (None, "k", 3),
    ]
    assert {row["topic"] for row in rows} == {f"to-{name}"}
    assert topics.values(f"{name}-dead") == ["5", '{"id": 3, "n": "x"}']


def test_a_bad_row_fails_the_task_at_its_place(
    connectors: ConnectClient, topics: Topics, name: str, tmp_path: Path
) -> None:
    """All before it is there, and committed: so altering its offset skips it alone."""
    topics.create(name)
    topics.produce(name, [b"1", b"2", b"x", b"3"])
    config = {
        "connector.class": "CollectingSink",
        "topics": name,
        "out": str(tmp_path),
        "transforms": "sql",
        "transforms.sql.type": "SparkSql",
        "transforms.sql.expression": "CAST(value AS INT) AS value",
    }
    connectors.create(name, config)
    trace = failure(connectors, name)
    assert f"{name}-0 at offset 2" in trace
    assert "expression cannot be computed: value" in trace
    assert in_group(topics, f"connect-{name}") == [entry(name, 0, 2)]
    connectors.stop(name)
    connectors.alter_offsets(name, [entry(name, 0, 3)])
    connectors.resume(name)
    ended = [entry(name, 0, topics.end(name))]
    eventually(lambda: in_group(topics, f"connect-{name}") == ended, within=120, what="the end")
    assert [row["value"] for row in collected(tmp_path)] == [1, 2, 3]


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"expression": "value.nothing", "schema": "id BIGINT"}, "nothing"),
        ({"expression": "value.id"}, "name the fields of the value in schema"),
        ({"expression": "regr_slope(offset, offset) AS x"}, "does not make one record of one"),
        ({"expression": "value +"}, "PARSE_SYNTAX_ERROR"),
        ({"where": "offset + 1"}, "has to be a condition"),
        ({"where": "TRUE", "schema": "id NONSENSE"}, "NONSENSE"),
        ({"expression": "offset AS x; offset AS x"}, "two fields x"),
    ],
)
def test_what_only_spark_can_tell_is_in_the_status(
    connectors: ConnectClient,
    topics: Topics,
    name: str,
    tmp_path: Path,
    wrong: dict[str, str],
    text: str,
) -> None:
    topics.create(name)
    topics.produce(name, [b"1"])
    config = {
        "connector.class": "CollectingSink",
        "topics": name,
        "out": str(tmp_path),
        "transforms": "sql",
        "transforms.sql.type": "SparkSql",
        **{f"transforms.sql.{key}": value for key, value in wrong.items()},
    }
    connectors.create(name, config)
    trace = failure(connectors, name)
    assert trace.startswith("ConfigError")
    assert text in trace


@pytest.mark.heavy
def test_a_source_that_spark_reads(
    connectors: ConnectClient, topics: Topics, name: str, tmp_path: Path
) -> None:
    (tmp_path / "a.json").write_text('{"id": 1, "n": "5"}\n{"id": 2, "n": "x"}\n{"id": 3}\n')
    config = {
        "connector.class": "SparkSource",
        "format": "json",
        "path": str(tmp_path),
        "schema": "id BIGINT, n STRING",
        "topic": name,
        "list.interval.ms": "300",
        "transforms": "sql",
        "transforms.sql.type": "SparkSql",
        "transforms.sql.schema": "id BIGINT, n STRING",
        "transforms.sql.expression": "value.id; CAST(value.n AS INT) AS n",
        "transforms.sql.where": "value.id < 3",
    }
    connectors.create(name, {**config, **JSON, **tolerant(name)})
    eventually(lambda: topics.values(name) == ['{"id":1,"n":5}'], within=120, what="a record")
    eventually(lambda: topics.values(f"{name}-dead") == ['{"id":2,"n":"x"}'], what="a letter")
    (tmp_path / "b.json").write_text('{"id": 0, "n": "6"}\n')
    eventually(lambda: len(topics.values(name)) == 2, within=120, what="the next file")
    assert all("virtualBucket" in each["partition"] for each in connectors.offsets(name))
