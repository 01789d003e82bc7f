"""What ``python -m bench`` takes."""

from __future__ import annotations

import pytest

import bench.__main__ as program
from bench.rows import ROWS


@pytest.mark.parametrize("rows", [[], ["latency-idle"], ["list"], ["page"]])
def test_all_rows_or_those_that_are_named(monkeypatch: pytest.MonkeyPatch, rows: list[str]) -> None:
    monkeypatch.setattr("sys.argv", ["bench", *rows])
    assert program._options().rows == rows


def test_a_row_that_there_is_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["bench", "throughput"])
    with pytest.raises(SystemExit) as ended:
        program._options()
    assert ended.value.code == 2
    assert "no row throughput; `list` names them" in capsys.readouterr().err


def test_the_rows_are_listed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["bench", "list"])
    assert program.main() == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in ROWS)
