"""How many leases a process can have."""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import counted_clients
from penstock.engine.carriers import capacity, carrying
from penstock.engine.carriers.capacity import (
    BYTES_OF_LEASE,
    BYTES_SPARED,
    FEWEST,
    HANDLES_SPARED,
    MOST_LEASES,
    THREADS_SPARED,
    USUAL_LEAST,
    Limits,
    ProcessLimits,
    handles_of_lease,
    most_leases,
    threads_left_in_group,
    threads_of_lease,
    threads_of_user,
    usual_memory,
)
from penstock.engine.carriers.hub import Hub
from penstock.engine.carriers.link import Link
from penstock.engine.carriers.process import Summons
from played_brokers import played_brokers
from waiting import eventually

AMPLE = Limits(math.inf)
HALF = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
"""Of this machine's memory: more than the tests below have in their containers."""
LEASES = 3


def test_where_nothing_else_bounds_them_it_is_pythons_lock() -> None:
    assert most_leases(AMPLE, 1) == most_leases(AMPLE, 100) == MOST_LEASES


@pytest.mark.parametrize(
    ("brokers", "handles", "leases"), [(1, 1024, 49), (3, 1024, 29), (3, 4096, 132), (30, 1024, 4)]
)
def test_file_handles_bound_them_the_more_brokers_the_more(
    brokers: int, handles: int, leases: int
) -> None:
    assert most_leases(Limits(handles), brokers) == leases


@pytest.mark.parametrize(("brokers", "leases"), [(1, 37), (3, 27), (30, 5)])
def test_threads_bound_them_the_more_brokers_the_more(brokers: int, leases: int) -> None:
    assert most_leases(replace(AMPLE, threads=THREADS_SPARED + 412), brokers) == leases


def test_memory_bounds_them() -> None:
    limits = replace(AMPLE, memory_bytes=BYTES_SPARED + 10 * BYTES_OF_LEASE)
    assert most_leases(limits, 1) == 10


@pytest.mark.parametrize(
    "limits", [Limits(0), replace(AMPLE, threads=0), replace(AMPLE, memory_bytes=1)]
)
def test_there_is_always_room_for_one(limits: Limits) -> None:
    assert most_leases(limits, 3) == FEWEST


@pytest.mark.parametrize("brokers", [1, 3])
def test_the_clients_of_a_lease_take_no_more_than_is_counted(brokers: int) -> None:
    with played_brokers(brokers) as servers:
        command = [sys.executable, counted_clients.__file__, servers, str(LEASES)]
        told = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    taken = json.loads(told.stdout)
    # A lease has two threads of its own besides, and perhaps a file.
    assert taken["threads"] <= LEASES * (threads_of_lease(brokers) - 2)
    assert taken["handles"] <= LEASES * (handles_of_lease(brokers) - 2)


def test_the_limits_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = {
        resource.RLIMIT_NOFILE: (2000, 4000),
        resource.RLIMIT_NPROC: (1000, 1000),
    }
    monkeypatch.setattr(resource, "getrlimit", limits.__getitem__)
    monkeypatch.setattr(os, "geteuid", lambda: 1234)
    monkeypatch.setattr(capacity, "threads_of_user", lambda user: 900 if user == 1234 else 0)
    monkeypatch.setattr(capacity, "threads_left_in_group", lambda: 70.0)
    monkeypatch.setattr(capacity, "_threads_here", lambda: 30)
    assert ProcessLimits(5 << 30).now() == Limits(2000, 100, 5 << 30)
    monkeypatch.setattr(capacity, "threads_left_in_group", lambda: math.inf)
    assert ProcessLimits().now() == Limits(2000, 130, math.inf)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert ProcessLimits().now() == Limits(2000, math.inf, math.inf)


def test_threads_are_counted() -> None:
    """In a process of its own: in this one, threads of other tests may end at any moment."""
    code = (
        "import threading; from penstock.engine.carriers import capacity;"
        "before, over = capacity._threads_here(), threading.Event();"
        "threading.Thread(target=over.wait).start();"
        "print(capacity._threads_here() - before); over.set()"
    )
    told = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True)
    assert told.stdout.split() == [b"1"]
    assert threads_of_user(os.geteuid()) >= threading.active_count()


def _version_2(folder: Path) -> str:
    _allow(folder / "pod", 100, 60)
    _allow(folder / "pod" / "box", "max", 20)
    _allow(folder / "pod" / "box" / "inner", 50, 20)
    return "0::/pod/box/inner\n"


def _version_1(folder: Path) -> str:
    _allow(folder / "pids" / "pod", 100, 70)
    return "8:cpu,cpuacct:/elsewhere\n7:pids:/pod\n0::/\n"


def _unseen(folder: Path) -> str:
    """The path is that of the host, and only the root is to be seen here."""
    _allow(folder, 80, 60)
    return "0::/on/the/host\n"


def _none(_folder: Path) -> str:
    return "0::/\n"


@pytest.mark.parametrize(
    ("made", "left"), [(_version_2, 30), (_version_1, 30), (_unseen, 20), (_none, math.inf)]
)
def test_threads_that_control_groups_allow(
    tmp_path: Path, made: Callable[[Path], str], left: float
) -> None:
    (mine := tmp_path / "cgroup").write_text(made(tmp_path / "fs"))
    assert threads_left_in_group(mine, tmp_path / "fs") == left
    assert threads_left_in_group(tmp_path / "none", tmp_path) == math.inf


def _allow(group: Path, most: int | str, current: int) -> None:
    group.mkdir(parents=True, exist_ok=True)
    (group / "pids.max").write_text(f"{most}\n")
    (group / "pids.current").write_text(f"{current}\n")


@pytest.mark.parametrize(
    ("given", "group", "limit"),
    [
        ({"box": {"memory.max": 3 << 30}}, "0::/box/inner", 3 << 29),
        (
            {"box": {"memory.max": 3 << 30}, "box/inner": {"memory.max": "max"}},
            "0::/box/inner",
            3 << 29,
        ),
        ({"": {"memory.max": 3 << 30}}, "0::/on/the/host", 3 << 29),
        ({"memory/box": {"memory.limit_in_bytes": 3 << 30}}, "4:memory:/box", 3 << 29),
        ({"memory/box": {"memory.limit_in_bytes": 1 << 62}}, "4:memory:/box", HALF),
        ({"box": {"memory.max": 1 << 30}}, "0::/box", USUAL_LEAST),
        ({}, "0::/", HALF),
    ],
)
def test_the_usual_memory_of_a_carrier_is_half_of_its_container(
    tmp_path: Path, given: dict[str, dict[str, int | str]], group: str, limit: int
) -> None:
    (mine := tmp_path / "cgroup").write_text(f"{group}\n")
    for folder, files in given.items():
        (made := tmp_path / "fs" / folder).mkdir(parents=True)
        for name, most in files.items():
            (made / name).write_text(f"{most}\n")
    assert usual_memory(mine, tmp_path / "fs") == limit


def test_a_carrier_tells_how_many_it_can_have(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        ProcessLimits, "now", lambda _self: Limits(HANDLES_SPARED + 3 * handles_of_lease(3))
    )
    hub, link = Hub("127.0.0.1"), Link(dict, lambda _link, _news: None)
    hub.expect(link)
    summons = Summons(hub.address, link.carrier, link.secret, brokers=3)
    carrier = threading.Thread(target=carrying.carried, args=(summons,))
    carrier.start()
    eventually(lambda: link.vitals.most == 3)
    assert link.book.end()
    link.tell()
    carrier.join(10)
    hub.close()
    assert not carrier.is_alive()
