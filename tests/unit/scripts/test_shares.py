"""Every heavy test file is in just one share, so that taking turns leaves none out."""

from __future__ import annotations

from pathlib import Path

from shares import belongs

TESTS = Path(__file__).resolve().parents[2]


def test_every_file_is_in_just_one_share() -> None:
    files = [path.name for path in TESTS.rglob("test_*.py")]
    shares = [[file for file in files if belongs(file, f"{n}/3")] for n in (1, 2, 3)]
    assert sorted(file for share in shares for file in share) == sorted(files)
    assert all(shares)
