"""The two loopback ports of a broker, the same again after a restart."""

from __future__ import annotations

import json
import random
import socket
from dataclasses import asdict, dataclass
from pathlib import Path

from penstock.embedded.errors import PortInUse

HOST = "127.0.0.1"
# Below the ports that systems hand to outgoing connections: a client that retries while the
# broker is down could otherwise be given the broker's own port, and keep it.
RANGE = range(20_000, 32_000)


@dataclass(frozen=True)
class Ports:
    """Where clients and where the controller connect."""

    broker: int
    controller: int


def choose_ports(data_dir: Path, port: int | None) -> Ports:
    """Return the ports to use and remember them in the data folder.

    The remembered ones are used again where they are still free. A `port` that is given is used
    or refused with PortInUse, never replaced.
    """
    if port is not None and not is_free(port):
        raise PortInUse(port)
    memory = data_dir / "ports.json"
    before = _remembered(memory)
    broker = port or _again(before.broker if before else None, taken=None)
    controller = _again(before.controller if before else None, taken=broker)
    ports = Ports(broker, controller)
    _remember(memory, ports)
    return ports


def free_port(other_than: int | None = None) -> int:
    """Return a loopback port that is free now."""
    # Not `random.choice`, so that a seeded program does not meet another one's ports.
    numbers = random.SystemRandom().sample(RANGE, len(RANGE))
    return next(number for number in numbers if number != other_than and is_free(number))


def is_free(port: int) -> bool:
    """Return whether a program may listen on this loopback port now."""
    return hindrance(port) is None


def hindrance(port: int) -> OSError | None:
    """Return why a program may not listen on this loopback port now; None where it may."""
    with socket.socket() as probe:
        # As Java does: connections of a broker that has just ended are no hindrance.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
            probe.listen()
        except OSError as error:
            return error
    return None


def _again(remembered: int | None, taken: int | None) -> int:
    if remembered is not None and remembered != taken and is_free(remembered):
        return remembered
    return free_port(taken)


def _remembered(memory: Path) -> Ports | None:
    try:
        return Ports(**json.loads(memory.read_text()))
    except (OSError, ValueError, TypeError):
        return None


def _remember(memory: Path, ports: Ports) -> None:
    temporary = memory.with_suffix(".tmp")
    temporary.write_text(json.dumps(asdict(ports)))
    temporary.replace(memory)
