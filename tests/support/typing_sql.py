"""Statements typed at a session, and what it prints."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any

from penstock.kafka.clients import Connection
from penstock.sql.connecting.connect_api import Connect
from penstock.sql.running.home import Home
from penstock.sql.running.results import Rows
from penstock.sql.running.session import SqlSession
from penstock.sql.shell.output import Form, Output


class Typing:
    """A prompt on brokers and a worker; ``spark`` gives a session where queries are asked."""

    def __init__(
        self,
        connect: Connect,
        bootstrap_servers: str,
        spark: Callable[[], Any],
        catalog: str,
    ) -> None:
        connection = Connection(bootstrap_servers)
        self.home = Home(lambda: connect, lambda: connection, spark, catalog)
        self.session = SqlSession(self.home)

    def __call__(self, script: str, form: Form = Form.TABLE) -> str:
        written: list[str] = []
        out = Output(form, written.append, written.append, None)
        with closing(out):
            for ran in self.session.run(script):
                out.show(ran)
        return "".join(written)

    def rows(self, query: str) -> list[tuple[object, ...]]:
        """The rows of a query."""
        (ran,) = self.session.run(query)
        assert isinstance(ran.answer, Rows)
        return [tuple(row) for row in ran.answer.rows]
