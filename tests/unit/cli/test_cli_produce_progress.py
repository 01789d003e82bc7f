"""How much has been written is shown to a person, while it is being written."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from unittest.mock import Mock

import pytest
from rich.console import Console

from penstock.cli import produce
from waiting import eventually

Told = io.StringIO
Tell = Callable[[int], None]


@pytest.fixture(params=[True, False], ids=["terminal", "pipe"])
def terminal(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def told(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> Told:
    out = io.StringIO()
    made = Console(file=out, force_terminal=terminal, width=80, highlight=False)
    monkeypatch.setattr(produce, "console", lambda **_: made)
    return out


def writing(during: Callable[[], None]) -> Mock:
    """A writer that has written 8192 records when it has called ``during``."""

    def write(_: Iterator[object], tell: Tell) -> None:
        tell(4096)
        tell(8192)
        during()

    return Mock(write=write, stored=8192)


def test_a_count_goes_on_while_records_are_written(told: Told, terminal: bool) -> None:
    def seen() -> None:
        if terminal:
            eventually(lambda: "Writing records: 8,192" in told.getvalue(), what="a count")

    produce._write(writing(seen), iter(()), "t", typed=False)
    assert ("Writing records" in told.getvalue()) is terminal
    assert told.getvalue().endswith('8,192 records written to topic "t"\n')


@pytest.mark.usefixtures("terminal")
def test_whoever_types_the_records_is_not_disturbed(told: Told) -> None:
    produce._write(writing(lambda: None), iter(()), "t", typed=True)
    assert told.getvalue() == '8,192 records written to topic "t"\n'
