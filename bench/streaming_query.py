"""The bench's queries as Structured Streaming jobs, as a user of Spark would write them by hand.

    python -m bench.streaming_query <bootstrap servers> <folder> [<jar> ...]

Says that it is ready; answers ``projection IN OUT`` and ``join IN TABLE OUT`` once the query has
been started, ``files FOLDER TOPIC``, ``texts TOPIC FOLDER``, ``parquet TOPIC FOLDER`` and ``table
TOPIC DATABASE TABLE MODE`` likewise, ``s3 URL KEY SECRET`` once ``s3a://`` is that endpoint, and
``stop`` once they have ended. A batch that is tried again is written to Kafka again: that output
is at least once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import psycopg

from penstock.embedded import ensure_jars, find_java
from penstock.engine.driver.session import LazySession, SparkSettings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

VIEWS = "pageid STRING, viewtime BIGINT, n INT"
USERS = "name STRING, city STRING"
DRIVER = "org.postgresql.Driver"
LINES = "id: INT, seq: INT, line: STRING"
MERGED = (
    "INSERT INTO {0} SELECT DISTINCT ON (id) id, seq, line FROM {1} ORDER BY id, seq DESC "
    "ON CONFLICT (id) DO UPDATE SET seq = EXCLUDED.seq, line = EXCLUDED.line"
)
ADDED = "INSERT INTO {0} SELECT id, seq, line FROM {1}"


class Queries:
    """Jobs in one Spark session with two cores."""

    def __init__(self, brokers: str, folder: Path, jars: Sequence[Path]) -> None:
        java = find_java()
        settings = {"spark.master": "local[2]", "spark.sql.shuffle.partitions": "2"}
        every = [*ensure_jars(java).spark, *jars]
        self._session = LazySession(SparkSettings(folder, every, java.home, settings))
        self._folder = folder
        self._kafka = {"kafka.bootstrap.servers": brokers}
        self._running: list[StreamingQuery] = []

    @property
    def _spark(self) -> SparkSession:
        return self._session.get()

    def start(self) -> None:
        """Start Spark."""
        self._spark.range(1).count()

    def projection(self, source: str, target: str) -> None:
        """Project and filter."""
        rows = self._rows(self._stream(source), VIEWS).where("n <> 0")
        value = "to_json(named_struct('PAGE', upper(pageid), 'T', viewtime + n)) AS value"
        self._write(rows.selectExpr("key", value), target)

    def join(self, source: str, table: str, target: str) -> None:
        """A stream with a table that is read once, and kept in memory."""
        raw = self._spark.read.format("kafka").options(**self._kafka, subscribe=table).load()
        last = raw.groupBy("key").agg({"value": "max"}).toDF("key", "value")
        users = self._rows(last, USERS).cache()
        rows = self._rows(self._stream(source), VIEWS).join(users, "key")
        value = "to_json(named_struct('PAGEID', pageid, 'NAME', name, 'CITY', city)) AS value"
        self._write(rows.selectExpr("key", value), target)

    def files(self, folder: str, target: str) -> None:
        """The lines of the text files of a folder."""
        self._write(self._spark.readStream.text(folder), target)

    def s3(self, url: str, key: str, secret: str) -> None:
        """Where folders of ``s3a://`` are."""
        hadoop = self._spark._jsc.hadoopConfiguration()
        given = {"endpoint": url, "access.key": key, "secret.key": secret}
        plain = {"path.style.access": "true", "connection.ssl.enabled": "false"}
        for name, value in {**given, **plain, "endpoint.region": "us-east-1"}.items():
            hadoop.set(f"fs.s3a.{name}", value)

    def texts(self, source: str, folder: str) -> None:
        """Values as lines of text files."""
        self._save(self._stream(source).selectExpr("CAST(value AS STRING)"), "text", folder)

    def parquet(self, source: str, folder: str) -> None:
        """Rows as parquet files."""
        self._save(self._rows(self._stream(source), VIEWS), "parquet", folder)

    def table(self, source: str, database: str, table: str, mode: str) -> None:
        """Rows into a table: each batch into one beside it, then all of that with one statement."""
        rows = self._stream(source).selectExpr(
            f"from_json(CAST(value AS STRING), 'payload STRUCT<{LINES}>').payload AS v"
        )
        merge, at = MERGED if mode == "upsert" else ADDED, urlsplit(database)
        jdbc = f"jdbc:postgresql://{at.hostname}:{at.port}{at.path}"
        login = {"user": at.username or "", "password": at.password or "", "driver": DRIVER}

        def write(batch: DataFrame, _: int) -> None:
            batch.write.jdbc(jdbc, f"{table}_batch", "overwrite", login)
            with psycopg.connect(database) as link:
                link.execute(merge.format(table, f"{table}_batch").encode())

        place = str(self._folder / f"checkpoint-{table}")
        writer = rows.select("v.*").writeStream.foreachBatch(write)
        self._running.append(writer.option("checkpointLocation", place).start())

    def stop(self) -> None:
        """End what runs."""
        for query in self._running:
            query.stop()
        self._running = []
        self._spark.catalog.clearCache()

    def close(self) -> None:
        """End Spark."""
        self._session.stop()

    def _stream(self, topic: str) -> DataFrame:
        options = {"subscribe": topic, "startingOffsets": "earliest"}
        return self._spark.readStream.format("kafka").options(**self._kafka, **options).load()

    def _rows(self, records: DataFrame, columns: str) -> DataFrame:
        parsed = records.selectExpr("key", f"from_json(CAST(value AS STRING), '{columns}') AS v")
        return parsed.select("key", "v.*")

    def _write(self, rows: DataFrame, topic: str) -> None:
        place = self._folder / f"checkpoint-{topic}"
        options = {"topic": topic, "checkpointLocation": str(place)}
        writer = rows.writeStream.format("kafka").options(**self._kafka, **options)
        self._running.append(writer.start())

    def _save(self, rows: DataFrame, form: str, folder: str) -> None:
        options = {"path": folder, "checkpointLocation": f"{folder}-checkpoint"}
        self._running.append(rows.writeStream.format(form).options(**options).start())


def main() -> None:
    """Answer orders until there are no more."""
    queries = Queries(sys.argv[1], Path(sys.argv[2]), [Path(jar) for jar in sys.argv[3:]])
    queries.start()
    _say("ready")
    for line in sys.stdin:
        order, *words = line.split()
        getattr(queries, order)(*words)
        _say("done")
    queries.close()


def _say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
