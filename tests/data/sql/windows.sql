--@test: sessions that become one have tombstones
SET 'auto.offset.reset' = 'earliest';
CREATE STREAM s (k VARCHAR KEY, n INT) WITH (KAFKA_TOPIC='windows-sessions', RETENTION_MS='-1', PARTITIONS=1);
CREATE TABLE o WITH (KAFKA_TOPIC='windows-sessions-out') AS
  SELECT k, SUM(n) AS total, WINDOWSTART AS ws, WINDOWEND AS we FROM s WINDOW SESSION (10 SECONDS) GROUP BY k;
INSERT INTO s (k, n, rowtime) VALUES ('a', 1, 1000);
INSERT INTO s (k, n, rowtime) VALUES ('a', 2, 9000);
ASSERT VALUES o (k, total, ws, we) VALUES ('a', 1, 1000, 1000);
ASSERT NULL VALUES o (k) KEY ('a');
ASSERT VALUES o (k, total, ws, we) VALUES ('a', 3, 1000, 9000);

--@test: sessions of avro
SET 'auto.offset.reset' = 'earliest';
CREATE STREAM s (k VARCHAR KEY, n INT) WITH (KAFKA_TOPIC='windows-avro', RETENTION_MS='-1', FORMAT='AVRO', PARTITIONS=1);
CREATE TABLE o WITH (KAFKA_TOPIC='windows-avro-out') AS
  SELECT k, SUM(n) AS total FROM s WINDOW SESSION (10 SECONDS) GROUP BY k;
INSERT INTO s (k, n, rowtime) VALUES ('a', 1, 1000);
INSERT INTO s (k, n, rowtime) VALUES ('a', 2, 1000);
INSERT INTO s (k, n, rowtime) VALUES ('b', 4, 2000);
ASSERT VALUES o (k, total) VALUES ('a', 1);
ASSERT VALUES o (k, total) VALUES ('a', 3);
ASSERT VALUES o (k, total) VALUES ('b', 4);

--@test: a final row comes out when the grace has passed
SET 'auto.offset.reset' = 'earliest';
CREATE STREAM s (k VARCHAR KEY, n INT) WITH (KAFKA_TOPIC='windows-final', RETENTION_MS='-1', PARTITIONS=1);
CREATE TABLE o WITH (KAFKA_TOPIC='windows-final-out') AS
  SELECT k, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 10 SECONDS, GRACE PERIOD 5 SECONDS) GROUP BY k EMIT FINAL;
INSERT INTO s (k, n, rowtime) VALUES ('a', 1, 1000);
INSERT INTO s (k, n, rowtime) VALUES ('a', 2, 12000);
INSERT INTO s (k, n, rowtime) VALUES ('a', 3, 2000);
INSERT INTO s (k, n, rowtime) VALUES ('b', 4, 21000);
INSERT INTO s (k, n, rowtime) VALUES ('a', 5, 3000);
INSERT INTO s (k, n, rowtime) VALUES ('a', 6, 26000);
ASSERT VALUES o (k, n) VALUES ('a', 2);
ASSERT VALUES o (k, n) VALUES ('a', 1);

--@test: a row of a table is taken back
SET 'auto.offset.reset' = 'earliest';
CREATE TABLE t (id VARCHAR PRIMARY KEY, city VARCHAR, n INT) WITH (KAFKA_TOPIC='windows-table', PARTITIONS=1);
CREATE TABLE o WITH (KAFKA_TOPIC='windows-table-out') AS
  SELECT city, COUNT(*) AS n, SUM(n) AS total FROM t GROUP BY city HAVING COUNT(*) > 0;
INSERT INTO t VALUES ('1', 'Rome', 10);
INSERT INTO t VALUES ('1', 'Rome', 20);
INSERT INTO t VALUES ('1', 'Oslo', 5);
ASSERT VALUES o (city, n, total) VALUES ('Rome', 1, 10);
ASSERT VALUES o (city, n, total) VALUES ('Rome', 1, 20);

--@test: a table has no largest
--@expected.message: The aggregate MAX cannot be applied to a table
CREATE TABLE t (id VARCHAR PRIMARY KEY, n INT) WITH (KAFKA_TOPIC='windows-largest', PARTITIONS=1);
CREATE TABLE o AS SELECT n, MAX(n) AS m FROM t GROUP BY n;

--@test: a final row needs a window
--@expected.message: EMIT FINAL is only supported for aggregates with a WINDOW
CREATE STREAM s (k VARCHAR KEY, n INT) WITH (KAFKA_TOPIC='windows-none', PARTITIONS=1);
CREATE TABLE o AS SELECT k, COUNT(*) AS n FROM s GROUP BY k EMIT FINAL;
