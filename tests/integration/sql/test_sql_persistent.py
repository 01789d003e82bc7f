"""Persistent queries on a real worker, broker and Spark, from their creation to their end."""

# ruff: noqa: S608 - statements are what is tested here

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable

import pytest

from penstock.client import ConnectClient, raise_if_failed
from penstock.sql.errors import SqlError
from topics import Topics
from typing_sql import Typing
from waiting import eventually

pytestmark = pytest.mark.heavy
EARLIEST = "SET 'auto.offset.reset'='earliest';"
Column = list[tuple[object, ...]]


@pytest.fixture
def becomes(
    typed: Typing, topics: Topics, connectors: ConnectClient
) -> Callable[[str, Column], None]:
    """Wait until a stream has so many rows as are wanted, then ask for them."""

    def wait(stream: str, wanted: Column) -> None:
        topic = typed.home.catalog.source(stream).topic

        def enough() -> bool:
            for query in typed.home.catalog.queries():
                raise_if_failed(connectors, query)
            return len(topics.messages(topic)) >= len(wanted)

        eventually(
            enough,
            within=180,
            every=0.5,
            what=f"{len(wanted)} rows in {stream}",
        )
        assert sorted(typed.rows(f"SELECT * FROM {stream};"), key=str) == sorted(wanted, key=str)

    return wait


def query_id(made: str) -> str:
    found = re.search(r"(?:CSAS|CTAS|INSERTQUERY)_\w+", made)
    assert found, made
    return found[0]


def test_a_query_goes_on_until_it_is_terminated(
    typed: Typing,
    topics: Topics,
    connectors: ConnectClient,
    name: str,
    sink: str,
    becomes: Callable[[str, Column], None],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING, "penstock.sql.processing")
    typed(
        f"CREATE STREAM s (k VARCHAR KEY, n INT) WITH (KAFKA_TOPIC='{name}', PARTITIONS=2);"
        f"INSERT INTO s VALUES ('a', 1), ('b', 2), ('c', 0), ('d', 5); {EARLIEST}"
    )
    made = typed(f"CREATE STREAM {sink} AS SELECT k, 10 / n AS q FROM s WHERE n < 5 EMIT CHANGES;")
    id_ = query_id(made)
    assert id_.startswith(f"CSAS_{sink}_")
    becomes(sink, [("a", 10.0), ("b", 5.0)])
    eventually(
        lambda: "1 row was skipped: Error computing column Q" in caplog.text,
        what="the processing log",
    )
    assert f"{id_}:" in caplog.text

    listed = typed("SHOW QUERIES;")
    assert id_ in listed
    assert "PERSISTENT" in listed
    assert "RUNNING:2" in listed
    assert id_ not in typed("SHOW CONNECTORS;")
    assert id_ in connectors.connectors()
    told = typed(f"EXPLAIN {id_};")
    assert "10 / n AS q" in told
    assert "Physical Plan" in told
    assert "try_divide" in typed("EXPLAIN CREATE STREAM x AS SELECT k, 10 / n AS q FROM s;")

    for source in ("s", sink):
        with pytest.raises(SqlError, match=re.escape(f"[{id_}]")):
            typed(f"DROP STREAM {source};")

    typed(f"PAUSE {id_};")
    eventually(lambda: "PAUSED" in typed("SHOW QUERIES;"), what="PAUSED")
    typed("INSERT INTO s VALUES ('e', 4);")
    typed(f"RESUME {id_};")
    becomes(sink, [("a", 10.0), ("b", 5.0), ("e", 2.5)])

    offsets = {o["partition"]["kafka_partition"]: o["offset"] for o in connectors.offsets(id_)}
    assert sum(each["kafka_offset"] for each in offsets.values()) == 5
    connectors.stop(id_)
    eventually(lambda: connectors.status(id_)["connector"]["state"] == "STOPPED", what="STOPPED")
    connectors.reset_offsets(id_)
    connectors.resume(id_)
    becomes(sink, [("a", 10.0), ("b", 5.0), ("e", 2.5)] * 2)

    assert f'Terminated query "{id_}"' in typed(f"TERMINATE {id_};")
    assert id_ not in connectors.connectors()
    assert id_ not in typed("SHOW QUERIES;")
    typed(f"INSERT INTO s VALUES ('f', 1); DROP STREAM {sink}; DROP STREAM s;")
    keys = {message.key(): message for message in topics.messages(sink)}
    assert json.loads(keys[b"b"].value() or b"") == {"Q": 5.0}


