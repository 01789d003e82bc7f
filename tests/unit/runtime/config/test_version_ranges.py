"""Versions and ranges of them, in Maven's order."""

from __future__ import annotations

import pytest

from penstock.runtime.config.version_ranges import as_range, is_wanted


@pytest.mark.parametrize(
    ("version", "wanted"),
    [
        ("1.2", "1.2"),
        ("1.2", " [1.2] "),
        ("1.2.0", "[1.2]"),
        ("1.2.final", "[1.2]"),
        ("1.10", "(1.9,)"),
        ("1.2", "[1,2)"),
        ("2.0-rc1", "[1,2)"),
        ("2.0-alpha", "(,2.0-beta]"),
        ("0.4", "(,0.5],[1,)"),
        ("1", "(,0.5],[1,)"),
        ("1.0.1-x", "(1.0.1,1.0.1.1)"),
        ("unknown", ""),
        ("unknown", "latest"),
    ],
)
def test_one_that_is_wanted(version: str, wanted: str) -> None:
    assert is_wanted(version, wanted)


@pytest.mark.parametrize(
    ("version", "wanted"),
    [
        ("1.2", "1.3"),
        ("1.2", "[1.2.1]"),
        ("2", "[1,2)"),
        ("2.0", "[1,2)"),
        ("1-rc", "[1.0,)"),
        ("1", "(1.0,2)"),
        ("0.7", "(,0.5],[1,)"),
        ("unknown", "[1]"),
    ],
)
def test_one_that_is_not(version: str, wanted: str) -> None:
    assert not is_wanted(version, wanted)


def test_how_ranges_are_shown() -> None:
    assert [as_range(wanted) for wanted in ("9.9", "[9.9]", "(,1),[2,3]")] == [
        *("[9.9,9.9]", "[9.9,9.9]", "(,1),[2,3]")
    ]


@pytest.mark.parametrize("wanted", ["[", "[1", "1]", "[1)", "(1)", "[]", "[1],", "[1,2,3]"])
def test_what_is_no_range(wanted: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        is_wanted("1", wanted)
