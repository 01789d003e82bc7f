"""What CONTRIBUTING says of style and no linter checks: sizes, reasons, plain words."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from project_scripts import ROOT

SOURCE = ROOT / "src"
FOLDERS = ("src", "tests", "scripts", "bench", "chaos", "examples", "image", "charm")
CODE = sorted(file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py"))
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("examples/*.md")])
MOST_LINES, MOST_LINES_OF_A_CLASS = 400, 300

EXEMPTION = re.compile(r"#\s*(?:ruff: )?(?:noqa|type: ignore)\b(.*)")
RULE_AND_REASON = re.compile(r"\[[a-z, -]+\] +# .+|: [A-Z]+\d+(?:, [A-Z]+\d+)*(?: \(.+\)| - .+)")
STILTED = re.compile(r"\b(?:whoever|nobody|anew|in vain|amiss)\b", re.IGNORECASE)
A_USER = "nobody"
"""Of Unix, whom PostgreSQL runs as."""


def exemptions(file: Path) -> list[str]:
    """The comments that switch a rule off, without their reason."""
    found = [EXEMPTION.search(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [each[0] for each in found if each and not RULE_AND_REASON.fullmatch(each[1])]


def texts(file: Path) -> list[str]:
    """What a module may tell its users. Docstrings only of commands, which show them as help."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    said = [n for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    if "cli" not in file.parts:
        docs = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
        said = [n for n in said if id(n) not in docs]
    return [str(n.value) for n in said]


def test_every_exemption_names_its_rule_and_its_reason() -> None:
    assert len(CODE) > 1000, "they are looked for in the wrong place"
    without = {file: exemptions(file) for file in CODE if file != Path(__file__)}
    assert {str(file): comments for file, comments in without.items() if comments} == {}


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("x = 1  # noqa: S101", 1),
        ("x = 1  # noqa", 1),
        ("x = 1  # type: ignore", 1),
        ("x = 1  # type: ignore[misc]", 1),
        ("x = 1  # noqa: S101 (for mypy)", 0),
        ("# ruff: noqa: E402 - the path is set first", 0),
        ("x = 1  # type: ignore[misc, arg-type]  # a stand-in", 0),
    ],
)
def test_what_is_looked_for_can_be_missing(line: str, found: int, tmp_path: Path) -> None:
    file = tmp_path / "code.py"
    file.write_text(line)
    assert len(exemptions(file)) == found


def test_no_module_and_no_class_is_large() -> None:
    large = {}
    for file in SOURCE.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        classes = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.ClassDef)]
        longest = max([(n.end_lineno or n.lineno) - n.lineno + 1 for n in classes], default=0)
        if text.count("\n") > MOST_LINES or longest > MOST_LINES_OF_A_CLASS:
            large[str(file.relative_to(SOURCE))] = (text.count("\n"), longest)
    assert large == {}


def test_texts_are_in_words_that_are_spoken() -> None:
    said = {file: texts(file) for file in SOURCE.rglob("*.py")}
    said |= {file: [file.read_text(encoding="utf-8")] for file in DOCUMENTS}
    found = {
        f"{file.relative_to(ROOT)}: {word}"
        for file, all_texts in said.items()
        for text in all_texts
        if text != A_USER
        for word in STILTED.findall(text)
    }
    assert found == set()
