"""A session over a played Kafka Connect, without brokers and Spark."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import NoReturn

import pytest

from penstock.sdk.errors import UserError
from penstock.sql.running.home import Home
from penstock.sql.running.session import SqlSession
from penstock.sql.shell.output import Form, Output
from played_connect import PlayedConnect

Typed = Callable[[str], str]


def no_brokers() -> NoReturn:
    raise UserError("No broker found.")


@pytest.fixture
def connect() -> PlayedConnect:
    return PlayedConnect()


@pytest.fixture
def session(connect: PlayedConnect) -> SqlSession:
    return SqlSession(Home(lambda: connect, no_brokers, no_brokers))


@pytest.fixture
def typed(session: SqlSession) -> Typed:
    """What is printed when this is typed at the prompt."""

    def run(script: str, form: Form = Form.TABLE, width: int | None = 120) -> str:
        written: list[str] = []
        out = Output(form, written.append, written.append, width)
        with closing(out):
            for ran in session.run(script):
                out.show(ran)
        return "".join(written)

    return run
