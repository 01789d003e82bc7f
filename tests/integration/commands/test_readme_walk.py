"""README's commands, typed as they stand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.heavy
def test_readmes_commands_do_what_it_says(tmp_path: Path) -> None:
    """All but `make`, in a folder that has only the .venv of a clone."""
    (tmp_path / ".venv").symlink_to(Path(sys.prefix), target_is_directory=True)
    walked = subprocess.run(
        [sys.executable, "-m", "scripts.walk_readme", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert walked.returncode == 0, walked.stdout + walked.stderr
    assert "all as it says" in walked.stdout
