"""What the shell offers while somebody types: live names, and nothing where there are none."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from commands import Commands
from free_ports import free_port
from waiting import eventually

LINES = ("penstock consume ord", "penstock consume orders -c bil", "penstock consumer delete bil")
LONGEST_SECONDS = 30.0
"""Half of what Kafka's client takes to give up by itself."""


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
        timeout=LONGEST_SECONDS,
        env={**os.environ, **environment},
    )
    assert ended.stderr == ""
    return ended.stdout.split()


def offered_in_time(line: str, servers: str) -> list[str]:
    """Whatever comes too late is left out, so it is asked until something is offered."""
    return eventually(lambda: offered(line, servers), what=line)


def test_names_that_are_there(penstock: Commands, topics, name: str) -> None:
    topics.create(name)
    servers = topics.bootstrap_servers
    penstock.done("consumer", "reset", f"{name}-reader", name, "-B")
    assert offered_in_time(f"penstock consume {name[:-1]}", servers) == [name]
    for line in (
        f"penstock consume {name} -c {name[:-1]}",
        f"penstock consumer delete {name[:-1]}",
    ):
        assert offered_in_time(line, servers) == [f"{name}-reader"]
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
    """A client left to itself would ask for a minute and more."""
    assert offered(line, away) == []
