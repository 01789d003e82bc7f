"""Streams, tables and queries on a real broker and Spark."""

# ruff: noqa: S608 - statements are what is tested here

from __future__ import annotations

import json
import struct
from collections.abc import Iterable
from itertools import islice

import pytest
from confluent_kafka import Producer

from penstock.client import ConnectClient
from penstock.sql.errors import NotSupportedYet, SqlError
from penstock.sql.running.results import Rows
from penstock.sql.shell.output import Form
from topics import Topics
from typing_sql import Typing


def written(topics: Topics, topic: str, records: Iterable[tuple[str | None, object]]) -> None:
    producer = Producer(
        {"bootstrap.servers": topics.bootstrap_servers, "partitioner": "murmur2_random"}
    )
    for key, value in records:
        content = value if isinstance(value, bytes | None) else json.dumps(value).encode()
        producer.produce(topic, content, None if key is None else key.encode())
    assert not producer.flush(30)


def test_a_stream_from_its_declaration_to_its_end(typed: Typing, topics: Topics, name: str) -> None:
    made = typed(
        f"CREATE STREAM views (user VARCHAR KEY, page VARCHAR, ms BIGINT, at STRUCT<lat DOUBLE>, "
        f"tags ARRAY<VARCHAR>) WITH (KAFKA_TOPIC='{name}', VALUE_FORMAT='JSON', PARTITIONS=1);"
    )
    assert made == "\n--------------\nSTREAM CREATED\n--------------\n"
    typed("INSERT INTO views (user, page, ms, tags) VALUES ('u1', 'a', 5, ARRAY['x', 'y']);")
    written(
        topics,
        name,
        [
            ("u2", {"PAGE": "b", "Ms": "7", "at": {"LAT": 1.5}, "more": 1}),
            ("u3", b"no JSON"),
            (None, {"schema": {"type": "struct"}, "payload": {"page": "c", "ms": 9}}),
            ("u4", None),
        ],
    )
    assert typed.rows("SELECT user, page, ms, at->lat, tags[2], rowoffset FROM views;") == [
        ("u1", "a", 5, None, "y", 0),
        ("u2", "b", 7, 1.5, None, 1),
        (None, "c", 9, None, None, 3),
    ]
    assert typed.rows(
        "SELECT UCASE(page) + '!' AS p, ms / 0, CAST(page AS INT) FROM views "
        "WHERE ms BETWEEN 6 AND 8 OR page LIKE 'c%' ORDER BY ms DESC LIMIT 2;"
    ) == [("C!", None, None), ("B!", None, None)]
    assert typed.rows("SELECT COUNT(*), SUM(ms) FROM views;") == [(3, 21)]
    assert typed.rows(
        "SELECT page FROM (SELECT page, ms FROM views) v WHERE ms IN (SELECT MAX(ms) FROM views);"
    ) == [("c",)]
    plan = typed("EXPLAIN SELECT page FROM views WHERE ms > 1;")
    assert "Physical Plan" in plan
    assert "VIEWS" in typed("SHOW STREAMS;")
    assert "AT    | STRUCT<LAT DOUBLE>" in typed("DESCRIBE views;")
    assert f"Kafka topic          : {name}" in typed("DESCRIBE views EXTENDED;")
    assert "Dropped stream VIEWS" in typed("DROP STREAM views;")
    assert topics.end(name) == 5, "the topic stays"


def test_what_one_session_declares_any_other_knows(
    typed: Typing, connectors: ConnectClient, topics: Topics, name: str
) -> None:
    other = Typing(connectors, topics.bootstrap_servers, typed.home.spark, f"{name}-catalog")
    try:
        assert "SHARED" not in other("SHOW STREAMS;")
        typed(f"CREATE STREAM shared (n INT) WITH (KAFKA_TOPIC='{name}', PARTITIONS=1);")
        assert "SHARED" in other("SHOW STREAMS;")
        other("DROP STREAM shared;")
        assert "SHARED" not in typed("SHOW STREAMS;")
    finally:
        other.home.close()


