"""What the shell offers while somebody types: live names, and nothing where there are none."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from commands import Commands
from free_ports import free_port
from penstock.cli.completion import ANSWER_SECONDS

LINES = ("penstock consume ord", "penstock consume orders -c bil", "penstock consumer delete bil")


def offered(line: str, servers: str) -> list[str]:
    """As bash asks, and as it is answered."""
    environment = {
        "_PENSTOCK_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split(" ")) - 1),
        "PENSTOCK_BOOTSTRAP_SERVERS": servers,
    }
    ended = subprocess.run(
        [sys.executable, "-m", "penstock"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    assert ended.stderr == ""
    return ended.stdout.split()


def test_names_that_are_there(penstock: Commands, topics, name: str) -> None:
    topics.create(name)
    servers = topics.bootstrap_servers
    penstock.done("consumer", "reset", f"{name}-reader", name, "-B")
    assert offered(f"penstock consume {name[:-1]}", servers) == [name]
    assert offered(f"penstock consume {name} -c {name[:-1]}", servers) == [f"{name}-reader"]
    assert offered(f"penstock consumer delete {name[:-1]}", servers) == [f"{name}-reader"]
    assert offered("penstock topic describe penstock-con", servers) == []


@pytest.fixture(params=["nobody", "silent"])
def away(request: pytest.FixtureRequest) -> Iterator[str]:
    """An address where no broker is: nobody listens, or somebody who says nothing."""
    if request.param == "nobody":
        yield f"127.0.0.1:{free_port()}"
        return
    with socket.create_server(("127.0.0.1", 0)) as mute:
        yield f"127.0.0.1:{mute.getsockname()[1]}"


@pytest.mark.parametrize("line", LINES)
def test_without_a_broker_it_is_quiet_and_soon_done(line: str, away: str) -> None:
    began = time.monotonic()
    assert offered("penstock --no-such-option", away) == []
    idle = time.monotonic() - began
    began = time.monotonic()
    assert offered(line, away) == []
    assert time.monotonic() - began < 3 * idle + 4 * ANSWER_SECONDS
