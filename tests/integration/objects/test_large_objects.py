"""Objects that are larger than any memory they may take."""

from __future__ import annotations

import gzip
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from object_sources import Objects
from python_path import with_path
from s3_endpoint import S3Endpoint

SUPPORT = Path(__file__).parents[2] / "support"
GIGABYTE = 10**9
LINE = b'{"n":12345678,"text":"%s"}\n' % (b"x" * 974)
A_PART = 1000
MOST_MEGABYTES = 400


@pytest.mark.heavy
def test_five_gigabytes_pass_in_bounded_memory(s3: S3Endpoint, name: str) -> None:
    """One object of JSON lines; packed it is small, so that only its reading takes a while."""
    parts = 5 * GIGABYTE // (A_PART * len(LINE)) + 1
    objects = Objects(s3.bucket(name[:50]), **{"file.compression.type": "gzip"})
    objects.put_bytes("in/1", gzip.compress(LINE * A_PART) * parts)
    found = read(objects)
    assert found["rows"] == parts * A_PART
    assert found["bytes"] > 5 * GIGABYTE * 0.99
    assert found["megabytes"] < MOST_MEGABYTES


@pytest.mark.heavy
def test_parquet_passes_in_bounded_memory(s3: S3Endpoint, name: str) -> None:
    """5 GB in large row groups, and a group that is as large in the object as it is in memory."""
    objects = Objects(s3.bucket(name[:50]), **{"input.format": "parquet"})
    folder = s3.folder / name[:50] / "in"
    folder.mkdir()
    with_row_groups(folder / "1", [1_000_000] * 5, compression="zstd")
    with_row_groups(folder / "2", [600_000], use_dictionary=False, compression="none")
    assert (folder / "2").stat().st_size > 600_000_000
    found = read(objects)
    assert found["rows"] == 5_600_000
    assert found["bytes"] > 5_600_000_000
    assert found["megabytes"] < MOST_MEGABYTES


def with_row_groups(path: Path, groups: list[int], **packing: Any) -> None:
    """Row groups of so many rows of a kilobyte; by a dictionary, they are packed small."""
    texts = pa.array([random.Random(n).randbytes(1000) for n in range(20)])
    schema = pa.schema([("n", pa.int64()), ("text", pa.dictionary(pa.int32(), pa.binary()))])
    with pq.ParquetWriter(path, schema, store_schema=False, **packing) as writer:
        for rows in groups:
            numbers = np.arange(rows)
            chosen = pa.DictionaryArray.from_arrays((numbers % 20).astype(np.int32), texts)
            table = pa.table([pa.array(numbers), chosen], schema=schema)
            writer.write_table(table, row_group_size=rows)


def read(objects: Objects) -> dict[str, Any]:
    """What a process of its own has read, and the most memory that it took."""
    script = str(SUPPORT / "object_reader_process.py")
    done = subprocess.run(
        [sys.executable, script, json.dumps(dict(objects.config()))],
        env={"PYTHONPATH": with_path(SUPPORT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found