@pytest.mark.heavy
def test_a_table_has_the_last_row_of_each_key(typed: Typing, topics: Topics, name: str) -> None:
    typed(
        f"CREATE TABLE users (id VARCHAR PRIMARY KEY, name VARCHAR) "
        f"WITH (KAFKA_TOPIC='{name}', PARTITIONS=2);"
        f"CREATE STREAM views (user VARCHAR, page VARCHAR) "
        f"WITH (KAFKA_TOPIC='{name}-views', PARTITIONS=1);"
        "INSERT INTO users VALUES ('1', 'Ann'), ('2', 'Bob'), ('1', 'Anna'), ('3', 'Cy');"
        "INSERT INTO views VALUES ('1', 'a'), ('2', 'b'), ('9', 'c');"
    )
    written(topics, name, [("3", None)])
    assert typed.rows("SELECT * FROM users ORDER BY id;") == [("1", "Anna"), ("2", "Bob")]
    assert typed.rows("SELECT name FROM users WHERE id = '2';") == [("Bob",)]
    (ran,) = typed.session.run(
        "SELECT * FROM views v LEFT JOIN users u ON v.user = u.id ORDER BY v.page;"
    )
    assert isinstance(ran.answer, Rows)
    assert ran.answer.columns == ("V_USER", "V_PAGE", "U_ID", "U_NAME")
    assert [tuple(row) for row in ran.answer.rows] == [
        ("1", "a", "1", "Anna"),
        ("2", "b", "2", "Bob"),
        ("9", "c", None, None),
    ]
    assert typed("SELECT name FROM users WHERE id='1';", Form.JSONL) == '{"NAME": "Anna"}\n'
    assert typed("SELECT id, name FROM users WHERE id='1';", Form.CSV) == "ID,NAME\n1,Anna\n"


def test_a_push_query_gives_what_comes_until_its_limit(typed: Typing, name: str) -> None:
    typed(
        f"CREATE STREAM s (n INT) WITH (KAFKA_TOPIC='{name}', PARTITIONS=1);"
        "INSERT INTO s VALUES (1), (2), (3);"
    )
    (latest,) = typed.session.run("SELECT n FROM s EMIT CHANGES LIMIT 2;")
    assert isinstance(latest.answer, Rows)
    typed("INSERT INTO s VALUES (4), (5), (6);")
    assert [tuple(row) for row in latest.answer.rows] == [(4,), (5,)]
    assert latest.answer.note == "Limit Reached"
    typed("SET 'auto.offset.reset' = 'earliest';")
    assert typed.rows("SELECT n * 2 FROM s WHERE n <> 2 EMIT CHANGES LIMIT 3;") == [
        (2,),
        (6,),
        (8,),
    ]
    (endless,) = typed.session.run("SELECT n FROM s EMIT CHANGES;")
    assert isinstance(endless.answer, Rows)
    assert [tuple(row) for row in islice(endless.answer.rows, 6)] == [(n,) for n in range(1, 7)]
    for query in ("SELECT COUNT(*) FROM s", "SELECT a.n FROM s a JOIN s b ON a.n = b.n"):
        with pytest.raises(NotSupportedYet, match="with EMIT CHANGES"):
            typed(f"{query} EMIT CHANGES;")


@pytest.mark.heavy
def test_the_formats_delimited_and_kafka(typed: Typing, topics: Topics, name: str) -> None:
    typed(
        f"CREATE STREAM d (k INT KEY, a VARCHAR, b DOUBLE, c BOOLEAN) "
        f"WITH (KAFKA_TOPIC='{name}-d', VALUE_FORMAT='DELIMITED', "
        "VALUE_DELIMITER='|', PARTITIONS=1);"
        f"CREATE STREAM k (v BIGINT) WITH (KAFKA_TOPIC='{name}-k', VALUE_FORMAT='KAFKA', "
        "PARTITIONS=1);"
        "INSERT INTO d VALUES (-7, 'x|y', 1.5, TRUE), (8, NULL, NULL, FALSE);"
        "INSERT INTO k VALUES (-5), (9000000000);"
    )
    assert topics.messages(f"{name}-k")[0].value() == struct.pack(">q", -5)
    written(topics, f"{name}-k", [(None, b"bad")])
    assert typed.rows("SELECT * FROM d;") == [(-7, "x|y", 1.5, True), (8, None, None, False)]
    assert typed.rows("SELECT v FROM k;") == [(-5,), (9_000_000_000,), (None,)]


