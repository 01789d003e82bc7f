"""The prompt: lines, completion, colours and what is kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from prompt_toolkit import PromptSession
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.input.base import PipeInput
from prompt_toolkit.output import DummyOutput

from penstock.cli.sql import _converse
from penstock.sql.catalog.source import Source
from penstock.sql.running.results import Rows
from penstock.sql.running.session import SqlSession
from penstock.sql.shell.completing import Known
from penstock.sql.shell.output import Form, Output
from penstock.sql.shell.prompt import SqlCompleter, SqlLexer, prompt_session
from played_connect import PlayedConnect
from query_cases import declared


@pytest.fixture
def keyboard() -> Iterator[PipeInput]:
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        yield pipe


@pytest.fixture
def prompt(keyboard: PipeInput, tmp_path: Path) -> PromptSession[str]:
    return prompt_session(tmp_path / "sub" / "history", lambda: ["my-conn"], lambda: ["tasks.max"])


def test_a_statement_goes_on_until_its_semicolon(
    prompt: PromptSession[str], keyboard: PipeInput
) -> None:
    keyboard.send_text("SELECT ';'\rFROM s;\r")
    assert prompt.prompt() == "SELECT ';'\nFROM s;"
    keyboard.send_text("exit\r")
    assert prompt.prompt() == "exit"


def test_the_history_file_has_no_secrets_and_is_its_owners_alone(
    prompt: PromptSession[str], keyboard: PipeInput, tmp_path: Path
) -> None:
    keyboard.send_text("CREATE SOURCE CONNECTOR c WITH (a.b='hunter2', c=hunter2);\r")
    assert "hunter2" in prompt.prompt()
    file = tmp_path / "sub" / "history"
    kept = file.read_text()
    assert "CREATE SOURCE CONNECTOR c WITH (a.b='[string]', c='[string]');" in kept
    assert "hunter2" not in kept
    assert file.stat().st_mode & 0o777 == 0o600


def completed(text: str) -> list[str]:
    completer = SqlCompleter(lambda: ["my-conn", "USERS"], lambda: ["tasks.max", "topic"])
    document = Document(text, len(text))
    return [each.text for each in completer.get_completions(document, CompleteEvent())]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("SHOW CONNECTOR", ["CONNECTOR", "CONNECTORS"]),
        ("sho", ["SHOW"]),
        ("DESCRIBE my", ["my-conn"]),
        ("SELECT * FROM us", ["USERS"]),
        ("CREATE SOURCE CONNECTOR c WITH (ta", ["tasks.max"]),
        ("CREATE SOURCE CONNECTOR c WITH ('a'='b', 'to", ["topic"]),
    ],
)
def test_words_names_and_keys_are_completed(text: str, meant: list[str]) -> None:
    assert completed(text) == meant


def test_names_and_keys_come_from_the_worker_and_never_fail(
    session: SqlSession, connect: PlayedConnect
) -> None:
    connect.create("my-c", {"connector.class": "x"})
    known = Known(session.home)
    assert list(known.names()) == ["my-c"], "there are no brokers, so there are no streams"
    assert "KAFKA_TOPIC" in list(known.keys())


class PlayedCatalog:
    """Of a catalog, what completion asks."""

    def __init__(self) -> None:
        self.asked = 0

    def sources(self) -> dict[str, Source]:
        self.asked += 1
        return {name: declared(text) for name, text in DECLARED.items()}


DECLARED = {
    "USERS": "CREATE TABLE users (id VARCHAR PRIMARY KEY, email VARCHAR) WITH (kafka_topic='u')",
    "VIEWS": "CREATE STREAM views (id VARCHAR, `page-Url` VARCHAR) WITH (kafka_topic='v')",
}


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("SELECT ema", ["EMAIL"]),
        ("SELECT views.id FROM us", ["USERS"]),
        ("SELECT UCASE(pa", ["PARTITION", "PAUSE", "page-Url"]),
        ("SELECT `page", ["page-Url"]),
        ("SELECT a,v", ["VALUES", "VARIABLES", "VIEWS"]),
        ("SELECT nothing-of-the-kind", []),
    ],
)
def test_names_of_the_catalog_are_completed(
    session: SqlSession, monkeypatch: pytest.MonkeyPatch, text: str, meant: list[str]
) -> None:
    monkeypatch.setattr(session.home, "known_catalog", PlayedCatalog)
    known = Known(session.home)
    document = Document(text, len(text))
    completer = SqlCompleter(known.names, known.keys)
    assert [c.text for c in completer.get_completions(document, CompleteEvent())] == meant


def test_the_catalog_is_asked_once_in_a_while(
    session: SqlSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = PlayedCatalog()
    monkeypatch.setattr(session.home, "known_catalog", lambda: catalog)
    known = Known(session.home)
    named = ["EMAIL", "ID", "USERS", "VIEWS", "page-Url"]
    assert [list(known.names()), list(known.names())] == [named, named]
    assert catalog.asked == 1


def test_keywords_texts_and_comments_have_their_colours() -> None:
    line = SqlLexer().lex_document(Document("SELECT 'a' -- b"))(0)
    assert [style for style, text, *_ in line if text.strip()] == [
        "ansiblue bold",
        "ansigreen",
        "ansibrightblack",
    ]


def test_an_interrupt_ends_the_query_and_not_the_prompt(
    keyboard: PipeInput,
    session: SqlSession,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path))
    ended: list[str] = []

    def endless() -> Iterator[tuple[int]]:
        try:
            yield (1,)
            raise KeyboardInterrupt
        finally:
            ended.append("the query")

    def answer(statement: object, masked: str) -> Rows:
        return Rows(("N",), ("INTEGER",), endless())

    monkeypatch.setattr(session, "_answer", answer)
    keyboard.send_text("SELECT n FROM s EMIT CHANGES;\r")
    keyboard.send_text("SELECT n FROM s EMIT CHANGES;\rexit\r")
    written: list[str] = []
    _converse(session, Output(Form.CSV, written.append, written.append, None))
    assert "".join(written).count("N\n1\n") == 2, "the prompt goes on"
    assert capsys.readouterr().err.count("Query terminated") == 2
    assert ended == ["the query"] * 2
