"""A pipeline in SQL: pageviews joined with users that are kept in PostgreSQL.

    .venv/bin/python examples/10-pageviews-and-users.py

The statements are in 10-pageviews-and-users/pipeline.sql, and `penstock sql -f` runs them. Users
come from the database, pageviews are inserted, a query on Spark joins them, and the result goes
back to the database. Then a user is renamed there, and the next pageview shows it.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg

from penstock.client import ConnectClient, wait_until
from penstock.embedded.postgres import USER, EmbeddedPostgres
from running_worker import RunningWorker, running_worker
from topic_reading import read_topic

PIPELINE = Path(__file__).with_suffix("") / "pipeline.sql"
ASKED = "SELECT userid, pageid, name FROM views_with_names WHERE pageid = %s ORDER BY userid"
USERS = {"u1": "Ada", "u2": "Grace"}


def main() -> None:
    """The story, checked on the way."""
    with running_worker() as worker:
        # Run as root, PostgreSQL becomes another user, who has to reach its folder.
        worker.folder.chmod(0o711)
        with EmbeddedPostgres(worker.folder / "10") as postgres:
            with psycopg.connect(postgres.uri, autocommit=True) as database:
                tell(worker, postgres, database)
            end(worker)


def tell(worker: RunningWorker, postgres: EmbeddedPostgres, database: psycopg.Connection) -> None:
    """Users, the pipeline, pageviews, and one user renamed."""
    database.execute(
        "CREATE TABLE people (userid text PRIMARY KEY, name text, "
        "updated timestamptz NOT NULL DEFAULT clock_timestamp())"
    )
    for row in USERS.items():
        database.execute("INSERT INTO people (userid, name) VALUES (%s, %s)", row)
    place = {"url": postgres.jdbc_url, "user": USER, "password": postgres.password}
    sql(worker, "-f", str(PIPELINE), *(f"--define={key}={value}" for key, value in place.items()))
    read_topic(worker.bootstrap_servers, "db-people", len(USERS))

    view(worker, ("u1", "home"), ("u2", "home"), ("u3", "home"))
    expect(database, [("u1", "home", "Ada"), ("u2", "home", "Grace"), ("u3", "home", None)])

    database.execute(
        "UPDATE people SET name = 'Augusta', updated = clock_timestamp() WHERE userid = 'u1'"
    )
    read_topic(worker.bootstrap_servers, "db-people", len(USERS) + 1)
    view(worker, ("u1", "next"))
    expect(database, [("u1", "next", "Augusta")])


def view(worker: RunningWorker, *views: tuple[str, str]) -> None:
    """Insert pageviews of a user and a page."""
    for user, page in views:
        values = f"(viewtime, userid, pageid) VALUES (0, '{user}', '{page}')"
        sql(worker, "-e", f"INSERT INTO views {values};")


def expect(database: psycopg.Connection, rows: list[tuple[Any, ...]]) -> None:
    """Wait until the database has these rows; they are the last ones, each once."""

    def found() -> list[tuple[Any, ...]]:
        page = rows[0][1]
        try:
            return database.execute(ASKED, (page,)).fetchall()
        except psycopg.errors.UndefinedTable:  # the sink creates it with the first record
            return []

    wait_until(lambda: len(found()) >= len(rows), f"{len(rows)} rows in PostgreSQL", 90)
    assert found() == rows, found()
    print(f"  in PostgreSQL: {rows}")


def sql(worker: RunningWorker, *arguments: str) -> None:
    """Run `penstock sql`."""
    command = [sys.executable, "-m", "penstock", "sql", *arguments]
    subprocess.run(command, env=worker.environment(), check=True)


def end(worker: RunningWorker) -> None:
    """Leave nothing behind on a worker that examples share."""
    sql(worker, "-e", "TERMINATE ALL;")
    with ConnectClient(worker.url) as client:
        for name in ("users-from-postgres", "views-to-postgres"):
            client.delete(name)


if __name__ == "__main__":
    main()
