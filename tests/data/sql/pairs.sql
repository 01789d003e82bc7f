--@test: rows of two streams within an hour
SET 'auto.offset.reset' = 'earliest';
CREATE STREAM a (k VARCHAR KEY, x INT) WITH (KAFKA_TOPIC='pairs-a', RETENTION_MS='-1', PARTITIONS=2);
CREATE STREAM b (id VARCHAR KEY, y INT) WITH (KAFKA_TOPIC='pairs-b', RETENTION_MS='-1', PARTITIONS=2);
CREATE STREAM o WITH (KAFKA_TOPIC='pairs-out', PARTITIONS=1) AS
  SELECT k, x, y FROM a JOIN b WITHIN 1 HOUR ON a.k = b.id;
INSERT INTO a (k, x, rowtime) VALUES ('k', 1, 1000);
INSERT INTO b (id, y, rowtime) VALUES ('k', 2, 3601000);
INSERT INTO b (id, y, rowtime) VALUES ('k', 3, 3601001);
INSERT INTO a (k, x, rowtime) VALUES ('k', 4, 2000);
ASSERT VALUES o (k, x, y) VALUES ('k', 1, 2);
ASSERT VALUES o (k, x, y) VALUES ('k', 4, 2);
ASSERT VALUES o (k, x, y) VALUES ('k', 4, 3);

--@test: what a full join has not found
SET 'auto.offset.reset' = 'earliest';
CREATE STREAM a (k VARCHAR KEY, x INT) WITH (KAFKA_TOPIC='pairs-full-a', RETENTION_MS='-1', PARTITIONS=1);
CREATE STREAM b (id VARCHAR KEY, y INT) WITH (KAFKA_TOPIC='pairs-full-b', RETENTION_MS='-1', PARTITIONS=1);
CREATE STREAM o WITH (KAFKA_TOPIC='pairs-full-out') AS
  SELECT ROWKEY AS id, x, y FROM a FULL OUTER JOIN b WITHIN 10 SECONDS GRACE PERIOD 5 SECONDS ON a.k = b.id;
INSERT INTO a (k, x, rowtime) VALUES ('k', 1, 1000);
INSERT INTO b (id, y, rowtime) VALUES ('m', 2, 2000);
INSERT INTO b (id, y, rowtime) VALUES ('z', 3, 16001);
INSERT INTO a (k, x, rowtime) VALUES ('z', 4, 17001);
ASSERT VALUES o (id, x, y) VALUES ('k', 1, NULL);
ASSERT VALUES o (id, x, y) VALUES ('m', NULL, 2);
ASSERT VALUES o (id, x, y) VALUES ('z', 4, 3);

--@test: streams of avro and of json
SET 'auto.offset.reset' = 'earliest';
CREATE STREAM a (k VARCHAR KEY, x INT) WITH (KAFKA_TOPIC='pairs-avro-a', RETENTION_MS='-1', FORMAT='AVRO', PARTITIONS=1);
CREATE STREAM b (id VARCHAR KEY, y INT) WITH (KAFKA_TOPIC='pairs-avro-b', RETENTION_MS='-1', PARTITIONS=1);
CREATE STREAM o WITH (KAFKA_TOPIC='pairs-avro-out') AS
  SELECT k, x, y FROM a LEFT JOIN b WITHIN 10 SECONDS GRACE PERIOD 0 SECONDS ON a.k = b.id;
INSERT INTO a (k, x, rowtime) VALUES ('k', 1, 1000);
INSERT INTO b (id, y, rowtime) VALUES ('k', 2, 2000);
INSERT INTO a (k, x, rowtime) VALUES ('m', 3, 3000);
INSERT INTO a (k, x, rowtime) VALUES ('z', 4, 13001);
ASSERT VALUES o (k, x, y) VALUES ('k', 1, 2);
ASSERT VALUES o (k, x, y) VALUES ('m', 3, NULL);

--@test: a row of two tables that is there no more
SET 'auto.offset.reset' = 'earliest';
CREATE TABLE a (k VARCHAR PRIMARY KEY, x INT) WITH (KAFKA_TOPIC='pairs-tables-a', PARTITIONS=1);
CREATE TABLE b (id VARCHAR PRIMARY KEY, y INT) WITH (KAFKA_TOPIC='pairs-tables-b', PARTITIONS=1);
CREATE TABLE o WITH (KAFKA_TOPIC='pairs-tables-out') AS SELECT k, x, y FROM a JOIN b ON a.k = b.id WHERE x < 9;
INSERT INTO a VALUES ('k', 1);
INSERT INTO b VALUES ('k', 2);
INSERT INTO a VALUES ('k', 3);
INSERT INTO a VALUES ('k', 9);
INSERT INTO a VALUES ('k', 4);
ASSERT VALUES o (k, x, y) VALUES ('k', 1, 2);
ASSERT VALUES o (k, x, y) VALUES ('k', 3, 2);
ASSERT NULL VALUES o (k) KEY ('k');
ASSERT VALUES o (k, x, y) VALUES ('k', 4, 2);

--@test: tables of avro
SET 'auto.offset.reset' = 'earliest';
CREATE TABLE a (k VARCHAR PRIMARY KEY, x INT) WITH (KAFKA_TOPIC='pairs-avro-tables-a', FORMAT='AVRO', PARTITIONS=1);
CREATE TABLE b (id VARCHAR PRIMARY KEY, y INT) WITH (KAFKA_TOPIC='pairs-avro-tables-b', FORMAT='AVRO', PARTITIONS=1);
CREATE TABLE o WITH (KAFKA_TOPIC='pairs-avro-tables-out') AS
  SELECT ROWKEY AS k, x, y FROM a FULL JOIN b ON a.k = b.id;
INSERT INTO b VALUES ('k', 2);
INSERT INTO a VALUES ('k', 1);
ASSERT VALUES o (k, x, y) VALUES ('k', NULL, 2);
ASSERT VALUES o (k, x, y) VALUES ('k', 1, 2);

--@test: topics with other numbers of partitions
--@expected.message: Can't join `A` with `B` since the number of partitions don't match. `A` partitions = 1; `B` partitions = 2.
CREATE STREAM a (k VARCHAR KEY, x INT) WITH (KAFKA_TOPIC='pairs-one', PARTITIONS=1);
CREATE STREAM b (id VARCHAR KEY, y INT) WITH (KAFKA_TOPIC='pairs-other', PARTITIONS=2);
CREATE STREAM o AS SELECT k, x, y FROM a JOIN b WITHIN 1 HOUR ON a.k = b.id;

--@test: tables with other numbers of partitions
--@expected.message: Please repartition either one so that the number of partitions match.
CREATE TABLE a (k VARCHAR PRIMARY KEY, x INT) WITH (KAFKA_TOPIC='pairs-table-one', PARTITIONS=1);
CREATE TABLE b (id VARCHAR PRIMARY KEY, y INT) WITH (KAFKA_TOPIC='pairs-table-other', PARTITIONS=2);
CREATE TABLE o AS SELECT k, x, y FROM a JOIN b ON a.k = b.id;
