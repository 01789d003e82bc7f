"""`penstock consume --take-over`: one process takes the name of another."""

from __future__ import annotations

from commands import Commands
from topics import Topics

COUNT = 2000


def test_the_first_ends_and_nothing_is_lost(penstock: Commands, topics: Topics, name: str) -> None:
    topics.create(name)
    lines = [b"%d" % number for number in range(COUNT)]
    penstock.done("produce", name, stdin=b"\n".join(lines))
    first = penstock.start("consume", name, "-c", name, "-B", bufsize=0)
    assert first.stdout is not None
    begun = first.stdout.readline()
    second = penstock.start("consume", name, "-c", name, "--take-over", "-n", str(COUNT))
    out, err = first.communicate(timeout=60)
    try:
        assert first.returncode == 1
        told = err.decode().splitlines()
        assert len(told) == 3
        assert told[0].startswith(f"Consumer '{name}' is new on topic")
        assert told[1].startswith(f'Error: consumer "{name}" ')
        assert "taken over by another process" in told[1]
        assert told[2].startswith("Next:  `penstock consumer list`")
        penstock.done("produce", name, stdin=b"\n".join(lines))
        taken, trouble = second.communicate(timeout=60)
    finally:
        second.kill()
        second.wait()
    assert (second.returncode, trouble) == (0, b"")
    written = [int(line) for line in (begun + out).split()]
    assert written == list(range(len(written)))
    read_on = [int(line) for line in taken.split()]
    began = read_on[0]
    assert began <= len(written), "every record was written by one of the two"
    every = [*range(began, COUNT), *range(COUNT)]
    assert read_on == every[:COUNT], "and the second reads on without a gap"
