"""Patterns as Java writes them."""

from __future__ import annotations

import pytest

from penstock.columnar.java_regex import compiled, java_regex
from penstock.sdk import ConfigError


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        (r"\Qa.b\E.*", "a.bc", "axbc"),
        (r"\Qa.b", "a.b", "axb"),
        (r"x\Q\E\Q[\Ey", "x[y", "xy"),
        (r"\Qa\b\E", "a\\b", "a"),
        (r"\\Qa", "\\Qa", "a"),
        (r"(?<n>ab|c)-\k<n>", "ab-ab", "ab-c"),
        (r"\\\(?<n>", r"\(<n>", "n"),
        (r"(?<!x)y|(?<=a)b|z", "z", "xy"),
    ],
)
def test_what_matches_as_a_whole(pattern: str, matching: str, other: str) -> None:
    assert compiled(pattern).fullmatch(matching)
    assert not compiled(pattern).fullmatch(other)


def test_what_cannot_be_said_in_python_is_refused() -> None:
    with pytest.raises(ConfigError, match="Invalid regex"):
        java_regex("pattern", r"\p{Lu}")
