"""Tables of commands: aligned for a person, with tabs for a program."""

from __future__ import annotations

import sys

import pytest

from penstock.cli import output

HEADINGS = ("Name", "State")
ROWS = [("a", "RUNNING"), ("[b]", "1 FAILED"), ("日本", "")]


def printed(capsys: pytest.CaptureFixture[str]) -> list[str]:
    output.print_table(HEADINGS, iter(ROWS))
    return capsys.readouterr().out.splitlines()


def test_a_piped_table_has_tabs_and_no_padding(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys) == ["Name\tState", "a\tRUNNING", "[b]\t1 FAILED", "日本\t"]


def test_a_long_table_is_aligned_without_styles(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(output, "MOST_STYLED", len(ROWS) - 1)
    monkeypatch.setattr(output, "table", None)
    assert printed(capsys) == ["Name  State", "a     RUNNING", "[b]   1 FAILED", "日本"]


def test_objects_are_a_list_or_lines(capsys: pytest.CaptureFixture[str]) -> None:
    objects = [{"name": "a"}, {"name": "b"}]
    assert output.print_objects(output.Format.JSON, iter(objects))
    assert (
        capsys.readouterr().out == '[\n  {\n    "name": "a"\n  },\n  {\n    "name": "b"\n  }\n]\n'
    )
    assert output.print_objects(output.Format.JSONL, iter(objects))
    assert capsys.readouterr().out == '{"name": "a"}\n{"name": "b"}\n'
    assert not output.print_objects(output.Format.TABLE, iter(objects))
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 tasks"), (1, "1 task"), (2, "2 tasks"), (1234, "1,234 tasks")]
)
def test_counts(number: int, words: str) -> None:
    assert output.count_of(number, "task") == words
