"""The broker: a listener for those who look on, and one behind a link for each worker."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import psutil

from chaos.tcp_proxy import HOST, TcpProxy
from chaos.worker import frozen
from penstock.embedded import EmbeddedBroker, Jars, Java
from penstock.embedded.ports import free_port

COMMAND_SECONDS = 60.0
START_SECONDS = 90.0


class Broker:
    """One broker; what reaches it through ``links[n]`` stays on that link. Ends with the block."""

    def __init__(self, folder: Path, java: Java, jars: Jars, links: int) -> None:
        self._java, self._jars = java, jars
        direct, controller = _ports(2)
        targets, places = _ports(links), _ports(links)
        self.links = [
            TcpProxy((HOST, target), place) for place, target in zip(places, targets, strict=True)
        ]
        extra = _listeners(direct, controller, targets, places)
        self._embedded = EmbeddedBroker(folder, java, jars, direct, extra)
        self.log = self._embedded.log
        self.bootstrap_servers = f"{HOST}:{direct}"
        self._lock = threading.Lock()
        self._stack = ExitStack()

    def __enter__(self) -> Broker:
        for link in self.links:
            self._stack.enter_context(link)
        self._stack.callback(self._embedded.stop)
        self._embedded.start(START_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def crash(self, seconds: float) -> None:
        """SIGKILL; started again so much later on the same data. Returns when it answers."""
        with self._lock:
            self._embedded.kill()
            time.sleep(seconds)
            self._embedded.start(START_SECONDS)

    def freeze(self, seconds: float) -> None:
        """SIGSTOP, and SIGCONT so much later."""
        with self._lock:
            frozen([psutil.Process(self._embedded.pid)], seconds)

    def alive(self) -> bool:
        """Whether it runs."""
        return self._embedded.alive()

    def slow_down(self, rate: int | None) -> None:
        """Let every client write so many bytes a second; None for as many as it can."""
        key = "producer_byte_rate"
        change = ("--delete-config", key) if rate is None else ("--add-config", f"{key}={rate}")
        # No Python client knows quotas; this is kafka-configs.sh.
        command = [
            *(str(self._java.path), "-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
            *("-cp", f"{self._jars.broker}/*", "kafka.admin.ConfigCommand"),
            *("--bootstrap-server", self.bootstrap_servers, "--alter", *change),
            *("--entity-type", "clients", "--entity-default"),
        ]
        subprocess.run(command, check=True, capture_output=True, timeout=COMMAND_SECONDS)


def _ports(count: int) -> list[int]:
    found: list[int] = []
    while len(found) < count:
        port = free_port()
        if port not in found:
            found.append(port)
    return found


def _listeners(
    direct: int, controller: int, targets: Sequence[int], places: Sequence[int]
) -> dict[str, str]:
    names = [f"LINK{number}" for number in range(len(targets))]
    plain = [*names, "PLAINTEXT", "CONTROLLER"]
    bound = [f"{n}://{HOST}:{port}" for n, port in zip(names, targets, strict=True)]
    told = [f"{n}://{HOST}:{port}" for n, port in zip(names, places, strict=True)]
    first = f"PLAINTEXT://{HOST}:{direct}"
    return {
        "listeners": ",".join([first, *bound, f"CONTROLLER://{HOST}:{controller}"]),
        "advertised.listeners": ",".join([first, *told]),
        "listener.security.protocol.map": ",".join(f"{name}:PLAINTEXT" for name in plain),
        "inter.broker.listener.name": "PLAINTEXT",
        "controller.quorum.voters": f"1@{HOST}:{controller}",
    }
