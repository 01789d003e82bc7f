"""`penstock consume -c` killed while a pipe takes what it prints: nothing is lost."""

from __future__ import annotations

import fcntl
import signal
import struct
import termios

from commands import Commands
from topics import Topics
from waiting import eventually

COUNT, SIZE = 400, 2000


def waiting_in(pipe: int) -> int:
    """How many bytes nobody has read yet."""
    return int(struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0])


def test_what_was_not_written_comes_again(penstock: Commands, topics: Topics, name: str) -> None:
    topics.create(name)
    lines = [str(number).encode().ljust(SIZE, b".") for number in range(COUNT)]
    penstock.done("produce", name, stdin=b"\n".join(lines))
    running = penstock.start("consume", name, "-c", name, "-B", "-o", "raw")
    assert running.stdout is not None
    pipe = running.stdout.fileno()
    eventually(lambda: waiting_in(pipe) > 10 * SIZE, what="as much as the pipe takes")
    running.send_signal(signal.SIGKILL)
    everything, _ = running.communicate(timeout=30)
    assert running.returncode == -signal.SIGKILL
    written = everything.splitlines()
    assert 10 <= len(written) < COUNT
    whole = [line for line in written if len(line) == SIZE]
    assert whole == lines[: len(whole)]
    again = penstock.done("consume", name, "-c", name, "-B", "-d", "-o", "raw").raw.splitlines()
    assert again == lines[COUNT - len(again) :]
    assert len(whole) + len(again) >= COUNT, "what was not written whole comes again"
    assert penstock.done("consume", name, "-c", name, "-d").lines == []
