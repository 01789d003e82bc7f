"""The figures of docs/decisions.md."""

from __future__ import annotations

from pathlib import Path

from scripts.figures import figures, table

MODULE = '''"""One."""

class A:
    """With words."""

    def said(self):
        """So."""
        return 1

    def unsaid(self): ...

    def _private(self): ...

class _B:
    def hidden(self): ...
'''


def test_figures_of_a_module(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(MODULE)
    found = figures(tmp_path.rglob("*.py"))
    assert found.modules == [15]
    assert sorted(found.functions) == [1, 1, 1, 3]
    assert found.documented == [True, True, False]
    assert found.row() == ["1 (1)", "15", "15/15/15", "1/3/3", "67 %"]


def test_a_room_that_is_not_there_has_none(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(MODULE)
    rows = list(table(tmp_path))
    assert rows[2] == "| all | 1 (1) | 15 | 15/15/15 | 1/3/3 | 67 % |"
    assert rows[3] == "| runtime | 0 (0) | 0 | 0/0/0 | 0/0/0 | 0 % |"
