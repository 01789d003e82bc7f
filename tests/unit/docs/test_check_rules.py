"""`make rules` is run seldom: that its edits still fit the source is seen here."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def check_rules() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_rules", ROOT / "scripts/check_rules.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["check_rules"] = module
    spec.loader.exec_module(module)
    return module


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
