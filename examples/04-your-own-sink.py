"""A sink connector of your own, exactly once even though its task dies in the worst moment.

    .venv/bin/python examples/04-your-own-sink.py

04-your-own-sink/sqlite_sink.py writes records into an SQLite table. Here it dies once, after its
rows were written and before their offsets were committed. The worker starts the task again, the
same records come again, and still every one is in the table once.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from penstock.client import ConnectClient, wait_for_state, wait_until
from running_worker import running_worker

SOURCE, SINK, TOPIC, LINES = "drops-from-file", "drops-to-sqlite", "drops", 5000


def main() -> None:
    """The story, checked on the way."""
    with running_worker("04-your-own-sink") as worker, ConnectClient(worker.url) as client:
        folder = worker.folder / "04"
        folder.mkdir()
        client.create(SOURCE, source(folder / "drops.txt"))
        client.create(SINK, sink(folder))

        died = folder / "died.txt"
        wait_until(died.exists, "the task to die")
        print(died.read_text().strip())
        wait_until(lambda: delivered(client) >= LINES, "all offsets to be committed", timeout=90)
        client.stop(SINK)
        wait_for_state(client, SINK, "STOPPED")
        (entry,) = client.offsets(SINK)
        print(f"The worker started it again; now it stands at {entry['offset']}.")
        check(folder / "drops.db")


def source(file: Path) -> dict[str, str]:
    """Numbered lines."""
    file.write_text("".join(f"drop {number}\n" for number in range(LINES)))
    return {"connector.class": "FileStreamSource", "file": str(file), "topic": TOPIC}


def sink(folder: Path) -> dict[str, str]:
    """Into the database, with a death on the way."""
    return {
        "connector.class": "SqliteSink",
        "topics": TOPIC,
        "database": str(folder / "drops.db"),
        "die.once": str(folder / "died.txt"),
    }


def delivered(client: ConnectClient) -> int:
    """The offset of the sink; it counts the ends of transactions as well as records."""
    return sum(int(entry["offset"]["kafka_offset"]) for entry in client.offsets(SINK))


def check(file: Path) -> None:
    """Every line once, in order."""
    with closing(sqlite3.connect(file)) as database:
        rows = [value for (value,) in database.execute("SELECT value FROM records ORDER BY number")]
    print(f"The table holds {len(rows)} rows, {len(set(rows))} different ones.")
    assert rows == [f"drop {number}" for number in range(LINES)]


if __name__ == "__main__":
    main()
