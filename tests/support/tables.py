"""Tables of this run's PostgreSQL, and configurations that name them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from penstock.embedded.postgres import USER, EmbeddedPostgres


class Tables:
    """Runs SQL in a schema of its own, so that tests do not see each other's tables."""

    def __init__(self, postgres: EmbeddedPostgres, schema: str) -> None:
        self.postgres, self.schema = postgres, schema
        self._link: psycopg.Connection[Any] | None = None
        self.run(f'CREATE SCHEMA IF NOT EXISTS "{schema}"')

    def connection(self) -> psycopg.Connection[Any]:
        """A new connection, whose tables are those of the schema."""
        link = psycopg.connect(self.postgres.uri, autocommit=True)
        link.execute(sql.SQL("SET search_path TO {}").format(sql.Identifier(self.schema)))
        link.execute("SET TIME ZONE 'UTC'")
        return link

    def run(self, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """The rows of a statement that has any."""
        if self._link is None or self._link.closed:
            self._link = self.connection()
        cursor = self._link.execute(statement.encode(), parameters or None)
        return cursor.fetchall() if cursor.description else []

    def config(self, **more: str) -> dict[str, str]:
        """How a connector reaches the database."""
        return {
            "connection.url": self.postgres.jdbc_url,
            "connection.user": USER,
            "connection.password": self.postgres.password,
            **{key.replace("_", "."): value for key, value in more.items()},
        }

    def secret(self, folder: Path, name: str) -> str:
        """The password, as a configuration refers to it: written to a file that providers read."""
        file = folder / f"{name}.properties"
        file.write_text(f"password={self.postgres.password}\n")
        return f"${{file:{file}:password}}"

    def close(self) -> None:
        """Drop the schema."""
        if self._link is not None:
            self._link.close()
        with self.connection() as link:
            link.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(self.schema)))
