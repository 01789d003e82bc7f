"""`penstock consume -c` killed while a pipe takes what it prints: nothing is lost."""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import termios

from commands import Commands
from topics import Topics
from waiting import eventually

COUNT, SIZE = 400, 2000


def waiting_in(pipe: int) -> int:
    """How many bytes of it nobody has read yet."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


def test_what_was_not_written_comes_again(penstock: Commands, topics: Topics, name: str) -> None:
    topics.create(name)
    lines = [str(number).encode().ljust(SIZE, b".") for number in range(COUNT)]
    penstock.done("produce", name, stdin=b"\n".join(lines))
    running = penstock.start("consume", name, "-c", name, "-B", "-O", "raw")
    assert running.stdout is not None
    number = running.stdout.fileno()
    head = os.read(number, SIZE * 3)
    eventually(lambda: waiting_in(number) > 50_000, what="a pipe that takes no more")
    running.send_signal(signal.SIGKILL)
    rest, _ = running.communicate(timeout=30)
    assert running.returncode == -signal.SIGKILL
    written = (head + rest).splitlines()
    assert 3 < len(written) < COUNT
    whole = [line for line in written if len(line) == SIZE]
    assert whole == lines[: len(whole)]
    again = penstock.done("consume", name, "-c", name, "-B", "-d", "-O", "raw").raw.splitlines()
    assert again == lines[COUNT - len(again) :]
    assert len(whole) + len(again) >= COUNT, "what was not written whole comes again"
    assert penstock.done("consume", name, "-c", name, "-d").lines == []