def test_a_query_begins_with_what_comes(
    typed: Typing, name: str, sink: str, becomes: Callable[[str, Column], None]
) -> None:
    typed(
        f"CREATE STREAM s (k VARCHAR KEY, n INT) WITH (KAFKA_TOPIC='{name}', PARTITIONS=1);"
        "INSERT INTO s VALUES ('before', 1);"
        f"CREATE STREAM {sink} AS SELECT * FROM s;"
        "INSERT INTO s VALUES ('after', 2);"
    )
    becomes(sink, [("after", 2)])
    typed("TERMINATE ALL;")


def test_a_query_goes_on_with_what_was_declared_when_it_was_created(
    typed: Typing,
    topics: Topics,
    name: str,
    sink: str,
    becomes: Callable[[str, Column], None],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING, "penstock.sql.processing")

    def explained() -> str:
        return " ".join(typed(f"EXPLAIN {id_};").split())

    made = typed(
        f"CREATE STREAM s (k VARCHAR KEY, n INT) WITH (KAFKA_TOPIC='{name}', PARTITIONS=1);"
        f"{EARLIEST} CREATE STREAM {sink} AS SELECT k, n + 1 AS m FROM s;"
        "INSERT INTO s VALUES ('a', 1);"
    )
    id_ = query_id(made)
    becomes(sink, [("a", 2)])
    says = f"{id_}: goes on with the columns that S had when the query was created."
    assert says in typed("ALTER STREAM s ADD COLUMN o VARCHAR;")
    columns = "(k VARCHAR KEY, n VARCHAR)"
    assert says in typed(f"CREATE OR REPLACE STREAM s {columns} WITH (KAFKA_TOPIC='{name}');")
    typed("INSERT INTO s VALUES ('b', 'x'), ('c', '3');")
    topics.produce(name, [b"no JSON"])
    becomes(sink, [("a", 2), ("c", 4)])
    for reason in ("column N is no INTEGER", "the value is no JSON object"):
        eventually(lambda: reason in caplog.text, what="the processing log")  # noqa: B023 (called at once)
    eventually(lambda: "Skipped : 2 records" in explained(), what="the count of records")
    told = explained()
    assert "goes on with the columns of its creation, S (K VARCHAR, N INTEGER)" in told
    assert "RUNNING:1" in told
    eventually(lambda: "Lag : 0 records" in explained(), what="lag")
    typed(f"PAUSE {id_};")
    eventually(lambda: "PAUSED" in typed("SHOW QUERIES;"), what="PAUSED")
    typed("INSERT INTO s VALUES ('d', '4'), ('e', '5');")
    assert "Lag : 2 records" in explained()
    typed(f"TERMINATE {id_};")


def test_a_query_that_is_replaced_goes_on_where_it_was(
    typed: Typing, name: str, sink: str, becomes: Callable[[str, Column], None]
) -> None:
    made = typed(
        f"CREATE STREAM s (k VARCHAR KEY, n INT) WITH (KAFKA_TOPIC='{name}', PARTITIONS=2);"
        f"CREATE STREAM t (k VARCHAR KEY, n INT) WITH (KAFKA_TOPIC='{name}-t', PARTITIONS=2);"
        f"{EARLIEST} CREATE OR REPLACE STREAM {sink} AS SELECT k, n + 1 AS m FROM s;"
        "INSERT INTO s VALUES ('a', 1), ('b', 2);"
    )
    id_ = query_id(made)
    becomes(sink, [("a", 2), ("b", 3)])
    again = f"CREATE OR REPLACE STREAM {sink}"
    told = typed(f"{again} AS SELECT k, n * 10 AS m, n AS was FROM s WHERE n > 0;")
    assert f"Replaced query with ID {id_}" in told
    typed("INSERT INTO s VALUES ('c', 3), ('d', 0), ('e', 5);")
    becomes(sink, [("a", 2, None), ("b", 3, None), ("c", 30, 3), ("e", 50, 5)])
    assert "n * 10 AS m" in typed(f"EXPLAIN {id_};")
    for query, said in {
        f"{again} AS SELECT k, n AS m, n AS was FROM t;": f"cannot read topic {name}-t instead",
        f"{again} AS SELECT k, n AS was, n AS m FROM s;": "M INTEGER, WAS INTEGER have to come",
        f"{again} AS SELECT k, n AS m FROM s;": "have to come first",
        f"{again} AS SELECT n, k AS m FROM s PARTITION BY n;": "its key is K VARCHAR",
        f"{again} WITH (VALUE_FORMAT='DELIMITED') AS SELECT k, n AS m, n AS was FROM s;": (
            "its VALUE_FORMAT is JSON"
        ),
        f"CREATE OR REPLACE TABLE {sink} AS SELECT k, COUNT(*) AS m FROM s GROUP BY k;": (
            "not supported yet: CREATE OR REPLACE of a query with aggregates"
        ),
    }.items():
        with pytest.raises(SqlError) as caught:
            typed(query)
        assert said in str(caught.value), query
    typed("INSERT INTO s VALUES ('f', 6);")
    becomes(
        sink,
        [("a", 2, None), ("b", 3, None), ("c", 30, 3), ("e", 50, 5), ("f", 60, 6)],
    )
    typed(f"TERMINATE {id_};")
    with pytest.raises(SqlError, match="There is no query that"):
        typed(f"{again} AS SELECT k, n AS m, n AS was FROM s;")


