"""`penstock sql test`: tests that pass, and what is said of those that fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import Commands
from penstock.kafka.clients import Connection
from penstock.runtime.worker import Worker
from penstock.sql.running import asserting
from penstock.sql.testing.cases import cases_in
from penstock.sql.testing.runner import run_cases

pytestmark = pytest.mark.heavy
TESTS = """--@test: rows come out as they went in
CREATE STREAM s (k VARCHAR KEY, n INT, d DECIMAL(5, 2), l ARRAY<INT>)
  WITH (KAFKA_TOPIC='its-topic', VALUE_FORMAT='JSON', PARTITIONS=1);
INSERT INTO s VALUES ('a', 1, 1.5, ARRAY[1, 2]);
INSERT INTO s (n) VALUES (2);
SELECT n FROM s;
ASSERT STREAM s (k VARCHAR KEY, n INT, d DECIMAL(5, 2), l ARRAY<INT>)
  WITH (KAFKA_TOPIC='its-topic', VALUE_FORMAT='json');
ASSERT VALUES s VALUES ('a', 1, 1.50, ARRAY[1, 2]);
ASSERT VALUES s (n, k) VALUES (2, NULL);

--@test: another has the same topic, and nothing is in it
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR) WITH (KAFKA_TOPIC='its-topic', PARTITIONS=1);
INSERT INTO t VALUES (1, 'x');
ASSERT VALUES t (id, v) VALUES (1, 'y');

--@test: an error that is expected
--@expected.message: There is no stream or table NOTHING
SELECT * FROM nothing;

--@test: an error that is not expected
SELECT * FROM nothing;

--@test: an error that does not come
--@expected.error: KsqlException
SHOW STREAMS;

--@test: a record that is missing
CREATE STREAM s (n INT) WITH (KAFKA_TOPIC='its-topic', PARTITIONS=1);
ASSERT VALUES s VALUES (1);

--@test: other columns
CREATE STREAM s (n INT) WITH (KAFKA_TOPIC='its-topic', PARTITIONS=1);
ASSERT TABLE s (n BIGINT) WITH (KAFKA_TOPIC='other');

--@test: a record that is no tombstone
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR) WITH (KAFKA_TOPIC='its-topic', PARTITIONS=1);
INSERT INTO t VALUES (1, 'x');
ASSERT NULL VALUES t (id) KEY (1);

--@test: no connectors
SHOW CONNECTORS;

--@test: no end
CREATE STREAM s (n INT) WITH (KAFKA_TOPIC='its-topic', PARTITIONS=1);
SELECT * FROM s EMIT CHANGES;

--@test: queries that go on
CREATE STREAM v (u VARCHAR KEY, page VARCHAR) WITH (KAFKA_TOPIC='its-topic', PARTITIONS=2);
CREATE TABLE u (id VARCHAR PRIMARY KEY, name VARCHAR)
  WITH (KAFKA_TOPIC='its-topic-users', PARTITIONS=2);
CREATE STREAM j WITH (KAFKA_TOPIC='its-topic-j', PARTITIONS=1) AS
  SELECT v.u, page, name FROM v JOIN u ON v.u = u.id EMIT CHANGES;
CREATE TABLE n WITH (KAFKA_TOPIC='its-topic-n', PARTITIONS=1) AS
  SELECT name, COUNT(*) AS views FROM j GROUP BY name EMIT CHANGES;
INSERT INTO u VALUES ('1', 'Ann');
INSERT INTO u VALUES ('2', 'Ann');
INSERT INTO v VALUES ('1', 'p1');
INSERT INTO v VALUES ('3', 'p2');
INSERT INTO v VALUES ('2', 'p3');
ASSERT VALUES j (u, page, name) VALUES ('1', 'p1', 'Ann');
ASSERT VALUES j (u, page, name) VALUES ('2', 'p3', 'Ann');
ASSERT VALUES n (name, views) VALUES ('Ann', 1);
ASSERT VALUES n (name, views) VALUES ('Ann', 2);
TERMINATE ALL;
SHOW QUERIES;
"""
PROBLEMS = {
    "another has the same topic": (
        15,
        "record 1 of T (topic its-topic) differs:\n    V: expected 'y', found 'x'",
    ),
    "an error that is not expected": (22, "There is no stream or table NOTHING."),
    "an error that does not come": (0, "expected an error, but there was none."),
    "a record that is missing": (
        30,
        "expected record 1 of S, but topic its-topic has 0 records only.",
    ),
    "other columns": (
        34,
        "S is not as asserted:\n    kind: expected 'TABLE', found 'STREAM'\n"
        "    columns: expected 'N BIGINT', found 'N INTEGER'\n"
        "    KAFKA_TOPIC: expected 'other', found 'its-topic'",
    ),
    "a record that is no tombstone": (
        39,
        "record 1 of T (topic its-topic) differs:\n    value: expected 'none', found 'some'",
    ),
    "no connectors": (
        42,
        "`penstock sql test` runs no connectors: insert records instead.",
    ),
    "no end": (46, "In a test, a query needs an end: add a LIMIT."),
}


@pytest.mark.heavy
def test_each_test_ends_as_it_should(
    worker: Worker, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asserting, "PATIENCE_SECONDS", 1.0)
    (tmp_path / "a.sql").write_text(TESTS.replace("its-topic", name))
    connection = Connection(worker.bootstrap_servers)
    outcomes = list(run_cases(cases_in(tmp_path), connection, worker.spark))
    assert len(outcomes) == 11
    problems = {each.case.name: each for each in outcomes if each.problem}
    found = {
        title: (each.line, each.problem.replace(name, "its-topic"))
        for title, each in problems.items()
    }
    assert {title.split(",")[0]: told for title, told in found.items()} == PROBLEMS


@pytest.mark.heavy
def test_the_command_has_a_broker_of_its_own_and_exits_as_the_tests_end(
    penstock: Commands, tmp_path: Path
) -> None:
    good, bad = tmp_path / "good.sql", tmp_path / "bad.sql"
    start = "CREATE STREAM s (n INT) WITH (KAFKA_TOPIC='t', PARTITIONS=1);\n"
    good.write_text(f"{start}INSERT INTO s VALUES (1);\n")  # noqa: S608 (a test of statements)
    passed = penstock("sql", "test", str(good))
    assert (passed.code, passed.lines) == (0, [f"ok    {good}: good", "", "1 passed, 0 failed"])
    bad.write_text("DROP STREAM nothing;\n")
    failed = penstock("sql", "test", str(tmp_path))
    assert failed.code == 1
    assert failed.lines == [
        f"FAIL  {bad}:1: bad",
        "      There is no stream or table NOTHING.",
        f"ok    {good}: good",
        "",
        "1 passed, 1 failed",
    ]