@pytest.mark.heavy
def test_what_cannot_be_read_is_counted_and_told(typed: Typing, topics: Topics, name: str) -> None:
    typed(
        f"CREATE TABLE t (id INT PRIMARY KEY, n INT, l ARRAY<INT>, more INT) "
        f"WITH (KAFKA_TOPIC='{name}', KEY_FORMAT='JSON', PARTITIONS=1);"
        f"CREATE STREAM d (a VARCHAR, b INT) "
        f"WITH (KAFKA_TOPIC='{name}-d', VALUE_FORMAT='DELIMITED', PARTITIONS=1);"
    )
    written(
        topics,
        name,
        [
            ("1", {"n": 5, "l": [1], "more": "x"}),
            ("2", {"n": "x", "l": [1, "y"]}),
            (None, {"n": 6}),
            ("3", b"no JSON"),
            ("4", None),
        ],
    )
    written(topics, f"{name}-d", [(None, b"x,1"), (None, b"x"), (None, b"x,1,2"), (None, b"x,y")])
    lost = (
        f"Warning: 1 record of topic {name} skipped: the value is no JSON object.\n",
        f"Warning: 1 field of topic {name} read as NULL: column N is no INTEGER.\n",
        f"Warning: 1 field of topic {name} read as NULL: column L is no ARRAY<INTEGER>.\n",
        f"Warning: 1 record of topic {name} skipped: a row of a table needs a key.\n",
    )
    told = typed("SELECT id, n, l FROM t ORDER BY id;")
    assert "\n2 | null | [1, null]\n" in told
    assert told.endswith("".join(lost) + "Query Completed\n"), "MORE is not asked for"
    assert typed("SELECT COUNT(*) FROM t;").endswith(lost[0] + lost[3] + "Query Completed\n")
    pushed = typed("SET 'auto.offset.reset'='earliest'; SELECT a, b FROM d EMIT CHANGES LIMIT 4;")
    assert f"2 fields of topic {name}-d read as NULL: the value has not 2 columns." in pushed
    assert f"1 field of topic {name}-d read as NULL: column B is no INTEGER." in pushed


@pytest.mark.heavy
def test_columns_are_inferred_from_a_sample(typed: Typing, topics: Topics, name: str) -> None:
    topics.create(name)
    schema = {
        "type": "struct",
        "fields": [{"field": "id", "type": "string"}, {"field": "age", "type": "int32"}],
    }
    written(topics, name, [("a", {"schema": schema, "payload": {"id": "a", "age": 7}})])
    made = typed(f"CREATE TABLE users_original WITH (kafka_topic = '{name}');")
    assert "TABLE CREATED" in made
    assert "ID VARCHAR PRIMARY KEY, AGE INTEGER" in made
    assert typed.rows("SELECT * FROM users_original;") == [("a", 7)]
    topics.create(f"{name}-keyless")
    written(topics, f"{name}-keyless", [(None, {"n": 1, "x": 1.5, "l": [True]})])
    with pytest.raises(SqlError, match="No primary key can be told"):
        typed(f"CREATE TABLE t WITH (KAFKA_TOPIC='{name}-keyless');")
    typed(f"CREATE STREAM t WITH (KAFKA_TOPIC='{name}-keyless');")
    assert typed.rows("SELECT n, x, l FROM t;") == [(1, 1.5, [True])]
    topics.create(f"{name}-empty")
    with pytest.raises(SqlError, match="is empty"):
        typed(f"CREATE STREAM e WITH (KAFKA_TOPIC='{name}-empty');")


def test_a_topic_is_printed(typed: Typing, topics: Topics, name: str) -> None:
    topics.create(name)
    written(topics, name, [("k", {"a": 1}), (None, b"text")])
    lines = typed(f"PRINT '{name}' FROM BEGINNING LIMIT 2;").splitlines()
    assert lines[:2] == ["Key format: KAFKA_STRING", "Value format: JSON or KAFKA_STRING"]
    assert lines[2].startswith("rowtime: 20")
    assert lines[2].endswith('Z, key: k, value: {"a": 1}, partition: 0')
    assert lines[3].endswith("key: <null>, value: text, partition: 0")
    with pytest.raises(SqlError, match="does not exist"):
        typed(f"PRINT {name}-none;")


