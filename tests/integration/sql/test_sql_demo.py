"""KLIP-7's motivating example: pageviews joined with users that are kept in a database."""

# ruff: noqa: S608 - statements are what is tested here

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from penstock.client import ConnectClient, raise_if_failed
from tables import Tables
from topics import Topics
from typing_sql import Typing
from waiting import eventually

pytestmark = pytest.mark.heavy
JSON = "org.apache.kafka.connect.json.JsonConverter"
STRING = "org.apache.kafka.connect.storage.StringConverter"
VIEWS = 300


@pytest.fixture
def users(tables: Tables) -> Tables:
    """Users in the database: of nine that pageviews name, one is not there."""
    tables.run(
        "CREATE TABLE users (userid text PRIMARY KEY, name text, age integer, "
        "updated timestamptz NOT NULL DEFAULT now())"
    )
    tables.run(
        "INSERT INTO users (userid, name, age) "
        "SELECT 'User_' || n, 'name ' || n, 20 + n FROM generate_series(1, 8) n"
    )
    return tables


def connection(tables: Tables, secret: str) -> str:
    told = tables.config()
    return (
        f"connection.url='{told['connection.url']}', connection.user='{told['connection.user']}', "
        f"connection.password='{secret}'"
    )


def test_pageviews_are_joined_with_users_and_written_back(
    typed: Typing,
    topics: Topics,
    connectors: ConnectClient,
    users: Tables,
    secrets_folder: Path,
    name: str,
) -> None:
    database = connection(users, users.secret(secrets_folder, name))
    enriched = re.sub(r"\W", "_", name)
    for topic in ("users", "views"):
        topics.create(f"{name}-{topic}")

    # Ingress.
    assert "SOURCE CREATED" in typed(
        f"CREATE EXTERNAL SOURCE {name}-jdbc WITH ( \\\n"
        'connector.class="io.confluent.connect.jdbc.jdbcSourceConnector", \\\n'
        f"tasks.max=1, {database}, mode=timestamp, timestamp.column.name=updated, "
        f"schema.pattern={users.schema}, table.whitelist=users, topic.prefix={name}-, key=userid, "
        f"poll.interval.ms=200, key.converter={STRING}, value.converter={JSON}, "
        "value.converter.schemas.enable=false);"
    )
    eventually(lambda: len(topics.messages(f"{name}-users")) >= 8, within=120, what="users")
    assert f"{name}-jdbc" in typed("SHOW EXTERNAL SOURCES;")
    assert "userid VARCHAR" in typed(f"DESCRIBE {name}-jdbc;")
    assert "TABLE CREATED" in typed(
        f"CREATE TABLE users_original WITH (kafka_topic='{name}-users');"
    )
    told = " ".join(typed("DESCRIBE users_original;").split())
    assert "USERID | VARCHAR (primary key)" in told

    # The join.
    typed(
        "CREATE STREAM pageviews_original (viewtime BIGINT, userid VARCHAR, pageid VARCHAR) "
        f"WITH (KAFKA_TOPIC='{name}-views');"
    )
    made = typed(
        f"CREATE STREAM {enriched} WITH (JSON_SCHEMAS_ENABLE=true) AS "
        "SELECT p.userid AS k, AS_VALUE(p.userid) AS userid, p.viewtime, p.pageid, u.name, u.age "
        "FROM pageviews_original p LEFT JOIN users_original u ON p.userid = u.userid EMIT CHANGES;"
    )
    query = re.search(rf"CSAS_{enriched.upper()}_\d+", made)
    assert query

    # Egress.
    assert "SINK CREATED" in typed(
        f"CREATE EXTERNAL SINK {name}-sink FROM {enriched} WITH ("
        'connector.class="io.confluent.connect.jdbc.JdbcSinkConnector", '
        f"{database}, table.name.format={users.schema}.enriched, "
        f"offsets.table={users.schema}.written, insert.mode=insert, "
        "auto.create=true);"
    )

    # Pageviews come.
    typed(
        f"CREATE EXTERNAL SOURCE {name}-datagen WITH ("
        'connector.class="io.confluent.kafka.connect.datagen.DatagenConnector", '
        f"quickstart=pageviews, kafka.topic={name}-views, iterations={VIEWS}, max.interval=1, "
        f"key.converter={STRING}, value.converter={JSON}, value.converter.schemas.enable=false);"
    )
    raise_if_failed(connectors, query[0])
    rows = written(users, VIEWS)
    views = typed.rows("SELECT userid, viewtime, pageid FROM pageviews_original;")
    people = {f"User_{n}": (f"name {n}", 20 + n) for n in range(1, 9)}
    assert sorted(rows) == sorted(
        (*view, *people.get(str(view[0]), (None, None))) for view in views
    )
    assert {row[0] for row in rows} == {f"User_{n}" for n in range(1, 10)}, "all of them are there"

    # A user changes, and one more is there: new pageviews show it.
    users.run("UPDATE users SET name = 'renamed', updated = now() WHERE userid = 'User_1'")
    users.run("INSERT INTO users (userid, name, age) VALUES ('User_9', 'new', 1)")
    eventually(lambda: len(topics.messages(f"{name}-users")) >= 10, within=120, what="changes")
    typed(
        "INSERT INTO pageviews_original (viewtime, userid, pageid) VALUES "
        "(1, 'User_1', 'later'), (2, 'User_9', 'later'), (3, 'User_2', 'later');"
    )
    later = [row[3] for row in sorted(written(users, VIEWS + 3), key=str) if row[2] == "later"]
    assert sorted(later) == ["name 2", "new", "renamed"]

    # An offset is altered: the last pageviews are read again, and joined with what is so now.
    connectors.stop(query[0])
    eventually(
        lambda: connectors.status(query[0])["connector"]["state"] == "STOPPED", what="STOPPED"
    )
    (offset,) = connectors.offsets(query[0])
    assert offset["offset"] == {"kafka_offset": topics.end(f"{name}-views")}
    back = {"kafka_offset": topics.end(f"{name}-views") - 3}
    connectors.alter_offsets(query[0], [{**offset, "offset": back}])
    connectors.resume(query[0])
    again = [row[3] for row in written(users, VIEWS + 6) if row[2] == "later"]
    assert sorted(again) == ["name 2", "name 2", "new", "new", "renamed", "renamed"]

    # The end.
    typed(f"TERMINATE {query[0]};")
    for source in ("jdbc", "datagen"):
        typed(f"DROP EXTERNAL SOURCE {name}-{source} TERMINATE;")
    typed(f"DROP EXTERNAL SINK {name}-sink TERMINATE;")
    left = [each for each in connectors.connectors() if name in each or query[0] == each]
    assert not left


def written(tables: Tables, count: int) -> list[tuple[Any, ...]]:
    """The rows that came back to the database, once there are so many."""

    def found() -> list[tuple[Any, ...]]:
        if not tables.run(f"SELECT to_regclass('{tables.schema}.enriched')")[0][0]:
            return []
        rows = tables.run('SELECT "USERID", "VIEWTIME", "PAGEID", "NAME", "AGE" FROM enriched')
        return rows if len(rows) >= count else []

    rows = eventually(found, within=180, what=f"{count} rows")
    assert len(rows) == count
    return rows
