"""The statements of the demo, as one would type them at `penstock sql`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SOURCE: Final = "my-postgres-jdbc"
VIEWS: Final = "my-pageviews"
SINK: Final = "my-postgres-sink"
USERS_TOPIC: Final = "test-postgres-jdbc-users"
VIEWS_TOPIC: Final = "pageviews"


def create_source(database: Mapping[str, str]) -> str:
    """Users come from PostgreSQL, and so does every change of one."""
    return f"""CREATE EXTERNAL SOURCE {SOURCE} WITH (
  connector.class = "io.confluent.connect.jdbc.JdbcSourceConnector",
  {_listed(database)},
  table.whitelist = users, mode = timestamp, timestamp.column.name = updated,
  topic.prefix = test-postgres-jdbc-, key = userid, poll.interval.ms = 500,
  value.converter = org.apache.kafka.connect.json.JsonConverter,
  value.converter.schemas.enable = false);"""


CREATE_TABLE: Final = f"CREATE TABLE users_original WITH (kafka_topic = '{USERS_TOPIC}');"

CREATE_STREAM: Final = f"""\
CREATE STREAM pageviews_original (viewtime BIGINT, userid VARCHAR, pageid VARCHAR)
  WITH (KAFKA_TOPIC = '{VIEWS_TOPIC}', PARTITIONS = 1);"""

JOIN: Final = """\
CREATE STREAM page_enriched WITH (JSON_SCHEMAS_ENABLE = true) AS
  SELECT p.userid AS k, AS_VALUE(p.userid) AS `userid`, p.viewtime AS `viewtime`,
         p.pageid AS `pageid`, u.name AS `name`, u.city AS `city`
  FROM pageviews_original p LEFT JOIN users_original u ON p.userid = u.userid
  EMIT CHANGES;"""


def create_views(count: int) -> str:
    """Pageviews that are made up."""
    return f"""CREATE EXTERNAL SOURCE {VIEWS} WITH (
  connector.class = "io.confluent.kafka.connect.datagen.DatagenConnector",
  quickstart = pageviews, kafka.topic = {VIEWS_TOPIC}, iterations = {count}, max.interval = 10,
  value.converter = org.apache.kafka.connect.json.JsonConverter,
  value.converter.schemas.enable = false);"""


WATCH: Final = "SELECT `pageid`, `name`, `city` FROM page_enriched EMIT CHANGES LIMIT 5;"


def create_sink(database: Mapping[str, str]) -> str:
    """The result goes back to PostgreSQL."""
    return f"""CREATE EXTERNAL SINK {SINK} FROM page_enriched WITH (
  connector.class = "io.confluent.connect.jdbc.JdbcSinkConnector",
  {_listed(database)},
  table.name.format = page_enriched, insert.mode = insert, auto.create = true);"""


MORE_VIEWS: Final = """\
INSERT INTO pageviews_original (viewtime, userid, pageid) VALUES
  (1, 'User_1', 'Page_later'), (2, 'User_2', 'Page_later'), (3, 'User_9', 'Page_later');"""


def alter_offset(query: str, offset: int) -> str:
    """Let a query read its topic again from ``offset`` on."""
    return f"""ALTER CONNECTOR {query} OFFSETS
  PARTITION '{{"kafka_topic": "{VIEWS_TOPIC}", "kafka_partition": 0}}'
  TO '{{"kafka_offset": {offset}}}';"""


def _listed(settings: Mapping[str, str]) -> str:
    return ",\n  ".join(f"{key} = '{value}'" for key, value in settings.items())
