"""Tables of commands: styled for a person, and only aligned where there are thousands of rows."""

from __future__ import annotations

import pytest

from penstock.cli import output

HEADINGS = ("NAME", "STATE")
ROWS = [("a", "RUNNING"), ("[b]", "FAILED"), ("日本", "")]


def printed(capsys: pytest.CaptureFixture[str]) -> list[str]:
    output.print_table(HEADINGS, iter(ROWS))
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


def test_a_long_table_reads_as_a_short_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    short = printed(capsys)
    assert short == ["NAME  STATE", "a     RUNNING", "[b]   FAILED", "日本"]
    monkeypatch.setattr(output, "MOST_STYLED", len(ROWS) - 1)
    monkeypatch.setattr(output, "table", None)
    assert printed(capsys) == short
