"""The least that a program in Python can do: read a topic, and merge its records into a table.

    python -m bench.table_loop <bootstrap servers> <address of the database>

Says that it is ready; then answers every line ``<topic> <records> <table> <mode>`` with the seconds
from the making of the consumer until the last rows are committed and the position stored. The
records are JSON with a schema; of the rows of a batch with one id the last one counts.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import orjson
import psycopg
from confluent_kafka import Consumer
from psycopg import sql

BATCH = 10_000
_MERGED = (
    "INSERT INTO {} SELECT DISTINCT ON (id) id, seq, line FROM batch ORDER BY id, seq DESC "
    "ON CONFLICT (id) DO UPDATE SET seq = EXCLUDED.seq, line = EXCLUDED.line"
)
_ADDED = "INSERT INTO {} SELECT id, seq, line FROM batch"


def move(brokers: str, database: str, order: str) -> None:
    """COPY into a temporary table, one statement into the other, and a commit, batch by batch."""
    topic, records, table, mode = order.split()
    settings = {"bootstrap.servers": brokers, "group.id": table, "enable.auto.commit": False}
    client = Consumer({**settings, "auto.offset.reset": "earliest"})
    client.subscribe([topic])
    merge = sql.SQL(_MERGED if mode == "upsert" else _ADDED).format(sql.Identifier(table))
    seen = 0
    with psycopg.connect(database) as link:
        link.execute("CREATE TEMP TABLE batch (id int, seq int, line text)")
        while seen < int(records):
            messages = client.consume(BATCH, timeout=0.5)
            if messages:
                rows = [orjson.loads(message.value() or b"")["payload"] for message in messages]
                write(link, merge, rows)
                client.commit(asynchronous=True)
            seen += len(messages)
    client.close()


def write(link: psycopg.Connection[Any], merge: sql.Composed, rows: list[dict[str, Any]]) -> None:
    """One transaction."""
    link.execute("TRUNCATE batch")
    with link.cursor().copy("COPY batch FROM STDIN") as copy:
        for row in rows:
            copy.write_row((row["id"], row["seq"], row["line"]))
    link.execute(merge)
    link.commit()


def main(brokers: str, database: str) -> None:
    """Answer line by line."""
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        began = time.perf_counter()
        move(brokers, database, line)
        sys.stdout.write(f"{time.perf_counter() - began}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
