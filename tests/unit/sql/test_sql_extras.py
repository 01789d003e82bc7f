"""`penstock sql` without the extra `sql`, and, for connectors, without `worker`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from blocked_modules import blocking

WORKER = ("prompt_toolkit", "pyspark", "py4j", "fastapi", "starlette", "uvicorn", "pandas")
UNREACHED = "http://127.0.0.1:9"


def ran(path: str, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *args],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_the_extra_the_command_says_what_to_install(tmp_path: Path) -> None:
    blocked = blocking(tmp_path / "blocked", "lark", "prompt_toolkit")
    done = ran(blocked, "-m", "penstock", "sql", "--url", UNREACHED, "-e", "SHOW CONNECTORS;")
    assert done.returncode == 1
    assert 'pip install "penstock[sql]"' in done.stderr


def test_connector_statements_need_neither_spark_nor_a_prompt(tmp_path: Path) -> None:
    blocked = blocking(tmp_path / "blocked", *WORKER)
    done = ran(blocked, "-m", "penstock", "sql", "--url", UNREACHED, "-e", "SHOW CONNECTORS;")
    assert "No answer from a worker" in done.stderr, done.stderr


def test_other_commands_do_not_wait_for_lark(tmp_path: Path) -> None:
    code = (
        "import sys, penstock.cli.main as m\n"
        "print([n for n in ('lark', 'prompt_toolkit', 'pyspark') if n in sys.modules])"
    )
    assert ran("", "-c", code).stdout == "[]\n"