def test_two_queries_write_to_one_stream(
    typed: Typing, name: str, sink: str, becomes: Callable[[str, Column], None]
) -> None:
    typed(
        f"CREATE STREAM s (k VARCHAR KEY, n INT) WITH (KAFKA_TOPIC='{name}', PARTITIONS=1);"
        f"CREATE STREAM t (k VARCHAR KEY, m INT) WITH (KAFKA_TOPIC='{name}-t', PARTITIONS=1);"
        f"CREATE STREAM {sink} WITH (VALUE_FORMAT='DELIMITED') AS SELECT k, n FROM s;"
    )
    with pytest.raises(SqlError, match="Incompatible schema between results and sink"):
        typed(f"INSERT INTO {sink} SELECT k, m FROM t;")
    made = typed(
        f"INSERT INTO {sink} WITH (QUERY_ID='{sink}_2') SELECT k, m * 10 AS n FROM t;"
        "INSERT INTO s VALUES ('a', 1); INSERT INTO t VALUES ('b', 2);"
    )
    assert f"Created query with ID {sink}_2" in made
    becomes(sink, [("a", 1), ("b", 20)])
    typed("TERMINATE ALL;")


def test_a_stream_is_joined_with_a_table(
    typed: Typing, name: str, sink: str, becomes: Callable[[str, Column], None]
) -> None:
    typed(
        "CREATE TABLE users (id VARCHAR PRIMARY KEY, name VARCHAR) "
        f"WITH (KAFKA_TOPIC='{name}-users', PARTITIONS=2);"
        "CREATE STREAM views (userid VARCHAR KEY, page VARCHAR) "
        f"WITH (KAFKA_TOPIC='{name}', PARTITIONS=2);"
        "INSERT INTO views VALUES ('1', 'p0'), ('2', 'p1'), ('3', 'p2');"
        f"INSERT INTO users VALUES ('1', 'Ann'), ('2', 'Bob'); {EARLIEST}"
        f"CREATE STREAM {sink} AS SELECT userid, page, name FROM views "
        "LEFT JOIN users ON views.userid = users.id;"
    )
    before: Column = [("1", "p0", "Ann"), ("2", "p1", "Bob"), ("3", "p2", None)]
    becomes(sink, before)
    typed("INSERT INTO users VALUES ('2', 'Bobby'), ('3', 'Cy');")
    typed("INSERT INTO views VALUES ('2', 'p3'), ('3', 'p4');")
    becomes(sink, [*before, ("2", "p3", "Bobby"), ("3", "p4", "Cy")])
    typed("TERMINATE ALL;")


def test_what_cannot_begin_leaves_nothing(
    typed: Typing, topics: Topics, connectors: ConnectClient, name: str, sink: str
) -> None:
    typed(
        "CREATE TABLE users (id VARCHAR PRIMARY KEY, name VARCHAR) "
        f"WITH (KAFKA_TOPIC='{name}-users', PARTITIONS=3);"
        "CREATE STREAM views (userid VARCHAR KEY, page VARCHAR) "
        f"WITH (KAFKA_TOPIC='{name}', PARTITIONS=2);"
    )
    for query, said in {
        f"CREATE STREAM {sink} AS SELECT userid, name FROM views JOIN users ON userid = id;": (
            "`VIEWS` partitions = 2; `USERS` partitions = 3"
        ),
        f"CREATE STREAM {sink} WITH (VALUE_FORMAT='KAFKA') AS SELECT userid, page, page AS q "
        "FROM views;": "not supported yet: VALUE_FORMAT 'KAFKA' with more than one column",
        f"CREATE STREAM {sink} WITH (KAFKA_TOPIC='{name}') AS SELECT * FROM views;": (
            "The query would read what it writes"
        ),
        "INSERT INTO views SELECT * FROM views;": "The query would read what it writes",
        "INSERT INTO users SELECT * FROM views;": "USERS is a table",
        "TERMINATE csas_nothing;": "Unknown queryId: csas_nothing",
        "CREATE OR REPLACE STREAM views AS SELECT * FROM views;": "There is no query that VIEWS",
    }.items():
        with pytest.raises(SqlError) as caught:
            typed(query)
        assert said in str(caught.value)
    assert sink not in topics.admin.list_topics(timeout=20).topics
    assert sink not in typed("SHOW STREAMS;")
    assert not [each for each in connectors.connectors() if sink in each]
