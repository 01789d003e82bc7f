"""`make rules` is run seldom: that its edits still fit the source is seen here."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from project_scripts import ROOT, load_script


@pytest.fixture(scope="module")
def check_rules() -> ModuleType:
    return load_script("check_rules")


def test_every_rule_can_still_be_taken_out(check_rules: ModuleType, tmp_path: Path) -> None:
    for mutation in check_rules.MUTATIONS:
        copy = tmp_path / mutation.rule
        copy.write_text((ROOT / "src/penstock" / mutation.file).read_text())
        check_rules.take_out(mutation, copy)
        compile(copy.read_text(), mutation.file, "exec")


def test_every_test_that_must_notice_is_there(check_rules: ModuleType) -> None:
    for mutation in check_rules.MUTATIONS:
        file, name = mutation.test.split("::")
        assert f"def {name}(" in (ROOT / check_rules.RULES / file).read_text()
