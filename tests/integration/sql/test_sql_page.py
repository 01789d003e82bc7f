"""The examples of docs/sql.md, typed one after the other as they stand there."""

from __future__ import annotations

from pathlib import Path

import pytest

from sql_page import examples
from topics import Topics
from typing_sql import Typing
from waiting import eventually


def lines(text: str) -> list[str]:
    """What is printed, whatever the width of its columns."""
    return [" ".join(line.replace("-", "").split()) for line in text.strip().splitlines()]


@pytest.mark.heavy
def test_the_examples_do_what_the_page_says(typed: Typing, topics: Topics, tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text("one\n")
    topics.create("my-topic")
    for example in examples():
        before, stop, after = example.script.partition("STOP CONNECTOR my-lines;\n")
        printed = typed(before.replace("'/tmp'", f"'{tmp_path}'") + stop)
        if stop:
            eventually(lambda: "STOPPED" in typed("SHOW SOURCE CONNECTORS;"), what="a stop")
            printed += typed(after)
        if example.printed is not None:
            assert lines(printed)[-len(lines(example.printed)) :] == lines(example.printed)