@pytest.mark.heavy
def test_what_is_wrong_with_a_statement_is_told(typed: Typing, topics: Topics, name: str) -> None:
    topics.create(name)
    typed(f"CREATE STREAM numbers (n INT) WITH (KAFKA_TOPIC='{name}');")
    wrong = {
        "SELECT m FROM numbers;": "There is no column M",
        "SELECT n FROM nubmers;": "Did you mean NUMBERS?",
        "SELECT UCSE(n) FROM numbers;": "There is no function UCSE. Did you mean UCASE?",
        "SELECT x.n FROM numbers;": "There is no X in FROM",
        "SELECT n FROM numbers GROUP BY n + 1;": "Spark cannot run this query",
        "SELECT n FROM numbers WINDOW TUMBLING (SIZE 1 HOUR);": "not supported yet: WINDOW",
        "INSERT INTO numbers VALUES ('x');": "N is INTEGER: 'x' does not fit",
        "INSERT INTO numbers (m) VALUES (1);": "NUMBERS has no column M",
        "INSERT INTO numbers VALUES (1 + 1);": "not supported yet: expressions in VALUES",
        f"CREATE STREAM numbers (n INT) WITH (KAFKA_TOPIC='{name}');": "already exists",
        "CREATE STREAM a (n INT) WITH (KAFKA_TOPIC='no-such-topic');": "PARTITIONS=",
        f"CREATE STREAM a (n INT) WITH (KAFKA_TOPIC='{name}', PARTITIONS=9);": "has 1 partitions",
        f"CREATE STREAM a (n INT) WITH (KAFKA_TOPIC='{name}', VALUE_FORMT='A');": "VALUE_FORMAT?",
        f"CREATE STREAM a (n INT) WITH (KAFKA_TOPIC='{name}', FORMAT='AVRO');": (
            "set sql.schema.registry.url"
        ),
        f"CREATE STREAM a (n INT) WITH (KAFKA_TOPIC='{name}', FORMAT='PROTOBUF');": (
            "not supported yet"
        ),
        f"CREATE TABLE a (n INT) WITH (KAFKA_TOPIC='{name}');": "needs a PRIMARY KEY",
        f"CREATE STREAM a (n INTT) WITH (KAFKA_TOPIC='{name}');": "There is no type INTT",
        f"CREATE STREAM a (n INT) WITH (KAFKA_TOPIC='{name}', TIMESTAMP_FORMAT='yyyy');": (
            "not supported yet: TIMESTAMP_FORMAT"
        ),
        "SHOW STREAMS EXTENDED;": "not supported yet: SHOW STREAMS EXTENDED",
        "DROP TABLE numbers;": "NUMBERS is a stream",
        "DROP STREAM nothing;": "There is no stream or table NOTHING",
    }
    for statement, says in wrong.items():
        with pytest.raises(SqlError) as caught:
            typed(statement)
        assert says in str(caught.value), statement


@pytest.mark.heavy
def test_types_and_further_columns(typed: Typing, topics: Topics, name: str) -> None:
    topics.create(name)
    typed(
        "CREATE TYPE place AS STRUCT<city VARCHAR, zip INT>;"
        f"CREATE STREAM s (p PLACE) WITH (KAFKA_TOPIC='{name}');"
        "ALTER STREAM s ADD COLUMN n BIGINT;"
    )
    written(topics, name, [(None, {"p": {"City": "x", "zip": 1}, "n": 2})])
    assert typed.rows("SELECT p->city, p->zip, n FROM s;") == [("x", 1, 2)]
    assert "STRUCT<CITY VARCHAR, ZIP INTEGER>" in typed("SHOW TYPES;")
    typed("DROP TYPE place; DROP STREAM s DELETE TOPIC;")
    assert f"{name} " not in typed("SHOW TOPICS;")
