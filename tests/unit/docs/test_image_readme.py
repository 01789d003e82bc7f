"""The page on the image lists the plugins that Penstock has."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[3] / "image" / "readme.py"


def test_the_page_is_current() -> None:
    checked = subprocess.run(
        [sys.executable, SCRIPT, "--check"], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stderr
