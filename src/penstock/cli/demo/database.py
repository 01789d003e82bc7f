"""The demo's database: users are kept in it, and the joined pageviews come back to it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.embedded.postgres import USER, EmbeddedPostgres

if TYPE_CHECKING:
    from psycopg import Connection

USERS = ("Ada", "Blaise", "Claude", "Dorothy", "Edsger", "Frances", "Grace", "Haskell")
CITIES = ("Bern", "Lyon", "Oslo", "Riga")
_CREATE = """
CREATE TABLE users (userid text PRIMARY KEY, name text, city text,
                    updated timestamptz NOT NULL DEFAULT clock_timestamp())
"""
_WRITTEN = "SELECT userid, viewtime, pageid, name, city FROM page_enriched"


class UsersDatabase:
    """A PostgreSQL of its own. Call order: `start`, then anything, then `stop`."""

    def __init__(self, folder: Path) -> None:
        # PostgreSQL may run as another user, who has to come past this folder.
        folder.chmod(0o711)
        self._server = EmbeddedPostgres(folder / "postgres")
        self._secrets = folder / "postgres.properties"
        self._link: Connection[tuple[Any, ...]] | None = None

    def start(self) -> None:
        """Start the server, with the users in it."""
        self._server.start()
        self._secrets.touch(mode=0o600)
        self._secrets.write_text(f"password={self._server.password}\n")
        self.run(_CREATE)
        for number, name in enumerate(USERS):
            row = (f"User_{number + 1}", name, CITIES[number % len(CITIES)])
            self.run("INSERT INTO users (userid, name, city) VALUES (%s, %s, %s)", row)

    def stop(self) -> None:
        """End the server. Safe to call again, or without `start`."""
        if self._link is not None:
            self._link.close()
            self._link = None
        self._server.stop()

    @property
    def settings(self) -> dict[str, str]:
        """How a connector reaches it; the password is referred to, not told."""
        return {
            "connection.url": self._server.jdbc_url,
            "connection.user": USER,
            "connection.password": f"${{file:{self._secrets}:password}}",
        }

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a statement; its rows, if it has any."""
        cursor = self._connection().execute(statement.encode(), values or None)
        return cursor.fetchall() if cursor.description else []

    def users(self) -> dict[str, tuple[Any, ...]]:
        """Name and city of each user."""
        found = self.run("SELECT userid, name, city FROM users ORDER BY userid")
        return {userid: tuple(rest) for userid, *rest in found}

    def written(self) -> list[tuple[Any, ...]]:
        """The pageviews that the sink has written: user, time, page, name and city."""
        if not self.run("SELECT to_regclass('page_enriched')")[0][0]:
            return []
        return self.run(_WRITTEN)

    def _connection(self) -> Connection[tuple[Any, ...]]:
        if self._link is None:
            import psycopg

            self._link = psycopg.connect(self._server.uri, autocommit=True)
        return self._link
