"""PostgreSQL to a topic to PostgreSQL, on a real worker: every type comes back as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.client import ConnectClient
from tables import Tables
from topics import Topics
from waiting import eventually

JSON = "org.apache.kafka.connect.json.JsonConverter"
TYPES = """
  id int PRIMARY KEY, n numeric(38,10), small numeric(4,0), wide numeric, ts timestamptz,
  wall timestamp, d date, t time, u uuid, j jsonb, plain json, numbers int[], words text[],
  amounts numeric[], flags boolean[], b bytea, v varchar(40), c char(5), flag boolean, f4 real,
  f8 double precision, i2 smallint, i8 bigint, span interval
"""
ROWS = (
    """(1, 1234567890123456789012345678.0123456789, -9999, 1e100,
  '2024-02-29 12:34:56.789123+05:30', '9999-12-31 23:59:59.999999', '2024-02-29', '23:59:59.999',
  gen_random_uuid(), '{"ü": [1, null, "🎉"]}', '{"b": 1, "a": [ ]}', '{1,NULL,2147483647}',
  '{x,"y, z",NULL,""}', '{1.50,NULL}', '{t,NULL,f}', '\\x00ff', 'grüße 🎉', 'ab', true, 'NaN',
  '-Infinity', -32768, -9223372036854775808, '1 year 2 mons -3 days')""",
    "(2" + ", NULL" * 23 + ")",
    """(3, 0, 9999, 'NaN', 'infinity', '-infinity', '-infinity', '00:00', NULL, 'null', '[]', '{}',
  '{}', '{}', '{}', '', '', '', false, '-0', 1e-300, 32767, 9223372036854775807, '0')""",
    """(4, -1234567890123456789012345678.9876543210, 1, -1e-50, '1900-01-01 00:00:00-12',
  '1970-01-01 00:00:00.000001', '0001-01-01', '12:00:00', gen_random_uuid(), '"\\u2028"', '0',
  '{-2147483648}', '{"{","}","\\"","\\\\"}', '{-0.001}', '{f}', '\\xdeadbeef', 'e\u0301', 'ü', true,
  3.4028235e38, 1.7976931348623157e308, 0, 0, '-00:00:00.000001')""",
)


@pytest.mark.heavy
@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_every_type_comes_back(
    connectors: ConnectClient,
    topics: Topics,
    tables: Tables,
    secrets_folder: Path,
    name: str,
    zone: str,
) -> None:
    """Nulls, extremes, unicode and time zones included."""
    tables.run(f"CREATE TABLE things ({TYPES})")
    tables.run(f"CREATE TABLE again ({TYPES})")
    for row in ROWS:
        tables.run(f"INSERT INTO things VALUES {row}")
    topic = f"{name}-things"
    topics.create(topic)
    place = {
        **tables.config(),
        "connection.password": tables.secret(secrets_folder, name),
        "value.converter": JSON,
        "db.timezone": zone,
    }
    source = {
        **place,
        "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
        "mode": "incrementing",
        "incrementing.column.name": "id",
        "table.whitelist": "things",
        "schema.pattern": tables.schema,
        "topic.prefix": f"{name}-",
        "timestamp.granularity": "micros_iso_datetime_string",
    }
    sink = {
        **place,
        "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
        "topics": topic,
        "insert.mode": "upsert",
        "pk.mode": "record_value",
        "pk.fields": "id",
        "table.name.format": f"{tables.schema}.again",
        "offsets.table": f"{tables.schema}.offsets",
    }
    connectors.create(name, source)
    connectors.create(f"{name}-sink", sink)
    count = "SELECT count(*) FROM again"
    eventually(lambda: tables.run(count) == [(len(ROWS),)], within=120, what="all rows")
    different = "SELECT x::text, y::text FROM things x JOIN again y USING (id) "
    assert tables.run(different + "WHERE x::text <> y::text") == []
