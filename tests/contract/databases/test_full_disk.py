"""A database whose disk is full: waited for, and nothing is lost."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest

from penstock.embedded.postgres_binaries import hand_over
from penstock.plugins.databases.jdbc_sink_task import JdbcSinkTask
from penstock.plugins.databases.kept_offsets import OWN
from penstock.sdk import Assignment, Assignments, RetriableError, Schema, record_batch
from penstock.sdk.packing import column
from tables import Tables

VALUE = Schema.struct({"id": Schema.int32(), "note": Schema.string()})


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A file system of two megabytes; only root can have one."""
    if os.geteuid() != 0:
        pytest.skip("mounting a file system needs root")
    with TemporaryDirectory(prefix="penstock-disk-") as folder:
        Path(folder).chmod(0o755)
        mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "penstock", folder]
        if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
            pytest.skip("no file system can be mounted here")
        try:
            space = Path(folder) / "space"
            space.mkdir(mode=0o700)
            hand_over(space)
            yield space
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)


def _records(start: int, count: int, size: int) -> pa.RecordBatch:
    values = [{"id": n, "note": os.urandom(size // 2).hex()} for n in range(start, start + count)]
    value, field = column("value", VALUE, values)
    offsets = pa.array(range(start, start + count), pa.int64())
    partition = pa.array([0] * count, pa.int32())
    return record_batch("orders", value, value_field=field, partition=partition, offset=offsets)


def test_a_full_disk_is_waited_for(tables: Tables, small_disk: Path) -> None:
    tables.run(f"CREATE TABLESPACE {tables.schema}_small LOCATION '{small_disk}'")
    try:
        tables.run(f"CREATE TABLE orders (id int, note text) TABLESPACE {tables.schema}_small")
        _fill_and_make_room(tables, small_disk)
    finally:
        tables.run("DROP TABLE IF EXISTS orders")
        tables.run(f"DROP TABLESPACE {tables.schema}_small")


def _fill_and_make_room(tables: Tables, disk: Path) -> None:
    config = {
        **tables.config(),
        "name": "sink",
        "table.name.format": f"{tables.schema}.${{topic}}",
        "offsets.table": f"{tables.schema}.offsets",
    }
    task = JdbcSinkTask()
    try:
        task.start(config)
        task.open(Assignments([Assignment("orders", 0, 0, OWN)], None, 1))
        task.put(_records(0, 10, 100))
        task.flush()
        large = _records(10, 1000, 4000)
        for _ in range(2):
            with pytest.raises(RetriableError, match="No space left on device"):
                task.put(large)
        more = ["mount", "-o", "remount,size=64m", str(disk.parent)]
        subprocess.run(more, check=True)
        task.put(large)
        task.flush()
    finally:
        task.stop()
    assert tables.run("SELECT count(*), count(DISTINCT id) FROM orders") == [(1010, 1010)]
