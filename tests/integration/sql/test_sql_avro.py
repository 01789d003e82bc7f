"""Streams and tables of Avro, with a real schema registry."""

# ruff: noqa: S608 - statements are what is tested here

from __future__ import annotations

import json
import logging
from pathlib import Path

import httpx
import pytest
from confluent_kafka import Producer

from penstock.client import ConnectClient, raise_if_failed
from penstock.embedded import EmbeddedBroker
from penstock.kafka.clients import Connection
from penstock.runtime.worker import Worker
from penstock.sdk.errors import PenstockError
from penstock.sql.avro.registry import SqlRegistry
from penstock.sql.errors import SqlError
from penstock.sql.testing.cases import Case, cases_in
from penstock.sql.testing.runner import run_cases
from project_scripts import ROOT
from topics import Topics
from typing_sql import Typing
from waiting import eventually

pytestmark = pytest.mark.heavy
CASES = cases_in(ROOT / "tests/data/sql/avro.sql")
URL = "sql.schema.registry.url"
SAYS = r"set sql\.schema\.registry\.url"


def title(case: Case) -> str:
    return case.name.replace(" ", "-")


@pytest.fixture
def registry(schema_registry: str) -> SqlRegistry:
    return SqlRegistry.of({URL: schema_registry})


@pytest.mark.parametrize("case", CASES, ids=title)
def test_a_case_of_the_data_file(
    worker: Worker, broker: EmbeddedBroker, registry: SqlRegistry, case: Case
) -> None:
    spark = worker.herder._context.engine.session.get
    connection = Connection(broker.bootstrap_servers)
    (outcome,) = run_cases([case], connection, spark, registry)
    assert outcome.problem == ""


@pytest.fixture
def avro(
    typed: Typing,
    worker: Worker,
    registry: SqlRegistry,
    schema_registry: str,
    monkeypatch: pytest.MonkeyPatch,
) -> Typing:
    """A prompt and a worker that know the registry."""
    monkeypatch.setitem(worker.plugins._worker, URL, schema_registry)
    typed.home.registry = registry
    return typed


def latest(url: str, subject: str) -> list[str]:
    found = httpx.get(f"{url}/subjects/{subject}/versions/latest", trust_env=False).json()
    return [each["name"] for each in json.loads(found["schema"])["fields"]]


def test_a_query_on_a_worker_reads_and_writes_avro(
    avro: Typing,
    topics: Topics,
    connectors: ConnectClient,
    schema_registry: str,
    name: str,
    sink: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING, "penstock.sql.processing")
    avro(
        f"CREATE STREAM s (k VARCHAR KEY, n INT) WITH (KAFKA_TOPIC='{name}', FORMAT='AVRO', "
        "PARTITIONS=2); INSERT INTO s VALUES ('a', 1), ('b', 2);"
        "SET 'auto.offset.reset'='earliest';"
    )
    out = f"{name}-out"
    avro(f"CREATE STREAM {sink} WITH (KAFKA_TOPIC='{out}') AS SELECT k, n * 10 AS m FROM s;")
    assert latest(schema_registry, f"{out}-value") == ["M"], "registered when it was created"
    producer = Producer({"bootstrap.servers": topics.bootstrap_servers})
    producer.produce(name, b"no Avro", b"x", partition=0)
    assert not producer.flush(30)
    avro("INSERT INTO s VALUES ('c', 3);")

    def enough() -> bool:
        for query in avro.home.catalog.queries():
            raise_if_failed(connectors, query)
        return len(topics.messages(out)) >= 3

    eventually(enough, within=180, every=0.5, what="three rows")
    skipped = "1 row was skipped: the value is no Avro record"
    eventually(lambda: skipped in caplog.text, what="the processing log")
    assert sorted(avro.rows(f"SELECT * FROM {sink};")) == [("a", 10), ("b", 20), ("c", 30)]
    push = f"SELECT k, m FROM {sink} WHERE m > 10 EMIT CHANGES LIMIT 2;"
    assert sorted(avro.rows(push)) == [("b", 20), ("c", 30)]
    printed = avro(f"PRINT '{out}' FROM BEGINNING LIMIT 3;")
    assert "Key format: AVRO" in printed
    assert "Value format: AVRO" in printed
    assert 'value: {"M":20}' in printed
    assert "1 record of topic" in avro("SELECT * FROM s;")
    assert "the value is no Avro record" in avro("SELECT * FROM s;")


def test_a_schema_that_the_subject_does_not_take_is_told_at_once(
    avro: Typing, topics: Topics, schema_registry: str, name: str, sink: str
) -> None:
    out = f"{name}-out"
    avro(
        f"CREATE STREAM s (k VARCHAR KEY, n INT) WITH (KAFKA_TOPIC='{out}', VALUE_FORMAT='AVRO', "
        "PARTITIONS=1); INSERT INTO s VALUES ('a', 1);"
        f"CREATE STREAM j (k VARCHAR KEY, n VARCHAR) WITH (KAFKA_TOPIC='{name}', PARTITIONS=1);"
    )
    rule = {"compatibility": "BACKWARD"}
    answer = httpx.put(f"{schema_registry}/config/{out}-value", json=rule, trust_env=False)
    assert answer.status_code == 200, answer.text
    with pytest.raises(SqlError, match=f"The schema of subject {out}-value was not registered"):
        avro(f"CREATE STREAM {sink} WITH (KAFKA_TOPIC='{out}', VALUE_FORMAT='AVRO') AS "
             "SELECT k, n FROM j;")  # fmt: skip
    assert sink not in avro("SHOW STREAMS;")
    assert topics.end(out) == 1


def test_without_a_registry_it_is_said_which_key_to_set(
    typed: Typing, avro: Typing, worker: Worker, name: str, sink: str
) -> None:
    avro(f"CREATE STREAM s (n INT) WITH (KAFKA_TOPIC='{name}', VALUE_FORMAT='AVRO', PARTITIONS=1);")
    del worker.plugins._worker[URL]
    with pytest.raises(PenstockError, match=SAYS):  # the worker's refusal
        avro(f"CREATE STREAM {sink} AS SELECT n FROM s;")
    typed.home.registry = SqlRegistry()
    for statement in (
        f"CREATE STREAM t (n INT) WITH (KAFKA_TOPIC='{name}', VALUE_FORMAT='AVRO');",
        f"CREATE STREAM t WITH (KAFKA_TOPIC='{name}', VALUE_FORMAT='AVRO');",
        "INSERT INTO s VALUES (1);",
        "SELECT * FROM s;",
        "SELECT * FROM s EMIT CHANGES LIMIT 1;",
    ):
        with pytest.raises(SqlError, match=SAYS):
            typed.rows(statement) if statement.startswith("SELECT") else typed(statement)


def test_an_external_sink_reads_avro(
    avro: Typing, connectors: ConnectClient, name: str, tmp_path: Path
) -> None:
    avro(
        f"CREATE STREAM s (k VARCHAR KEY, n INT) WITH (KAFKA_TOPIC='{name}', VALUE_FORMAT='AVRO', "
        "PARTITIONS=1); INSERT INTO s VALUES ('a', 1);"
        f"CREATE EXTERNAL SINK {name}-sink FROM s WITH (connector.class=FileStreamSink, "
        f"file='{tmp_path}/out.txt');"
    )
    eventually((tmp_path / "out.txt").exists, what="the sink's file", within=60)
    eventually(lambda: "N" in (tmp_path / "out.txt").read_text(), what="the row", within=60)
