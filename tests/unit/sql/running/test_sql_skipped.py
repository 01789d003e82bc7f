"""What is told of records that a query could not read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest.mock import MagicMock

import pytest

from penstock.sql.catalog.source import Source
from penstock.sql.running.results import Rows, Stop
from penstock.sql.running.session import Ran
from penstock.sql.running.views import Skipped
from penstock.sql.shell.output import Form, Output
from penstock.sql.statements.kinds import SourceKind
from penstock.sql.statements.types import ColumnDef, SqlType


def interrupted() -> Iterator[Any]:
    yield (1,)
    raise KeyboardInterrupt


def frame(**counts: tuple[int, ...]) -> MagicMock:
    """One whose plan has counted this much of each view."""

    def counted(name: str) -> MagicMock:
        option = MagicMock()
        option.isDefined.return_value = name in counts
        option.get().getLong.side_effect = counts.get(name, ()).__getitem__
        return option

    made = MagicMock()
    made._jdf.queryExecution().observedMetrics().get.side_effect = counted
    return made


def test_counts_are_added_up_by_topic() -> None:
    skipped = Skipped()
    skipped.watch("a", Source(SourceKind.STREAM, "S", "s-topic", ()))
    skipped.watch("b", Source(SourceKind.STREAM, "T", "t-topic", ()))
    assert skipped.told() == []
    skipped.count(frame(a=(1,), b=(0,)))
    assert skipped.told() == ["1 record of topic s-topic skipped: the value is no JSON object."]
    skipped.count(frame(a=(2,)))
    assert skipped.told() == ["3 records of topic s-topic skipped: the value is no JSON object."]


def test_fields_that_do_not_fit_and_rows_without_a_key_are_told_apart() -> None:
    skipped = Skipped()
    columns = (ColumnDef("ID", SqlType("INTEGER"), "PRIMARY KEY"), ColumnDef("N", SqlType("DATE")))
    skipped.watch("a", Source(SourceKind.TABLE, "T", "t", columns), {"ID", "N"})
    skipped.count(frame(a=(0, 1, 2), a_keys=(1,)))
    assert skipped.told() == [
        "1 field of topic t read as NULL: column ID is no INTEGER.",
        "2 fields of topic t read as NULL: column N is no DATE.",
        "1 record of topic t skipped: a row of a table needs a key.",
    ]


@pytest.mark.parametrize("form", list(Form))
def test_they_are_told_also_of_a_query_that_is_interrupted(form: Form) -> None:
    written: list[str] = []
    told: list[str] = []
    rows = Rows(("N",), ("INTEGER",), interrupted(), "", Stop(), lambda: ["2 records skipped"])
    with pytest.raises(KeyboardInterrupt):
        Output(form, written.append, told.append, 80).show(Ran("SELECT 1", rows))
    assert told == ["Warning: 2 records skipped\n"]
    assert not any("skipped" in text for text in written), "rows only on standard output"
