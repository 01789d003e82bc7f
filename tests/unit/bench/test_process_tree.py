"""What a tree of real processes uses."""

import signal
import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest

from bench.process_tree import CpuMeter, memory_bytes, peak_memory, processes
from waiting import eventually

MEGABYTES = 64
HOLDER = f"held = bytearray(b'x') * {MEGABYTES << 20}; print('held', flush=True); input()"
PARENT = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])"
# As Spark's Python daemon: the system keeps no account of children whose end nobody hears of.
DEAF_PARENT = """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
input()
if os.fork() == 0:
    while time.process_time() < 0.6: pass
    print(os.getpid(), flush=True)
    signal.pause()
input()
"""


def python(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


def cpu_seconds(process: psutil.Process) -> float:
    return float(sum(process.cpu_times()[:2]))


@pytest.fixture
def holder() -> Iterator[int]:
    with python(PARENT, HOLDER) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"held\n"
        yield parent.pid
        assert parent.stdin is not None
        parent.stdin.close()


def test_what_an_ended_child_has_used_stays_counted():
    with python(DEAF_PARENT) as parent:
        assert parent.stdout is not None
        assert parent.stdin is not None
        meter = CpuMeter(parent.pid)
        parent.stdin.write(b"work\n")
        parent.stdin.flush()
        child = psutil.Process(int(parent.stdout.readline()))
        eventually(lambda: child.status() == psutil.STATUS_SLEEPING)
        used = cpu_seconds(child)
        assert used > 0
        meter.look()
        child.kill()
        eventually(lambda: len(processes(parent.pid)) == 1)
        meter.look()
        of_parent = cpu_seconds(psutil.Process(parent.pid))
        assert round(used, 6) <= round(meter.seconds, 6) <= round(used + of_parent, 6)
        parent.kill()


def test_what_was_used_before_is_not_counted():
    with python("while True: pass") as busy:
        process = psutil.Process(busy.pid)
        eventually(lambda: cpu_seconds(process) > 0.3)
        busy.send_signal(signal.SIGSTOP)
        eventually(lambda: process.status() == psutil.STATUS_STOPPED)
        meter = CpuMeter(busy.pid)
        meter.look()
        assert round(meter.seconds, 6) == 0
        busy.kill()


def test_memory_is_that_of_all_processes(holder):
    assert memory_bytes(holder) > MEGABYTES << 20
    with peak_memory(holder) as peak:
        pass
    assert peak.memory_bytes > MEGABYTES << 20


def test_a_tree_that_is_gone_uses_nothing():
    gone = python("")
    gone.communicate()
    assert memory_bytes(gone.pid) == 0
    assert CpuMeter(gone.pid).seconds == 0.0
