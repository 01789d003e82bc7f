"""`penstock consume -c` killed while a pipe takes what it prints: nothing is lost."""

from __future__ import annotations

import os
import signal

from commands import Commands
from topics import Topics

COUNT, SIZE = 400, 2000


def test_what_was_not_written_comes_again(penstock: Commands, topics: Topics, name: str) -> None:
    topics.create(name)
    lines = [str(number).encode().ljust(SIZE, b".") for number in range(COUNT)]
    penstock.done("produce", name, stdin=b"\n".join(lines))
    running = penstock.start("consume", name, "-c", name, "-B", "-O", "raw")
    assert running.stdout is not None
    # It has written as much as a pipe takes, and waits for somebody to read the rest.
    head = os.read(running.stdout.fileno(), SIZE * 3)
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
