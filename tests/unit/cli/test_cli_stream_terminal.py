"""What a person at a terminal is told and asked by topic and consume."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

import pytest
from rich.console import Console

from penstock.cli import consume
from penstock.cli.beginning import Beginning
from penstock.cli.output import warn
from penstock.consumers import Offset
from penstock.consumers.registry.entries import RegistryKey

Run = Callable[..., Any]

BEGIN = Beginning(Offset.from_end(5), "5 from the end", "-T")


def named(name: str | None) -> Mock:
    options = Mock(topic="t")
    options.name = name
    return options


def told(
    monkeypatch: pytest.MonkeyPatch,
    consumer: Mock,
    end: int | None = None,
    *,
    terminal: bool = True,
) -> str:
    out = io.StringIO()
    made = Console(file=out, force_terminal=terminal, width=200, no_color=True, highlight=False)
    monkeypatch.setattr(consume, "console", lambda **_: made)
    consume._announce(consumer, BEGIN, end)
    return out.getvalue()


def test_where_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    consumer = Mock(options=named(None), resumed=frozenset())
    begun = "Consuming records from 't' starting 5 from the end"
    assert told(monkeypatch, consumer) == f"{begun} ...\n"
    assert told(monkeypatch, consumer, 9) == f"{begun} until offset 9 (inclusive) ...\n"
    assert told(monkeypatch, consumer, terminal=False) == ""


def test_an_option_that_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    consumer = Mock(options=named("c"), resumed=frozenset({0}))
    ignored, begun = told(monkeypatch, consumer).splitlines()
    assert "-T is ignored: consumer 'c' goes on where it stopped (--reset" in ignored
    assert "starting where 'c' stopped ..." in begun


def test_a_new_name_is_told_in_a_pipe_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fresh = Mock(options=named("c"), resumed=frozenset())
    assert "is ignored" not in told(monkeypatch, fresh)
    told(monkeypatch, fresh, terminal=False)
    assert capsys.readouterr().err.count("Consumer 'c' is new on topic") == 2


@pytest.fixture
def admin(monkeypatch: pytest.MonkeyPatch) -> Mock:
    """Topics with a consumer, on a terminal."""
    made = Mock()
    made.consumers.return_value = [RegistryKey("c1", "t", 0), RegistryKey("c1", "t", 1)]
    monkeypatch.setattr("penstock.cli.topic._admin", lambda *_: made)
    return made


def at_a_terminal(monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    stdin = io.StringIO(answer)
    monkeypatch.setattr(stdin, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", stdin)
    monkeypatch.setattr("penstock.cli.asking.on_a_terminal", lambda: True)


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 1), ("\n", 1)])
def test_deleting_asks_a_person(
    run: Run, admin: Mock, monkeypatch: pytest.MonkeyPatch, answer: str, code: int
) -> None:
    at_a_terminal(monkeypatch, answer)
    result = run("topic", "delete", "t")
    assert result.code == code
    assert "c1/0, c1/1" in result.err
    assert "Delete t?" in result.err
    assert result.out.strip() == ('topic "t" deleted' if code == 0 else "")
    assert admin.delete.called is (code == 0)


@pytest.mark.parametrize("option", ["--yes", "--force"])
def test_deleting_without_a_question(
    run: Run, admin: Mock, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    at_a_terminal(monkeypatch, "n\n")
    result = run("topic", "delete", "t", option)
    assert (result.code, result.out) == (0, 'topic "t" deleted\n')
    assert "Delete t?" not in result.err
    admin.delete.assert_called_once_with("t", internal=option == "--force", trouble=warn)


def test_a_pipe_is_not_asked(run: Run, admin: Mock) -> None:
    assert run("topic", "delete", "t").out == 'topic "t" deleted\n'
