"""`make chaos ARGS=--planted` is run seldom: that its bugs still fit the source is seen here."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaos.planted import BUGS, Bug
from scripts.mutations import ROOT, take_out


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_every_bug_can_still_be_planted(bug: Bug, tmp_path: Path) -> None:
    copy = tmp_path / "copy.py"
    copy.write_text((ROOT / "src/penstock" / bug.file).read_text())
    take_out(bug, copy)
    compile(copy.read_text(), bug.file, "exec")
