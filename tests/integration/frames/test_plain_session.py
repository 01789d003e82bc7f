"""docs/spark.md, as one program in a plain PySpark session of another process, from the wheel."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.embedded import EmbeddedBroker, Java
from plain_spark import plain_spark
from topics import Topics

pytestmark = pytest.mark.heavy
ROOT = Path(__file__).parents[3]
CHECKS = """
import pyspark_penstock
import penstock
import sys

assert pyspark_penstock.__file__.startswith(sys.argv[1]), pyspark_penstock.__file__
assert penstock.__file__.startswith(sys.argv[1]), penstock.__file__
assert preview.count() == 100
assert stored.count() == 100
assert json.loads(stored.first().value)["userid"].startswith("User_")
assert sum(seen) == 100, seen
assert billed == 100
spark.stop()
print("the page is right")
"""


def test_the_page(
    installed: Path, broker: EmbeddedBroker, topics: Topics, java: Java, tmp_path: Path
) -> None:
    topics.create("people", 2)
    page = (ROOT / "docs/spark.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    program = "".join([*blocks, CHECKS])
    program = program.replace("localhost:9092", broker.bootstrap_servers)
    program = program.replace("/data/", f"{tmp_path}/data/")
    script = tmp_path / "page.py"
    script.write_text(program)
    done = subprocess.run(
        [sys.executable, str(script), str(installed)],
        env=plain_spark(tmp_path / "spark", java, PYTHONPATH=str(installed)),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    assert "the page is right" in done.stdout
