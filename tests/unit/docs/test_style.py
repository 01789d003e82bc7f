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
SPOKEN = [file for file in CODE if not {"tests", "bench", "chaos"} & set(file.parts)]
STILTED = re.compile(
    r"""(?<!["`])\b(?:
        whoever | nobody | somebody | anew | amiss | in\ vain | for\ want\ of | on\ and\ on
        | be\ had | is\ another\ than | whose\ every | it\ is\ looked | is\ to\ be\ mended
        | know\ no | come\ about | wants\ users | than\ a\ local\ one | keep\ no\ more
        | exactly\ compact | (?:which|would|will)\ else
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)


def exemptions(file: Path) -> list[str]:
    """The comments that switch a rule off, without their reason."""
    found = [EXEMPTION.search(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [each[0] for each in found if each and not RULE_AND_REASON.fullmatch(each[1])]


def stilted(text: str) -> list[str]:
    """What none of us would say aloud; a line's end, and the sign of a comment, are a space."""
    return STILTED.findall(re.sub(r"\s+(?:#:? )?\s*", " ", text))


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


def test_docstrings_messages_comments_and_documents_are_in_words_that_are_spoken() -> None:
    files = [*SPOKEN, *DOCUMENTS, ROOT / "pyproject.toml"]
    assert len(files) > 900, "they are looked for in the wrong place"
    found = {
        str(file.relative_to(ROOT)): stilted(file.read_text(encoding="utf-8")) for file in files
    }
    assert {file: words for file, words in found.items() if words} == {}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("the client makes whoever commits wait", 1),
        ("who shares a name reads on\n    and on", 1),
        ("# nothing to be\n    # had for it", 1),
        ("due unless only its status is another than before", 1),
        ("sinks, which else read them again", 1),
        ('root becomes ``nobody``: UNPRIVILEGED = "nobody"', 0),
    ],
)
def test_what_is_stilted_is_found(text: str, found: int) -> None:
    assert len(stilted(text)) == found
