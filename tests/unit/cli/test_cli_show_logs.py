"""`penstock logs`: which file, and which of its lines."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.cli.running import Running
from waiting import eventually

Run = Callable[..., Any]

TEXT = """\
2026-11-16 10:00:00,000 INFO [worker] penstock.runtime.cluster.cluster: this worker is the leader
2026-11-16 10:00:00,001 DEBUG [orders|task-0] penstock.engine.lease.source_lease: committed 5
2026-11-16 10:00:00,002 WARN [orders|worker] penstock.runtime.running.runner: the turn crashed
2026-11-16 10:00:00,003 ERROR [orders-2|task-0] x: [orders|task-0] is not this one
"""


def as_json(connector: str | None, level: str) -> str:
    return json.dumps({"level": level, "connector": connector, "message": "m"}) + "\n"


@pytest.fixture
def log(home: Path) -> Path:
    file = home / "data" / "penstock.log"
    file.parent.mkdir()
    file.write_text(TEXT)
    Running.here("http://127.0.0.1:1", "", file.parent).write()
    return file


def test_all_of_it(run: Run, log: Path) -> None:
    assert run("logs").out == TEXT


@pytest.mark.parametrize(
    ("args", "numbers"),
    [
        (("--connector", "orders"), [1, 2]),
        (("--connector", "orders", "--level", "warn"), [2]),
        (("--level", "INFO"), [0, 2, 3]),
        (("-n", "2"), [2, 3]),
        (("-n", "1", "--connector", "orders"), [2]),
        (("-n", "0"), []),
        (("--connector", "order."), []),
    ],
)
def test_a_part_of_it(run: Run, log: Path, args: tuple[str, ...], numbers: list[int]) -> None:
    lines = TEXT.splitlines(keepends=True)
    assert run("logs", *args).out == "".join(lines[number] for number in numbers)


def test_json_lines(run: Run, log: Path) -> None:
    log.write_text(as_json(None, "INFO") + as_json("orders", "DEBUG") + as_json("orders", "WARN"))
    assert run("logs", "--connector", "orders").out.count("\n") == 2
    assert run("logs", "--level", "WARN").out == as_json("orders", "WARN")


def test_a_folder_without_a_worker(run: Run, log: Path, home: Path) -> None:
    Running.here("", "", log.parent).remove()
    result = run("logs")
    assert result.code == 1
    for part in ("No log at", "penstock up", "--data-dir"):
        assert part in result.err
    assert run("logs", "--data-dir", str(log.parent)).out == TEXT


def test_wrong_level(run: Run, log: Path) -> None:
    assert run("logs", "--level", "LOUD").code == 2


@pytest.fixture
def followed(log: Path) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        [sys.executable, "-m", "penstock", "logs", "-f", "-n", "1", "--connector", "orders"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PENSTOCK_DATA_DIR": str(log.parent)},
    )
    yield process
    process.kill()
    process.communicate()


def test_following_goes_on_where_the_log_is_begun_anew(
    log: Path, followed: "subprocess.Popen[str]"
) -> None:
    assert followed.stdout
    first, second, third = TEXT.splitlines(keepends=True)[:3]
    assert followed.stdout.readline() == third
    with log.open("a") as more:
        more.write(first + second[:50])
        more.flush()
        more.write(second[50:])
    assert followed.stdout.readline() == second
    log.rename(log.with_suffix(".log.1"))
    log.write_text(third)
    assert followed.stdout.readline() == third
    eventually(lambda: followed.poll() is None, within=5)
