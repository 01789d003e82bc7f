"""`make rules` is run seldom: that its edits still fit the source is seen here."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from project_scripts import ROOT, load_script
from scripts.mutations import take_out


@pytest.fixture(scope="module")
def check_rules() -> ModuleType:
    return load_script("check_rules")


def test_every_rule_can_still_be_taken_out(check_rules: ModuleType, tmp_path: Path) -> None:
    for mutation in check_rules.MUTATIONS:
        copy = tmp_path / mutation.rule
        copy.write_text((ROOT / "src/penstock" / mutation.file).read_text())
        take_out(mutation, copy)
        compile(copy.read_text(), mutation.file, "exec")


def test_every_test_that_must_notice_is_there(check_rules: ModuleType) -> None:
    for mutation in check_rules.MUTATIONS:
        file, name = mutation.test.split("::")
        assert f"def {name}(" in (ROOT / check_rules.RULES / file).read_text()


def test_every_rule_has_its_turn(check_rules: ModuleType) -> None:
    rules = list(check_rules.MUTATIONS)
    seen = [m for turn in range(len(rules)) for m in check_rules.in_turn(rules, 2, turn)]
    assert {m.rule for m in seen} == {m.rule for m in rules}
    assert len(seen) == 2 * len(rules)


def test_turns_follow_each_other(check_rules: ModuleType) -> None:
    rules = list(check_rules.MUTATIONS)
    first, second = (check_rules.in_turn(rules, 2, turn) for turn in (0, 1))
    assert [*first, *second] == rules[:4]
    assert check_rules.turn() > 0


def test_a_rule_that_does_not_exist_is_refused(
    check_rules: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        check_rules.parsed(["1a", "42"])
    assert "no such rule: 42; there are 1a" in capsys.readouterr().err
