"""Objects that are larger than any memory they may take."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from object_sources import Objects
from python_path import with_path
from s3_endpoint import S3Endpoint

SUPPORT = Path(__file__).parents[2] / "support"
GIGABYTE = 10**9
LINE = b'{"n":12345678,"text":"%s"}\n' % (b"x" * 974)
A_PART = 1000


@pytest.mark.heavy
def test_five_gigabytes_pass_in_bounded_memory(s3: S3Endpoint, name: str) -> None:
    """One object of JSON lines; packed it is small, so that only its reading takes a while."""
    parts = 5 * GIGABYTE // (A_PART * len(LINE)) + 1
    objects = Objects(s3.bucket(name[:50]), **{"file.compression.type": "gzip"})
    objects.put_bytes("in/1", gzip.compress(LINE * A_PART) * parts)
    script = str(SUPPORT / "object_reader_process.py")
    done = subprocess.run(
        [sys.executable, script, json.dumps(dict(objects.config()))],
        env={"PYTHONPATH": with_path(SUPPORT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["rows"] == parts * A_PART
    assert found["bytes"] > 5 * GIGABYTE * 0.99
    assert found["megabytes"] < 400
