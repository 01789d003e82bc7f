-- Users come from PostgreSQL, with every change.
CREATE EXTERNAL SOURCE users-from-postgres WITH (
  connector.class = "io.confluent.connect.jdbc.JdbcSourceConnector",
  connection.url = '${url}', connection.user = '${user}', connection.password = '${password}',
  table.whitelist = people, mode = timestamp, timestamp.column.name = updated,
  topic.prefix = db-, key = userid, poll.interval.ms = 500,
  value.converter = org.apache.kafka.connect.json.JsonConverter,
  value.converter.schemas.enable = false);

CREATE TABLE people (userid VARCHAR PRIMARY KEY, name VARCHAR)
  WITH (KAFKA_TOPIC = 'db-people', PARTITIONS = 1);

CREATE STREAM views (viewtime BIGINT, userid VARCHAR, pageid VARCHAR)
  WITH (KAFKA_TOPIC = 'views', PARTITIONS = 1);

-- Each view with its user: the one that the table has at the view's time.
CREATE STREAM views_with_names WITH (JSON_SCHEMAS_ENABLE = true) AS
  SELECT v.userid AS k, AS_VALUE(v.userid) AS `userid`, v.pageid AS `pageid`, p.name AS `name`
  FROM views v LEFT JOIN people p ON v.userid = p.userid
  EMIT CHANGES;

CREATE EXTERNAL SINK views-to-postgres FROM views_with_names WITH (
  connector.class = "io.confluent.connect.jdbc.JdbcSinkConnector",
  connection.url = '${url}', connection.user = '${user}', connection.password = '${password}',
  table.name.format = views_with_names, insert.mode = insert, auto.create = true);
