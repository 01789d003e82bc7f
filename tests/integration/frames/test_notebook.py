"""The notebook, run cell by cell in a plain PySpark session of another process, from the wheel."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.embedded import EmbeddedBroker, Java
from plain_spark import plain_spark
from project_scripts import load_script

pytestmark = pytest.mark.heavy
ROOT = Path(__file__).parents[3]
NOTEBOOK = ROOT / "examples/11-spark-notebook.ipynb"
PROGRAM = """
import json, sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])
import run_notebook

found = run_notebook.printed(Path(sys.argv[2]))
import penstock

assert penstock.__file__.startswith(sys.argv[3]), penstock.__file__
print(json.dumps(found))
"""


def test_every_cell_prints_what_the_notebook_shows(
    installed: Path, broker: EmbeddedBroker, java: Java, tmp_path: Path
) -> None:
    where = {"PYTHONPATH": str(installed), "PENSTOCK_BOOTSTRAP_SERVERS": broker.bootstrap_servers}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(ROOT / "scripts"), str(NOTEBOOK), str(installed)],
        env=plain_spark(tmp_path / "spark", java, **where),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    assert json.loads(done.stdout.splitlines()[-1]) == load_script("run_notebook").stored(NOTEBOOK)
